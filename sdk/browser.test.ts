import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chromium } from 'playwright-core'
import { openTestServer } from '@valley/server/testing/open-test-server.ts'
import { serveSource } from './testing/serve-source.ts'
import { tourOf } from './testing/short-tour.ts'

/** Loopback itself counts as secure; a page of another name over plain HTTP gets less of the platform. */
const plainHost = 'plain.example'

const launchOptions = {
  executablePath: '/usr/bin/chromium',
  // Tests may run as root and without a network: no sandbox of its own, no looking for updates.
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-background-networking',
    '--no-first-run',
    `--host-resolver-rules=MAP ${plainHost} 127.0.0.1`,
  ],
  timeout: 60_000,
}

test('the source runs in a browser, from another origin over plain HTTP, and sees the ETags', async () => {
  await using server = await openTestServer()
  await using site = await serveSource()
  const alice = await server.createUser('alice')
  await using browser = await chromium.launch(launchOptions)
  const page = await browser.newPage()
  await page.goto(`http://${plainHost}:${site.port}/`)
  assert.equal(await page.evaluate('isSecureContext'), false)
  const options = JSON.stringify({ baseUrl: server.url, token: alice.token })
  const tour = await page.evaluate(
    `import('/testing/short-tour.ts').then(({ shortTour }) => shortTour(${options}))`,
  )
  assert.deepEqual(tour, tourOf('alice'))
})
