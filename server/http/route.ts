import { RegExpRouter } from 'hono/router/reg-exp-router'
import { SmartRouter } from 'hono/router/smart-router'
import { TrieRouter } from 'hono/router/trie-router'
import type { Operation } from '@valley/contract/operation.ts'
import { operations, type OperationName } from '@valley/contract/operations.ts'

export interface NamedOperation {
  readonly name: OperationName
  readonly operation: Operation
}

/** Where a request leads: an operation with the parameters of its path, or the methods that the path takes. */
export type Route =
  | {
      readonly kind: 'operation'
      readonly found: NamedOperation
      readonly params: Readonly<Record<string, string>>
    }
  | { readonly kind: 'other_method'; readonly allow: string }
  | { readonly kind: 'nowhere' }

const router = new SmartRouter<NamedOperation>({ routers: [new RegExpRouter(), new TrieRouter()] })
for (const [name, operation] of Object.entries<Operation>(operations)) {
  router.add(operation.method, routerPath(operation.path), { name: name as OperationName, operation })
}

/** A slash at the end makes no difference, and HEAD asks for what GET would answer. */
export function routeOf(method: string, path: string): Route {
  const trimmed = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const [matched, stash = []] = router.match(method === 'HEAD' ? 'GET' : method, trimmed)
  const [found, indexes] = matched[0] ?? []
  if (found === undefined || indexes === undefined) return elsewhere(trimmed)
  const params: Record<string, string> = {}
  for (const [name, index] of Object.entries(indexes)) {
    params[name] = decode(typeof index === 'number' ? (stash[index] ?? '') : index)
  }
  return { kind: 'operation', found, params }
}

const allowByPath = [...Map.groupBy(Object.values<Operation>(operations), ({ path }) => path)].map(
  ([path, declared]) => {
    const methods = declared.map(({ method }) => method)
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].join(', ')
    return { pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`), allow }
  },
)

function elsewhere(path: string): Route {
  const allow = allowByPath.find(({ pattern }) => pattern.test(path))?.allow
  return allow === undefined ? { kind: 'nowhere' } : { kind: 'other_method', allow }
}

function routerPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1')
}

/** A broken escape stays as it is: it names nothing, and answers so. */
function decode(part: string): string {
  if (!part.includes('%')) return part
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
