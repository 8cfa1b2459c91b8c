/** Long answers made once more for readers that are slow: the same bytes, whatever has happened meanwhile. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { folderOfFile, runCliWell } from '../live.ts'

const folder = folderOfFile()

async function snapshotOf(buoys: number, asOf: string): Promise<string> {
  const out = join(folder, String(buoys))
  const source = `demo:scale,buoys=${buoys},days=1`
  await runCliWell(['build', '--source', source, '--as-of', asOf, '--out', out])
  return out
}

const view = await viewOf(await snapshotOf(2000, '2026-03-27T09:00:00Z'))
const nextView = await viewOf(await snapshotOf(590, '2026-03-27T09:30:00Z'))
const NOW = Date.parse('2026-03-27T10:07:33Z') / 1000
/** Room for a few answers of 1 MB. */
const CACHE_BYTES = 16 * 1024 * 1024
const GZIP_FIRST = 0x1f
/** Longer than answers hold on to a snapshot that has left. */
const LATER_MS = 130_000

const boxed = (west: number): string =>
  `/v2/buoys/map?bounds=${encodeURIComponent(JSON.stringify({ north: 90, south: -90, west, east: 180 }))}`

const long = fc.oneof(
  fc.constantFrom('/v2/buoys/map', '/v2/buoys?per_page=500&active_only=false'),
  fc.integer({ min: -180, max: -150 }).map(boxed),
  fc.integer({ min: 1, max: 2 }).map((page) => `/v2/buoys?per_page=300&near=10,10&radius=20000&page=${page}`),
)

interface Slow {
  bytes: Buffer
  again: () => Uint8Array | null
}

/** A path, and how one asks it with a good key. */
function pathWith(answerCache: number) {
  let now = NOW
  const path = new AskedPath(view, { answerCache, clock: () => now })
  return {
    path,
    ask: (url: string, encoding = ''): Slow => {
      const headers = { ...KEYED, 'accept-encoding': encoding }
      const { status, bytes, again } = path.get(url, headers)
      assert.equal(status, 200, url)
      assert.ok(bytes.length > 64 * 1024, `${url} has ${bytes.length} bytes`)
      assert.ok(again !== null, url)
      return { bytes, again }
    },
    tick: () => void now++,
  }
}

test('A long answer is made again byte by byte, kept or not, whatever is asked meanwhile and whatever snapshot has come.', () => {
  fc.assert(
    fc.property(
      fc.array(long, { minLength: 2, maxLength: 8 }),
      fc.constantFrom(0, CACHE_BYTES / 8, CACHE_BYTES),
      fc.nat({ max: 8 }),
      (urls, cache, swapAt) => {
        const { path, ask, tick } = pathWith(cache)
        const slow = urls.map((url, i) => {
          if (i === swapAt) path.path.setView(nextView)
          tick()
          return ask(url)
        })
        path.path.setView(nextView)
        for (let round = 0; round < 2; round++) {
          for (const { bytes, again } of slow) {
            tick()
            assert.ok(bytes.equals(again()!))
          }
          ask('/v2/buoys/map')
        }
      },
    ),
    { numRuns: 15 },
  )
})

test('A compressed answer is made again for as long as it is kept, and not at all afterwards.', async () => {
  const { ask, tick } = pathWith(CACHE_BYTES)
  let slow = ask('/v2/buoys/map', 'gzip')
  for (let tries = 0; slow.bytes[0] !== GZIP_FIRST; tries++) {
    assert.ok(tries < 500, 'not compressed')
    await wait(20)
    tick()
    slow = ask('/v2/buoys/map', 'gzip')
  }
  tick()
  ask('/v2/buoys/map', 'gzip')
  assert.ok(slow.bytes.equals(slow.again()!))
  for (let west = -180; slow.again() !== null; west += 0.5) {
    assert.ok(west < 0, 'still kept')
    ask(boxed(west))
  }
})

test('A reader that is slow holds on to a snapshot that has left for two minutes.', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { path, ask } = pathWith(0)
  const { bytes, again } = ask('/v2/buoys/map')
  path.path.setView(nextView)
  assert.ok(bytes.equals(again()!))
  t.mock.timers.tick(LATER_MS)
  assert.equal(again(), null)
  assert.ok(ask('/v2/buoys/map').bytes.length > 0)
})
