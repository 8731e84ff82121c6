import type { Attack, Places } from './attack.ts'
import { probe, using } from './probe.ts'

export function processAttacks({ runnerPid }: Places): Attack[] {
  const family = 'processes'
  return [
    probe({
      family,
      name: 'signals other processes',
      tries: {
        'Deno.kill of the runner': `Deno.kill(${runnerPid}, 'SIGKILL')`,
        'process.kill of the runner': `process.kill(${runnerPid}, 'SIGKILL')`,
        'node:process.kill of everyone': using('node:process', "it.kill(-1, 'SIGKILL')"),
        'Deno.kill of process 2': "Deno.kill(2, 'SIGKILL')",
        'priority of the runner': using('node:os', `it.setPriority(${runnerPid}, 19)`),
      },
    }),
    {
      family,
      name: 'signals the first process, which is itself',
      code: `
        export default () => {
          try { Deno.kill(1, 'SIGKILL') } catch (error) { console.warn('refused: ' + error) }
          return new Response('alive')
        }`,
      must: { answer: 200, run: 'succeeded', says: /refused: .*not permitted/ },
    },
    probe({
      family,
      name: 'looks at the machine',
      tries: {
        'name of the host': 'Deno.hostname()',
        'network interfaces': 'Deno.networkInterfaces()',
        'memory of the machine': 'Deno.systemMemoryInfo()',
        'load of the machine': 'Deno.loadavg()',
        'user on the machine': using('node:os', 'it.userInfo()'),
        'user id': 'Deno.uid()',
        'become root': 'process.setuid(0)',
      },
    }),
  ]
}
