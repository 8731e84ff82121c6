import type { Methods } from './methods.ts'
import type { BodyFor, QueryFor } from './operation-types.ts'

export function valMethods(methods: Methods) {
  const { call, list } = methods
  return {
    /** Creates a val and its first version. Without a name it gets a generated one. */
    create: call('createVal', (val: BodyFor<'createVal'>) => ({ body: val })),
    /** Creates a val, or saves the one of yours with this name; the same again changes nothing. */
    put: call('putVal', (val: BodyFor<'putVal'>) => ({ body: val })),
    /** Gets a val by its id. */
    get: call('getVal', (valId: string) => ({ params: { val_id: valId } })),
    /** Gets a val by its owner and name. */
    getByName: call('getValByName', (username: string, valName: string) => ({
      params: { username, val_name: valName },
    })),
    /** Changes name, readme, privacy or type, without a new version. */
    update: call('updateVal', (valId: string, fields: BodyFor<'updateVal'>) => ({
      params: { val_id: valId },
      body: fields,
    })),
    /** Deletes a val with its versions, likes, comments, references, runs and variables. */
    delete: call('deleteVal', (valId: string) => ({ params: { val_id: valId } })),
    /** Lists your vals. */
    list: list('listMyVals', (page?: QueryFor<'listMyVals'>) => ({ query: page })),
    /** Gets the code of a val, or of one of its versions, as a module that can be imported. */
    module: call('getModule', (valId: string, query?: QueryFor<'getModule'>) => ({
      params: { val_id: valId },
      query,
    })),
    versions: {
      /** Lists the versions of a val. */
      list: list('listVersions', (valId: string, page?: QueryFor<'listVersions'>) => ({
        params: { val_id: valId },
        query: page,
      })),
      /** Saves new code as the next version; the same code again makes none. */
      create: call('createVersion', (valId: string, version: BodyFor<'createVersion'>) => ({
        params: { val_id: valId },
        body: version,
      })),
      /** Gets a val as of one version. */
      get: call('getVersion', (valId: string, version: number) => ({ params: { val_id: valId, version } })),
      /** Deletes one version; the newest remaining becomes current. */
      delete: call('deleteVersion', (valId: string, version: number) => ({
        params: { val_id: valId, version },
      })),
    },
    ...aroundVals(methods),
    ...settingsOfVals(methods),
  }
}

/** What a val does and gets, besides its versions. */
function aroundVals({ call, list, events }: Methods) {
  return {
    /** Runs a val of yours now. The answer is the run as it waits, or with `wait` once it is over. */
    run: call('runVal', (valId: string, how?: BodyFor<'runVal'> & QueryFor<'runVal'>) => ({
      params: { val_id: valId },
      query: { wait: how?.wait },
      body: { args: how?.args, retry: how?.retry },
    })),
    runs: {
      /** Lists the runs of a val of yours. */
      list: list('listValRuns', (valId: string, filter?: QueryFor<'listValRuns'>) => ({
        params: { val_id: valId },
        query: filter,
      })),
    },
    /**
     * Watches a val of yours: what it prints and how its runs end, while it happens. `for await` over it, or pass a
     * signal; a lost connection is made again, and goes on where it was. An event `gap` says that some may be missing.
     */
    tail: events('tailVal', (valId: string, start?: QueryFor<'tailVal'>) => ({
      params: { val_id: valId },
      query: start,
    })),
    comments: {
      /** Lists the comments on a val. */
      list: list('listComments', (valId: string, page?: QueryFor<'listComments'>) => ({
        params: { val_id: valId },
        query: page,
      })),
      /** Comments on a val, in Markdown. */
      create: call('createComment', (valId: string, comment: string) => ({
        params: { val_id: valId },
        body: { comment },
      })),
    },
  }
}

/** How a val runs, besides its code. */
function settingsOfVals({ call, list }: Methods) {
  return {
    retry: {
      /** Gets how often runs of a val are tried. */
      get: call('getRetry', (valId: string) => ({ params: { val_id: valId } })),
      /** Sets how often runs of a val are tried when they fail. */
      set: call('setRetry', (valId: string, retry: BodyFor<'setRetry'>) => ({
        params: { val_id: valId },
        body: retry,
      })),
    },
    schedule: {
      /** Gets the schedule of a val. */
      get: call('getSchedule', (valId: string) => ({ params: { val_id: valId } })),
      /** Runs a val by a schedule, such as `{ cron: '0 9 * * 1-5', timeZone: 'Europe/Berlin' }`. */
      put: call('setSchedule', (valId: string, schedule: BodyFor<'setSchedule'>) => ({
        params: { val_id: valId },
        body: schedule,
      })),
      /** Deletes the schedule of a val; again is fine. */
      delete: call('deleteSchedule', (valId: string) => ({ params: { val_id: valId } })),
    },
    alerts: {
      /** Gets where failing runs of a val are told, and how the last alert fared. */
      get: call('getAlerts', (valId: string) => ({ params: { val_id: valId } })),
      /** Names the webhook that is told when a run fails. The secret is in the answer that made it only. */
      put: call('setAlerts', (valId: string, alerts: BodyFor<'setAlerts'>) => ({
        params: { val_id: valId },
        body: alerts,
      })),
      /** Tells nobody any more; again is fine. */
      delete: call('deleteAlerts', (valId: string) => ({ params: { val_id: valId } })),
    },
    env: {
      /** Lists the names of a val's environment variables. */
      list: list('listValVariables', (valId: string) => ({ params: { val_id: valId } })),
      /** Sets an environment variable of a val; it wins over your own of that name. It cannot be read back. */
      set: call('setValVariable', (valId: string, name: string, value: string) => ({
        params: { val_id: valId, name },
        body: { value },
      })),
      /** Deletes an environment variable of a val; again is fine. */
      delete: call('deleteValVariable', (valId: string, name: string) => ({
        params: { val_id: valId, name },
      })),
    },
  }
}
