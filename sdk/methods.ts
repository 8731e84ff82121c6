import { type List, listFrom, type PageBody } from './list.ts'
import type {
  ApiOperation,
  EventFor,
  EventsOperation,
  InputFor,
  ItemFor,
  ListOperation,
  OptionsFor,
  ResultFor,
  WholeOperation,
} from './operation-types.ts'
import type { AnyInput, AnyOptions, Settings } from './outgoing.ts'
import { readEvents } from './read-events.ts'
import type { Request } from './request.ts'
import { routes } from './routes.ts'

/** A method of the client: the arguments that make the operation's input, then its options. */
export interface Method<N extends ApiOperation, Args extends readonly unknown[], Result> {
  (...args: [...Args, options?: OptionsFor<N>]): Result
  /** The operation in the API's documentation. */
  readonly operation: N
}

export type Methods = ReturnType<typeof methodsOver>

/** Makes methods out of operations: all that one adds is how its arguments become the input. */
export function methodsOver(request: Request, settings: Settings) {
  const send = request as (
    name: ApiOperation,
    input: AnyInput,
    options: AnyOptions,
  ) => Promise<{ body: unknown }>

  function call<N extends WholeOperation, Args extends readonly unknown[]>(
    operation: N,
    inputOf: (...args: Args) => InputFor<N>,
  ): Method<N, Args, Promise<ResultFor<N>>> {
    return method(operation, inputOf, async (input, options) => {
      const { body } = await send(operation, input, options)
      return body as ResultFor<N>
    })
  }

  function list<N extends ListOperation, Args extends readonly unknown[]>(
    operation: N,
    inputOf: (...args: Args) => InputFor<N>,
  ): Method<N, Args, List<ItemFor<N>>> {
    return method(operation, inputOf, (input, options) => {
      const read = async (query?: string) => {
        const { body } = await send(operation, query === undefined ? input : { ...input, query }, options)
        return body as PageBody<ItemFor<N>>
      }
      return listFrom(read, options.signal)
    })
  }

  function events<N extends EventsOperation, Args extends readonly unknown[]>(
    operation: N,
    inputOf: (...args: Args) => InputFor<N>,
  ): Method<N, Args, AsyncIterable<EventFor<N>>> {
    return method(operation, inputOf, (input, options) => {
      const call = { route: routes[operation], input, options }
      return readEvents(settings, call) as AsyncIterable<EventFor<N>>
    })
  }

  return { call, list, events }
}

/** The options come after as many arguments as inputOf declares, which therefore takes no default values. */
function method<N extends ApiOperation, Args extends readonly unknown[], Result>(
  operation: N,
  inputOf: (...args: Args) => InputFor<N>,
  run: (input: AnyInput, options: AnyOptions) => Result,
): Method<N, Args, Result> {
  const called = (...args: readonly unknown[]) => {
    const input = inputOf(...(args.slice(0, inputOf.length) as unknown as Args))
    const options = (args[inputOf.length] ?? {}) as AnyOptions
    return run(input, options)
  }
  return Object.assign(called, { operation })
}
