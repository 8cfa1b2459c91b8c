import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Heads, varyOf, type HeadFields } from '../../src/http/reply.ts'

const SNAPSHOT = { snapshotId: '895e1ff8a1a7ea5d9b6e80c1', asOf: 1_790_000_000, demo: false }
const heads = new Heads('success', SNAPSHOT, 'f00d', 'json')

const number = fc.record({ low: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), high: fc.nat(0xffff) })

function fieldsOf({ low, high }: { low: number; high: number }): HeadFields {
  return {
    low,
    high,
    personal: false,
    lifetime: 60,
    vary: varyOf({ access: 'public' }),
    charge: null,
    encoding: null,
    requestId: '',
    link: new Uint8Array(0),
    ignored: '',
  }
}

/** The ETag as a client reads it from the head. */
function tagOf(fields: HeadFields): string {
  return /\r\nETag: (.*?)\r\n/.exec(Buffer.from(heads.write(fields)).toString('latin1'))![1]
}

test('A head is matched by its own ETag, weak or strong, alone or in a list, and by no other number.', () => {
  fc.assert(
    fc.property(number, number, (one, other) => {
      const [fields, tag] = [fieldsOf(one), tagOf(fieldsOf(one))]
      const strong = tag.slice(2)
      for (const condition of [tag, ` ${tag} `, strong, `"a",${tag} , "b"`, `${strong},"b"`]) {
        assert.ok(heads.matches(condition, fields), condition)
      }
      const isSame = one.low === other.low && one.high === other.high
      assert.equal(heads.matches(tagOf(fieldsOf(other)), fields), isSame)
    }),
  )
})

test('A text that differs from the ETag in any one character does not match.', () => {
  const places = fc.record({
    at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    by: fc.nat(0xffff),
  })
  fc.assert(
    fc.property(number, places, (one, { at, by }) => {
      const [fields, tag] = [fieldsOf(one), tagOf(fieldsOf(one))]
      // The `W/` of a weak tag and blanks around one do not count.
      const place = 2 + Math.floor(at * (tag.length - 2))
      const character = String.fromCharCode(by)
      const changed = tag.slice(0, place) + character + tag.slice(place + 1)
      assert.equal(heads.matches(changed, fields), changed === tag, changed)
      for (const condition of [
        tag.toUpperCase(),
        tag.slice(0, -1),
        tag.slice(3, -1),
        'W/',
        '""',
        ',',
        `${tag}"`,
        tag.replace('f00d', 'f00e'),
        '',
      ]) {
        assert.equal(heads.matches(condition, fields), condition === tag, condition)
      }
    }),
  )
})
