/** The keys of a running server and their counts: followed, handed to the workers, saved. */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FollowedKeys } from '../access/followed-keys.ts'
import type { KeyRecord } from '../access/key-records.ts'
import { CopyKeeper, readCopy } from '../access/keys-copy.ts'
import { KeyRing, type KeyEntry } from '../access/key-ring.ts'
import { watchKeys } from '../access/keys-file.ts'
import type { SlotCounters } from '../access/quota.ts'
import { keepUsage, KeySlots, readUsage, usagePath } from '../access/usage-file.ts'
import { isAddress } from '../access/redis/redis-address.ts'
import { openRedis, type RedisSurroundings } from './redis-clients.ts'
import type { REDIS_SETTINGS, ServeConfig } from './serve-settings.ts'
import type { LogLine } from '../system/log.ts'

export type KeysConfig = Pick<ServeConfig, 'keys' | 'keys-copy' | 'snapshots' | keyof typeof REDIS_SETTINGS>

/** Next to the folder of snapshots, unless `--keys-copy` names another place. */
const COPY_NAME = 'keys-copy.json'

export interface KeyFigures {
  /** `file`, or a backend that replicas share. */
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
 * @throws KeysFileError when the keys file is there and cannot be used, UsageError for files that belong to
 * Redis's address.
 */
export function startKeys(
  config: KeysConfig,
  counters: SlotCounters,
  surroundings: RedisSurroundings,
): ServedKeys {
  const slots = new KeySlots(counters)
  const rings = new Rings(slots)
  const followed = isAddress(config.keys)
    ? followRedis(config, surroundings, rings)
    : followFile(config.keys, surroundings.log, rings)
  const counts = usagePath(followed.file)
  const { log, clock } = surroundings
  const usage = readUsage(counts, clock())
  if (usage.warning !== null) log(usage.warning, 'warning')
  slots.restore(usage.counts, clock())
  // Keys that come later than the counts, as from Redis, get their counts then.
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

function followRedis(config: KeysConfig, surroundings: RedisSurroundings, rings: Rings): Followed {
  const { log } = surroundings
  const path = config['keys-copy'] ?? join(dirname(config.snapshots), COPY_NAME)
  const connection = openRedis(config.keys, config, surroundings)
  const address = connection.address.place
  let copy: ReturnType<typeof readCopy>
  try {
    copy = readCopy(path, address)
  } catch (error) {
    connection.close()
    throw error
  }
  if (copy !== null) {
    log(`${path}: starting with the last good keys, ${copy.records.length} of them`)
  }
  const keeper = new CopyKeeper(path, address, log, () => followed.copy())
  const followed = new FollowedKeys({
    connection,
    copy,
    copyPath: path,
    log,
    onSet: (records) => {
      rings.set([...records.values()])
      keeper.ask()
    },
  })
  return {
    known: followed.known,
    file: path,
    figures: () => followed.figures(),
    status: () => followed.status(),
    close() {
      followed.close()
      connection.close()
      keeper.close()
    },
  }
}
