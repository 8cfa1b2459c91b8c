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

test('a ring that is changed step by step finds what a new ring of the same keys finds', () => {
  const keys = Array.from({ length: 40 }, (_, at) => `gsw_${String(at).padStart(49, '0')}`)
  const hashes = keys.map((key) => createHash('sha256').update(key).digest('hex'))
  // Each step names keys that change sides: those in the ring end, the others are added.
  const steps = fc.array(fc.uniqueArray(fc.nat(keys.length - 1), { maxLength: 6 }), { maxLength: 30 })
  fc.assert(
    fc.property(steps, (changes) => {
      const live = new Set<number>()
      let buffer = KeyRing.build([])
      for (const change of changes) {
        const ended = change.filter((at) => live.has(at))
        const added = change.filter((at) => !live.has(at))
        for (const at of ended) live.delete(at)
        for (const at of added) live.add(at)
        const entryOf = (at: number) => ({ id: '', hash: hashes[at], quota: at + 1, slot: at })
        const before = Buffer.from(new Uint8Array(buffer))
        const changed = KeyRing.changed(
          buffer,
          ended.map((at) => hashes[at]),
          added.map(entryOf),
          live.size,
        )
        assert.ok(Buffer.from(new Uint8Array(buffer)).equals(before))
        buffer = changed ?? KeyRing.build([...live].map(entryOf))
        const ring = new KeyRing(buffer)
        for (const [at, key] of keys.entries()) {
          const row = ring.find(key)
          if (live.has(at)) assert.deepEqual([ring.slot(row), ring.quota(row)], [at, at + 1])
          else assert.equal(row, -1)
        }
      }
    }),
  )
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

test('a ring of 100,000 keys takes 15 MB, finds each, and knows its id', () => {
  const keys = Array.from({ length: 100_000 }, (_, at) => `gsw_${String(at).padStart(49, '0')}`)
  const buffer = KeyRing.build(
    keys.map((key, slot) => ({
      id: `k_${String(slot).padStart(10, '0')}`,
      hash: createHash('sha256').update(key).digest('hex'),
      quota: 1,
      slot,
    })),
  )
  assert.ok(buffer.byteLength < 15_000_000)
  const ring = new KeyRing(buffer)
  assert.ok(keys.every((key, slot) => ring.slot(ring.find(key)) === slot))
  assert.ok(keys.every((key, slot) => ring.id(ring.find(key)) === `k_${String(slot).padStart(10, '0')}`))
})
