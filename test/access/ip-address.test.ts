/** Addresses as clients and proxies write them, against `node:net`. */
import assert from 'node:assert/strict'
import { isIP, isIPv4 } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isIpv4, MAX_ADDRESS_LENGTH, parseAddress } from '../../src/access/ip-address.ts'

const words = new Int32Array(4)

test('What is an address agrees with node:net, on valid and damaged text.', () => {
  const parts = fc.constantFrom(
    ':',
    '::',
    '1',
    'ffff',
    '0',
    '12345',
    '1.2.3.4',
    '.',
    '255',
    '256',
    '01',
    '%',
    'g',
  )
  const address = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.array(parts, { maxLength: 12 }).map((list) => list.join('')),
  )
  fc.assert(
    fc.property(address, (text) => {
      // node:net limits what a zone may hold; here it is dropped unread.
      fc.pre(!text.includes('%') || isIP(text) !== 0)
      assert.equal(parseAddress(text, words), isIP(text) !== 0, text)
      if (isIP(text) !== 0)
        assert.equal(isIpv4(words), isIPv4(text) || /^::ffff:/i.test(text) || isMapped(text), text)
    }),
    { numRuns: 3000 },
  )
})

/** By the URL parser: ::ffff:a.b.c.d in any spelling. */
const isMapped = (text: string): boolean =>
  new URL(`http://[${text.replace(/%.*/, '')}]`).hostname.startsWith('[::ffff:')

test('A zone is dropped, an empty one is no zone, and an address has its longest form.', () => {
  for (const [text, written] of [
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['fe80::1%1', 'fe80:0:0:0:0:0:0:1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['255.255.255.255', '255.255.255.255'],
  ]) {
    const expected = new Int32Array(4)
    assert.ok(parseAddress(text, words) && parseAddress(written, expected), text)
    assert.deepEqual(words, expected)
  }
  for (const text of [
    'fe80::1%',
    '%',
    '192.0.2.1%eth0',
    '1.2.3',
    '1.2.3.256',
    '01.2.3.4',
    ':::',
    '1:2:3:4:5:6:7:8:9',
  ])
    assert.ok(!parseAddress(text, words), text)
  const longest = `0000:0000:0000:0000:0000:ffff:255.255.255.255%${'i'.repeat(64)}`
  assert.ok(parseAddress(longest.slice(0, MAX_ADDRESS_LENGTH), words))
  assert.ok(!parseAddress(longest.slice(0, MAX_ADDRESS_LENGTH + 1), words))
})
