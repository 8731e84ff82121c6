import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { findFreePort, isPortFree } from './find-free-port.ts'

type Ports = Record<string, number>

/** The port that a service had in this folder the last time where it is free, so that URLs stay valid. */
export async function rememberPort(folder: string, service: string): Promise<number> {
  const file = path.join(folder, 'services.json')
  const ports = await readPorts(file)
  const known = ports[service]
  if (known !== undefined && (await isPortFree(known))) return known
  const port = await findFreePort()
  await writeFile(file, `${JSON.stringify({ ...ports, [service]: port }, null, 2)}\n`)
  return port
}

async function readPorts(file: string): Promise<Ports> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Ports
  } catch {
    // Missing or damaged: it only saves us from choosing anew.
    return {}
  }
}
