import type { Attack } from './attack.ts'

const family = 'environment'

/** What the sandbox and Deno set for themselves; anything else would be somebody's. */
const known = [
  'HOME',
  'TMPDIR',
  'DENO_DIR',
  'DENO_NO_PROMPT',
  'DENO_NO_UPDATE_CHECK',
  'DENO_TLS_CA_STORE',
  'NO_COLOR',
  'OWN',
  'PATH',
  'DENO_NODE_SHIM_ACTIVE',
]

export const environmentAttacks: readonly Attack[] = [
  {
    family,
    name: "looks for somebody else's variables",
    code: `
      const known = ${JSON.stringify(known)}
      export default () => {
        const all = { ...Deno.env.toObject(), ...process.env }
        const foreign = Object.keys(all).filter((name) => !known.includes(name))
        console.log('foreign variables: ' + foreign.length)
        return Response.json({ foreign, all })
      }`,
    must: { answer: 200, run: 'succeeded', says: /foreign variables: 0/, shows: /"foreign":\[\]/ },
  },
  {
    family,
    name: "looks for another val's memory",
    code: `
      const found = Object.getOwnPropertyNames(globalThis).filter((name) => /left|secret/i.test(name))
      ;(globalThis as any).leftByAttack = 'left here'
      const files = [...Deno.readDirSync('/tmp')].map(({ name }) => name).filter((name) => name !== 'deno')
      export default () => {
        console.log('found ' + found.length + ' globals and ' + files.length + ' files')
        return Response.json({ found, files })
      }`,
    must: { answer: 200, run: 'succeeded', says: /found 0 globals and 0 files/ },
  },
  {
    family,
    name: "looks for the last val's memory, in another val",
    code: `
      const found = Object.getOwnPropertyNames(globalThis).filter((name) => /left|secret/i.test(name))
      export default () => {
        console.log('found ' + found.length + ' globals')
        return Response.json({ found })
      }`,
    must: { answer: 200, run: 'succeeded', says: /found 0 globals/ },
  },
]
