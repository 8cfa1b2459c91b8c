import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { AnswerCache } from '../../src/serving/cache.ts'
import { CompressionBudget } from '../../src/serving/compression-budget.ts'
import type { KeptAnswer } from '../../src/serving/kept-answer.ts'
import { listCountries } from '../../src/handlers/countries.ts'

const REQUEST = {
  operation: listCountries,
  index: 13,
  low: 1,
  high: 0,
  minute: 0,
  negotiated: false,
  format: 'json' as const,
}
const TAIL = Buffer.from('2026-03-27T09:00:00Z"}}')

const answerOf = (length: number): Buffer => Buffer.concat([Buffer.alloc(length, 'x'), TAIL])

/** A request of its own: no two of these numbers share a digest. */
const requestOf = (key: number) => ({ ...REQUEST, low: Math.imul(key + 1, 0x9e3779b1), high: key & 0xffff })

/** Bytes that say whose they are. */
const bytesOf = (key: number, length: number): Buffer =>
  Buffer.concat([Buffer.from(`${key}:`.padEnd(length, String(key % 10))), TAIL])

/** Asks as the request path does. @returns what is kept of the answer then, if anything */
function ask(cache: AnswerCache, key: number, length: number): KeptAnswer | null {
  if (!cache.asked(requestOf(key))) return null
  return cache.get(`k${key}`) ?? cache.put(`k${key}`, requestOf(key), bytesOf(key, length))
}

test('Whatever is asked for, kept answers take no more than the limit, and each keeps its own bytes.', () => {
  const limit = 20_000
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 3 })), { maxLength: 400 }),
      (requests) => {
        const cache = new AnswerCache(limit)
        // One answer always has the same length.
        const lengthOf = (key: number): number => 10 + ((key * 577) % 3000)
        for (const [key, more] of requests) {
          for (let i = 0; i <= more; i++) ask(cache, key, lengthOf(key))
          assert.ok(cache.bytes <= limit, `${cache.bytes} bytes`)
        }
        let bytes = 0
        for (let key = 0; key <= 60; key++) {
          const kept = cache.get(`k${key}`)
          if (kept === undefined) continue
          const own = Buffer.from(kept.bytesAt(key, TAIL))
          assert.ok(own.equals(bytesOf(key, lengthOf(key))), `answer ${key}`)
          assert.ok(own.length <= limit / 8, 'an answer above its share')
          bytes += own.length
        }
        assert.ok(bytes <= cache.bytes)
      },
    ),
  )
})

test('As long as there is room, an answer is kept when it is asked for the first time.', () => {
  const cache = new AnswerCache(1_000_000)
  for (let key = 0; key < 200; key++) assert.ok(ask(cache, key, 1000) !== null, `answer ${key}`)
  for (let key = 0; key < 200; key++) assert.ok(cache.get(`k${key}`) !== undefined, `answer ${key}`)
})

test('Answers that many ask for stay, however many others are asked for once.', () => {
  const cache = new AnswerCache(1_000_000)
  const popular = 100
  // Ten times as many bytes as fit, and between every two of them one that is popular.
  for (let one = 0; one < 10_000; one++) {
    ask(cache, 1000 + one, 1000)
    ask(cache, one % popular, 1000)
  }
  const stayed = Array.from({ length: popular }, (_, key) => cache.get(`k${key}`)).filter(
    (kept) => kept !== undefined,
  )
  assert.equal(stayed.length, popular)
})

test('What was popular once gives way to what is asked for now.', () => {
  const cache = new AnswerCache(100_000)
  const ofNow = (round: number): number[] => Array.from({ length: 50 }, (_, i) => round * 1000 + i)
  for (const round of [0, 1, 2]) {
    for (let time = 0; time < 8000; time++) for (const key of ofNow(round)) ask(cache, key, 1000)
    const kept = ofNow(round).filter((key) => cache.get(`k${key}`) !== undefined)
    assert.equal(kept.length, 50, `in round ${round}`)
  }
})

test('A large answer that many ask for stays, too, and does not drive out all others.', () => {
  const cache = new AnswerCache(1_000_000)
  for (let one = 0; one < 5000; one++) {
    ask(cache, 0, 100_000)
    ask(cache, 1 + (one % 20), 5000)
    ask(cache, 1000 + one, 1000)
  }
  for (let key = 0; key <= 20; key++) assert.ok(cache.get(`k${key}`) !== undefined, `answer ${key}`)
})

test('A limit of 0 keeps nothing.', () => {
  const cache = new AnswerCache(0)
  cache.put('a', REQUEST, answerOf(10))
  assert.equal(cache.isOff, true)
  assert.equal(cache.get('a'), undefined)
})

/** Asks often for so many others that what was asked for once leaves. */
function driveOut(cache: AnswerCache, length: number): void {
  for (let time = 0; time < 5; time++) for (let key = 0; key < 100; key++) ask(cache, key, length)
}

test('A request target leads to its answer until that has left the cache.', () => {
  const cache = new AnswerCache(10_000)
  cache.put('a', REQUEST, answerOf(100))
  const answer = cache.get('a')!
  cache.remember('/v2/countries', 'x=1', answer)
  cache.remember('/v2/countries', 'x'.repeat(500), answer)
  assert.equal(cache.getByTarget('/v2/countries', 'x=1'), answer)
  assert.equal(cache.getByTarget('/v2/countries', 'x'.repeat(500)), undefined, 'too long to be remembered')
  driveOut(cache, 100)
  assert.equal(cache.get('a'), undefined)
  assert.equal(cache.getByTarget('/v2/countries', 'x=1'), undefined)
})

test('An answer that has left the cache holds no memory, however long its target is remembered.', () => {
  const cache = new AnswerCache(100_000)
  cache.put('a', REQUEST, answerOf(5000))
  const answer = cache.get('a')!
  cache.remember('/v2/countries', '', answer)
  driveOut(cache, 5000)
  assert.equal(answer.kept, false)
  assert.equal(answer.bytesAt(1, new Uint8Array(0)).length, 0)
})

test('Answers that lie side by side in memory do not write into each other.', () => {
  const cache = new AnswerCache(1_000_000)
  const answers = Array.from({ length: 200 }, (_, i) => Buffer.concat([Buffer.alloc(i * 7, i), TAIL]))
  answers.forEach((answer, i) => cache.put(String(i), REQUEST, answer))
  answers.forEach((answer, i) => {
    const kept = Buffer.from(cache.get(String(i))!.bytesAt(i, TAIL))
    assert.ok(kept.equals(answer), `answer ${i}`)
  })
  answers.forEach((answer, i) => {
    const kept = Buffer.from(cache.get(String(i))!.bytesAt(i, TAIL))
    assert.ok(kept.equals(answer), `answer ${i}, after the others were touched`)
  })
})

test('A kept answer is compressed once, when it is asked for in a coding, and says the second it is asked for.', () => {
  const cache = new AnswerCache(100_000)
  cache.put('a', REQUEST, answerOf(3000))
  const answer = cache.get('a')!
  const compressed = cache.compressed(answer, 'gzip', 1, TAIL)
  assert.ok(compressed !== null)
  const later = Buffer.from('2026-03-27T09:00:07Z"}}')
  const bytes = compressed.bytesAt(8, later)
  assert.ok(bytes.length < 200)
  assert.equal(gunzipSync(bytes).toString(), 'x'.repeat(3000) + later.toString())
  assert.equal(cache.compressed(answer, 'gzip', 9, TAIL), compressed)
  const inBrotli = cache.compressed(answer, 'br', 9, TAIL)!
  assert.equal(brotliDecompressSync(inBrotli.bytesAt(9, TAIL)).toString(), answerOf(3000).toString())
  // Compressed, it is moved with the plain one where room is made.
  for (let key = 0; key < 1000; key++) {
    ask(cache, key, 1000)
    cache.asked(answer)
  }
  assert.equal(cache.compressed(answer, 'gzip', 9, TAIL), compressed)
  assert.equal(gunzipSync(compressed.bytesAt(9, TAIL)).toString(), answerOf(3000).toString())
  assert.ok(Buffer.from(answer.bytesAt(9, TAIL)).equals(answerOf(3000)))
  cache.put('small', REQUEST, answerOf(10))
  const small = cache.get('small')!
  assert.equal(cache.compressed(small, 'gzip', 1, TAIL), null, 'smaller than a packet')
})

test('An answer that would take long is compressed in the background, once, while requests get it plain.', async () => {
  const cache = new AnswerCache(1_000_000)
  cache.put('a', REQUEST, answerOf(100_000))
  const answer = cache.get('a')!
  assert.equal(cache.compressed(answer, 'gzip', 1, TAIL), null, 'not ready at once')
  let compressed = cache.compressed(answer, 'gzip', 1, TAIL)
  for (let i = 0; compressed === null && i < 20_000; i++) {
    await wait(5)
    compressed = cache.compressed(answer, 'gzip', 1, TAIL)
  }
  assert.ok(compressed !== null, 'never compressed')
  assert.equal(gunzipSync(compressed.bytesAt(9, TAIL)).toString(), answerOf(100_000).toString())
  assert.equal(cache.compressed(answer, 'gzip', 9, TAIL), compressed)
})

test('An answer that leaves the cache for its own compressed bytes is sent compressed all the same.', () => {
  // Nine such answers leave no room for compressed ones: the oldest gives way, which is just being
  // compressed.
  const cache = new AnswerCache(9500)
  const [oldest] = Array.from({ length: 9 }, (_, key) => ask(cache, key, 700)!)
  const compressed = cache.compressed(oldest, 'gzip', 1, TAIL)!
  assert.equal(oldest.kept, false)
  assert.ok(gunzipSync(compressed.bytesAt(1, TAIL)).equals(bytesOf(0, 700)))
  assert.ok(cache.bytes <= 9500)
})

test('Without time for it nothing is compressed, neither here nor on another thread; with time it is.', () => {
  let now = 1000
  const budget = new CompressionBudget(
    () => now,
    () => 0,
  )
  const cache = new AnswerCache(64_000_000, undefined, budget)
  budget.spend(20)
  const [short, long] = [1000, 100_000].map((length, key) => ask(cache, key, length)!)
  assert.equal(cache.compressed(short, 'gzip', 1, TAIL), null)
  assert.equal(cache.compressed(long, 'gzip', 1, TAIL), null)
  assert.deepEqual([short.gzip, long.gzip], [null, null])
  now += 1
  assert.equal(cache.compressed(long, 'gzip', 1, TAIL), null)
  assert.equal(long.gzip, 'under way')
  assert.equal(cache.compressed(short, 'gzip', 1, TAIL), null, 'the long one is paid for first')
  now += 100
  assert.ok(cache.compressed(short, 'gzip', 1, TAIL) !== null)
})

test('Where the compressor fails, the answer stays as it is.', () => {
  const cache = new AnswerCache(100_000)
  const answer = ask(cache, 0, 3000)!
  const failing = mock.method(Buffer, 'concat', () => {
    throw new Error('out of memory')
  })
  assert.equal(cache.compressed(answer, 'gzip', 1, TAIL), null)
  failing.mock.restore()
  assert.ok(Buffer.from(answer.bytesAt(1, TAIL)).equals(bytesOf(0, 3000)))
  assert.ok(cache.compressed(answer, 'gzip', 1, TAIL) !== null, 'and is compressed the next time')
})
