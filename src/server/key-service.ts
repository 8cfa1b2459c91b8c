/** The keys of a running server and their counts: followed, handed to the workers, saved. */
import { dirname, join } from 'node:path'
import { FollowedKeys, keySource } from '../access/keys-object.ts'
import type { KeyRecord } from '../access/key-records.ts'
import { KeyRing, type KeyEntry } from '../access/key-ring.ts'
import type { QuotaCounters } from '../access/quota.ts'
import { keepUsage, KeySlots, readUsage, usagePath } from '../access/usage-file.ts'
import type { ServeConfig } from './serve-settings.ts'
import type { StoreContext } from '../snapshot/store/store.ts'
import type { LogLine } from '../system/log.ts'

interface KeySurroundings extends Pick<StoreContext, 'environment' | 'random'> {
  readonly log: LogLine
  readonly clock: () => number
}

/** Next to the folder of snapshots. */
const COPY_NAME = 'keys-copy.json'

export interface KeyFigures {
  /** `file`, `bucket` or `web`. */
  backend: string
  count: number
  /** False after a poll that gave no good set; the last good one stays in force. */
  isUp: boolean
}

export interface KeyService {
  entries(): Iterable<KeyEntry>
  figures(): KeyFigures
  /** Resolves when the keys are known. Before, a server must answer nobody. */
  readonly known: Promise<void>
  ring(): SharedArrayBuffer
  /** Calls `listener` with the current ring, and again with each later one. */
  onChange(listener: (ring: SharedArrayBuffer) => void): void
  status(): object
  /** Saves the counts. */
  close(): void
}

/**
 * @param counters what counts the calls of each key
 * @throws KeysFileError for a keys file, or a copy, that cannot be used; StoreError for an address that
 * cannot
 */
export function startKeys(
  config: Pick<ServeConfig, 'keys' | 'snapshots'>,
  counters: QuotaCounters,
  surroundings: KeySurroundings,
): KeyService {
  const slots = new KeySlots(counters)
  let entries: readonly KeyEntry[] = []
  let ring = KeyRing.build(entries)
  let listen: (ring: SharedArrayBuffer) => void = () => {}
  const { log, clock, ...context } = surroundings
  const { source, copyPath } = keySource(config.keys, join(dirname(config.snapshots), COPY_NAME), context)
  const onKeys = (records: readonly KeyRecord[]): void => {
    entries = slots.assign(records)
    ring = KeyRing.build(entries)
    listen(ring)
  }
  const followed = new FollowedKeys({ source, copyPath, onKeys, log })
  const counts = usagePath(copyPath ?? config.keys)
  const usage = readUsage(counts, clock())
  if (usage.warning !== null) log(usage.warning, 'warning')
  slots.restore(usage.counts, clock())
  // Keys that come later than the counts get their counts then.
  void followed.known.then(() => slots.restore(usage.counts, clock()))
  const keeper = keepUsage(counts, slots, clock, (error) => log(error.message, 'warning'))
  return {
    entries: () => entries,
    figures: () => followed.figures(),
    known: followed.known,
    ring: () => ring,
    onChange(listener) {
      listen = listener
      // Keys may have changed since the first worker began.
      listener(ring)
    },
    status: () => followed.status(),
    close() {
      followed.close()
      keeper.close()
    },
  }
}
