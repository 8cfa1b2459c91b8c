/** The key ring, against SHA-256 as node:crypto makes it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { KeyRing } from '../../src/access/key-ring.ts'

test('the ring finds exactly the texts whose SHA-256 it holds, as node:crypto computes it', () => {
  const text = fc
    .string({
      unit: fc.integer({ min: 0, max: 127 }).map((code) => String.fromCharCode(code)),
      minLength: 49,
      maxLength: 49,
    })
    .map((rest) => `gsw_${rest}`)
  fc.assert(
    fc.property(fc.uniqueArray(text, { maxLength: 40 }), fc.nat(40), (texts, kept) => {
      const entries = texts.slice(0, kept).map((key, slot) => ({
        id: '',
        hash: createHash('sha256').update(key).digest('hex'),
        quota: slot + 1,
        slot,
      }))
      const ring = new KeyRing(KeyRing.build(entries))
      for (const [slot, key] of texts.entries()) {
        const row = ring.find(key)
        if (slot >= kept) assert.equal(row, -1)
        else assert.deepEqual([ring.slot(row), ring.quota(row)], [slot, slot + 1])
        // Again: a text that was seen gets the same answer.
        assert.equal(ring.find(key), row)
      }
    }),
  )
})

test('a hash that differs in a single bit of any of its words is another key', () => {
  const key = `gsw_${'a'.repeat(49)}`
  const digest = createHash('sha256').update(key).digest()
  for (let bit = 0; bit < 256; bit++) {
    const other = Buffer.from(digest)
    other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    const ring = new KeyRing(KeyRing.build([{ id: '', hash: other.toString('hex'), quota: 1, slot: 0 }]))
    assert.equal(ring.find(key), -1)
  }
})

test('any other text is not a key, and the ring neither throws nor hangs', () => {
  const key = `gsw_${'a'.repeat(49)}`
  const hash = createHash('sha256').update(key).digest('hex')
  const ring = new KeyRing(KeyRing.build([{ id: '', hash, quota: 1, slot: 0 }]))
  const empty = new KeyRing(KeyRing.build([]))
  assert.ok(ring.find(key) >= 0)
  assert.equal(empty.find(key), -1)
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary', maxLength: 60 }), fc.nat(52)), (wild) => {
      // A key of Latin letters beyond ASCII must not be cut down to one.
      const text = typeof wild === 'string' ? wild : `${key.slice(0, wild)}\u0161${key.slice(wild + 1)}`
      assert.equal(ring.find(text), -1)
      assert.equal(empty.find(text), -1)
    }),
  )
  assert.equal(ring.find('x'.repeat(1_000_000)), -1)
})
