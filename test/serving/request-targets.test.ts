/** Request targets against a map of the joined texts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { RequestTargets } from '../../src/serving/request-targets.ts'

test('What was added is found, and nothing else is, however alike path and query look.', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', '/', '=', '1', '2', 'é', '\u{fffd}'),
    maxLength: 9,
  })
  const requests = fc.array(fc.tuple(text, text), { maxLength: 60 })
  fc.assert(
    fc.property(requests, requests, (added, asked) => {
      const targets = new RequestTargets<number>()
      const known = new Map<string, number>()
      added.forEach(([path, query], i) => {
        const key = `${path}?${query}`
        assert.equal(targets.find(path, query), known.get(key), key)
        if (known.has(key)) return
        targets.add(path, query, i)
        known.set(key, i)
      })
      for (const [path, query] of [...asked, ...added]) {
        const key = `${path}?${query}`
        assert.equal(targets.find(path, query), known.get(key), key)
      }
    }),
    { numRuns: 500 },
  )
})

test('Nearly all of as many requests as it remembers are found, and one more makes it forget them.', () => {
  const targets = new RequestTargets<number>()
  const query = (i: number): string => `lat=${(i % 181) - 90}.${i}&lng=${i % 360}`
  for (let i = 0; i < 16_384; i++) targets.add('/v2/conditions', query(i), i)
  let found = 0
  for (let i = 0; i < 16_384; i++) {
    const value = targets.find('/v2/conditions', query(i))
    if (value === undefined) continue
    assert.equal(value, i, `request ${i} leads to ${value}`)
    found++
  }
  assert.ok(found > 16_300, `${found} of 16,384 found`)
  // As many more as found no slot, one, and some that may find none either.
  const more = 16_384 - found + 1
  for (let i = 0; i < more + 100; i++) targets.add('/v2/conditions', `more=${i}`, -1)
  assert.equal(targets.find('/v2/conditions', query(1)), undefined)
})

test('While the table grows, nearly all that were added so far are found.', () => {
  const targets = new RequestTargets<number>()
  for (let many = 1; many <= 16_384; many++) {
    targets.add(`/v2/buoys/${many}`, '', many)
    // Around each size at which it grows.
    if (((many + 1) & many) !== 0 && (many & (many - 1)) !== 0 && (many & (many - 2)) !== 0) continue
    let found = 0
    for (let i = 1; i <= many; i++) {
      const value = targets.find(`/v2/buoys/${i}`, '')
      if (value === undefined) continue
      assert.equal(value, i, `target ${i} of ${many} leads to ${value}`)
      found++
    }
    assert.ok(found >= 0.99 * many, `${found} of ${many} found`)
  }
})

test('What is remembered again and again takes the room of one, and the newest is found.', () => {
  const targets = new RequestTargets<number>()
  targets.add('/v2/buoys', 'page=2', -1)
  for (let i = 0; i < 20_000; i++) {
    targets.add('/v2/buoys/satellites', '', i)
    assert.equal(targets.find('/v2/buoys/satellites', ''), i)
  }
  assert.equal(targets.find('/v2/buoys', 'page=2'), -1)
})

test('A long request is passed over.', () => {
  const targets = new RequestTargets<number>()
  targets.add('/v2/buoys', 'x'.repeat(500), 1)
  assert.equal(targets.find('/v2/buoys', 'x'.repeat(500)), undefined)
})
