/** The walk over MessagePack that may lie, against a library on bytes that nobody lied about. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pack } from 'msgpackr/pack'
import { plainEnd } from '../../src/snapshot/plain-messagepack.ts'

const BOUNDS = { depth: 8, values: 1000 }

const plain = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.constantFrom(null, true, false),
    fc.integer({ min: -(2 ** 31), max: 2 ** 32 - 1 }),
    fc.double(),
    fc.string({ unit: 'grapheme', maxLength: 80 }),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    fc.array(tie('value'), { maxLength: 20, size: 'small' }),
    fc.dictionary(fc.string({ maxLength: 20 }), tie('value'), {
      maxKeys: 20,
      size: 'small',
      noNullPrototype: true,
    }),
  ),
})).value

test('The end of a plain value is where the library ends it, whatever comes behind; cut anywhere, it ends too early.', () => {
  fc.assert(
    fc.property(plain, fc.uint8Array({ maxLength: 20 }), fc.nat(), (value, rest, cut) => {
      const bytes = pack(value)
      const whole = Uint8Array.from([...bytes, ...rest])
      const end = plainEnd(whole, { depth: 8, values: 1_000_000 })
      assert.equal(end, bytes.length)
      assert.equal(plainEnd(bytes.subarray(0, cut % bytes.length), BOUNDS), 'ends too early')
    }),
    { numRuns: 500 },
  )
})

test('Any bytes have an end within them, or a reason why not, and never cost more than they are.', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const end = plainEnd(bytes, BOUNDS)
      assert.ok(typeof end === 'string' || (end > 0 && end <= bytes.length))
    }),
    { numRuns: 2000 },
  )
})

test('Lies about counts, depth and types are seen before anything is made of them.', () => {
  const nested = (head: number[], times: number): Uint8Array =>
    Uint8Array.from(Array.from({ length: times }, () => head).flat())
  const cases: [what: string, bytes: Uint8Array, why: string][] = [
    ['nothing', new Uint8Array(0), 'ends too early'],
    ['four billion items', Uint8Array.of(0xdd, 0xff, 0xff, 0xff, 0xff, 1, 2), 'ends too early'],
    ['four billion pairs', Uint8Array.of(0xdf, 0xff, 0xff, 0xff, 0xff, 0xa1, 0x61, 1), 'ends too early'],
    ['lists of thirty million in each other', nested([0xdd, 0x01, 0xc9, 0xc3, 0x80], 200), 'ends too early'],
    ['a hundred thousand lists in each other', nested([0x91], 100_000), 'is nested too deeply'],
    ['a hundred thousand maps in each other', nested([0x81, 0xa1, 0x61], 100_000), 'is nested too deeply'],
    ['a text beyond the end', Uint8Array.of(0xdb, 0xff, 0xff, 0xff, 0xff, 0x61), 'ends too early'],
    ['bytes beyond the end', Uint8Array.of(0xc6, 0, 0, 0, 2, 1), 'ends too early'],
    [
      'a thousand and one values',
      Uint8Array.of(0xdc, 4, 0, ...new Uint8Array(1024)),
      'holds too many values',
    ],
    ['a key that is a number', Uint8Array.of(0x81, 1, 1), 'has a map with a key that is not a name'],
    ['a key that is a list', Uint8Array.of(0x81, 0x90, 1), 'has a map with a key that is not a name'],
    ['a long key', pack({ ['k'.repeat(200)]: 1 }), 'has a map with a key that is not a name'],
    ...[0xc1, 0xc7, 0xc8, 0xc9, 0xcf, 0xd3, 0xd4, 0xd5, 0xd6, 0xd7, 0xd8].map(
      (head): [string, Uint8Array, string] => [
        head.toString(16),
        Uint8Array.of(0x91, head, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
        'holds a value of a type that snapshots do not know',
      ],
    ),
    ['a date', pack([new Date(0)]), 'holds a value of a type that snapshots do not know'],
  ]
  for (const [what, bytes, why] of cases) assert.equal(plainEnd(bytes, BOUNDS), why, what)
})
