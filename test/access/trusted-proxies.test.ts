/** Whose word counts for the address of a client, and which address the headers of proxies give. */
import assert from 'node:assert/strict'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { holdingEverybody, TrustedProxies } from '../../src/access/trusted-proxies.ts'

const TEN = new TrustedProxies(['10.0.0.0/8'])

test('Networks that hold everybody are found however they are written, and no others.', () => {
  const everybody = ['0.0.0.0/0', '10.1.2.3/0', '::ffff:0:0/96', '::/0', '2001:db8::/0']
  const some = ['0.0.0.0/1', '128.0.0.0/1', '::/1', '8000::/1', '::ffff:0:0/97', '::/96', '0.0.0.0', '::']
  assert.deepEqual(holdingEverybody([...some, ...everybody]), everybody)
  for (const cidr of everybody) {
    const proxies = new TrustedProxies([cidr])
    const addresses = proxies.trusts('192.0.2.1') ? ['0.0.0.0', '255.255.255.255'] : ['::', 'ffff::ffff']
    for (const address of addresses) assert.ok(proxies.trusts(address), `${cidr} ${address}`)
  }
})

test('The client is the last hop that no trusted proxy vouches further for.', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.9'])
  const cases: [peer: string, header: string, client: string][] = [
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1,198.51.100.1 ,\t10.0.0.2, 192.0.2.9', '198.51.100.1'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['fd00::1', '2001:db8::5', '2001:db8::5'],
    ['fd00::1', '[2001:db8::5]:443', '2001:db8::5'],
    ['fd00::1', '[2001:db8::5]', '2001:db8::5'],
    ['10.0.0.1', '198.51.100.1:8080', '198.51.100.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['10.0.0.1', ', 198.51.100.1,, ', '198.51.100.1'],
    // Malformed: the last good address.
    ['10.0.0.1', '', '10.0.0.1'],
    ['10.0.0.1', 'unknown', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1, evil, 10.0.0.2', '10.0.0.2'],
    ['10.0.0.1', '[198.51.100.1]', '10.0.0.1'],
    ['10.0.0.1', '[2001:db8::5', '10.0.0.1'],
    ['10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['10.0.0.1', '"198.51.100.1"', '10.0.0.1'],
    ['10.0.0.1', '"x, 198.51.100.1', '198.51.100.1'],
    // Of a peer that is not trusted nothing is read.
    ['203.0.113.7', '198.51.100.1', '203.0.113.7'],
    ['no address', '198.51.100.1', 'no address'],
    ['::ffff:11.0.0.1', '198.51.100.1', '::ffff:11.0.0.1'],
  ]
  for (const [peer, header, client] of cases)
    assert.equal(proxies.clientAddress(peer, header, ''), client, `${peer} ${header}`)
})

test('Forwarded is read as RFC 7239 writes it, and only where there is no X-Forwarded-For.', () => {
  const cases: [header: string, client: string][] = [
    ['for=192.0.2.60;proto=http;by=203.0.113.43', '192.0.2.60'],
    ['For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['proto=http; FOR=192.0.2.43', '192.0.2.43'],
    ['for=192.0.2.43, for=10.0.0.5;host="a,b;for=1.1.1.1"', '192.0.2.43'],
    ['for="192.0.2.43:47011"', '192.0.2.43'],
    ['for=192.0.2.43;host="a\\"b, c"', '192.0.2.43'],
    ['for="[2001:db8::1]:_port"', '2001:db8::1'],
    // A quote that the client left open ends with its own element.
    ['for="\\, for=192.0.2.43, for=10.0.0.3', '192.0.2.43'],
    ['for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for=', '10.0.0.1'],
    ['proto=https', '10.0.0.1'],
    ['for=192.0.2.1;for=192.0.2.2', '10.0.0.1'],
    ['192.0.2.1', '10.0.0.1'],
    ['for="192.0.2.1', '10.0.0.1'],
  ]
  for (const [header, client] of cases)
    assert.equal(TEN.clientAddress('10.0.0.1', '', header), client, header)
  assert.equal(TEN.clientAddress('10.0.0.1', '198.51.100.1', 'for=192.0.2.60'), '198.51.100.1')
  assert.equal(TEN.clientAddress('203.0.113.7', '', 'for=192.0.2.60'), '203.0.113.7')
})

test('At most 20 hops are followed, and headers built to be slow to read are not.', () => {
  const hops = Array.from({ length: 30 }, (_, at) => `10.0.1.${at}`)
  assert.equal(TEN.clientAddress('10.0.0.1', hops.join(', '), ''), '10.0.1.10')
  assert.equal(TEN.clientAddress('10.0.0.1', `192.0.2.1,${hops.slice(0, 19).join()}`, ''), '192.0.2.1')
  const before = process.cpuUsage()
  for (const part of ['"', '\\', '"\\', '\\"', 'a="', ';', ',', 'for="\\"', '"a\\"', '=', '[', ':', '1.']) {
    const header = part.repeat(16_384 / part.length)
    for (const text of [header, `for="${header}`, `for=${header}"`]) {
      assert.equal(TEN.clientAddress('10.0.0.1', '', text), '10.0.0.1')
      assert.equal(TEN.clientAddress('10.0.0.1', text, ''), '10.0.0.1')
    }
  }
  // 39 headers of 16 KB: milliseconds, where reading them over and over would take minutes. Processor time:
  // others may be busy.
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 5_000_000, `${user + system} µs`)
})

test('Any header gives the peer or an address that stands in the header, and never throws.', () => {
  const PIECES = '10.0.0.2 192.0.2.1 ::1 2001:db8::1 [::1] , ; for= " \\ :80 unknown = % é'.split(' ')
  const header = fc.array(fc.constantFrom(' ', ', ', ...PIECES), { maxLength: 20 })
  const proxies = new TrustedProxies(['10.0.0.0/8', '::1'])
  fc.assert(
    fc.property(header, fc.boolean(), (pieces, isStandard) => {
      const text = pieces.join('')
      const client = proxies.clientAddress('10.0.0.1', isStandard ? '' : text, isStandard ? text : '')
      assert.ok(client === '10.0.0.1' || (text.includes(client) && isIP(client) !== 0), client)
    }),
    { numRuns: 3000 },
  )
})

test('Networks agree with node:net for every prefix length.', () => {
  const pair = fc.oneof(
    fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 })),
    fc.tuple(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 })),
  )
  fc.assert(
    fc.property(pair, fc.boolean(), fc.nat(31), ([network, random, prefix], isNear, flipped) => {
      // Mostly an address close to the network, with one bit changed.
      const near = (): string => {
        const bytes = Buffer.from(network.split('.').map(Number))
        bytes[flipped >> 3] ^= 1 << (flipped & 7)
        return bytes.join('.')
      }
      const peer = isNear && isIPv4(network) ? near() : random
      // A list of node:net takes mapped addresses for IPv6.
      fc.pre(!isIPv6(network) || (!/ffff:/i.test(network) && !/ffff:/i.test(peer)))
      const family = isIPv4(network) ? 'ipv4' : 'ipv6'
      const list = new BlockList()
      list.addSubnet(network, prefix, family)
      assert.equal(new TrustedProxies([`${network}/${prefix}`]).trusts(peer), list.check(peer, family))
    }),
    { numRuns: 1000 },
  )
})

test('A network of IPv6 holds no IPv4 address unless it is written as a mapped one; malformed ones are named.', () => {
  const cases: [cidr: string, peer: string, isTrusted: boolean][] = [
    ['::/0', '10.0.0.1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['::ffff:10.0.0.0/104', '10.9.9.9', true],
    ['::ffff:10.0.0.0/104', '11.0.0.1', false],
    ['10.1.2.3', '10.1.2.3', true],
    ['10.1.2.3', '10.1.2.4', false],
  ]
  for (const [cidr, peer, isTrusted] of cases)
    assert.equal(new TrustedProxies([cidr]).trusts(peer), isTrusted, `${cidr} ${peer}`)
  const malformed =
    '|/|10.0.0.0/|10.0.0.0/33|::/129|10.0.0.0/-1|10.0.0.0/08|10.0.0.0/8/8|10.0.0/8|localhost|10.0.0.0/1e1| ::|fe80::1%eth0/64'
  for (const cidr of malformed.split('|')) {
    const named = ({ message }: Error): boolean => message.includes(JSON.stringify(cidr))
    assert.throws(() => new TrustedProxies(['127.0.0.1', cidr]), named)
  }
  assert.throws(() => new TrustedProxies(Array.from({ length: 1001 }, () => '10.0.0.1')), /more than 1000/)
})
