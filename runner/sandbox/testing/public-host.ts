import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openMachine } from './open-machine.ts'

/** Addresses of a network for documentation, which the rules take for the public internet. */
export const publicAddress = '198.51.100.10'
export const publicGateway = '198.51.100.1'

/** A stand-in for the internet: a network namespace with one machine that serves HTTP, UDP and DNS. */
export async function openPublicHost(names: Readonly<Record<string, string>>): Promise<AsyncDisposable> {
  const namespace = `valley-public-${process.pid}`
  const machine = await openMachine({
    namespace,
    link: `vpub${process.pid % 100_000}`,
    gateway: publicGateway,
    address: publicAddress,
    prefixBits: 24,
  })
  const services = new URL('public-services.ts', import.meta.url).pathname
  const enter = [`--net=/run/netns/${namespace}`, process.execPath, services, JSON.stringify(names)]
  const child = spawn('nsenter', enter, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  return {
    [Symbol.asyncDispose]: async () => {
      const exited = once(child, 'exit')
      child.kill('SIGKILL')
      await exited
      await machine[Symbol.asyncDispose]()
    },
  }
}
