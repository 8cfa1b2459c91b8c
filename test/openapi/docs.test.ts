/** The documentation page in a real browser, the description as files, and a build that cannot reach npm. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { ROUTED } from '../../src/routes.ts'
import { openBrowser, serveWorld, visit } from '../explorer/browser.ts'
import { Client, temporaryFolder } from '../live.ts'

const COMMITTED = fileURLToPath(new URL('../../clients/openapi.json', import.meta.url))

/** Scalar tries once to evaluate text, is refused, and goes on without. */
const PROBE = /script-src|unsafe-eval/

test('The documentation', { timeout: 600_000 }, async (t) => {
  const live = await serveWorld(t, { args: ['--base-path=/api/v2'] })
  const client = new Client(live, null)
  t.after(() => client.close())

  await t.test('has a description below the base path, for everybody and without a charge', async () => {
    const reply = await client.get('/openapi.json')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['content-type'], 'application/json')
    assert.equal(reply.headers['access-control-allow-origin'], '*')
    assert.equal(reply.headers['x-ratelimit-limit'], undefined)
    const committed = readFileSync(COMMITTED, 'utf8')
      .replaceAll('"/v2"', '"/api/v2"')
      .replaceAll('8080/v2', '8080/api/v2')
    assert.ok(reply.text === JSON.stringify(JSON.parse(committed)), 'the description is the committed one')
    const again = await client.get('/openapi.json', {
      headers: { 'if-none-match': String(reply.headers.etag) },
    })
    assert.deepEqual([again.status, again.text], [304, ''])
    assert.equal((await client.get('/openapi.json', { method: 'HEAD' })).status, 200)
  })

  await t.test('has a plain text for language models', async () => {
    const reply = await client.getAbsolute('/llms.txt')
    assert.equal(reply.status, 200)
    assert.match(reply.text, /^# groundswell\n\n> /)
    assert.equal(reply.text.match(/^### GET \/api\/v2\//gm)?.length, ROUTED.length)
    for (const guide of [
      'Quick start',
      'Keys and quota',
      'Errors',
      'Conditional requests',
      'Satellites',
      'Data sources and credits',
    ]) {
      assert.ok(reply.text.includes(`\n## ${guide}\n`), guide)
    }
  })

  const { text: html, headers } = await client.getAbsolute('/docs')
  await t.test('has a page with a strict policy', () => {
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'self'; script-src 'self';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(html, /<script>|\son\w+=|https?:/)
    assert.ok(html.includes('/api/v2/openapi.json'), 'the page names the description')
  })

  if (!html.includes('scalar')) {
    t.diagnostic(
      'npm could not fetch the documentation browser when this was built: only the plain page was tested',
    )
    return
  }
  const browser = await openBrowser(t)
  await t.test(
    'shows guides and operations without asking any other server, and sends the requests that a reader tries',
    async (t) => {
      const { page, errors, foreign } = await visit(t, browser, live, 'docs#tag/buoys/GET/buoys/{buoy_id}')
      await page.getByRole('heading', { name: 'One buoy' }).first().waitFor()
      const sent = async (): Promise<{ status: number; text: string }> => {
        const answered = page.waitForResponse(/\/api\/v2\/buoys\/anglet$/)
        await page.keyboard.press('Control+Enter')
        const answer = await answered
        return { status: answer.status(), text: await answer.text() }
      }
      await page.getByRole('button', { name: 'Test Request (get /buoys/{buoy_id})' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Send Request' }).waitFor()
      const without = await sent()
      assert.equal(without.status, 401)
      assert.match(without.text, /API key required/)
      await dialog.getByPlaceholder('Token').fill(live.key)
      const withKey = await sent()
      assert.equal(withKey.status, 200, withKey.text)
      assert.match(withKey.text, /"slug":"anglet"/)
      await dialog.getByText('200 OK').first().waitFor()
      assert.deepEqual(foreign, [])
      assert.deepEqual(
        errors.filter((error) => !PROBE.test(error) && !error.includes('401')),
        [],
      )
      await page.goto(page.url().replace(/#.*/, ''))
      for (const guide of ['Quick start', 'Keys and quota', 'Data sources and credits']) {
        await page.getByRole('heading', { name: guide, exact: true }).first().waitFor()
      }
    },
  )

  for (const colorScheme of ['light', 'dark'] as const) {
    await t.test(`has no fault that axe finds, in ${colorScheme} colours`, async (t) => {
      const { page } = await visit(t, browser, live, 'docs', { colorScheme })
      await page.getByRole('heading', { name: 'Quick start' }).first().waitFor()
      await page.locator('code.custom-scroll[tabindex]').first().waitFor()
      assert.deepEqual(await faults(page), [])
    })
  }
})

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Faults of accessibility that axe finds, as lines. */
async function faults(page: Page): Promise<string[]> {
  await page.evaluate(AXE)
  const found = await page.evaluate<{ id: string; nodes: { html: string }[] }[]>(
    'axe.run().then((result) => result.violations)',
  )
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`))
}

interface Built {
  files: { path: string; bytes: Uint8Array }[]
  isWhole: boolean
}

/** Builds the page with `registry` as npm's only registry. `took` is in ms. */
async function buildWith(t: TestContext, registry: string, cache: string): Promise<Built & { took: number }> {
  const settings = { npm_config_registry: registry, npm_config_cache: join(temporaryFolder(t), 'npm') }
  const before = Object.fromEntries(Object.keys(settings).map((name) => [name, process.env[name]]))
  Object.assign(process.env, settings)
  t.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  const { build } = (await import(new URL('../../src/docs/build.mjs', import.meta.url).href)) as {
    build: (cache: string) => Promise<Built>
  }
  const start = performance.now()
  const built = await build(cache)
  return { ...built, took: performance.now() - start }
}

/** Longer than npm waits for an answer, on a busy machine. */
const PATIENCE = 120_000

test('Without npm the page is a plain one that points at the description.', async (t) => {
  // A port that nobody listens on.
  const { files, isWhole, took } = await buildWith(t, 'http://127.0.0.1:9/', temporaryFolder(t))
  assert.equal(isWhole, false)
  assert.ok(took < PATIENCE, `it took ${took} ms`)
  const page = files.find(({ path }) => path === '/docs')
  assert.match(Buffer.from(page?.bytes ?? []).toString(), /could not be fetched[^]*openapi\.json/)
})

test('A registry that never answers delays a build briefly, and a kept file with other bytes is not used.', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const cache = join(temporaryFolder(t), 'cache')
  mkdirSync(cache)
  writeFileSync(join(cache, 'scalar-1.72.1.js'), 'alert(1)')
  const { port } = silent.address() as AddressInfo
  const { files, isWhole, took } = await buildWith(t, `http://127.0.0.1:${port}/`, cache)
  assert.equal(isWhole, false)
  assert.ok(took < PATIENCE, `it took ${took} ms`)
  assert.ok(
    !files.some(({ bytes }) => Buffer.from(bytes).includes('alert(1)')),
    'the false file is not served',
  )
})
