export type QueryValue = string | number | boolean | Date | readonly string[] | undefined
export type Query = Readonly<Record<string, QueryValue>>
export type Params = Readonly<Record<string, string | number>>

interface Address {
  readonly path: string
  readonly params?: Params | undefined
  /** As text, it is a query that the server wrote itself. */
  readonly query?: Query | string | undefined
}

/** A path of the API below the base URL, which may itself have a path. */
export function urlOf(baseUrl: URL, { path, params = {}, query = '' }: Address): URL {
  const url = new URL(baseUrl.origin)
  url.pathname = `${baseUrl.pathname.replace(/\/$/, '')}${fillPath(path, params)}`
  url.search = typeof query === 'string' ? query : queryText(query)
  return url
}

function fillPath(path: string, params: Params) {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => segment(name, params[name]))
}

/** An empty segment or one of dots would make another path of it, and so another operation. */
function segment(name: string, value: string | number | undefined) {
  if (value === undefined || /^\.{0,2}$/.test(`${value}`))
    throw new TypeError(`${name} must not be "${value}".`)
  return encodeURIComponent(value)
}

function queryText(query: Query) {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, valueText(value))
  }
  return search.toString()
}

function valueText(value: NonNullable<QueryValue>) {
  if (value instanceof Date) return value.toISOString()
  return Array.isArray(value) ? value.join(',') : String(value)
}
