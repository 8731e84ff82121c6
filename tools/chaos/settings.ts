import { parseArgs } from 'node:util'
import { randomInt } from 'node:crypto'
import { PlainError } from '../processes/plain-error.ts'

export interface ChaosSettings {
  /** How long the load lasts; faults are struck all the while. */
  readonly seconds: number
  readonly seed: number
  readonly natsNodes: 1 | 3
  /** A folder to which all logs are copied in the end, and the runs in JSON; null: they are gone. */
  readonly logs: string | null
}

/** `--seconds 600 --seed 123 --nats 1|3 --logs FOLDER`, all of them optional. */
export function readSettings(args: readonly string[]): ChaosSettings {
  const text = { type: 'string' } as const
  const options = { seconds: text, seed: text, nats: text, logs: text }
  const { values } = parseArgs({ args: [...args], options, allowPositionals: false })
  const natsNodes = toNumber('nats', values.nats ?? '1')
  if (natsNodes !== 1 && natsNodes !== 3) throw new PlainError('--nats is 1 or 3.')
  return {
    seconds: toNumber('seconds', values.seconds ?? '600'),
    seed: values.seed === undefined ? newSeed() : toNumber('seed', values.seed),
    natsNodes,
    logs: values.logs ?? null,
  }
}

export function newSeed(): number {
  return randomInt(2 ** 31)
}

function toNumber(name: string, value: string): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number) || number < 0) throw new PlainError(`--${name} is a whole number.`)
  return number
}
