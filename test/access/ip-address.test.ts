/** Addresses as clients and proxies write them, against `node:net` and the standard URL parser. */
import assert from 'node:assert/strict'
import { isIP, isIPv4 } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isIpv4, MAX_ADDRESS_LENGTH, parseAddress } from '../../src/access/ip-address.ts'

const words = new Int32Array(4)

/** The eight groups of an address without a zone, from the form that the URL parser gives it. */
function groupsOf(text: string): number[] {
  if (isIPv4(text)) return groupsOf(`::ffff:${text}`)
  const [head, tail = null] = new URL(`http://[${text}]`).hostname.slice(1, -1).split('::')
  const [left, right] = [head, tail ?? ''].map((side) => (side === '' ? [] : side.split(':')))
  const zeros = Array.from({ length: tail === null ? 0 : 8 - left.length - right.length }, () => '0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
}

test('What is an address agrees with node:net, and which one it is with the URL parser, on valid and damaged text.', () => {
  const part = fc.constantFrom(...':,::,1,ffff,0,12345,1.2.3.4,.,255,256,01,%,g'.split(','))
  const group = fc.constantFrom('0', '00', '1', '0001', 'ffff', 'FFFF', 'a')
  const sides = fc.tuple(fc.array(group, { maxLength: 4 }), fc.array(group, { maxLength: 4 }))
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV4().map((text) => `::ffff:${text}`),
    fc.ipV6(),
    sides.map(([left, right]) => `${left.join(':')}::${right.join(':')}`),
    fc.array(part, { maxLength: 12 }).map((list) => list.join('')),
  )
  fc.assert(
    fc.property(address, (text) => {
      // node:net limits what a zone may hold; here it is dropped unread.
      fc.pre(!text.includes('%') || isIP(text) !== 0)
      assert.equal(parseAddress(text, words), isIP(text) !== 0, text)
      if (isIP(text) === 0) return
      const groups = groupsOf(text.replace(/%.*/, ''))
      const found = Array.from(words, (word) => [word >>> 16, word & 0xffff]).flat()
      assert.deepEqual(found, groups, text)
      assert.equal(isIpv4(words), groups.slice(0, 6).join() === '0,0,0,0,0,65535', text)
    }),
    { numRuns: 4000 },
  )
})

test('A zone is dropped, an empty one is no zone, and an address has its longest form.', () => {
  for (const zone of ['eth0', '1']) {
    assert.ok(parseAddress(`fe80::1%${zone}`, words))
    assert.deepEqual([...words], [0xfe80 << 16, 0, 0, 1])
  }
  for (const text of ['fe80::1%', '%', '192.0.2.1%eth0', '1:2:3:4:5:6:7:8:9'])
    assert.ok(!parseAddress(text, words), text)
  const longest = `0000:0000:0000:0000:0000:ffff:255.255.255.255%${'i'.repeat(64)}`
  assert.ok(parseAddress(longest.slice(0, MAX_ADDRESS_LENGTH), words))
  assert.ok(!parseAddress(longest.slice(0, MAX_ADDRESS_LENGTH + 1), words))
})
