import assert from 'node:assert/strict'
import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AddressCounters } from '../../src/access/address-counters.ts'
import { holdingEverybody, TrustedProxies } from '../../src/access/trusted-proxies.ts'
import { inThreads } from './threads.ts'

const NOON = Date.parse('2026-03-27T12:00:00Z') / 1000

function counters(): AddressCounters {
  return new AddressCounters(AddressCounters.allocate())
}

// Hours of it are used up one after the other.
const modelled = counters()
let hour = 0

// One for all tests that only ask which addresses share a count.
const shared = counters()

/** Whether calls of the two addresses are charged to one count. */
function together(one: string, other: string): boolean {
  const before = shared.take(other, 1_000_000, NOON)
  shared.take(one, 1_000_000, NOON)
  return before - shared.take(other, 1_000_000, NOON) === 2
}

function ipv4Text(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

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

test('two addresses share a count exactly when the standard URL parser writes the same network', () => {
  const group = fc.constantFrom('0', '00', '1', '0001', 'ffff', 'FFFF', 'a')
  const ipv6 = fc.oneof(
    fc.array(group, { minLength: 8, maxLength: 8 }).map((groups) => groups.join(':')),
    fc
      .tuple(fc.array(group, { maxLength: 3 }), fc.array(group, { maxLength: 3 }))
      .map((sides) => sides.map((side) => side.join(':')).join('::')),
  )
  const network = (text: string): string => {
    if (isIPv4(text)) return text
    const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
    const [head = '', tail] = canonical.split('::')
    const left = head === '' ? [] : head.split(':')
    const right = tail === undefined || tail === '' ? [] : tail.split(':')
    const groups =
      tail === undefined
        ? left
        : [...left, ...Array.from({ length: 8 - left.length - right.length }, () => '0'), ...right]
    if (groups.slice(0, 6).join(':') === '0:0:0:0:0:ffff') {
      const [high = 0, low = 0] = groups.slice(6).map((part) => Number.parseInt(part, 16))
      return ipv4Text(high * 65_536 + low)
    }
    return groups.slice(0, 4).join(':')
  }
  fc.assert(
    fc.property(ipv6, fc.oneof(ipv6, fc.ipV4()), (one, other) => {
      assert.equal(together(one, other), network(one) === network(other), `${one} and ${other}`)
    }),
    { numRuns: 2000 },
  )
  for (const mapped of ['::ffff:192.0.2.1', '::FFFF:c000:201', '0000:0000:0000:0000:0000:ffff:c000:0201'])
    assert.ok(together('192.0.2.1', mapped), mapped)
  assert.ok(!together('192.0.2.1', '::192.0.2.1'))
  // The parser knows no zones.
  assert.ok(together('fe80::1%eth0', 'fe80::2'))
})

test('addresses are placed by HalfSipHash-2-4 with the seed of the process, as its published vectors say', () => {
  // Key 00…07 and messages 00 01 02 …, of 0, 4 and 8 bytes, from the reference implementation
  // (vectors_hsip64).
  const vectors: [string, string][] = [
    ['', '218d1f59b9b83cc8'],
    ['3.2.1.0', 'd5e78a175be52ea1'],
    ['302:100:706:504::', 'edfee820bce4858c'],
  ]
  for (const [address, expected] of vectors) {
    const buffer = AddressCounters.allocate()
    const words = new Int32Array(buffer)
    words.set([0x03020100, 0x07060504], words.length - 2)
    new AddressCounters(buffer).take(address, 9, NOON)
    const bytes = Buffer.from(expected, 'hex')
    const at = words.indexOf(bytes.readInt32LE(4))
    assert.ok(at > 0, address)
    assert.equal(words[at + 1], 1)
    assert.equal(
      Math.floor((at - 32) / 16) % 368_016,
      Math.floor((bytes.readUInt32LE(0) / 2 ** 32) * 368_000),
    )
  }
})

test('two processes place the same addresses differently', () => {
  const images = [0, 1].map(() => {
    const buffer = AddressCounters.allocate()
    new AddressCounters(buffer).take('192.0.2.1', 9, NOON)
    const words = new Int32Array(buffer)
    return words.findIndex((word, at) => word !== 0 && at >= 32)
  })
  assert.notEqual(images[0], images[1])
})

test('a million addresses in an hour have each their own count, in 48 MB that never grow', () => {
  const buffer = AddressCounters.allocate()
  assert.ok(buffer.byteLength <= 48_000_000)
  const addresses = new AddressCounters(buffer)
  let fresh = 0
  let second = 0
  const text = (at: number): string =>
    at % 2 === 0 ? ipv4Text(at * 4099) : `2001:${(at >>> 16).toString(16)}:${(at & 0xffff).toString(16)}::1`
  for (let at = 0; at < 1_000_000; at++) if (addresses.take(text(at), 2, NOON) === 1) fresh++
  for (let at = 0; at < 1_000_000; at++) if (addresses.take(text(at), 2, NOON + 1800) === 0) second++
  // Two may share a count by chance of the hash: once in hundreds of runs.
  assert.ok(fresh >= 999_998, `${fresh}`)
  assert.ok(second >= 999_998, `${second}`)
})

test('more addresses than places share the least busy counts: nobody fails, and the busy keep theirs', () => {
  const addresses = counters()
  for (let call = 0; call < 500; call++) addresses.take('192.0.2.1', 1000, NOON)
  for (let at = 0; at < 3_500_000; at++) {
    const left = addresses.take(ipv4Text(at), 1000, NOON)
    assert.ok(left >= 900 && left <= 999)
  }
  assert.equal(addresses.take('192.0.2.1', 1000, NOON), 499)
})

test('any calls are granted as a plain model of addresses, IPv6 /64 and /48 says, which may have 16 times as many', () => {
  // Most calls are of two /48 with 25 /64 each, so that both limits are reached.
  const ipv6 = fc.tuple(fc.nat(1), fc.nat(24)).map(([site, net]) => `2001:db8:${site}:${net}::1`)
  const address = fc.oneof(
    { weight: 9, arbitrary: ipv6 },
    fc.nat(3).map((last) => `192.0.2.${last}`),
  )
  const quota = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(2 ** 30))
  fc.assert(
    fc.property(quota, fc.array(address, { maxLength: 200, size: 'max' }), (limit, calls) => {
      hour++
      const used = new Map<string, number>()
      for (const text of calls) {
        const groups = text.split(':')
        const limits = new Map([[groups.slice(0, 4).join(':'), limit]])
        if (groups.length > 1) limits.set(`${groups.slice(0, 3).join(':')}/48`, 16 * limit)
        const left = (): number =>
          Math.min(...[...limits].map(([name, most]) => most - (used.get(name) ?? 0)))
        const isFree = left() > 0
        // What is refused counts for neither.
        if (isFree) for (const name of limits.keys()) used.set(name, (used.get(name) ?? 0) + 1)
        assert.equal(modelled.take(text, limit, NOON + hour * 3600 + 3599.9), isFree ? left() : -1)
      }
    }),
    { numRuns: 300 },
  )
})

test('four threads count the calls of many addresses exactly', async () => {
  const granted = await inThreads(
    4,
    ['access/address-counters.ts', 'AddressCounters'],
    AddressCounters.allocate(),
    `for (let hour = 0; hour < 2; hour++) {
      let [ofAddresses, ofSites] = [0, 0]
      for (let at = 0; at < 20000; at++) {
        const now = ${NOON} + hour * 3600
        if (counters.take('10.0.' + (at % 500 >> 8) + '.' + (at % 500 & 255), 100, now) >= 0) ofAddresses++
        if (counters.take('2001:db8:' + at % 5 + ':' + at % 300 + '::1', 100, now) >= 0) ofSites++
      }
      hits.push(ofAddresses, ofSites)
    }`,
  )
  // 160 calls were made for each of 500 addresses, 100 are granted. Each of five /48 would have 60 /64 of 100
  // calls: 16 times 100 are granted.
  const sums = [0, 1, 2, 3].map((at) => granted.reduce((total, hits) => total + hits[at], 0))
  assert.deepEqual(sums, [50_000, 8000, 50_000, 8000])
})

test('one thread warns in an hour, whichever comes first', () => {
  const buffer = AddressCounters.allocate()
  const threads = [new AddressCounters(buffer), new AddressCounters(buffer)]
  const warned = [NOON, NOON + 10, NOON + 3600].map((now) => threads.map((each) => each.isFirstWarning(now)))
  assert.deepEqual(warned, [
    [true, false],
    [false, false],
    [true, false],
  ])
})

test('the client is the last hop that no trusted proxy vouches further for', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', 'fd00::/8', '192.0.2.9'])
  const cases: [peer: string, header: string, client: string][] = [
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1,198.51.100.1 ,\t10.0.0.2, 192.0.2.9', '198.51.100.1'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['0000:0000:0000:0000:0000:ffff:0a00:0001', '198.51.100.1', '198.51.100.1'],
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
    ['10.0.0.1', '198.51.100.1, 10.0.0.256', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.01', '10.0.0.1'],
    ['10.0.0.1', '[198.51.100.1]', '10.0.0.1'],
    ['10.0.0.1', '[2001:db8::5', '10.0.0.1'],
    ['10.0.0.1', 'fe80::1%eth0', '10.0.0.1'],
    ['10.0.0.1', '"198.51.100.1"', '10.0.0.1'],
    ['10.0.0.1', '"x, 198.51.100.1', '198.51.100.1'],
    // Of a peer that is not trusted nothing is read.
    ...['203.0.113.7', '2001:db8::7', '', 'no address', '::ffff:11.0.0.1'].map(
      (peer): [string, string, string] => [peer, '198.51.100.1', peer],
    ),
  ]
  for (const [peer, header, client] of cases) {
    assert.equal(proxies.clientAddress(peer, header, ''), client, `${peer} ${header}`)
  }
})

test('Forwarded is read as RFC 7239 writes it, and only where there is no X-Forwarded-For', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  const cases: [header: string, client: string][] = [
    ['for=192.0.2.60;proto=http;by=203.0.113.43', '192.0.2.60'],
    ['For="[2001:db8:cafe::17]:4711"', '2001:db8:cafe::17'],
    ['proto=http; FOR=192.0.2.43', '192.0.2.43'],
    ['for=192.0.2.43, for=198.51.100.17', '198.51.100.17'],
    ['for=192.0.2.43, for=10.0.0.5;host="a,b;for=1.1.1.1"', '192.0.2.43'],
    ['for="192.0.2.43:47011"', '192.0.2.43'],
    ['for=192.0.2.43;host="a\\"b, c"', '192.0.2.43'],
    ['for="[2001:db8::1]:_port"', '2001:db8::1'],
    // A quote that the client left open ends with its own element.
    ['for="x, for=192.0.2.43', '192.0.2.43'],
    ['for="\\, for=192.0.2.43, for=10.0.0.3', '192.0.2.43'],
    ['for=unknown', '10.0.0.1'],
    ['for=_hidden, for=10.0.0.2', '10.0.0.2'],
    ['for=', '10.0.0.1'],
    ['proto=https', '10.0.0.1'],
    ['for=192.0.2.1;for=192.0.2.2', '10.0.0.1'],
    ['192.0.2.1', '10.0.0.1'],
    ['for="192.0.2.1', '10.0.0.1'],
  ]
  for (const [header, client] of cases)
    assert.equal(proxies.clientAddress('10.0.0.1', '', header), client, header)
  assert.equal(proxies.clientAddress('10.0.0.1', '198.51.100.1', 'for=192.0.2.60'), '198.51.100.1')
  assert.equal(proxies.clientAddress('203.0.113.7', '', 'for=192.0.2.60'), '203.0.113.7')
})

test('at most 20 hops are followed', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  const hops = Array.from({ length: 30 }, (_, at) => `10.0.1.${at}`)
  assert.equal(proxies.clientAddress('10.0.0.1', hops.join(', '), ''), '10.0.1.10')
  assert.equal(
    proxies.clientAddress('10.0.0.1', `192.0.2.1, ${hops.slice(0, 19).join(', ')}`, ''),
    '192.0.2.1',
  )
  assert.equal(proxies.clientAddress('10.0.0.1', `192.0.2.1${','.repeat(5000)}`, ''), '10.0.0.1')
})

test('headers built to be slow to read are not', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8'])
  const before = process.cpuUsage()
  for (const part of ['"', '\\', '"\\', '\\"', 'a="', ';', ',', 'for="\\"', '"a\\"', '=', '[', ':', '1.']) {
    const header = part.repeat(16_384 / part.length)
    for (const text of [header, `for="${header}`, `for=${header}"`]) {
      assert.equal(proxies.clientAddress('10.0.0.1', '', text), '10.0.0.1')
      assert.equal(proxies.clientAddress('10.0.0.1', text, ''), '10.0.0.1')
    }
  }
  // 39 headers of 16 KB: milliseconds, where reading them over and over would take minutes. Processor time:
  // others may be busy.
  const { user, system } = process.cpuUsage(before)
  assert.ok(user + system < 5_000_000, `${user + system} µs`)
})

test('any header gives the peer or an address that stands in the header, and never throws', () => {
  const proxies = new TrustedProxies(['10.0.0.0/8', '::1'])
  const piece = fc.constantFrom(
    '10.0.0.2',
    '192.0.2.1',
    '::1',
    '2001:db8::1',
    '[::1]',
    ',',
    ', ',
    ';',
    'for=',
    '"',
    '\\',
    ':80',
    'unknown',
    ' ',
    '=',
    '%',
    'é',
  )
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
      fc.boolean(),
      (header, standard) => {
        const client = proxies.clientAddress('10.0.0.1', standard ? '' : header, standard ? header : '')
        assert.ok(client === '10.0.0.1' || (header.includes(client) && isIP(client) !== 0), client)
      },
    ),
    { numRuns: 3000 },
  )
})

test('networks agree with node:net for every prefix length', () => {
  const pair = fc.oneof(
    fc.tuple(fc.ipV4(), fc.ipV4(), fc.integer({ min: 0, max: 32 })),
    fc.tuple(fc.ipV6(), fc.ipV6(), fc.integer({ min: 0, max: 128 })),
  )
  fc.assert(
    fc.property(pair, fc.boolean(), fc.nat(128), ([network, random, prefix], near, flipped) => {
      // Mostly an address close to the network, with one bit changed.
      let peer = random
      if (near && isIPv4(network)) {
        const value = network.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
        peer = ipv4Text((value ^ (1 << (flipped % 32))) >>> 0)
      }
      // A list of node:net takes mapped addresses for IPv6.
      fc.pre(!isIPv6(network) || (!/ffff:/i.test(network) && !/ffff:/i.test(peer)))
      const family = isIPv4(network) ? 'ipv4' : 'ipv6'
      const list = new BlockList()
      list.addSubnet(network, prefix, family)
      const client = new TrustedProxies([`${network}/${prefix}`]).clientAddress(peer, '255.255.255.254', '')
      assert.equal(client, list.check(peer, family) ? '255.255.255.254' : peer)
    }),
    { numRuns: 1000 },
  )
})

test('a network of IPv6 holds no IPv4 address unless it is written as a mapped one', () => {
  const trusts = (cidr: string, peer: string): boolean =>
    new TrustedProxies([cidr]).clientAddress(peer, '192.0.2.1', '') === '192.0.2.1'
  assert.ok(!trusts('::/0', '10.0.0.1'))
  assert.ok(trusts('::/0', '2001:db8::1'))
  assert.ok(!trusts('0.0.0.0/0', '2001:db8::1'))
  assert.ok(trusts('::ffff:10.0.0.0/104', '10.9.9.9'))
  assert.ok(!trusts('::ffff:10.0.0.0/104', '11.0.0.1'))
  assert.ok(trusts('10.1.2.3', '10.1.2.3'))
  assert.ok(!trusts('10.1.2.3', '10.1.2.4'))
})

test('a malformed network is refused by name', () => {
  for (const cidr of [
    '',
    '/',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '10.0.0.0/-1',
    '10.0.0.0/08',
    '10.0.0.0/8/8',
    '10.0.0/8',
    'localhost',
    '10.0.0.0/1e1',
    ' 10.0.0.0/8',
    'fe80::1%eth0/64',
    '10.0.0.0/8 ',
  ]) {
    assert.throws(
      () => new TrustedProxies(['127.0.0.1', cidr]),
      (error: unknown) => error instanceof Error && error.message.includes(JSON.stringify(cidr)),
    )
  }
  assert.throws(() => new TrustedProxies(Array.from({ length: 1001 }, () => '10.0.0.1')), /more than 1000/)
})
