import type { Methods } from './methods.ts'
import type { BodyFor, QueryFor } from './operation-types.ts'

export function meMethods({ call, list }: Methods) {
  return {
    /** Gets your own profile. */
    get: call('getMe', () => ({})),
    /** Changes your own profile; null clears a field. */
    update: call('updateMe', (fields: BodyFor<'updateMe'>) => ({ body: fields })),
    /** Gets how much your vals ran, and how much they may. */
    usage: call('getMyUsage', () => ({})),
    vals: {
      /** Lists your vals. */
      list: list('listMyVals', (page?: QueryFor<'listMyVals'>) => ({ query: page })),
    },
    runs: {
      /** Lists the runs of all your vals. */
      list: list('listMyRuns', (filter?: QueryFor<'listMyRuns'>) => ({ query: filter })),
    },
    likes: {
      /** Lists the vals that you like, newest like first. */
      list: list('listMyLikes', (page?: QueryFor<'listMyLikes'>) => ({ query: page })),
      /** Likes a val; again is fine. */
      add: call('likeVal', (valId: string) => ({ params: { val_id: valId } })),
      /** Takes a like back; again is fine. */
      remove: call('unlikeVal', (valId: string) => ({ params: { val_id: valId } })),
    },
    comments: {
      /** Lists the comments that you gave or received. */
      list: list('listMyComments', (filter?: QueryFor<'listMyComments'>) => ({ query: filter })),
    },
    references: {
      /** Lists the vals that depend on any of yours. */
      list: list('listMyReferences', (filter?: QueryFor<'listMyReferences'>) => ({ query: filter })),
    },
    env: {
      /** Lists the names of your environment variables, which all your vals see. */
      list: list('listMyVariables', () => ({})),
      /** Sets an environment variable for all your vals. It cannot be read back. */
      set: call('setMyVariable', (name: string, value: string) => ({ params: { name }, body: { value } })),
      /** Deletes an environment variable of yours; again is fine. */
      delete: call('deleteMyVariable', (name: string) => ({ params: { name } })),
    },
    tokens: {
      /** Lists your tokens, without their secrets. */
      list: list('listMyTokens', (page?: QueryFor<'listMyTokens'>) => ({ query: page })),
      /** Makes a token. Its secret is in this answer only. */
      create: call('createToken', (token: BodyFor<'createToken'>) => ({ body: token })),
      /** Revokes a token. */
      delete: call('deleteToken', (tokenId: string) => ({ params: { token_id: tokenId } })),
    },
  }
}
