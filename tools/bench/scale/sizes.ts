import { openClient } from '../open-client.ts'
import { round } from '../report.ts'

export interface TableSize {
  readonly table: string
  readonly rows: number
  readonly heapBytesPerRow: number
  readonly indexBytesPerRow: number
}

/** What a row takes with its share of the indexes: the figures of the arithmetic to larger sizes. */
export async function measureSizes(url: string): Promise<readonly TableSize[]> {
  await using client = await openClient(url)
  const { rows } = await client.query<{ table: string; rows: string; heap: string; indexes: string }>(`
    SELECT root::regclass::text AS table, sum(c.reltuples)::bigint AS rows,
      sum(pg_table_size(p.relid)) AS heap, sum(pg_indexes_size(p.relid)) AS indexes
    FROM unnest('{users,codes,vals,versions,documents,likes,comments,val_references,runs}'::text[]) root,
      LATERAL (
        SELECT relid FROM pg_partition_tree(root::regclass) WHERE isleaf
        UNION SELECT root::regclass WHERE NOT EXISTS (SELECT FROM pg_partition_tree(root::regclass))
      ) p JOIN pg_class c ON c.oid = p.relid
    GROUP BY root ORDER BY root`)
  return rows.map(({ table, rows: count, heap, indexes }) => ({
    table,
    rows: Number(count),
    heapBytesPerRow: round(Number(heap) / Number(count), 0),
    indexBytesPerRow: round(Number(indexes) / Number(count), 0),
  }))
}
