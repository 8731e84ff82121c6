import type { Fault } from './faults.ts'
import { Random } from './random.ts'

const secondShare = 0.4
const secondDelayMsMax = 4_000

export interface Round {
  /** How long nothing breaks before. */
  readonly calmMs: number
  /** One or two, of different targets. */
  readonly strikes: readonly Strike[]
}

export interface Strike {
  readonly fault: Fault
  readonly delayMs: number
  /** Of its own, so that two at a time do not depend on which of them is faster. */
  readonly random: Random
}

/** For as long as anybody asks: one or two faults at a time, and each of them before any comes again. */
export function* planFaults(
  faults: readonly Fault[],
  random: Random,
  calmMs: readonly [number, number],
): Generator<Round> {
  let deck: Fault[] = []
  const draw = (fits: (fault: Fault) => boolean): Strike[] => {
    const at = deck.findIndex(fits)
    const [fault] = at < 0 ? [] : deck.splice(at, 1)
    const delayMs = random.between(0, secondDelayMsMax)
    const own = new Random(random.between(0, 2 ** 32))
    return fault === undefined ? [] : [{ fault, delayMs, random: own }]
  }
  for (;;) {
    if (deck.length === 0) deck = random.shuffle(faults)
    const first = draw(() => true)
    const isSecond = random.isChosen(secondShare)
    const second = isSecond ? draw(({ target }) => target !== first[0]?.fault.target) : []
    yield { calmMs: random.between(...calmMs), strikes: [...first, ...second] }
  }
}
