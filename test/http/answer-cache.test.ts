import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import zlib, { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { AnswerCache, type Coded, KeptAnswer } from '../../src/http/answer-cache.ts'
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

function there(cache: AnswerCache, key: string, encoding: Encoding): KeptAnswer | null {
  const answer = cache.inCoding(key, cache.get(key)!, encoding)
  return answer instanceof KeptAnswer && answer.encoding === encoding ? answer : null
}

/** Asks until the answer comes in a coding. */
async function untilIn(encoding: Encoding, cache: AnswerCache, key: string): Promise<KeptAnswer> {
  await until(() => there(cache, key, encoding) !== null, `${key} never came as ${encoding}`)
  return there(cache, key, encoding)!
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
  for (const length of [3000, 60_000]) {
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

test('Jobs are bounded; what is beyond, or too long, goes out as it is.', async () => {
  const cache = new AnswerCache(256_000_000)
  const [a, b, c] = [0, 1, 2].map((key) => ask(cache, key, 60_000)!)
  void cache.inCoding('k0', a, 'gzip')
  void cache.inCoding('k0', a, 'gzip')
  assert.equal(cache.jobs, 1, 'once at a time')
  void cache.inCoding('k1', b, 'br')
  assert.equal(cache.inCoding('k2', c, 'gzip'), c)
  assert.equal(cache.jobs, 2, 'no third one')
  await untilIn('gzip', cache, 'k0')
  await untilIn('br', cache, 'k1')
  assert.equal(cache.jobs, 0)
  await untilIn('gzip', cache, 'k2')
  const long = ask(cache, 3, 9_000_000)!
  assert.equal(cache.inCoding('k3', long, 'gzip'), long, 'too long to be compressed')
  assert.equal(cache.jobs, 0)
})

test('All that ask at once for an answer of more than 64 KB get it compressed, once, kept or not.', async () => {
  for (const limit of [1_000_000, 0]) {
    const cache = new AnswerCache(limit)
    const answer = new KeptAnswer(bytesOf(0, 70_000), 'json', Buffer.of())
    const asked = Array.from({ length: 20 }, () => cache.inCoding('k0', answer, 'br'))
    assert.equal(cache.jobs, 1)
    answer.leave()
    for (const { encoding, bytes } of await Promise.all(asked as Promise<Coded>[])) {
      assert.equal(encoding, 'br')
      assert.ok(zlib.brotliDecompressSync(bytes).equals(bytesOf(0, 70_000)))
    }
    assert.equal(cache.jobs, 0)
  }
  const cache = new AnswerCache(0)
  const long = new KeptAnswer(new Uint8Array(8_000_000), 'json', Buffer.of())
  const asked = Array.from({ length: 12 }, (_, key) => cache.inCoding(`k${key}`, long, 'gzip'))
  assert.equal(asked.filter((each) => each === long).length, 3, 'beyond 64 MiB that wait')
  await Promise.all(asked.filter((each) => each instanceof Promise))
})

test('An answer that leaves the cache holds no memory, but stays counted until it is compressed.', async () => {
  const cache = new AnswerCache(1_000_000)
  const answer = ask(cache, 0, 100_000)!
  void cache.inCoding('k0', answer, 'gzip')
  for (let key = 1; key < 30; key++) ask(cache, key, 100_000)
  assert.deepEqual([answer.kept, answer.length], [false, 0])
  assert.equal(cache.jobs, 1)
  await until(() => cache.jobs === 0)
  assert.ok(cache.bytes <= 1_000_000)
})

test('Where the compressor fails, the answer stays as it is, and is compressed the next time.', async () => {
  const cache = new AnswerCache(1_000_000)
  const [answer, long] = [ask(cache, 0, 3000)!, ask(cache, 1, 70_000)!]
  const failing = mock.method(KeptAnswer.prototype, 'compressed', () =>
    Promise.reject(new Error('out of memory')),
  )
  assert.equal(cache.inCoding('k0', answer, 'gzip'), answer)
  const { encoding, bytes } = await (cache.inCoding('k1', long, 'gzip') as Promise<Coded>)
  assert.equal(encoding, null)
  assert.ok(Buffer.from(bytes).equals(bytesOf(1, 70_000)))
  failing.mock.restore()
  assert.equal(cache.jobs, 0)
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
