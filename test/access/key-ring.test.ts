/**
 * How keys are looked up: the ring, against SHA-256 as node:crypto makes it, and values that a thread knows
 * again.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { newKeyText } from '../../src/access/key-records.ts'
import { KeyRing, KnownKeys } from '../../src/access/key-ring.ts'

const KEY = `gsw_${'a'.repeat(49)}`
const hashOf = (key: string): Buffer => createHash('sha256').update(key).digest()
const ringOf = (...hashes: Buffer[]): KeyRing =>
  new KeyRing(
    KeyRing.build(
      hashes.map((hash, slot) => ({ id: '', hash: hash.toString('hex'), quota: slot + 1, slot })),
    ),
  )

test('the ring finds exactly the texts whose SHA-256 it holds, as node:crypto computes it', () => {
  const unit = fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code))
  const text = fc.string({ unit, minLength: 49, maxLength: 49 }).map((rest) => `gsw_${rest}`)
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 40 }), fc.nat(40), (texts, kept) => {
      const ring = ringOf(...texts.slice(0, kept).map(hashOf))
      for (const [slot, key] of texts.entries()) {
        const row = ring.find(key)
        if (slot >= kept) assert.equal(row, -1)
        else assert.deepEqual([ring.slot(row), ring.quota(row)], [slot, slot + 1])
      }
    }),
  )
})

test('a hash that differs in a single bit of any of its words is another key', () => {
  for (let bit = 0; bit < 256; bit++) {
    const other = hashOf(KEY)
    other[bit >> 3] ^= 1 << (bit & 7)
    assert.equal(ringOf(other).find(KEY), -1)
  }
})

test('any other text is not a key, and the ring neither throws nor hangs', () => {
  const ring = ringOf(hashOf(KEY))
  assert.equal(ring.find(KEY) >= 0, true)
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(52)), (wild) => {
      // A key of Latin letters beyond ASCII must not be cut down to one.
      const text = typeof wild === 'string' ? wild : `${KEY.slice(0, wild)}\u0161${KEY.slice(wild + 1)}`
      assert.equal(ring.find(text), -1)
    }),
  )
  assert.deepEqual([ring.find('x'.repeat(1_000_000)), ringOf().find(KEY)], [-1, -1])
})

test('A value is known again with its row, and no value that differs in any of its characters.', () => {
  const values = Array.from({ length: 20 }, () => `Bearer ${newKeyText()}`)
  const known = new KnownKeys()
  values.forEach((value, row) => known.add(value, row))
  fc.assert(
    fc.property(fc.nat(19), fc.nat(59), fc.nat(0xffff), (row, at, unit) => {
      const value = values[row]
      // Another one may have taken its place.
      assert.ok([row, -1].includes(known.find(value)))
      const changed = value.slice(0, at) + String.fromCharCode(unit) + value.slice(at + 1)
      if (changed !== value) assert.equal(known.find(changed), -1)
    }),
    { numRuns: 2000 },
  )
  assert.equal(known.find(values[19]), 19)
  // One of another length, or beyond ASCII, is not remembered, nor takes a place.
  for (const other of ['', `${values[19]} `, values[19].slice(0, -1), `${values[19].slice(0, -1)}é`]) {
    known.add(other, 8)
    assert.deepEqual([known.find(other), known.find(values[19])], [-1, 19])
  }
})
