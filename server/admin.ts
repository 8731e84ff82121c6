import { parseArgs } from 'node:util'
import { Scope } from '@valley/contract/scopes.ts'
import { migrate } from './database/migrate.ts'
import { openDatabase } from './database/open-database.ts'
import type { Db } from './database/statement.ts'
import { Fault } from './fault.ts'
import { readConfig } from './config.ts'
import { rotateKeys } from './env/rotate-keys.ts'
import { issueToken } from './tokens/issue-token.ts'
import { revokeToken } from './tokens/revoke-token.ts'
import { createUser, listUsernames } from './users/create-user.ts'
import { findUserByName } from './users/find-user.ts'

const usage = `What the operator does outside of the API. DATABASE_URL names the database.

  migrate                                  bring the database up to date
  create-user NAME [--email ADDRESS]       make a user; prints its id
  list-users [--limit N]                   print usernames, the oldest first
  issue-token NAME [--name LABEL] [--scopes val:read,run:read] [--days N]
                                           make a token for a user; prints it, once
  rotate-environment-keys                  encrypt every secret anew with the first of ENVIRONMENT_KEYS
  revoke-token TOKEN_ID                    end a token; its id is in GET /v1/me/tokens
`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    email: { type: 'string' },
    limit: { type: 'string', default: '100' },
    name: { type: 'string', default: 'issued by the operator' },
    scopes: { type: 'string' },
    days: { type: 'string' },
  },
})

const commands: Readonly<Record<string, (db: Db, argument: string) => Promise<string | void>>> = {
  'create-user': (db, username) => createUser(db, { username, email: values.email ?? null }),
  'list-users': async (db) => (await listUsernames(db, wholeNumber('limit', values.limit))).join('\n'),
  'issue-token': issue,
  'revoke-token': async (db, id) => revokeToken(db, id),
  'rotate-environment-keys': rotate,
}
const withoutArgument = new Set(['list-users', 'rotate-environment-keys'])

await run()

async function run() {
  const [name = '', argument = ''] = positionals
  try {
    if (name === 'migrate') return await migrateAndTell()
    const command = commands[name]
    if (!command || (argument === '' && !withoutArgument.has(name))) return complain(usage)
    await using database = openDatabase({
      url: readConfig().databaseUrl,
      connectionsMax: 1,
      onIdleError: () => {},
    })
    const output = await command(database.db, argument)
    if (output) console.log(output)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    complain(`${error.message}\n`)
  }
}

async function migrateAndTell() {
  const applied = await migrate(readConfig().databaseUrl)
  console.error(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.join(', ')}.`)
}

async function issue(db: Db, username: string): Promise<string> {
  const { id } = await findUserByName(db, username)
  const scopes =
    values.scopes === undefined ? null : values.scopes.split(',').map((scope) => Scope.parse(scope))
  const expiresAt =
    values.days === undefined ? null : new Date(Date.now() + wholeNumber('days', values.days) * 86_400_000)
  const { text, row } = await issueToken(db, { ownerId: id, name: values.name, scopes, expiresAt })
  console.error(`Token ${row.id} for ${username}. It is shown only this once:`)
  return text
}

/** Ends with an error while any other key is in use, so that a script that goes on to remove those stops here. */
async function rotate(db: Db): Promise<string> {
  const keys = readConfig().environmentKeys
  const { resealed, unreadable, keysInUse } = await rotateKeys(db, keys)
  const others = keysInUse.filter((id) => id !== keys[0]?.id)
  if (others.length > 0) process.exitCode = 1
  return [
    `${resealed} values encrypted anew with the key ${keys[0]?.id}.`,
    ...(unreadable > 0 ? [`${unreadable} values cannot be opened with any of ENVIRONMENT_KEYS.`] : []),
    others.length > 0
      ? `Still in use: ${others.join(', ')}. Keep these keys, and run this again.`
      : 'No other key is in use any more: the others may be removed from ENVIRONMENT_KEYS.',
  ].join('\n')
}

function wholeNumber(option: string, value: string): number {
  if (/^\d{1,6}$/.test(value)) return Number(value)
  throw new Fault('invalid_request', `--${option} takes a whole number.`)
}

function complain(message: string) {
  process.stderr.write(message)
  process.exitCode = 1
}
