import { chmod, copyFile, link, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runCommand } from './run-command.ts'
import type { SandboxBootstrap } from './sandbox-options.ts'

export interface RootfsContents {
  readonly deno: string
  readonly resolvers: readonly string[]
  readonly bootstrap: SandboxBootstrap
}

/** Where everything is inside; the folders of the sandbox's own are mounted over the empty ones. */
export const insidePlaces = {
  socketFolder: '/sock',
  valFolder: '/val',
  appFolder: '/app',
  temporaryFolder: '/tmp',
} as const

export const insideDeno = '/bin/deno'

/**
 * One file tree for all sandboxes: Deno, the libraries that it is linked to, the bootstrap, how to resolve names, and
 * nothing else. It is one and the same file in every sandbox, so its pages are in memory once.
 */
export async function makeRootfs(folder: string, contents: RootfsContents): Promise<void> {
  await rm(folder, { recursive: true, force: true })
  const { socketFolder, valFolder, appFolder, temporaryFolder } = insidePlaces
  for (const path of ['/bin', '/dev', '/etc', '/proc', socketFolder, valFolder, appFolder, temporaryFolder]) {
    await mkdir(join(folder, path), { recursive: true, mode: 0o755 })
  }
  // runc gives a tmpfs the mode of the folder beneath it.
  await chmod(join(folder, temporaryFolder), 0o1777)
  await share(contents.deno, join(folder, insideDeno))
  for (const library of await listLibraries(contents.deno)) await copy(library, join(folder, library))
  const texts = { ...writeTexts(contents), '/etc/ssl/certs/ca-certificates.crt': await readOwnAuthorities() }
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(folder, path)), { recursive: true, mode: 0o755 })
    await writeFile(join(folder, path), text, { mode: 0o644 })
  }
}

/** A link instead of a copy where the file system allows: it saves 100 MB and is the page cache of any other Deno. */
async function share(source: string, target: string): Promise<void> {
  await link(source, target).catch(() => copy(source, target))
  await chmod(target, 0o755)
}

async function copy(source: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true, mode: 0o755 })
  await copyFile(source, target)
  await chmod(target, 0o755)
}

/** Before glibc 2.34 the modules that resolve names were libraries that no program is linked to. */
const unlinkedLibraries = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2']

async function listLibraries(program: string): Promise<string[]> {
  const output = await runCommand('ldd', [program])
  const linked = output
    .split('\n')
    .map((line) => /(\/\S+) \(0x[0-9a-f]+\)$/.exec(line)?.[1] ?? '')
    .filter(Boolean)
  const libc = linked.find((path) => path.includes('/libc.so')) ?? ''
  const unlinked = unlinkedLibraries.map((name) => join(dirname(libc), name))
  return [...linked, ...unlinked.filter((path) => existsSync(path))]
}

/** Where Debian and Fedora keep the certificate authorities that an operator added. */
const authorityFolders = ['/usr/local/share/ca-certificates', '/etc/pki/ca-trust/source/anchors']

/** Mozilla's are in Deno; to parse all of the host's again would cost each val 30 ms at its first fetch. */
async function readOwnAuthorities(): Promise<string> {
  const texts: string[] = []
  for (const folder of authorityFolders) {
    const names = (await readdir(folder).catch(() => [])).filter((name) => /\.(crt|pem)$/.test(name))
    for (const name of names) texts.push(await readFile(join(folder, name), 'utf8'))
  }
  return texts.join('\n')
}

function writeTexts({ resolvers, bootstrap }: RootfsContents): Record<string, string> {
  const files = Object.entries(bootstrap.files)
  return {
    '/etc/resolv.conf': [
      ...resolvers.map((address) => `nameserver ${address}`),
      'options timeout:2',
      '',
    ].join('\n'),
    '/etc/nsswitch.conf': 'hosts: files dns\n',
    '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
    ...Object.fromEntries(files.map(([name, text]) => [join(insidePlaces.appFolder, name), text])),
  }
}
