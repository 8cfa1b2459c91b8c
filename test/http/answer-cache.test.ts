import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import zlib, { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { AnswerCache, KeptAnswer } from '../../src/http/answer-cache.ts'
import { ENCODINGS } from '../../src/operation/preferences.ts'
import type { Encoding } from '../../src/operation/preferences.ts'
import { until } from '../until.ts'

const TAIL = Buffer.from('2026-03-27T09:00:00Z"}}')
const LATER = Buffer.from('2026-03-27T09:00:07Z"}}')

/** The time that an answer has to tell in its last bytes. */
const at = (second: number, tail = TAIL): { second: number; tail: Buffer } => ({ second, tail })

/** Bytes that say whose they are. */
const bytesOf = (key: number, length: number): Buffer =>
  Buffer.concat([Buffer.from(`${key}:`.padEnd(length, String(key % 10))), TAIL])

/** Asks as the request path does. @returns what is kept of the answer then, if anything */
function ask(cache: AnswerCache, key: number, length: number): KeptAnswer | null {
  return cache.get(`k${key}`) ?? cache.put(`k${key}`, 'json', bytesOf(key, length))
}

/** Asks until the answer comes in a coding. */
async function untilIn(encoding: Encoding, cache: AnswerCache, key: string): Promise<KeptAnswer> {
  const answer = (): KeptAnswer => cache.inCoding(key, cache.get(key)!, encoding)
  await until(() => answer().encoding === encoding, `${key} never came as ${encoding}`)
  return answer()
}

test('Whatever is asked for, kept answers take no more than the limit, and each keeps its own bytes.', () => {
  const limit = 20_000
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 400 }), (requests) => {
      const cache = new AnswerCache(limit)
      // One answer always has the same length.
      const lengthOf = (key: number): number => 10 + ((key * 577) % 3000)
      for (const key of requests) {
        ask(cache, key, lengthOf(key))
        assert.ok(cache.bytes <= limit, `${cache.bytes} bytes`)
      }
      let bytes = 0
      for (let key = 0; key <= 60; key++) {
        const kept = cache.get(`k${key}`)
        if (kept === undefined) continue
        const own = Buffer.from(kept.bytesAt(at(key)))
        assert.ok(own.equals(bytesOf(key, lengthOf(key))), `answer ${key}`)
        assert.ok(own.length <= limit / 8, 'an answer above its share')
        bytes += own.length
      }
      assert.ok(bytes <= cache.bytes)
    }),
  )
})

test('As long as there is room every answer is kept; then the one goes that was not asked for the longest.', () => {
  const cache = new AnswerCache(1_000_000)
  for (let key = 0; key < 200; key++) assert.ok(ask(cache, key, 1000) !== null, `answer ${key}`)
  for (let key = 0; key < 200; key++) assert.ok(cache.get(`k${key}`) !== undefined, `answer ${key}`)
  for (let one = 0; one < 5000; one++) {
    ask(cache, 1000 + one, 1000)
    ask(cache, one % 100, 1000)
  }
  for (let key = 0; key < 100; key++) assert.ok(cache.get(`k${key}`) !== undefined, `popular answer ${key}`)
  assert.equal(cache.get('k150'), undefined)
})

test('A kept answer is compressed once a minute, while requests get it plain, and tells when that was.', async () => {
  for (const length of [3000, 100_000]) {
    const cache = new AnswerCache(1_000_000)
    const plain = ask(cache, 0, length)!
    plain.bytesAt(at(8, LATER))
    assert.equal(cache.inCoding('k0', plain, 'gzip'), plain, 'not ready at once')
    const compressed = await untilIn('gzip', cache, 'k0')
    const told = Buffer.concat([bytesOf(0, length).subarray(0, -TAIL.length), LATER])
    for (const second of [8, 9, 8 + 59]) {
      plain.bytesAt(at(second))
      assert.equal(cache.inCoding('k0', plain, 'gzip'), compressed)
      const bytes = compressed.bytesAt(at(second))
      assert.ok(bytes.length < length / 5)
      assert.ok(gunzipSync(bytes).equals(told))
    }
    assert.ok(Buffer.from(plain.bytesAt(at(9))).equals(bytesOf(0, length)))
    assert.ok(cache.bytes > length + compressed.length, 'both are counted')
    plain.bytesAt(at(8 + 60))
    assert.equal(cache.inCoding('k0', plain, 'gzip'), plain, 'it is a minute old')
    const again = await untilIn('gzip', cache, 'k0')
    assert.ok(gunzipSync(again.bytesAt(at(8 + 60))).equals(bytesOf(0, length)))
  }
})

test('An answer of less than a kilobyte is not compressed.', async () => {
  const cache = new AnswerCache(100_000)
  const small = ask(cache, 0, 900)!
  assert.equal(cache.inCoding('k0', small, 'gzip'), small)
  await wait(50)
  assert.equal(cache.inCoding('k0', small, 'gzip'), small)
})

test('Jobs are bounded over all caches of a thread; what is beyond, or too long, goes out as it is.', async () => {
  const jobs = new Set<string>()
  const [one, other] = [new AnswerCache(256_000_000, jobs), new AnswerCache(256_000_000, jobs)]
  const [a, b, c] = [ask(one, 0, 100_000)!, ask(one, 1, 100_000)!, ask(other, 2, 100_000)!]
  one.inCoding('k0', a, 'gzip')
  one.inCoding('k0', a, 'gzip')
  assert.equal(jobs.size, 1, 'once at a time')
  one.inCoding('k1', b, 'br')
  assert.equal(other.inCoding('k2', c, 'gzip'), c)
  assert.equal(jobs.size, 2, 'no third one')
  await untilIn('gzip', one, 'k0')
  await untilIn('br', one, 'k1')
  assert.equal(jobs.size, 0)
  await untilIn('gzip', other, 'k2')
  const long = ask(one, 3, 9_000_000)!
  one.inCoding('k3', long, 'gzip')
  assert.equal(jobs.size, 0, 'too long to be compressed')
})

test('An answer that leaves the cache holds no memory, but stays counted until it is compressed.', async () => {
  const jobs = new Set<string>()
  const cache = new AnswerCache(1_000_000, jobs)
  const answer = ask(cache, 0, 100_000)!
  cache.inCoding('k0', answer, 'gzip')
  for (let key = 1; key < 30; key++) ask(cache, key, 100_000)
  assert.deepEqual([answer.kept, answer.length], [false, 0])
  assert.equal(jobs.size, 1)
  await until(() => jobs.size === 0)
  assert.ok(cache.bytes <= 1_000_000)
})

test('Where the compressor fails, the answer stays as it is, and is compressed the next time.', async () => {
  const jobs = new Set<string>()
  const cache = new AnswerCache(100_000, jobs)
  const answer = ask(cache, 0, 3000)!
  const failing = mock.method(KeptAnswer.prototype, 'compressed', () =>
    Promise.reject(new Error('out of memory')),
  )
  assert.equal(cache.inCoding('k0', answer, 'gzip'), answer)
  await wait(20)
  failing.mock.restore()
  assert.equal(jobs.size, 0)
  assert.ok(Buffer.from(answer.bytesAt(at(1))).equals(bytesOf(0, 3000)))
  await untilIn('gzip', cache, 'k0')
})

const DECOMPRESS: { [coding in Encoding]: (bytes: Uint8Array) => Buffer } = {
  gzip: zlib.gunzipSync,
  br: zlib.brotliDecompressSync,
}

test('A compressed answer decompresses to what it was made of, whatever requests write into its tail meanwhile.', async () => {
  assert.deepEqual(ENCODINGS, ['br', 'gzip'])
  const head = fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 3000 }),
    fc.string({ minLength: 1, maxLength: 200 }).map((text) => Buffer.from(text.repeat(50))),
  )
  await fc.assert(
    fc.asyncProperty(head, fc.constantFrom(...ENCODINGS), async (bytes, encoding) => {
      const answer = Buffer.concat([bytes, TAIL])
      const plain = new KeptAnswer(new Uint8Array(answer), 'json', new Uint8Array(0))
      const compressing = plain.compressed(encoding)
      plain.bytesAt(at(9, Buffer.alloc(TAIL.length, 'x')))
      assert.ok(DECOMPRESS[encoding]((await compressing).bytesAt(at(9, LATER))).equals(answer))
    }),
    { numRuns: 200 },
  )
})

test('An answer without a timestamp keeps its last bytes, compressed too, for as long as it is kept.', async () => {
  const csv = Buffer.from('id,name\r\n'.repeat(300))
  for (const encoding of ENCODINGS) {
    const cache = new AnswerCache(1_000_000)
    const plain = cache.put('k', 'csv', csv)!
    assert.ok(Buffer.from(plain.bytesAt(at(1))).equals(csv))
    const compressed = await untilIn(encoding, cache, 'k')
    assert.ok(DECOMPRESS[encoding](compressed.bytesAt(at(1))).equals(csv))
    plain.bytesAt(at(1000))
    assert.equal(cache.inCoding('k', plain, encoding), compressed)
  }
})
