import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
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

export interface Statement<Args, Row> {
  (db: Db, args: Args): Promise<QueryResult<Row>>
  /** The statement as pg takes it, for whoever measures or explains it without the rest of the server. */
  toQuery(args: Args): { readonly name: string; readonly text: string; readonly values: unknown[] }
}

/**
 * A statement that is compiled once, when it is first used, and prepared by name on each connection. `write` gets
 * a function that marks where an argument goes; the marks are exchanged for values at every execution.
 */
export function statement<Args extends object, Row>(
  write: (arg: <Name extends keyof Args>(name: Name) => Args[Name]) => Compilable<Row> | RawBuilder<Row>,
): Statement<Args, Row> {
  let once: CompiledQuery<Row> | undefined
  const compile = () => (once ??= compileAndName(write((name) => new Mark(name as string) as never)))
  const valuesOf = (args: Args) =>
    compile().parameters.map((value) => (value instanceof Mark ? args[value.name as keyof Args] : value))
  const execute = (db: Db, args: Args) => db.executeQuery<Row>({ ...compile(), parameters: valuesOf(args) })
  const toQuery = (args: Args) => {
    const text = compile().sql
    return { name: names.get(text) ?? '', text, values: valuesOf(args) }
  }
  return Object.assign(execute, { toQuery })
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

const names = new Map<string, string>()

function compileAndName<Row>(written: Compilable<Row> | RawBuilder<Row>): CompiledQuery<Row> {
  const compiled = written.compile(build)
  names.set(compiled.sql, names.get(compiled.sql) ?? `valley_${names.size}`)
  return compiled
}
