/** The keys of a running server and their counts: followed in the keys file, handed to the workers, saved. */
import { existsSync } from 'node:fs'
import { KeyRing, type KeyEntry } from '../access/key-ring.ts'
import { watchKeys, type KeyRecord } from '../access/keys-file.ts'
import { KeySlots, type SlotCounters } from '../access/quota.ts'
import type { KeyFigures } from '../metrics/figures.ts'
import { keepUsage, readUsage, usagePath } from '../access/usage-file.ts'

export interface ServedKeys {
  /** The keys of the moment, with their slots and quotas. */
  entries(): readonly KeyEntry[]
  /** How many are in force, and whether the last look at the file gave a good set. */
  readonly state: KeyFigures
  /** The key ring of the moment. */
  ring(): SharedArrayBuffer
  /** Calls `listener` with the ring of the moment, and again with each later one. */
  onChange(listener: (ring: SharedArrayBuffer) => void): void
  /** Looks at the file no more, and saves the counts. */
  close(): void
}

/**
 * @param counters what counts the calls of each key
 * @throws KeysFileError when the keys file is there and cannot be used.
 */
export function startKeys(
  path: string,
  counters: SlotCounters,
  log: (line: string) => void,
  clock: () => number,
): ServedKeys {
  const slots = new KeySlots(counters)
  let entries: readonly KeyEntry[] = []
  let ring = KeyRing.build([])
  const state: KeyFigures = { backend: 'file', count: 0, isUp: true }
  let listen: (ring: SharedArrayBuffer) => void = () => {}
  const watch = watchKeys(
    path,
    (records: KeyRecord[]) => {
      entries = slots.assign(records)
      ring = KeyRing.build(entries)
      state.count = records.length
      state.isUp = true
      listen(ring)
    },
    (error) => {
      state.isUp = false
      log(`warning: ${error.message}; the last good keys stay in force`)
    },
  )
  if (!existsSync(path)) {
    log(
      `warning: no keys in ${path}: every keyed operation answers 401 until "keys issue --keys ${path}" issues one`,
    )
  }
  const usage = readUsage(usagePath(path), clock())
  if (usage.warning !== null) log(`warning: ${usage.warning}`)
  slots.restore(usage.counts, clock())
  const keeper = keepUsage(usagePath(path), slots, clock, (error) => log(`warning: ${error.message}`))
  return {
    entries: () => entries,
    state,
    ring: () => ring,
    onChange(listener) {
      listen = listener
      // Keys may have changed since the first worker began.
      listener(ring)
    },
    close() {
      watch.close()
      keeper.close()
    },
  }
}
