/**
 * The keys of a running server and their counts: followed in the keys file or in Redis, handed to the
 * workers, saved.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FollowedKeys, type KeyChange } from '../access/followed-keys.ts'
import { readCopy, writeCopy } from '../access/keys-copy.ts'
import { KeyRing, RingEditor, type KeyEntry } from '../access/key-ring.ts'
import { watchKeys, type KeyRecord } from '../access/keys-file.ts'
import { KeySlots, type SlotCounters } from '../access/quota.ts'
import type { KeyFigures } from '../metrics/figures.ts'
import { keepUsage, readUsage, usagePath } from '../access/usage-file.ts'
import { isAddress } from '../redis/address.ts'
import { openRedis, type RedisSurroundings } from './redis.ts'
import type { REDIS_SETTINGS } from './settings/places.ts'
import type { ServeConfig } from './settings/serve.ts'

/** What the keys of a server need. */
export type KeysConfig = Pick<ServeConfig, 'keys' | 'keys-copy' | 'snapshots' | keyof typeof REDIS_SETTINGS>

/** For the default folder of data, which may be missing. */
const OWNER_ONLY = 0o700
/**
 * Writing a copy of 100,000 keys takes 0.3 s of the main thread, so it is written the less often the longer
 * it takes.
 */
const LEAST_COPY_PAUSE_MS = 1000
const LONGEST_COPY_PAUSE_MS = 60_000
const COPY_SHARE = 50

/** Beside the folder of snapshots, unless `--keys-copy` says otherwise. */
const COPY_NAME = 'keys-copy.json'

export interface ServedKeys {
  /** The keys of the moment, with their slots and quotas. */
  entries(): Iterable<KeyEntry>
  /** How many are in force, and whether the last look at where they are kept gave a good set. */
  readonly state: KeyFigures
  /** Resolves when it is known which keys there are. Before, a server must answer nobody. */
  readonly known: Promise<void>
  /** The key ring of the moment. */
  ring(): SharedArrayBuffer
  /** Calls `listener` with the ring of the moment, and again with each later one. */
  onChange(listener: (ring: SharedArrayBuffer) => void): void
  /** For `/status`. */
  status(): object
  /** Follows no more, and saves the counts. */
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
  if (usage.warning !== null) log(`warning: ${usage.warning}`)
  slots.restore(usage.counts, clock())
  // Keys that come later than the counts, as from Redis, get theirs then.
  void followed.known.then(() => slots.restore(usage.counts, clock()))
  const keeper = keepUsage(counts, slots, clock, (error) => log(`warning: ${error.message}`))
  return {
    entries: () => rings.entries.values(),
    get state() {
      return followed.figures()
    },
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
  /** The file whose neighbour has the counts. */
  readonly file: string
  figures(): KeyFigures
  status(): object
  close(): void
}

/** The ring of the moment, made anew or changed. */
class Rings {
  ring = KeyRing.build([])
  listen: (ring: SharedArrayBuffer) => void = () => {}
  /** By id. */
  readonly entries = new Map<string, KeyEntry>()
  readonly #slots: KeySlots
  #editor = new RingEditor(this.ring)

  constructor(slots: KeySlots) {
    this.#slots = slots
  }

  set(records: readonly KeyRecord[]): void {
    const entries = this.#slots.assign(records)
    this.entries.clear()
    for (const entry of entries) this.entries.set(entry.id, entry)
    this.#hand(KeyRing.build(entries))
  }

  change(changes: readonly KeyChange[], records: ReadonlyMap<string, KeyRecord>): void {
    if (changes.length === 0) return
    for (const { before, after } of changes) {
      if (before === null || after !== null) continue
      this.#slots.retire(before.id)
      this.entries.delete(before.id)
    }
    const added = changes.flatMap(({ after }) => (after === null ? [] : [this.#slots.assignOne(after)]))
    for (const entry of added) this.entries.set(entry.id, entry)
    if (!this.#editor.hasRoom(added.length)) {
      this.set([...records.values()])
      return
    }
    for (const { before, after } of changes) {
      const entry = after === null ? undefined : this.entries.get(after.id)
      if (before !== null && entry?.hash === before.hash) this.#editor.setQuota(entry.hash, entry.quota)
      else {
        if (before !== null) this.#editor.end(before.hash)
        if (entry !== undefined) this.#editor.insert(entry)
      }
    }
    // The same ring again: serving threads forget which rows they have found.
    this.listen(this.ring)
  }

  #hand(ring: SharedArrayBuffer): void {
    this.ring = ring
    this.#editor = new RingEditor(ring)
    this.listen(ring)
  }
}

function followFile(path: string, log: (line: string) => void, rings: Rings): Followed {
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
      log(`warning: ${error.message}; the last good keys stay in force`)
    },
  )
  if (!existsSync(path)) {
    log(
      `warning: no keys in ${path}: every keyed operation answers 401 until "keys issue --keys ${path}" issues one`,
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
    log(`${path}: starting with the last good keys, ${copy.records.length} of version ${copy.cursor.version}`)
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
    onChanges: (changes, records) => {
      rings.change(changes, records)
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

/** Writes the copy some time after it is asked to, and a last time when it is closed. */
class CopyKeeper {
  readonly #path: string
  readonly #address: string
  readonly #log: (line: string) => void
  readonly #copy: () => ReturnType<FollowedKeys['copy']>
  #timer: NodeJS.Timeout | null = null
  #pauseMs = 0
  #isFailing = false

  constructor(
    path: string,
    address: string,
    log: (line: string) => void,
    copy: () => ReturnType<FollowedKeys['copy']>,
  ) {
    this.#path = path
    this.#address = address
    this.#log = log
    this.#copy = copy
  }

  ask(): void {
    this.#timer ??= setTimeout(() => this.#write(), this.#pauseMs).unref()
  }

  close(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#write()
  }

  #write(): void {
    this.#timer = null
    const copy = this.#copy()
    if (copy === null) return
    const from = performance.now()
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: OWNER_ONLY })
      writeCopy(this.#path, this.#address, copy)
      this.#isFailing = false
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
      if (!this.#isFailing) {
        this.#log(
          `warning: ${this.#path}: the copy of the keys cannot be written (${code}): without it, a start needs Redis`,
        )
      }
      this.#isFailing = true
    }
    const pause = (performance.now() - from) * COPY_SHARE
    this.#pauseMs = Math.min(LONGEST_COPY_PAUSE_MS, Math.max(LEAST_COPY_PAUSE_MS, pause))
  }
}
