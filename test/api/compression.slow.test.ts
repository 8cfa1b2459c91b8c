/** Answers in codings, over both engines: the same bytes once decompressed, and the same validators. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { smallSnapshot } from '../access/turned_clock.ts'
import { examplesSnapshots } from '../built_once.ts'
import { ask, startLive, type Live, type Reply } from '../live.ts'
import { missing, SLOW_ENGINES } from '../http/server_for_tests.ts'

const snapshots = await smallSnapshot()

const get = (
  live: Live,
  path: string,
  headers: { [name: string]: string } = {},
  method = 'GET',
): Promise<Reply> =>
  ask(live.port, `/v2${path}`, { method, headers: { authorization: `Bearer ${live.key}`, ...headers } })

/** Everything of an answer but the second it was sent in. */
const untimed = (bytes: Buffer): string => bytes.toString().replace(/"timestamp":"[^"]*"\}\}$/, '')

/** Asks until the answer comes in a coding: it is compressed in the background when it is asked for again. */
async function askUntilCompressed(live: Live, path: string, coding: string): Promise<Reply> {
  for (let i = 0; i < 200; i++) {
    const reply = await get(live, path, { 'accept-encoding': coding })
    assert.equal(reply.status, 200)
    if (reply.headers['content-encoding'] !== undefined) return reply
    assert.equal(reply.headers['content-length'], String(reply.bytes.length))
  }
  throw new Error(`${path} never came as ${coding}`)
}

const DECOMPRESS = { gzip: gunzipSync, br: brotliDecompressSync }

for (const engine of SLOW_ENGINES) {
  test(
    `Over ${engine}, an answer that is asked for again comes compressed to those who take it.`,
    { skip: missing(engine) },
    async (t) => {
      const live = await startLive(t, {
        snapshots,
        args: [`--engine=${engine}`, '--workers=1'],
      })
      for (const path of ['/buoys', '/buoys/map']) {
        const plain = await get(live, path)
        assert.equal(plain.status, 200, path)
        assert.equal(plain.headers['content-encoding'], undefined)
        assert.match(plain.headers['vary'] ?? '', /\bAccept-Encoding\b/)
        for (const coding of ['gzip', 'br'] as const) {
          const compressed = await askUntilCompressed(live, path, coding)
          assert.equal(compressed.headers['content-length'], String(compressed.bytes.length))
          assert.equal(
            compressed.headers['etag'],
            plain.headers['etag'],
            'the validator is weak, so codings share it',
          )
          assert.equal(compressed.headers['content-type'], 'application/json')
          assert.ok(compressed.bytes.length < plain.bytes.length, path)
          assert.equal(untimed(DECOMPRESS[coding](compressed.bytes)), untimed(plain.bytes), path)
          const head = await get(live, path, { 'accept-encoding': coding }, 'HEAD')
          assert.equal(head.headers['content-encoding'], coding)
          assert.equal(head.headers['content-length'], String(compressed.bytes.length))
          const conditional = await get(live, path, {
            'accept-encoding': coding,
            'if-none-match': plain.headers['etag'] ?? '',
          })
          assert.equal(conditional.status, 304)
          assert.equal(conditional.headers['content-encoding'], undefined)
        }
        // In another second the same bytes carry another time, and another checksum.
        await new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000) + 5))
        for (const coding of ['gzip', 'br'] as const) {
          const later = await askUntilCompressed(live, path, coding)
          assert.equal(untimed(DECOMPRESS[coding](later.bytes)), untimed(plain.bytes), path)
        }
        assert.equal(
          (await get(live, path, { 'accept-encoding': 'gzip;q=0, identity' })).headers['content-encoding'],
          undefined,
        )
        assert.equal(untimed((await get(live, path)).bytes), untimed(plain.bytes))
      }
    },
  )

  test(
    `Over ${engine}, an answer of more than 64 KB comes compressed to the first that ask.`,
    { skip: missing(engine) },
    async (t) => {
      const args = [`--engine=${engine}`, '--workers=1']
      const live = await startLive(t, { snapshots: await examplesSnapshots(), args })
      const path = '/buoys/1/readings/series?metric=significient_height&bucket=hour'
      for (const coding of ['gzip', 'br'] as const) {
        const asked = Array.from({ length: 20 }, () => get(live, path, { 'accept-encoding': coding }))
        const first = await Promise.all(asked)
        const plain = await get(live, path)
        assert.ok(plain.bytes.length > 65_536, `${plain.bytes.length} bytes`)
        for (const { headers, bytes } of first) {
          assert.deepEqual([headers['content-encoding'], headers['etag']], [coding, plain.headers['etag']])
          assert.equal(headers['content-length'], String(bytes.length))
          assert.equal(untimed(DECOMPRESS[coding](bytes)), untimed(plain.bytes))
        }
      }
    },
  )
}
