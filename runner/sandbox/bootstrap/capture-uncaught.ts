import type { LogLevel } from '@valley/contract/runs.ts'
import { describeError } from './describe-error.ts'

export type Print = (level: LogLevel, text: string) => void

/** What nobody caught is printed, and ends nothing. */
export function captureUncaught(print: Print): void {
  globalThis.addEventListener('error', (event) => {
    event.preventDefault()
    printThrown(print, 'Uncaught ', event.error)
  })
  globalThis.addEventListener('unhandledrejection', (event) => {
    event.preventDefault()
    printThrown(print, 'Uncaught (in promise) ', event.reason)
  })
}

export function printThrown(print: Print, prefix: string, thrown: unknown): void {
  const { stack, message } = describeError(thrown)
  print('error', `${prefix}${stack ?? message}`)
}
