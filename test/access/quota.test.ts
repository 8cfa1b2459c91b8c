import assert from 'node:assert/strict'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { type KeyRecord, MAX_KEYS } from '../../src/access/key-records.ts'
import { QuotaCounters } from '../../src/access/quota.ts'
import { keepUsage, KeySlots, readUsage } from '../../src/access/usage-file.ts'
import { resetAt, retryAfter } from '../../src/access/hours.ts'
import { folderOfFile } from '../live.ts'
import { until } from '../until.ts'
import { inThreads } from './threads.ts'

const NOON = Date.parse('2026-03-27T12:00:00Z') / 1000
const folder = folderOfFile()

function counters(slots = 4): QuotaCounters {
  return new QuotaCounters(QuotaCounters.allocate(slots))
}

function record(id: string): KeyRecord {
  return { id, owner: id, hash: '0'.repeat(64), quota: 10, created: '2026-03-27T12:00:00Z' }
}

test('a client that waits for Retry-After succeeds, and never waits past the first second of the hour', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 4e9, noNaN: true }), (now) => {
      const quota = counters(1)
      quota.take(0, 1, now)
      const wait = retryAfter(now)
      assert.ok(Number.isInteger(wait) && wait >= 1 && wait <= 3600)
      assert.ok(now + wait >= resetAt(now) && now + wait < resetAt(now) + 1)
      assert.equal(quota.take(0, 1, now + wait), 0)
    }),
  )
  assert.equal(retryAfter(NOON), 3600)
  assert.equal(resetAt(NOON), NOON + 3600)
  assert.equal(retryAfter(NOON + 3599.5), 1)
})

test('Any calls on any threads, in hours around now, leave what a plain table of own calls and others’ says.', () => {
  const event = fc.record({
    what: fc.constantFrom('take', 'take', 'take', 'raise', 'clear'),
    thread: fc.nat(1),
    slot: fc.nat(1),
    // As many as are kept for sure while the next one is made ready.
    hour: fc.nat(2),
    many: fc.integer({ min: 1, max: 6 }),
  })
  fc.assert(
    fc.property(fc.array(event, { maxLength: 60, size: 'max' }), fc.nat(23), (events, later) => {
      const noon = NOON + later * 3600
      const buffer = QuotaCounters.allocate(2)
      const threads = [new QuotaCounters(buffer), new QuotaCounters(buffer)]
      const table = [0, 1].map(() => [0, 1, 2].map(() => ({ own: 0, elsewhere: 0 })))
      for (const { what, thread, slot, hour, many } of events) {
        const now = noon + hour * 3600 + 3599.9
        const row = table[slot][hour]
        if (what === 'take') {
          const left = many - row.own - row.elsewhere - 1
          assert.equal(threads[thread].take(slot, many, now), left < 0 ? -1 : left)
          if (left >= 0) row.own++
        } else if (what === 'raise') {
          threads[thread].raiseElsewhere(slot, many, now)
          row.elsewhere = Math.max(row.elsewhere, many)
        } else {
          threads[thread].clear(slot)
          for (const each of table[slot]) each.own = each.elsewhere = 0
        }
        threads[thread].prepare(now)
      }
      for (const [slot, hours] of table.entries()) {
        for (const [hour, { own, elsewhere }] of hours.entries()) {
          const now = noon + hour * 3600
          assert.deepEqual([threads[0].own(slot, now), threads[1].used(slot, now)], [own, own + elsewhere])
        }
      }
    }),
  )
})

test('four threads that hammer one slot over the turn of the hour get exactly the quota in each hour', async () => {
  const buffer = QuotaCounters.allocate(8)
  const hits = await inThreads(
    4,
    ['access/quota.ts', 'QuotaCounters'],
    buffer,
    `
      // Every thread goes through three hours, at its own pace.
      for (let hour = 0; hour < 3; hour++) {
        let granted = 0
        for (let call = 0; call < 20000; call++) {
          if (counters.take(3, 30000, ${NOON} + hour * 3600) >= 0) granted++
        }
        hits.push(granted)
      }`,
  )
  for (let hour = 0; hour < 3; hour++) {
    assert.equal(
      hits.reduce((sum, thread) => sum + (thread[hour] ?? 0), 0),
      30_000,
    )
    assert.equal(new QuotaCounters(buffer).used(3, NOON + hour * 3600), 30_000)
  }
})

test('threads that meet a fresh bank together lose no call while it is zeroed', async () => {
  const buffer = QuotaCounters.allocate(100_000)
  const hits = await inThreads(
    4,
    ['access/quota.ts', 'QuotaCounters'],
    buffer,
    `
      // A new hour every few calls: each bank is zeroed again and again under contention. A barrier keeps the
      // threads within one hour of each other, as clocks do.
      const arrived = new Int32Array(workerData.gate)
      for (let hour = 0; hour < 200; hour++) {
        let granted = 0
        for (let call = 0; call < 5; call++) {
          if (counters.take(7, 1000, ${NOON} + hour * 3600) >= 0) granted++
        }
        hits.push(granted)
        Atomics.add(arrived, 0, 1)
        if (hour % 2 === 1) while (Atomics.load(arrived, 0) < 4 * (hour + 2)) {}
      }
      // The last banks are still there.
      hits.push(counters.used(7, ${NOON} + 199 * 3600), counters.used(7, ${NOON} + 198 * 3600))`,
  )
  for (const thread of hits) assert.deepEqual(thread, [...Array.from({ length: 200 }, () => 5), 20, 20])
})

test('a thread that died while it zeroed a bank stops the others for a second at most', () => {
  const buffer = QuotaCounters.allocate(2)
  // The first word is the lock, odd while it is held.
  new Int32Array(buffer)[0] = 7
  const start = performance.now()
  const quota = new QuotaCounters(buffer)
  assert.equal(quota.take(0, 2, NOON), 1)
  assert.ok(performance.now() - start < 3000)
  assert.equal(quota.take(0, 2, NOON + 3600), 1)
  assert.equal(new Int32Array(buffer)[0] & 1, 0)
})

test('a slot that does not exist is refused, and a full keys file has slots enough in 4 MiB', () => {
  const quota = counters(2)
  for (const slot of [-1, 2, Number.NaN]) {
    for (const run of [
      () => quota.take(slot, 1, NOON),
      () => quota.used(slot, NOON),
      () => quota.clear(slot),
    ])
      assert.throws(run, RangeError)
  }
  assert.equal(quota.used(0, NOON) + quota.used(1, NOON), 0)
  const buffer = QuotaCounters.allocate()
  assert.ok(new QuotaCounters(buffer).slots > MAX_KEYS && buffer.byteLength < 4_200_000)
})

test('slots of revoked keys are used again when no other is left, the longest revoked first and zeroed', () => {
  const quota = counters(3)
  const slots = new KeySlots(quota)
  const entries = slots.assign([record('a'), record('b'), record('c')])
  for (const { slot } of entries) quota.take(slot, 10, NOON)
  slots.assign([record('b'), record('c')])
  slots.assign([record('c')])
  // One that comes back finds its count.
  const [back] = slots.assign([record('b'), record('c')])
  assert.deepEqual([back.slot, quota.used(back.slot, NOON)], [entries[1].slot, 1])
  slots.assign([record('c')])
  const next = slots.assign([record('c'), record('d')])
  assert.equal(next[1]?.slot, entries[0]?.slot)
  assert.deepEqual([...slots.usage(NOON)], [['c', 1]])
  assert.throws(() => slots.assign(['1', '2', '3', '4'].map(record)), RangeError)
})

test('a usage file that is broken in any way gives the calls back with a warning that quotes nothing of it', () => {
  const path = join(folder, 'broken.usage')
  const whole = JSON.stringify({ format: 1, hour: '2026-03-27T12', counts: { k_secret: 5 } })
  const broken = [
    '',
    whole.slice(0, -3),
    'null',
    '[]',
    '{}',
    whole.replace('5', '-1'),
    whole.replace('5', '1.5'),
    whole.replace('5', '1e99'),
    whole.replace('5', '"5"'),
    whole.replace('"format":1', '"format":2'),
    whole.replace('{"k_secret":5}', 'null'),
  ]
  for (const text of broken) {
    writeFileSync(path, text)
    const { counts, warning } = readUsage(path, NOON)
    assert.equal(counts.size, 0, text)
    assert.ok(warning !== null && warning.includes(path) && !warning.includes('secret'), text)
  }
  writeFileSync(path, whole)
  assert.deepEqual(readUsage(path, NOON), { counts: new Map([['k_secret', 5]]), warning: null })
  assert.deepEqual(readUsage(join(folder, 'none'), NOON), { counts: new Map(), warning: null })
  assert.ok(readUsage(folder, NOON).warning !== null)
})

test('the keeper writes on its timer and at the end, only what has changed, and a restart goes on from there', async () => {
  const path = join(folder, 'kept.usage')
  writeFileSync(`${path}.0123456789abcdef.tmp`, 'left by a killed writer')
  const quota = counters()
  const slots = new KeySlots(quota)
  const [{ slot }] = slots.assign([record('a')])
  let now = NOON
  const keeper = keepUsage(path, slots, () => now, assert.fail, 10)
  quota.take(slot, 10, now)
  await until(() => readUsage(path, now).counts.get('a') === 1)
  const { ino, mode } = statSync(path)
  assert.equal(mode & 0o777, 0o600)
  await sleep(50)
  assert.equal(statSync(path).ino, ino)
  now += 3600
  quota.take(slot, 10, now)
  quota.take(slot, 10, now)
  keeper.close()
  const text = readFileSync(path, 'utf8')
  quota.take(slot, 10, now)
  await sleep(50)
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.deepEqual(readdirSync(folder).sort(), ['broken.usage', 'kept.usage'])
  const next = new KeySlots(counters())
  next.assign([record('b'), record('a')])
  next.restore(readUsage(path, now).counts, now)
  assert.deepEqual([...next.usage(now)], [['a', 2]])
  assert.equal(readUsage(path, now + 3600).counts.size, 0)
})

test('a keeper that cannot write says so once and goes on', () => {
  const quota = counters()
  const slots = new KeySlots(quota)
  const [{ slot }] = slots.assign([record('a')])
  const errors: Error[] = []
  const keeper = keepUsage(join(folder, 'missing', 'x.usage'), slots, () => NOON, errors.push.bind(errors))
  for (let call = 0; call < 3; call++) {
    quota.take(slot, 10, NOON)
    keeper.flush()
  }
  keeper.close()
  assert.equal(errors.length, 1)
})
