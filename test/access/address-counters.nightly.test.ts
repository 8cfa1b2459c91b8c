/**
 * Calls without a key: which addresses share a count, exactly how many are granted, and in how much memory.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { AddressCounters } from '../../src/access/address-counters.ts'
import { BY_NIGHT, rounds } from '../rounds.ts'
import { inThreads } from './threads.ts'

const NOON = Date.parse('2026-03-27T12:00:00Z') / 1000

function counters(): AddressCounters {
  return new AddressCounters(AddressCounters.allocate())
}

// Hours of it are used up one after the other.
const modelled = counters()
let hour = 0

function ipv4Text(value: number): string {
  return `${value >>> 24}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}`
}

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
  const seeds = [0, 1].map(() => new Int32Array(AddressCounters.allocate()).slice(-2))
  assert.notDeepEqual(seeds[0], seeds[1])
})

test('up to a million addresses in an hour have each their own count, in 48 MB that never grow', () => {
  const count = rounds(200_000, 1_000_000)
  const buffer = AddressCounters.allocate()
  assert.ok(buffer.byteLength <= 48_000_000)
  const addresses = new AddressCounters(buffer)
  let fresh = 0
  let second = 0
  const text = (at: number): string =>
    at % 2 === 0 ? ipv4Text(at * 4099) : `2001:${(at >>> 16).toString(16)}:${(at & 0xffff).toString(16)}::1`
  for (let at = 0; at < count; at++) {
    if (addresses.take(text(at), 2, NOON) === 1) fresh++
  }
  for (let at = 0; at < count; at++) {
    if (addresses.take(text(at), 2, NOON + 1800) === 0) second++
  }
  // Two may share a count by chance of the hash: once in hundreds of runs.
  assert.ok(fresh >= count - 2, `${fresh}`)
  assert.ok(second >= count - 2, `${second}`)
})

test('more addresses than places share the least busy counts', { skip: BY_NIGHT }, () => {
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
  const ipv6 = fc
    .tuple(fc.nat(1), fc.nat(24), fc.nat(9))
    .map(([site, net, host]) => `2001:db8:${site}:${net}::${host}`)
  const address = fc.oneof(
    { weight: 9, arbitrary: ipv6 },
    fc.tuple(fc.constantFrom('', '::ffff:'), fc.nat(3)).map(([mapped, last]) => `${mapped}192.0.2.${last}`),
  )
  const quota = fc.oneof(fc.integer({ min: 1, max: 3 }), fc.constant(2 ** 30))
  fc.assert(
    fc.property(quota, fc.array(address, { maxLength: 200, size: 'max' }), (limit, calls) => {
      hour++
      const used = new Map<string, number>()
      for (const text of calls) {
        const groups = text.replace('::ffff:', '').split(':')
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
