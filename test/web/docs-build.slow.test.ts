/** A build of the documentation page that cannot reach npm. */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { listening } from '../listening.ts'
import { temporaryFolder } from '../live.ts'

interface Built {
  files: { path: string; bytes: Uint8Array }[]
  isWhole: boolean
}

/** Builds the page with `registry` as npm's only registry. `took` is in ms. */
async function buildWith(
  t: TestContext,
  registry: string,
  cache: string,
): Promise<Built & { said: string[]; took: number }> {
  const settings = { npm_config_registry: registry, npm_config_cache: join(temporaryFolder(t), 'npm') }
  const before = Object.fromEntries(Object.keys(settings).map((name) => [name, process.env[name]]))
  Object.assign(process.env, settings)
  t.after(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  })
  const { build } = (await import(new URL('../../web/docs/build.mjs', import.meta.url).href)) as {
    build: (say: (line: string) => void, cache: string) => Promise<Built>
  }
  const start = performance.now()
  const said: string[] = []
  const built = await build((line) => said.push(line), cache)
  return { ...built, said, took: performance.now() - start }
}

/** Longer than npm waits for an answer, on a busy machine. */
const PATIENCE = 120_000

test('A registry that never answers delays a build briefly, and a kept file with other bytes is not used.', async (t) => {
  const silent = createServer((socket) => socket.on('error', () => {}))
  const port = await listening(t, silent)
  const cache = join(temporaryFolder(t), 'cache')
  mkdirSync(cache)
  writeFileSync(join(cache, 'scalar-1.72.1.js'), 'alert(1)')
  const { files, isWhole, took } = await buildWith(t, `http://127.0.0.1:${port}/`, cache)
  assert.equal(isWhole, false)
  assert.ok(took < PATIENCE, `it took ${took} ms`)
  assert.ok(
    !files.some(({ bytes }) => Buffer.from(bytes).includes('alert(1)')),
    'the false file is not served',
  )
})
