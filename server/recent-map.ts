/** A map with a bound: what was set longest ago makes room for what is new. */
export class RecentMap<Key, Value> extends Map<Key, Value> {
  readonly #entriesMax: number

  constructor(entriesMax: number) {
    super()
    this.#entriesMax = entriesMax
  }

  override set(key: Key, value: Value): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.#entriesMax) {
      const [oldest] = this.keys()
      this.delete(oldest as Key)
    }
    return this
  }
}
