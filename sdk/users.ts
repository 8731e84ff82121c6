import type { Methods } from './methods.ts'
import type { QueryFor } from './operation-types.ts'

export function userMethods({ call, list }: Methods) {
  return {
    /** Gets a user by id. */
    get: call('getUser', (userId: string) => ({ params: { user_id: userId } })),
    /** Gets a user by username. */
    getByName: call('getUserByName', (username: string) => ({ params: { username } })),
    vals: {
      /** Lists a user's vals: the public ones, or all of your own. */
      list: list('listUserVals', (userId: string, page?: QueryFor<'listUserVals'>) => ({
        params: { user_id: userId },
        query: page,
      })),
    },
  }
}
