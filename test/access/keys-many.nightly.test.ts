/** As many keys as a keys file holds: how long they take to load, and what they take in memory. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { KeyCommandError, MAX_KEYS } from '../../src/access/key-records.ts'
import { issueKey } from '../../src/access/keys-file.ts'
import { FollowedKeys, keySource } from '../../src/access/keys-object.ts'
import { KeyRing } from '../../src/access/key-ring.ts'
import { QuotaCounters } from '../../src/access/quota.ts'
import { KeySlots } from '../../src/access/usage-file.ts'
import { folderOfFile } from '../live.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000
const folder = folderOfFile()

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes in use by this process, after what is not needed has gone. */
function memory(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const otherKey = (i: number): string => `gsw_${String(i).padStart(49, '0')}`

/** A keys file with `keys` in the middle of as many others as make it full. */
function writeFull(path: string, keys: readonly string[]): void {
  const lines = Array.from({ length: MAX_KEYS }, (_, i) =>
    JSON.stringify({
      id: `k_${String(i).padStart(10, '0')}`,
      owner: `Owner number ${i}, Harbour Office of Saint-Jean-de-Luz`,
      hash: createHash('sha256')
        .update(keys[i - MAX_KEYS / 2] ?? otherKey(i))
        .digest('hex'),
      quota: 1000 + i,
      created: '2026-03-27T12:00:00Z',
    }),
  )
  writeFileSync(path, `{"format":1,"keys":[${lines.join(',')}]}`)
}

test('A full keys file is loaded soon, in less than 30 MB, and any of its keys is found.', () => {
  const elsewhere = join(folder, 'few.json')
  const keys = ['a', 'b', 'c'].map((owner) => issueKey(elsewhere, { owner, now: NOON }).key)
  const path = join(folder, 'keys.json')
  writeFull(path, keys)

  const before = memory()
  const start = process.cpuUsage()
  // As a server does it: the records are gone once the ring is made.
  const counters = new QuotaCounters(QuotaCounters.allocate())
  const slots = new KeySlots(counters)
  let buffer = KeyRing.build([])
  const followed = new FollowedKeys({
    ...keySource(path, '', { environment: {}, random: () => 0 }),
    onKeys: (records) => (buffer = KeyRing.build(slots.assign(records))),
    log: assert.fail,
  })
  const { user, system } = process.cpuUsage(start)
  const taken = memory() - before
  followed.close()
  // Half a second of a processor's time; what it took by the clock says more about the neighbours.
  assert.ok(user + system < 5_000_000, `${user + system} µs`)
  assert.ok(taken < 30_000_000, `${taken} bytes`)

  const ring = new KeyRing(buffer)
  for (let i = 0; i < MAX_KEYS; i++) {
    const row = ring.find(keys[i - MAX_KEYS / 2] ?? otherKey(i))
    assert.equal(row === -1 ? '' : ring.id(row), `k_${String(i).padStart(10, '0')}`)
    assert.equal(ring.quota(row), 1000 + i)
  }
  assert.equal(ring.find(issueKey(elsewhere, { owner: 'd', now: NOON }).key), -1)
  assert.throws(() => issueKey(path, { owner: 'one more', now: NOON }), KeyCommandError)
})
