import type pg from 'pg'
import { openClient } from '../open-client.ts'

export interface Size {
  readonly users: number
  readonly vals: number
  readonly runs: number
  /** How much of each list belongs to the user who is measured. */
  readonly own: number
}

const days = 28
const loadedAt = new Date().toISOString()

/** For a load of rows that are known to be right: no wait for the disk, no check of foreign keys. */
const sessionSettings = `
  SET synchronous_commit = off;
  SET session_replication_role = replica;
  SET maintenance_work_mem = '1GB';
  SET work_mem = '256MB'`

/** Ids as the server would have made them over the last days, the n-th of `total` the oldest. */
const idAt = (n: string, total: string) => `(
  lpad(to_hex(floor(extract(epoch FROM timestamptz '${loadedAt}' - (${n})::float8 / ${total} * interval '${days} days') * 1000)::bigint), 12, '0')
  || '7' || lpad(to_hex((${n})::bigint % 4096), 3, '0') || '8' || lpad(to_hex((${n})::bigint), 15, '0'))::uuid`

/** Words of which some stand in every second val and some in few. */
const codeOf = (
  n: string,
) => `'export default function handler' || ${n} || '(request: Request) { const weather = '
  || CASE WHEN ${n} % 2 = 0 THEN 'fetchForecast' ELSE 'readCache' END || '(request, "topic' || ${n} % 1000
  || '"); return new Response("needle' || ${n} % 50000 || '") }'`

/** Fills the database to a size. It is rows that matter here, so they are written without going through the API. */
export async function load(url: string, me: string, size: Size): Promise<void> {
  await using client = await openClient(url)
  await client.query(sessionSettings)
  await client.query(`SELECT create_run_partitions(current_date - ${days + 1}, current_date + 1)`)
  const restoreIndexes = await dropIndexes(client)
  for (const sql of statements(size)) {
    const startedAt = performance.now()
    await client.query(sql.replaceAll(':me', `'${me}'::uuid`))
    progress(/INSERT INTO (\w+)/.exec(sql)?.[1] ?? '', startedAt)
  }
  const startedAt = performance.now()
  await restoreIndexes()
  progress('indexes', startedAt)
  await client.query('VACUUM ANALYZE')
}

function progress(what: string, startedAt: number) {
  console.error(`  ${what}: ${Math.round((performance.now() - startedAt) / 1_000)} s`)
}

function statements({ users, vals, runs, own }: Size): readonly string[] {
  const userId = (n: string) => idAt(`1 + (${n}) % ${users}`, String(users))
  const owner = `CASE WHEN n <= ${own} THEN :me ELSE ${userId('n')} END`
  const valId = (n: string) => idAt(n, String(vals))
  return [
    `INSERT INTO users (id, username) SELECT ${idAt('n', String(users))}, 'user' || n
       FROM generate_series(1, ${users}) n ON CONFLICT DO NOTHING`,
    `INSERT INTO codes (hash, code) SELECT sha256(code::bytea), code
       FROM (SELECT ${codeOf('n')} AS code FROM generate_series(1, ${vals}) n) c ON CONFLICT DO NOTHING`,
    `INSERT INTO vals (id, owner_id, name, privacy, type, version, last_version, code_hash, version_created_at, updated_at)
       SELECT ${valId('n')}, ${owner}, 'val_' || n, 'public', 'http', 1, 1, sha256((${codeOf('n')})::bytea), now(), now()
       FROM generate_series(1, ${vals}) n ON CONFLICT DO NOTHING`,
    `INSERT INTO versions (owner_id, val_id, version, code_hash, created_at)
       SELECT owner_id, id, 1, code_hash, now() FROM vals ON CONFLICT DO NOTHING`,
    `INSERT INTO versions (owner_id, val_id, version, code_hash, created_at)
       SELECT v.owner_id, v.id, n, v.code_hash, now() FROM vals v, generate_series(2, ${own}) n
       WHERE v.id = ${valId('1')} ON CONFLICT DO NOTHING`,
    `INSERT INTO documents (val_id, owner_id, is_public, name, words)
       SELECT v.id, v.owner_id, true, v.name, document_words(v.name, NULL, c.code)
       FROM vals v JOIN codes c ON c.hash = v.code_hash ON CONFLICT DO NOTHING`,
    `INSERT INTO likes (user_id, val_id, id) SELECT ${owner}, ${valId(`1 + n % ${vals}`)}, ${valId('n')}
       FROM generate_series(1, ${vals}) n ON CONFLICT DO NOTHING`,
    `INSERT INTO comments (id, author_id, val_id, val_owner_id, comment, updated_at)
       SELECT ${valId('n')}, CASE WHEN n % 2 = 0 THEN :me ELSE ${userId('n')} END, v.id, v.owner_id, 'Nice.', now()
       FROM generate_series(1, ${own * 2}) n JOIN vals v ON v.id = ${valId('n')} ON CONFLICT DO NOTHING`,
    `INSERT INTO comments (id, author_id, val_id, val_owner_id, comment, updated_at)
       SELECT ${valId('n')}, ${userId('n')}, v.id, v.owner_id, 'Nice.', now()
       FROM generate_series(${own * 2 + 1}, ${vals}) n JOIN vals v ON v.id = CASE WHEN n % 4 = 0
         THEN ${valId('1')} ELSE ${valId('n')} END ON CONFLICT DO NOTHING`,
    `INSERT INTO val_references (id, owner_id, val_id, depends_on_owner_id, depends_on_id)
       SELECT ${valId('n')}, v.owner_id, v.id, d.owner_id, d.id FROM generate_series(1, ${vals}) n
       JOIN vals v ON v.id = ${valId('n')} JOIN vals d ON d.id = ${valId(`1 + n * 7 % LEAST(${own * 2}, ${vals})`)}
       ON CONFLICT DO NOTHING`,
    `INSERT INTO runs (id, owner_id, val_id, version, source, status, started_at, ended_at)
       SELECT ${idAt('n', String(runs))}, CASE WHEN n % 10 = 0 THEN :me ELSE ${userId('n')} END,
         CASE WHEN n % 20 = 0 THEN ${valId('1')} WHEN n % 10 = 0 THEN ${valId(`1 + n / 10 % ${own}`)}
           ELSE ${valId(`1 + n % ${vals}`)} END,
         1, CASE WHEN n / 10 % 20 = 3 THEN 'schedule' ELSE 'http' END::run_source,
         CASE WHEN n / 10 % 50 = 0 THEN 'failed' ELSE 'succeeded' END::run_status, now(), now()
       FROM generate_series(1, ${runs}) n ON CONFLICT DO NOTHING`,
  ]
}

/** An index is built far faster than it is grown. What a constraint needs stays. */
async function dropIndexes(client: pg.Client) {
  const { rows } = await client.query<{ name: string; definition: string }>(`
    SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition
    FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
    WHERE t.relname IN ('vals', 'versions', 'documents', 'likes', 'comments', 'val_references', 'runs')
      AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`)
  for (const { name } of rows) await client.query(`DROP INDEX ${name}`)
  return async () => {
    for (const { definition } of rows) await client.query(definition.replace(' ON ONLY ', ' ON '))
  }
}
