import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { AnswerCache } from '../../src/serving/cache.ts'
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

test('Whatever is put in, kept answers take no more than the limit, and the newest is among them.', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 0, max: 3000 }))),
      (puts) => {
        const limit = 20_000
        const cache = new AnswerCache(limit)
        const largest = limit / 8
        for (const [key, length] of puts) cache.put(`k${key}`, REQUEST, answerOf(length))
        const kept = Array.from({ length: 61 }, (_, key) => cache.get(`k${key}`)).filter(
          (entry) => entry !== undefined,
        )
        const bytes = kept.reduce((sum, entry) => sum + entry.bytesAt(0, TAIL).length, 0)
        assert.ok(bytes <= limit, `${bytes} bytes`)
        for (const entry of kept)
          assert.ok(entry.bytesAt(0, TAIL).length <= largest, 'an answer above its share')
        const last = puts.findLast(([, length]) => length < largest / 2)
        if (last !== undefined && puts.at(-1) === last)
          assert.ok(cache.get(`k${last[0]}`) !== undefined, 'the newest is gone')
      },
    ),
  )
})

test('A limit of 0 keeps nothing.', () => {
  const cache = new AnswerCache(0)
  cache.put('a', REQUEST, answerOf(10))
  assert.equal(cache.isOff, true)
  assert.equal(cache.get('a'), undefined)
})

test('A request target leads to its answer until that has left the cache.', () => {
  const cache = new AnswerCache(10_000)
  cache.put('a', REQUEST, answerOf(100))
  const answer = cache.get('a')!
  cache.remember('/v2/countries', 'x=1', answer)
  cache.remember('/v2/countries', 'x'.repeat(500), answer)
  assert.equal(cache.getByTarget('/v2/countries', 'x=1'), answer)
  assert.equal(cache.getByTarget('/v2/countries', 'x'.repeat(500)), undefined, 'too long to be remembered')
  for (let i = 0; i < 100; i++) cache.put(`b${i}`, REQUEST, answerOf(500))
  assert.equal(cache.get('a'), undefined)
  assert.equal(cache.getByTarget('/v2/countries', 'x=1'), undefined)
})

test('An answer that has left the cache holds no memory, however long its target is remembered.', () => {
  const cache = new AnswerCache(100_000)
  cache.put('a', REQUEST, answerOf(5000))
  const answer = cache.get('a')!
  cache.remember('/v2/countries', '', answer)
  for (let i = 0; i < 100; i++) cache.put(`b${i}`, REQUEST, answerOf(5000))
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

test('A kept answer is compressed once, in the background, and says the second it is asked for.', async () => {
  const cache = new AnswerCache(100_000)
  cache.put('a', REQUEST, answerOf(3000))
  const answer = cache.get('a')!
  assert.equal(cache.compressed(answer, 'gzip', 1, TAIL), null, 'not ready at once')
  let compressed = cache.compressed(answer, 'gzip', 1, TAIL)
  for (let i = 0; compressed === null && i < 200; i++) {
    await wait(5)
    compressed = cache.compressed(answer, 'gzip', 1, TAIL)
  }
  assert.ok(compressed !== null, 'never compressed')
  const later = Buffer.from('2026-03-27T09:00:07Z"}}')
  const bytes = compressed.bytesAt(8, later)
  assert.ok(bytes.length < 200)
  assert.equal(gunzipSync(bytes).toString(), 'x'.repeat(3000) + later.toString())
  assert.equal(cache.compressed(answer, 'gzip', 9, TAIL), compressed)
  cache.put('small', REQUEST, answerOf(10))
  const small = cache.get('small')!
  for (let i = 0; i < 20; i++) {
    assert.equal(cache.compressed(small, 'gzip', 1, TAIL), null, 'smaller than a packet')
    await wait(1)
  }
})
