import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { type KeyRecord, MAX_KEYS } from '../../src/access/key-records.ts'
import { QUOTA_SLOTS, QuotaCounters } from '../../src/access/quota.ts'
import { keepUsage, KeySlots, readUsage } from '../../src/access/usage-file.ts'
import { resetAt, retryAfter } from '../../src/access/hours.ts'
import { folderOfFile } from '../live.ts'
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
        for (let call = 0; call < 5; call++) if (counters.take(7, 1000, ${NOON} + hour * 3600) >= 0) granted++
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

test('a slot that does not exist is refused and no other count is touched', () => {
  const quota = counters(2)
  for (const slot of [-1, 2, 3, Number.NaN, Infinity]) {
    assert.throws(() => quota.take(slot, 1, NOON), RangeError)
    assert.throws(() => quota.used(slot, NOON), RangeError)
    assert.throws(() => {
      quota.clear(slot)
    }, RangeError)
  }
  assert.equal(quota.used(0, NOON) + quota.used(1, NOON), 0)
})

test('all slots take 4 MiB and are more than the keys of a full file', () => {
  assert.ok(QUOTA_SLOTS > MAX_KEYS)
  assert.ok(QuotaCounters.allocate().byteLength < 4_200_000)
  assert.equal(new QuotaCounters(QuotaCounters.allocate()).slots, QUOTA_SLOTS)
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

test('the keeper writes on its timer and at the end, and only what has changed', async () => {
  const path = join(folder, 'kept.usage')
  writeFileSync(`${path}.0123456789abcdef.tmp`, 'left by a killed writer')
  const quota = counters()
  const slots = new KeySlots(quota)
  const slot = slots.assign([record('a')])[0]?.slot ?? -1
  const errors: Error[] = []
  let now = NOON
  const keeper = keepUsage(path, slots, () => now, errors.push.bind(errors), 10)
  assert.ok(!existsSync(`${path}.0123456789abcdef.tmp`))
  quota.take(slot, 10, now)
  for (let waits = 0; waits < 200 && readUsage(path, now).counts.get('a') !== 1; waits++) await sleep(10)
  assert.equal(readUsage(path, now).counts.get('a'), 1)
  const { ino, mode } = statSync(path)
  assert.equal(mode & 0o777, 0o600)
  await sleep(50)
  assert.equal(statSync(path).ino, ino)
  now += 3600
  quota.take(slot, 10, now)
  quota.take(slot, 10, now)
  keeper.close()
  assert.equal(readUsage(path, now).counts.get('a'), 2)
  const text = readFileSync(path, 'utf8')
  quota.take(slot, 10, now)
  await sleep(50)
  assert.equal(readFileSync(path, 'utf8'), text)
  assert.deepEqual(errors, [])
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.endsWith('.tmp')),
    [],
  )
})

test('a keeper that cannot write says so once and goes on', () => {
  const quota = counters()
  const slots = new KeySlots(quota)
  const slot = slots.assign([record('a')])[0]?.slot ?? -1
  const errors: Error[] = []
  const keeper = keepUsage(join(folder, 'missing', 'x.usage'), slots, () => NOON, errors.push.bind(errors))
  for (let call = 0; call < 3; call++) {
    quota.take(slot, 10, NOON)
    keeper.flush()
  }
  keeper.close()
  assert.equal(errors.length, 1)
})
