/** Limits of streams that hold over all threads. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QUOTA_SLOTS } from '../../src/access/quota.ts'
import { AddressCounters } from '../../src/access/address-counters.ts'
import { inThreads } from '../access/threads.ts'
import { countListeners, ListenerCounts, placeOfAddress, placeOfKey } from '../../src/http/listener-counts.ts'

const LIMITS = { total: 5, perHolder: 3 }

test('A holder has as many streams as it may over all threads, and all together as many as there may be.', () => {
  const buffer = ListenerCounts.allocate(2)
  const [a, b] = [0, 1].map((thread) => new ListenerCounts(buffer, thread, LIMITS))
  const [one, other] = [placeOfKey(7), placeOfKey(8)]
  assert.deepEqual(
    [a.opened(one), b.opened(one), a.opened(one), b.opened(one)],
    [null, null, null, 'of one holder'],
  )
  assert.deepEqual([b.opened(other), b.opened(other), a.opened(other)], [null, null, 'in all'])
  assert.deepEqual(countListeners(buffer), { open: 5, byThread: [2, 3] })
  a.left(one)
  assert.equal(a.opened(other), null)
  a.left(other)
  assert.equal(b.opened(one), null)
})

test('A thread that is replaced leaves no streams behind.', () => {
  const buffer = ListenerCounts.allocate(2)
  const [a, b] = [0, 1].map((thread) => new ListenerCounts(buffer, thread, LIMITS))
  for (const place of [1, 1, 2]) a.opened(place)
  b.opened(1)
  const next = new ListenerCounts(buffer, 0, LIMITS)
  assert.equal(next.lost, 3)
  assert.deepEqual(countListeners(buffer), { open: 1, byThread: [0, 1] })
  assert.deepEqual([next.opened(1), next.opened(1), next.opened(1)], [null, null, 'of one holder'])
})

test('Addresses have places of their own, which nobody can foretell, and of IPv6 the first half counts.', () => {
  const places = (): ((address: string) => number) => {
    const counters = new AddressCounters(AddressCounters.allocate())
    return (address) => placeOfAddress(counters.hashOf(address))
  }
  const [one, other] = [places(), places()]
  const place = one('2001:db8::1')
  assert.ok(place >= QUOTA_SLOTS)
  assert.equal(one('2001:db8::2'), place)
  assert.equal(one('::ffff:192.0.2.1'), one('192.0.2.1'))
  // Of 64 addresses, next to none has the same place in two processes.
  const addresses = Array.from({ length: 64 }, (_, i) => `192.0.2.${i}`)
  assert.ok(new Set(addresses.map(one)).size > 60)
  assert.ok(addresses.filter((address) => one(address) === other(address)).length < 4)
})

const THREADS = 2

test('Two threads that open and close without a pause never have more than they may, and end with none.', async () => {
  const buffer = ListenerCounts.allocate(THREADS)
  const tooMany = await inThreads(
    THREADS,
    ['http/listener-counts.ts', 'ListenerCounts', JSON.stringify(LIMITS)],
    buffer,
    `const all = new Int32Array(workerData.buffer)
    for (let round = 0; round < 50000; round++) {
      const place = round % 2
      if (counters.opened(place) !== null) continue
      if (Atomics.load(all, 0) > 5) hits.push(round)
      counters.left(place)
    }`,
  )
  assert.deepEqual(tooMany, [[], []])
  assert.deepEqual(countListeners(buffer), { open: 0, byThread: [0, 0] })
})
