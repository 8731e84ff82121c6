import type { SandboxOptions } from '../sandbox-options.ts'
import { openTestDriver, startInside } from './open-test-driver.ts'

/** A runner for tests to kill: starts two sandboxes with the driver and in the folder that it is told, and waits. */
const [kind, folder = ''] = process.argv.slice(2)
const { driver } = await openTestDriver({ kind: kind as SandboxOptions['kind'], folder })
for (const inside of [await startInside(driver), await startInside(driver)]) {
  await inside.run('export default () => 1')
}
process.stdout.write('ready\n')
setInterval(() => {}, 2 ** 30)
