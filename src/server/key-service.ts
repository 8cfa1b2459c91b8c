/** The keys of a running server and their counts: followed, handed to the workers, saved. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FollowedKeys, LOOK_LIMITS, isAddress, KeysObject } from '../access/keys-object.ts'
import type { KeyRecord } from '../access/key-records.ts'
import { KeyRing, type KeyEntry } from '../access/key-ring.ts'
import { watchKeys } from '../access/keys-file.ts'
import type { QuotaCounters } from '../access/quota.ts'
import { keepUsage, KeySlots, readUsage, usagePath } from '../access/usage-file.ts'
import type { ServeConfig } from './serve-settings.ts'
import type { StoreContext } from '../snapshot/store/store.ts'
import type { LogLine } from '../system/log.ts'

export interface KeySurroundings extends Pick<StoreContext, 'environment' | 'random'> {
  readonly log: LogLine
  readonly clock: () => number
}

/** Next to the folder of snapshots. */
const COPY_NAME = 'keys-copy.json'

export interface KeyFigures {
  /** `file`, `bucket` or `web`. */
  backend: string
  count: number
  /** False after a look that gave no good set; the last good one stays in force. */
  isUp: boolean
}

export interface ServedKeys {
  entries(): Iterable<KeyEntry>
  figures(): KeyFigures
  /** Resolves when it is known which keys there are. Before, a server must answer nobody. */
  readonly known: Promise<void>
  ring(): SharedArrayBuffer
  /** Calls `listener` with the ring of the moment, and again with each later one. */
  onChange(listener: (ring: SharedArrayBuffer) => void): void
  status(): object
  /** Saves the counts. */
  close(): void
}

/**
 * @param counters what counts the calls of each key
 * @throws KeysFileError for a keys file, or a copy, that cannot be used; StoreError for an address that cannot
 */
export function startKeys(
  config: Pick<ServeConfig, 'keys' | 'snapshots'>,
  counters: QuotaCounters,
  surroundings: KeySurroundings,
): ServedKeys {
  const slots = new KeySlots(counters)
  const rings = new Rings(slots)
  const followed = isAddress(config.keys)
    ? followAddress(config, surroundings, rings)
    : followFile(config.keys, surroundings.log, rings)
  const counts = usagePath(followed.file)
  const { log, clock } = surroundings
  const usage = readUsage(counts, clock())
  if (usage.warning !== null) log(usage.warning, 'warning')
  slots.restore(usage.counts, clock())
  // Keys that come later than the counts get their counts then.
  void followed.known.then(() => slots.restore(usage.counts, clock()))
  const keeper = keepUsage(counts, slots, clock, (error) => log(error.message, 'warning'))
  return {
    entries: () => rings.entries,
    figures: () => followed.figures(),
    known: followed.known,
    ring: () => rings.ring,
    onChange(listener) {
      rings.listen = listener
      // Keys may have changed since the first worker began.
      listener(rings.ring)
    },
    status: () => followed.status(),
    close() {
      followed.close()
      keeper.close()
    },
  }
}

interface Followed {
  readonly known: Promise<void>
  readonly file: string
  figures(): KeyFigures
  status(): object
  close(): void
}

class Rings {
  ring = KeyRing.build([])
  listen: (ring: SharedArrayBuffer) => void = () => {}
  entries: readonly KeyEntry[] = []
  readonly #slots: KeySlots

  constructor(slots: KeySlots) {
    this.#slots = slots
  }

  set(records: readonly KeyRecord[]): void {
    this.entries = this.#slots.assign(records)
    this.ring = KeyRing.build(this.entries)
    this.listen(this.ring)
  }
}

function followFile(path: string, log: LogLine, rings: Rings): Followed {
  const state: KeyFigures = { backend: 'file', count: 0, isUp: true }
  const watch = watchKeys(
    path,
    (records: KeyRecord[]) => {
      rings.set(records)
      state.count = records.length
      state.isUp = true
    },
    (error) => {
      state.isUp = false
      log(`${error.message}; the last good keys stay in force`, 'warning')
    },
  )
  if (!existsSync(path)) {
    log(
      `no keys in ${path}: every keyed operation answers 401 until "keys issue --keys ${path}" issues one`,
      'warning',
    )
  }
  return {
    known: Promise.resolve(),
    file: path,
    figures: () => state,
    status: () => ({ store: 'file', count: state.count, good: state.isUp }),
    close: () => watch.close(),
  }
}

function followAddress(
  { keys, snapshots }: Pick<ServeConfig, 'keys' | 'snapshots'>,
  { log, environment, random }: KeySurroundings,
  rings: Rings,
): Followed {
  const file = join(dirname(snapshots), COPY_NAME)
  const object = new KeysObject(keys, { environment, random, limits: LOOK_LIMITS })
  const followed = new FollowedKeys({
    object,
    copyPath: file,
    onKeys: (records) => rings.set(records),
    log,
  })
  return {
    known: followed.known,
    file,
    figures: () => followed.figures(),
    status: () => followed.status(),
    close: () => followed.close(),
  }
}
