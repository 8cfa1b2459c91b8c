import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { Heads, type Asker, type Tag } from '../../src/http/reply.ts'

const SNAPSHOT = { snapshotId: '895e1ff8a1a7ea5d9b6e80c1', asOf: 1_790_000_000, demo: false }
const heads = new Heads('success', SNAPSHOT, 'f00d', 'json')

const number = fc.record({ low: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), high: fc.nat(0xffff) })

const ASKER: Asker = {
  operation: { access: 'public' },
  client: { charge: null, isPage: false, isPersonal: false },
  requestId: '',
  ignored: '',
}

/** The ETag as a client reads it from the head. */
function tagOf(tag: Tag): string {
  const head = heads.write(ASKER, { tag, lifetime: 60, link: new Uint8Array(0), encoding: null })
  return /\r\nETag: (.*?)\r\n/.exec(Buffer.from(head).toString('latin1'))![1]
}

test('A head is matched by its own ETag, weak or strong, alone or in a list, and by no other number.', () => {
  fc.assert(
    fc.property(number, number, (one, other) => {
      const tag = tagOf(one)
      const strong = tag.slice(2)
      for (const condition of [tag, ` ${tag} `, strong, `"a",${tag} , "b"`, `${strong},"b"`]) {
        assert.ok(heads.matches(condition, one), condition)
      }
      const isSame = one.low === other.low && one.high === other.high
      assert.equal(heads.matches(tagOf(other), one), isSame)
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
      const tag = tagOf(one)
      // The `W/` of a weak tag and blanks around one do not count.
      const place = 2 + Math.floor(at * (tag.length - 2))
      const character = String.fromCharCode(by)
      const changed = tag.slice(0, place) + character + tag.slice(place + 1)
      assert.equal(heads.matches(changed, one), changed === tag, changed)
      for (const condition of [
        tag.toUpperCase(),
        tag.slice(0, -1),
        tag.slice(3, -1),
        'W/',
        '""',
        `${tag}"`,
        '',
      ]) {
        assert.equal(heads.matches(condition, one), condition === tag, condition)
      }
    }),
  )
})
