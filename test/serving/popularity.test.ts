import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { MOST_COUNTED, Popularity } from '../../src/serving/popularity.ts'

const digest = fc.record({ low: fc.integer(), high: fc.nat({ max: 0xffff }) })

test('No request counts for less than it was asked for, and a single one for no more than itself.', () => {
  fc.assert(
    fc.property(fc.uniqueArray(digest, { maxLength: 50, selector: ({ low }) => low }), (digests) => {
      const popularity = new Popularity()
      for (const [i, { low, high }] of digests.entries()) {
        for (let time = 0; time <= i; time++) popularity.count(low, high)
      }
      for (const [i, { low, high }] of digests.entries()) {
        assert.ok(popularity.of(low, high) >= Math.min(i + 1, MOST_COUNTED))
      }
      if (digests.length === 1) assert.equal(popularity.of(digests[0].low, digests[0].high), 1)
    }),
  )
})

test('Of ten thousand requests few are taken for more popular than they are.', () => {
  const popularity = new Popularity()
  const lows = Array.from({ length: 10_000 }, (_, i) => Math.imul(i + 1, 0x85ebca6b))
  for (const low of lows) popularity.count(low, low >>> 20)
  const overrated = lows.filter((low) => popularity.of(low, low >>> 20) > 1).length
  // Each of two counters is another one's, too, with a chance of 0.26: 690 have both.
  assert.ok(overrated < 1000, `${overrated}`)
})

test('What is no longer asked for is forgotten by halves.', () => {
  const popularity = new Popularity()
  for (let time = 0; time < 40; time++) popularity.count(1, 1)
  const before = popularity.of(1, 1)
  while (popularity.halvings === 0) popularity.count(2, 2)
  assert.equal(popularity.of(1, 1), before >> 1)
})
