import type { Client } from 'pg'

interface Load {
  readonly schedules: number
  readonly owners: number
  /** From now, by the database's clock. */
  readonly dueInSeconds: number
}

/**
 * Many schedules of many owners that are due in the same second. About a thousand expressions in four time zones, more
 * than a server keeps in mind. They are written without going through the API, since it is rows that matter here.
 */
export async function loadSchedules(
  client: Client,
  { schedules, owners, dueInSeconds }: Load,
): Promise<void> {
  const statements = [
    `INSERT INTO users (id, username) SELECT ('0199' || lpad(to_hex(n), 28, '0'))::uuid, 'owner' || n
       FROM generate_series(1, ${owners}) n`,
    `INSERT INTO codes (hash, code) VALUES (sha256('1'), '1') ON CONFLICT DO NOTHING`,
    `INSERT INTO vals (id, owner_id, name, privacy, type, version, last_version, code_hash, version_created_at, updated_at)
       SELECT gen_random_uuid(), ('0199' || lpad(to_hex(1 + n % ${owners}), 28, '0'))::uuid, 'val_' || n, 'private',
         'script', 1, 1, sha256('1'), now(), now()
       FROM generate_series(1, ${schedules}) n`,
    `INSERT INTO schedules (val_id, owner_id, cron, time_zone, overlap, missed, enabled, next_at, computed_at)
       SELECT id, owner_id,
         concat_ws(' ', extract(second FROM at)::integer, extract(minute FROM at) || ',' || n % 60, hours[1 + n % 4], '* * *'),
         zones[1 + n / 4 % 4], 'skip', 'skip', true, at, now()
       FROM (SELECT id, owner_id, row_number() OVER () AS n FROM vals WHERE name LIKE 'val\\_%') v,
         (SELECT date_trunc('second', now()) + interval '${dueInSeconds} seconds' AS at,
           ARRAY['*', '*/1', '0-23', '0-11,12-23'] AS hours,
           ARRAY['UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Tokyo'] AS zones) t`,
    'ANALYZE',
  ]
  for (const statement of statements) await client.query(statement)
}
