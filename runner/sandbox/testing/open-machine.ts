import { runCommand } from '../run-command.ts'

interface MachinePlan {
  readonly namespace: string
  /** Our end of the cable. */
  readonly link: string
  readonly gateway: string
  readonly address: string
  readonly prefixBits: number
}

/** A machine of its own behind a cable, as far as the network goes: a namespace with an address. Needs root. */
export async function openMachine(plan: MachinePlan): Promise<AsyncDisposable> {
  const { namespace, link, gateway, address, prefixBits } = plan
  const remove = async () => {
    await runCommand('ip', ['netns', 'delete', namespace]).catch(() => {})
    await runCommand('ip', ['link', 'delete', link]).catch(() => {})
  }
  try {
    await runCommand('ip', ['-batch', '-'], {
      input: `netns add ${namespace}
link add ${link} type veth peer name eth0 netns ${namespace}
addr add ${gateway}/${prefixBits} dev ${link}
link set ${link} up
`,
    })
    await runCommand('ip', ['-n', namespace, '-batch', '-'], {
      input: `link set lo up
addr add ${address}/${prefixBits} dev eth0
link set eth0 up
route add default via ${gateway}
`,
    })
  } catch (error) {
    await remove()
    throw error
  }
  return { [Symbol.asyncDispose]: remove }
}
