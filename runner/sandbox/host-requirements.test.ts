import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requireHost } from './host-requirements.ts'
import { runCommand } from './run-command.ts'
import { SandboxError } from './sandbox-error.ts'

test('a host that cannot have sandboxes is told in a sentence what to do', async () => {
  await assert.rejects(() => requireHost('runc', { platform: 'darwin', userId: 501 }), {
    name: 'SandboxError',
    message: /needs Linux; .* set SANDBOX=process/,
  })
  await assert.rejects(() => requireHost('runsc', { platform: 'linux', userId: 1000 }), {
    name: 'SandboxError',
    message: /SANDBOX=runsc needs root.* set SANDBOX=process/,
  })
  await requireHost('runc')
})

test('a program that is missing is named', async () => {
  await assert.rejects(() => runCommand('valley-has-no-such-program', []), SandboxError)
})
