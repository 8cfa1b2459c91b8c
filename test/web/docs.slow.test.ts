/** The documentation page in a real browser, and the description as files. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openApiDocument } from '../../src/openapi/document.ts'
import { ROUTED } from '../../src/routes.ts'
import { BY_NIGHT } from '../rounds.ts'
import { faults, NO_MAP, openBrowser, serveWorld, visit } from './browser.ts'
import { listening } from '../listening.ts'
import { Client, startLive, temporaryFolder } from '../live.ts'
import { missingBrowser, missingTool } from '../programs.ts'

const COMMITTED = fileURLToPath(new URL('../../clients/openapi.json', import.meta.url))

const run = promisify(execFile)

/** What runs the text of a quick start, which comes as its last argument. */
const QUICK_STARTS: readonly (readonly [string, readonly [string, ...string[]]])[] = [
  ['sh', ['sh', '-c']],
  ['js', [process.execPath, '--input-type=module', '-e']],
  ['python', ['python3', '-c']],
]

test('The documentation', async (t) => {
  const browser = missingBrowser() === false ? await openBrowser(t) : null
  const live = await serveWorld(t, { args: ['--base-path=/api/v2'] })
  const client = new Client(live, null)

  await t.test('has a description below the base path, for everybody and without a charge', async () => {
    const reply = await client.get('/openapi.json')
    assert.equal(reply.status, 200)
    assert.equal(reply.headers['x-ratelimit-limit'], undefined)
    const committed = readFileSync(COMMITTED, 'utf8')
      .replaceAll('"/v2"', '"/api/v2"')
      .replaceAll('8080/v2', '8080/api/v2')
    assert.ok(reply.text === JSON.stringify(JSON.parse(committed)), 'the description is the committed one')
  })

  await t.test(
    'has a plain text for language models, with the fields of every answer and their units',
    async () => {
      const { status, text } = await client.getAbsolute('/llms.txt')
      assert.equal(status, 200)
      assert.equal(text.match(/^### GET \/api\/v2\//gm)?.length, ROUTED.length)
      const guides =
        'Quick start|Keys and quota|Pages of long lists|Errors|Caching|Satellites|Data sources and credits'
      for (const guide of guides.split('|')) assert.ok(text.includes(`\n## ${guide}\n`), guide)
      assert.match(text, /\n### Reading\n\n(- .*\n)*- `significient_height` \(number.*\bm\b/)
      const { components } = openApiDocument(ROUTED, '/v2')
      for (const [name, schema] of Object.entries(components.schemas)) {
        for (const field of Object.keys(schema.properties ?? {})) {
          assert.ok(name.endsWith('Answer') || text.includes(`\`${field}\``), `${name}.${field}`)
        }
      }
    },
  )

  for (const [language, program] of QUICK_STARTS) {
    await t.test(
      `has a quick start in ${language} that runs as it stands`,
      { skip: language === 'python' && missingTool('python3', 'python3') },
      async () => {
        const { text } = await client.getAbsolute('/llms.txt')
        const quickStart = text.slice(text.indexOf('\n## Quick start'), text.indexOf('\n## Pages of'))
        const block = new RegExp(`\n\`\`\`${language}\n([^]*?)\n\`\`\``).exec(quickStart)
        assert.ok(block !== null, 'the text has one')
        const code = block[1].replaceAll('http://127.0.0.1:8080', `http://127.0.0.1:${live.port}`)
        const { stdout } = await run(program[0], [...program.slice(1), code], {
          env: { ...process.env, KEY: live.key },
        })
        assert.match(stdout, /Anglet[^]*\d{4}-\d\d-\d\dT\d\d:\d\d:00Z[^]*\d\.\d/)
      },
    )
  }

  const { text: html, headers } = await client.getAbsolute('/docs')
  await t.test('has a page with a strict policy, and the same with a slash behind its name', async () => {
    // Its addresses are relative, and one folder further down.
    const below = (await client.getAbsolute('/docs/')).text
    assert.equal(below.replaceAll('"../', '"./'), html)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'self'; script-src 'self';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.doesNotMatch(html, /<script>|\son\w+=|https?:/)
    assert.ok(html.includes('/api/v2/openapi.json'), 'the page names the description')
  })

  if (!html.includes('scalar'))
    t.diagnostic('npm could not fetch Scalar for this build: only the plain page was tested')
  if (browser === null || !html.includes('scalar')) return
  await t.test('shows guides and operations, and passes axe', { skip: BY_NIGHT }, async (t) => {
    const { page, errors, foreign } = await visit(t, browser, live, 'docs#tag/buoys/GET/buoys/{buoy_id}')
    await page.getByRole('heading', { name: 'One buoy' }).first().waitFor()
    assert.deepEqual([foreign, errors], [[], []])
    await page.addInitScript(`
        window.refused = []
        addEventListener('securitypolicyviolation', ({ effectiveDirective }) => refused.push(effectiveDirective))
      `)
    await page.goto(page.url().replace(/#.*/, ''))
    for (const guide of ['Quick start', 'Keys and quota', 'Data sources and credits']) {
      await page.getByRole('heading', { name: guide, exact: true }).first().waitFor()
    }
    assert.deepEqual(await page.evaluate('refused'), [], 'nothing is tried that the policy forbids')
    await page.locator('code.custom-scroll[tabindex]').first().waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      assert.deepEqual(await faults(page), [], colorScheme)
    }
  })
})

test('A registry that never answers delays a build briefly, and a kept file with other bytes is not used.', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  const cache = temporaryFolder(t)
  process.env['npm_config_registry'] = `http://127.0.0.1:${await listening(t, silent)}/`
  process.env['npm_config_cache'] = join(cache, 'npm')
  writeFileSync(join(cache, 'scalar-1.72.1.js'), 'alert(1)')
  const { build } = (await import(new URL('../../web/docs/build.mjs', import.meta.url).href)) as {
    build: (
      say: (line: string) => void,
      cache: string,
    ) => Promise<{ files: { bytes: Uint8Array }[]; isWhole: boolean }>
  }
  const began = performance.now()
  const { files, isWhole } = await build(() => {}, cache)
  assert.equal(isWhole, false)
  // Longer than npm waits for an answer, on a busy machine.
  assert.ok(performance.now() - began < 120_000)
  assert.ok(!files.some(({ bytes }) => Buffer.from(bytes).includes('alert(1)')))
})

test(
  'Explorer and documentation have a badge while the data are made up, with a key and without one.',
  { skip: missingBrowser() },
  async (t) => {
    const live = await startLive(t, {
      sourceArgs: ['--source', 'demo:scale,buoys=3,days=2'],
      args: ['--workers=1'],
    })
    const browser = await openBrowser(t)
    for (const path of [`#key=${live.key}`, '', 'docs']) {
      const { page } = await visit(t, browser, live, path, {}, NO_MAP)
      await page.locator('#demo').waitFor({ state: 'visible' })
      assert.match((await page.locator('#demo').textContent()) ?? '', /Demo.*made.up/s)
    }
  },
)
