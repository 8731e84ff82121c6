/** What an answer that goes on consists of. */
export type Piece<Event> =
  | { readonly kind: 'start'; readonly id: string; readonly retryMs: number }
  | { readonly kind: 'event'; readonly event: Event }
  /** Shows both ends that the other one is still there. */
  | { readonly kind: 'heartbeat' }

/** An answer that goes on until its pieces end; `end` makes them end, also when nobody reads them. */
export class EventStream<Event> {
  readonly pieces: AsyncIterable<Piece<Event>>
  readonly end: () => void

  constructor(pieces: AsyncIterable<Piece<Event>>, end: () => void) {
    this.pieces = pieces
    this.end = end
  }
}
