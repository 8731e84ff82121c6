import { hash } from 'node:crypto'
import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
} from 'kysely'
import type { Schema } from './schema.ts'

/** A connection pool or a transaction: what every query function takes first. */
export type Db = Kysely<Schema>

/** Builds queries, reaches no database. */
export const build = new Kysely<Schema>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})

interface Compilable<Row> {
  compile(): CompiledQuery<Row>
}

/** A statement as pg takes it: prepared under its name on each connection, once. */
export interface NamedQuery {
  readonly name: string
  readonly text: string
  readonly values: unknown[]
}

export interface Statement<Args, Row> {
  (db: Db, args: Args): Promise<{ readonly rows: Row[] }>
  toQuery(args: Args): NamedQuery
}

/**
 * A statement that is compiled once, when it is first used, and prepared by name on each connection. `write` gets
 * a function that marks where an argument goes; the marks are exchanged for values at every execution.
 */
export function statement<Args extends object, Row>(
  write: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row> | RawBuilder<Row>,
): Statement<Args, Row> {
  let once: Compiled<Row> | undefined
  const compile = () => (once ??= compileAndName(write((name) => new Mark(name as string) as never)))
  const valuesOf = ({ query }: Compiled<Row>, args: Args) =>
    query.parameters.map((value) => (value instanceof Mark ? args[value.name as keyof Args] : value))
  const toQuery = (args: Args) => {
    const compiled = compile()
    return { name: compiled.name, text: compiled.query.sql, values: valuesOf(compiled, args) }
  }
  const execute = (db: Db, args: Args) => {
    const direct = directly.get(db)
    if (direct) return direct(toQuery(args)) as Promise<{ rows: Row[] }>
    const compiled = compile()
    return db.executeQuery<Row>({ ...compiled.query, parameters: valuesOf(compiled, args) })
  }
  return Object.assign(execute, { toQuery })
}

type ExecuteDirectly = (query: NamedQuery) => Promise<{ rows: unknown[] }>

const directly = new WeakMap<Db, ExecuteDirectly>()

/** Outside of a transaction a statement needs nothing that Kysely adds, which is a tenth of what a read costs. */
export function executeDirectly(db: Db, execute: ExecuteDirectly): void {
  directly.set(db, execute)
}

/** The name under which a text is prepared; undefined for texts that are not statements of ours. */
export function preparedNameOf(text: string): string | undefined {
  return names.get(text)
}

class Mark {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

interface Compiled<Row> {
  readonly name: string
  readonly query: CompiledQuery<Row>
}

const names = new Map<string, string>()

/** The name follows from the text: processes that share connections through a pooler mean the same by it. */
function compileAndName<Row>(written: Compilable<Row> | RawBuilder<Row>): Compiled<Row> {
  const query = written.compile(build)
  const name = `valley_${hash('sha256', query.sql).slice(0, 16)}`
  names.set(query.sql, name)
  return { name, query }
}
