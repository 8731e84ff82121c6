import { hash } from 'node:crypto'
import { highestId, lowestId, newId, timeOf } from '@valley/server/database/ids.ts'
import { selectRuns } from '@valley/server/runs/queries.ts'
import { selectVal, upsertVal } from '@valley/server/vals/queries.ts'

interface BareCaller {
  readonly id: string
}

const firstPage = { direction: 'older', above: lowestId, below: highestId, limit: 21, offset: 0 } as const

/** The statements that the server runs for the measured requests, with their values taken as directly as can be. */
export function bareQueries({ id: owner_id }: BareCaller) {
  return {
    get: (url: string) => selectVal.toQuery({ id: url.slice('/v1/vals/'.length) }),
    runs: () =>
      selectRuns({ ofOneVal: false, error: undefined, sources: 'any' }).toQuery(
        { owner_id, val_id: null, sources: [] },
        firstPage,
      ),
    put: (_url: string, body: Buffer) => {
      const { name, code } = JSON.parse(body.toString()) as { name: string; code: string }
      const id = newId()
      return upsertVal.toQuery({
        id,
        owner_id,
        name,
        code,
        code_hash: hash('sha256', code, 'buffer'),
        privacy: null,
        type: null,
        sets_readme: false,
        readme: null,
        now: timeOf(id),
      })
    },
  }
}
