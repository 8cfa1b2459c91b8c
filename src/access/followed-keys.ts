/**
 * Follows the keys in Redis: learns changes by a poll, and sooner by what Redis publishes. Keeps the last
 * good keys when Redis is away, was emptied or holds another program's data, and says so in one line.
 */
import type { RedisConnection } from '../redis/connection.ts'
import { RedisFault } from '../redis/fault.ts'
import { MAX_KEYS, type KeyRecord } from './keys-file.ts'
import type { KeysCopy } from './keys-copy.ts'
import {
  KeysTable,
  NOTHING,
  RedisKeysError,
  shownId,
  type Change,
  type Cursor,
  type SetState,
} from './keys-table.ts'

/** A change has to be in force within a second; with publication it is within some milliseconds. */
const LOOK_INTERVAL_MS = 200
/**
 * Between two looks that are asked for by publication: a burst of changes is taken over in batches. With many
 * keys a batch may take longer; the pause is in proportion.
 */
const LEAST_PAUSE_MS = 20
const PAUSE_SHARE = 20
/** Newest changes that are remembered, to find the last one that a lagging copy of the database has, too. */
const RECENT_CHANGES = 10_000

/** What happened to one key. */
export interface KeyChange {
  readonly before: KeyRecord | null
  readonly after: KeyRecord | null
}

export interface FollowerOptions {
  readonly connection: RedisConnection
  /** The keys of an earlier run. */
  readonly copy: KeysCopy | null
  /** File of the copy, for messages. */
  readonly copyPath: string
  readonly onSet: (records: ReadonlyMap<string, KeyRecord>) => void
  readonly onChanges: (changes: readonly KeyChange[], records: ReadonlyMap<string, KeyRecord>) => void
  /** One line for the operator. */
  readonly log: (line: string) => void
}

export class FollowedKeys {
  /** Resolves when it is known which keys there are: from Redis, or from the copy. */
  readonly known: Promise<void>
  readonly #options: FollowerOptions
  readonly #table: KeysTable
  readonly #timer: NodeJS.Timeout
  #resolveKnown: () => void = () => {}
  #isKnown = false
  #records = new Map<string, KeyRecord>()
  #cursor: Cursor = NOTHING
  #recent: { version: number; stamp: string }[] = []
  #isForked = false
  /** Why Redis's keys are not taken over, as a sentence for the operator. */
  #problem: string | null = null
  readonly #broken = new Set<string>()
  #isLooking = false
  #isAskedAgain = false
  #pauseMs = LEAST_PAUSE_MS
  #isClosed = false

  constructor(options: FollowerOptions) {
    const { connection, copy } = options
    this.#options = options
    this.#table = new KeysTable(connection)
    this.known = new Promise((resolve) => (this.#resolveKnown = resolve))
    if (copy !== null) {
      this.#records = new Map(copy.records.map((record) => [record.id, record]))
      this.#cursor = copy.cursor
      this.#recent = [...copy.recent]
      this.#isForked = copy.isForked
      options.onSet(this.#records)
      this.#setKnown()
    }
    const look = (): void => void this.#look()
    // Without publication the poll finds everything, a little later.
    void connection.subscribe(this.#table.channel, look)
    connection.onReady(look)
    this.#timer = setInterval(look, LOOK_INTERVAL_MS).unref()
  }

  /** What a file has to keep for a start without Redis; null while nothing is known. */
  copy(): KeysCopy | null {
    if (this.#cursor.generation === '') return null
    return {
      records: [...this.#records.values()],
      cursor: this.#cursor,
      recent: this.#recent,
      isForked: this.#isForked,
    }
  }

  /** How many keys are in force, and whether they are those of Redis. */
  figures(): { backend: string; count: number; isUp: boolean } {
    const isUp = this.#problem === null && this.#options.connection.isAnswering
    return { backend: 'redis', count: this.#records.size, isUp }
  }

  /** For `/status`. */
  status(): object {
    const { generation, version } = this.#cursor
    return {
      store: 'redis',
      count: this.#records.size,
      version,
      generation: generation === '' ? null : generation,
      problem: this.#problem,
      redis_lost_changes: this.#isForked,
      unreadable_records: this.#broken.size,
      redis: this.#options.connection.status(),
    }
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
  }

  async #look(): Promise<void> {
    if (this.#isLooking) {
      this.#isAskedAgain = true
      return
    }
    if (this.#isClosed || !this.#options.connection.isReady) return
    this.#isLooking = true
    try {
      this.#isAskedAgain = false
      await this.#update()
    } catch (error) {
      this.#meet(error)
    } finally {
      this.#isLooking = false
    }
    if (this.#isAskedAgain) setTimeout(() => void this.#look(), this.#pauseMs).unref()
  }

  /** The connection reports what concerns it as a whole; the rest is reported here. */
  #meet(error: unknown): void {
    const { name } = this.#table
    if (error instanceof RedisKeysError) this.#enter(error.message)
    else if (!(error instanceof RedisFault)) {
      // A fault of the program must not end a server that has good keys.
      this.#enter(`${name}: fault: ${error instanceof Error ? error.stack : String(error)}`)
    } else if (error.kind === 'forbidden' || error.kind === 'refused')
      this.#enter(`${name}: ${error.message}`)
  }

  async #update(): Promise<void> {
    const found = await this.#table.changes(this.#cursor)
    if (this.#isClosed) return
    switch (found.kind) {
      case 'empty':
        return this.#onEmpty()
      case 'same':
        return this.#enter(null)
      case 'changes':
        return this.#apply(found.changes, found.state)
      case 'other':
        return this.#onOther(found.state)
      case 'lost':
        return this.#rejoin(found.state)
    }
  }

  #onEmpty(): void {
    const { name } = this.#table
    if (this.#cursor.generation === '') {
      if (!this.#isKnown) {
        this.#options.log(
          `warning: no keys in ${name}: every keyed operation answers 401 until "keys issue --keys ${name}" issues one`,
        )
      }
      this.#setKnown()
      return
    }
    this.#enter(`${name}: holds no keys any more; ${this.#inForce()}`)
  }

  /**
   * A set that an import began is meant to be taken; one that began by itself took the place of lost keys.
   */
  async #onOther(state: SetState): Promise<void> {
    if (this.#cursor.generation === '' || state.origin === 'imported') return this.#readAll(state)
    this.#enter(
      `${this.#table.name}: holds another set of keys (${state.count}, begun by "keys issue"), which is not taken; ${this.#inForce()}`,
    )
  }

  #inForce(): string {
    const { copyPath } = this.#options
    return `the last good ones (${this.#records.size}, version ${this.#cursor.version}) stay in force until "keys import ${copyPath} --keys ${this.#table.name}" puts them back or another file is imported`
  }

  async #readAll(state: SetState): Promise<void> {
    const { name } = this.#table
    if (state.count > MAX_KEYS)
      return this.#enter(`${name}: holds ${state.count} keys; ${MAX_KEYS} are the most`)
    const records = new Map<string, KeyRecord>()
    const broken: string[] = []
    for (let cursor = '0'; ;) {
      const page = await this.#table.page(state.generation, cursor)
      // It was replaced meanwhile: the next look begins anew.
      if (page === null || this.#isClosed) return
      for (const record of page.records) records.set(record.id, record)
      broken.push(...page.broken)
      if (records.size > MAX_KEYS) return this.#enter(`${name}: holds more than ${MAX_KEYS} keys`)
      cursor = page.cursor
      if (cursor === '0') break
    }
    this.#broken.clear()
    for (const id of broken) {
      const last = this.#records.get(id)
      if (last !== undefined) records.set(id, last)
      this.#reportBroken(id, last !== undefined)
    }
    this.#records = records
    this.#cursor = state
    this.#recent = [{ version: state.version, stamp: state.stamp }]
    this.#isForked = false
    this.#options.onSet(records)
    this.#setKnown()
    this.#enter(null)
    // What changed while the records were read, is in the log.
    this.#isAskedAgain = true
  }

  #apply(changes: readonly Change[], state: SetState): void {
    const applied: KeyChange[] = []
    for (const { id, record, isBroken, version, stamp } of changes) {
      this.#recent.push({ version, stamp })
      if (id === '') continue
      const before = this.#records.get(id) ?? null
      if (isBroken) {
        this.#reportBroken(id, before !== null)
        continue
      }
      this.#broken.delete(id)
      if (record !== null && before === null && this.#records.size >= MAX_KEYS) {
        return this.#enter(`${this.#table.name}: holds more than ${MAX_KEYS} keys`)
      }
      if (record === null) this.#records.delete(id)
      else this.#records.set(id, record)
      applied.push({ before, after: record })
    }
    const last = changes.at(-1)
    if (last === undefined) return
    if (this.#recent.length > 2 * RECENT_CHANGES) this.#recent = this.#recent.slice(-RECENT_CHANGES)
    this.#cursor = { generation: state.generation, version: last.version, stamp: last.stamp }
    const from = performance.now()
    this.#options.onChanges(applied, this.#records)
    const took = performance.now() - from
    this.#pauseMs = Math.min(LOOK_INTERVAL_MS, Math.max(LEAST_PAUSE_MS, took * PAUSE_SHARE))
    this.#isAskedAgain ||= last.version < state.version
    this.#enter(null)
  }

  /**
   * The log of the database does not have the change that was seen last. Either so much has changed meanwhile
   * that it is gone from the log, or a copy took over that lacks the newest changes. Those stay in force
   * here: one may have ended a key. What changed on the copy since is applied to them.
   */
  async #rejoin(state: SetState): Promise<void> {
    const tail = await this.#table.tail()
    const oldest = tail.at(-1)
    if (oldest !== undefined && oldest.version > this.#cursor.version) return this.#readAll(state)
    const stamps = new Map(this.#recent.map(({ version, stamp }) => [version, stamp]))
    const common = tail.find(({ version, stamp }) => stamps.get(version) === stamp)
    const { name } = this.#table
    const { copyPath } = this.#options
    if (common === undefined) {
      return this.#enter(
        `${name}: holds another history of the same keys, which is not taken; ${this.#inForce()}`,
      )
    }
    const lost = this.#cursor.version - common.version
    this.#options.log(
      `warning: ${name}: has lost the last ${lost} ${lost === 1 ? 'change' : 'changes'} of keys, as a copy that lags does when it takes over; they stay in force here, and "keys import ${copyPath} --replace --keys ${name}" puts them back`,
    )
    this.#isForked = true
    this.#recent = this.#recent.filter(({ version }) => version <= common.version)
    this.#cursor = { generation: this.#cursor.generation, ...common }
    this.#options.onChanges([], this.#records)
    this.#isAskedAgain = true
  }

  #reportBroken(id: string, isInForce: boolean): void {
    if (this.#broken.has(id)) return
    // A stranger's names must not fill the memory.
    if (this.#broken.size < MAX_KEYS) this.#broken.add(id)
    if (this.#broken.size > 1) return
    this.#options.log(
      `warning: ${this.#table.name}: the record of ${shownId(id)} cannot be read: ${isInForce ? 'its last good form stays in force' : 'it is passed over'}; "keys revoke" ends it (/status counts further ones)`,
    )
  }

  #enter(problem: string | null): void {
    if (problem === this.#problem) return
    const had = this.#problem !== null
    this.#problem = problem
    if (problem !== null) this.#options.log(`warning: ${problem}`)
    else if (had) {
      this.#options.log(
        `${this.#table.name}: keys are followed again, ${this.#records.size} of version ${this.#cursor.version}`,
      )
    }
  }

  #setKnown(): void {
    this.#isKnown = true
    this.#resolveKnown()
  }
}
