/** The key ring, against SHA-256 as node:crypto makes it. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { KeyRing, RingEditor, type KeyEntry } from '../../src/access/key-ring.ts'

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

test('a ring that is changed in place finds what a new ring of the same keys finds, and a row is never another key’s', () => {
  const keys = Array.from({ length: 40 }, (_, at) => `gsw_${String(at).padStart(49, '0')}`)
  const hashes = keys.map((key) => createHash('sha256').update(key).digest('hex'))
  // Each step names keys that change sides, and a key whose quota changes: those in the ring end, the others
  // are added.
  const step = fc.tuple(fc.uniqueArray(fc.nat(keys.length - 1), { maxLength: 6 }), fc.nat(keys.length - 1))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const quotas = new Map<number, number>()
      const entryOf = (at: number): KeyEntry => ({
        id: `k_${at}`,
        hash: hashes[at],
        quota: quotas.get(at) ?? 1,
        slot: at,
      })
      let buffer = KeyRing.build([])
      let editor = new RingEditor(buffer)
      const found = new Map<number, number>()
      for (const [change, changed] of steps) {
        const isNew = !editor.hasRoom(change.length)
        for (const at of change) {
          if (quotas.delete(at)) editor.end(hashes[at])
          else {
            quotas.set(at, at + 1)
            if (!isNew) editor.insert(entryOf(at))
          }
        }
        if (quotas.has(changed)) quotas.set(changed, 1000)
        editor.setQuota(hashes[changed], 1000)
        if (isNew) {
          buffer = KeyRing.build([...quotas.keys()].map(entryOf))
          editor = new RingEditor(buffer)
          found.clear()
        }
        const ring = new KeyRing(buffer)
        for (const [at, key] of keys.entries()) {
          const row = ring.find(key)
          const quota = quotas.get(at)
          if (quota === undefined) assert.equal(row, -1)
          else {
            assert.deepEqual([ring.slot(row), ring.quota(row), ring.id(row)], [at, quota, `k_${at}`])
            // A thread that found a row before may use it until it hears of the change.
            assert.equal(found.get(row) ?? at, at)
            found.set(row, at)
          }
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
