import { runCommand } from '../processes/run-command.ts'
import { sweepNetworks } from './sweep-networks.ts'

const names = { namespace: 'valley-nats-', link: 'vnats' }

export interface NatsNetwork extends AsyncDisposable {
  readonly addresses: readonly string[]
  /** Each has the address of the same index. */
  readonly namespaces: readonly string[]
}

/** So many network namespaces that reach each other and this host, and nothing else. */
export async function openNatsNetwork(count: number): Promise<NatsNetwork> {
  await sweepNetworks(names)
  const bridge = `${names.link}${process.pid}`
  const subnet = `10.213.${process.pid % 256}`
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const namespaces = numbers.map((number) => `${names.namespace}${process.pid}-${number}`)
  const addresses = numbers.map((number) => `${subnet}.${number + 1}`)
  const remove = async () => {
    // NATS's client forgets a socket that is not connected in time; the kernel would keep its process for two minutes.
    await runCommand('ss', ['--kill', '--tcp', 'dst', `${subnet}.0/24`]).catch(() => '')
    for (const name of namespaces) await runCommand('ip', ['netns', 'delete', name]).catch(() => '')
    await runCommand('ip', ['link', 'delete', bridge]).catch(() => '')
  }
  try {
    await runCommand('ip', ['-batch', '-'], {
      input: [
        `link add ${bridge} type bridge`,
        `addr add ${subnet}.1/24 dev ${bridge}`,
        `link set ${bridge} up`,
        ...namespaces.flatMap((name, index) => [
          `netns add ${name}`,
          `link add ${bridge}-${index} type veth peer name eth0 netns ${name}`,
          `link set ${bridge}-${index} master ${bridge} up`,
        ]),
        '',
      ].join('\n'),
    })
    for (const [index, name] of namespaces.entries()) {
      const input = `link set lo up\naddr add ${addresses[index]}/24 dev eth0\nlink set eth0 up\n`
      await runCommand('ip', ['-n', name, '-batch', '-'], { input })
    }
  } catch (error) {
    await remove()
    throw error
  }
  return { addresses, namespaces, [Symbol.asyncDispose]: remove }
}
