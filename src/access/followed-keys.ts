/** Keys in Redis, followed by a poll and by what Redis publishes; the last good ones stay in force. */
import type { RedisConnection } from './redis/redis-connection.ts'
import { RedisFault } from './redis/redis-fault.ts'
import { MAX_KEYS, recordOf, type KeyRecord } from './key-records.ts'
import type { KeysCopy } from './keys-copy.ts'
import { KeysReader, RedisKeysError, shownId, type KeysState, type KeyVersion } from './keys-redis.ts'
import type { LogLine } from '../system/log.ts'

/** A key that ends is refused within two seconds, with the time that it takes to hand the change on. */
const LOOK_INTERVAL_MS = 1000
/** The least pause between two published looks, so that a burst is taken over in batches. */
const LEAST_PAUSE_MS = 20
const PAUSE_SHARE = 10
/** Versions that are remembered as seen. Redis remembers fewer changes. */
const MOST_SEEN = 10_000

export interface FollowerOptions {
  readonly connection: RedisConnection
  readonly copy: KeysCopy | null
  readonly copyPath: string
  readonly onSet: (records: ReadonlyMap<string, KeyRecord>) => void
  readonly log: LogLine
}

export class FollowedKeys {
  /** Resolves when keys are known, from Redis or from the copy. */
  readonly known: Promise<void>
  readonly #options: FollowerOptions
  readonly #reader: KeysReader
  readonly #timer: NodeJS.Timeout
  #resolveKnown: () => void = () => {}
  #isKnown = false
  #records = new Map<string, KeyRecord>()
  /** Empty before anything is known. */
  #set = ''
  #last: KeyVersion = { id: '', version: 0 }
  /** The state that Redis had when all was in force. */
  #text = ''
  #seen = new Set<number>()
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
    this.#reader = new KeysReader(connection)
    this.known = new Promise((resolve) => (this.#resolveKnown = resolve))
    if (copy !== null) {
      this.#records = new Map(copy.records.map((record) => [record.id, record]))
      this.#set = copy.set
      this.#last = copy.last
      this.#seen = new Set(copy.seen)
      this.#isForked = copy.isForked
      options.onSet(this.#records)
      this.#setKnown()
    }
    const look = (): void => void this.#look()
    // Without publication the poll finds everything, a little later.
    void connection.subscribe(this.#reader.channel, look)
    connection.onReady(look)
    this.#timer = setInterval(look, LOOK_INTERVAL_MS).unref()
  }

  /** What a start without Redis needs; null while nothing is known. */
  copy(): KeysCopy | null {
    if (this.#set === '') return null
    return {
      records: [...this.#records.values()],
      set: this.#set,
      last: this.#last,
      seen: [...this.#seen],
      isForked: this.#isForked,
    }
  }

  figures(): { backend: string; count: number; isUp: boolean } {
    const isUp = this.#problem === null && this.#options.connection.isAnswering
    return { backend: 'redis', count: this.#records.size, isUp }
  }

  status(): object {
    return {
      store: 'redis',
      count: this.#records.size,
      version: this.#last.version,
      generation: this.#set === '' ? null : this.#set,
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
    }
    await new Promise((resolve) => setTimeout(resolve, this.#pauseMs).unref())
    this.#isLooking = false
    if (this.#isAskedAgain) void this.#look()
  }

  #meet(error: unknown): void {
    const { place } = this.#reader
    if (error instanceof RedisKeysError) this.#enter(error.message)
    else if (!(error instanceof RedisFault)) {
      // A fault of the program must not end a server that has good keys.
      this.#enter(`${place}: fault: ${error instanceof Error ? error.stack : String(error)}`)
    } else if (error.kind === 'forbidden' || error.kind === 'refused')
      this.#enter(`${place}: ${error.message}`)
  }

  async #update(): Promise<void> {
    const state = await this.#reader.state()
    if (this.#isClosed) return
    const { place } = this.#reader
    if (state.set === '') {
      if (this.#set !== '') return this.#enter(`${place}: holds no keys any more; ${this.#inForce()}`)
      if (!this.#isKnown) {
        this.#options.log(
          `no keys in ${place}: every keyed operation answers 401 until "keys issue --keys ${place}" issues one`,
          'warning',
        )
      }
      return this.#setKnown()
    }
    if (state.text === this.#text) return this.#enter(null)
    if (state.set === this.#set) return this.#follow(state)
    // A set that an import began is meant. A set that began by itself took the place of lost keys.
    if (this.#set === '' || state.origin === 'imported') return this.#readAll(state)
    this.#enter(
      `${place}: holds another set of keys, begun by "keys issue", which is not taken; ${this.#inForce()}`,
    )
  }

  #inForce(): string {
    const { copyPath } = this.#options
    return `the last good ones (${this.#records.size}) stay in force until "keys import ${copyPath} --keys ${this.#reader.place}" puts them back or another file is imported`
  }

  async #readAll(state: KeysState): Promise<void> {
    const { place } = this.#reader
    // The changes are read before the records, so that what changes meanwhile is looked at again.
    const newest: KeyVersion[] = []
    for await (const change of this.#reader.newest()) newest.push(change)
    const found = await this.#reader.everything()
    const { set } = await this.#reader.state()
    // The set was replaced meanwhile: the next look begins anew.
    if (set !== state.set || this.#isClosed) return void (this.#isAskedAgain = true)
    if (found === null) return this.#enter(`${place}: holds more than ${MAX_KEYS} keys`)
    const { records, broken } = found
    this.#broken.clear()
    for (const id of broken) {
      const last = this.#records.get(id)
      if (last !== undefined) records.set(id, last)
      this.#reportBroken(id, last !== undefined)
    }
    this.#records = records
    this.#set = state.set
    this.#last = newest[0] ?? { id: '', version: state.version }
    this.#text = state.text
    this.#seen = new Set(newest.map(({ version }) => version).toReversed())
    this.#isForked = false
    this.#hand()
    this.#setKnown()
    this.#enter(null)
    this.#isAskedAgain = true
  }

  /** Takes over the changes that were not seen yet. Each is newer than all that were seen. */
  async #follow(state: KeysState): Promise<void> {
    const changes = new Map<string, number>()
    let known: number | null = null
    for await (const { id, version } of this.#reader.newest()) {
      if (this.#seen.has(version)) {
        known = version
        break
      }
      changes.set(id, Math.max(version, changes.get(id) ?? 0))
    }
    const { place } = this.#reader
    const { copyPath } = this.#options
    if (known === null) {
      if ([...changes.values()].every((version) => version > this.#last.version)) return this.#readAll(state)
      return this.#enter(
        `${place}: holds another history of the same keys, which is not taken; ${this.#inForce()}`,
      )
    }
    // A copy of Redis that took over may lack changes. They stay in force here: one may have ended a key.
    const isLost = known < this.#last.version && !changes.has(this.#last.id)
    if (isLost && !this.#isForked) {
      this.#isForked = true
      this.#options.log(
        `${place}: has lost the newest changes of keys, as a copy that lags does when it takes over; they stay in force here, and "keys import ${copyPath} --replace --keys ${place}" puts them back`,
        'warning',
      )
    }
    if (!(await this.#apply([...changes.keys()]))) return
    for (const version of [...changes.values()].toReversed()) this.#seen.add(version)
    if (this.#seen.size > 2 * MOST_SEEN) this.#seen = new Set([...this.#seen].slice(-MOST_SEEN))
    const [newest] = changes
    if (newest !== undefined) this.#last = { id: newest[0], version: newest[1] }
    else if (isLost) this.#last = { id: '', version: known }
    this.#text = state.text
    if (changes.size > 0 || isLost) this.#hand()
    this.#enter(null)
  }

  /** @returns false where the records would become too many */
  async #apply(ids: readonly string[]): Promise<boolean> {
    const records = new Map(this.#records)
    for (let at = 0; at < ids.length; at += 500) {
      const some = ids.slice(at, at + 500)
      const texts = await this.#reader.texts(some)
      for (const [i, id] of some.entries()) {
        const text = texts[i]
        const record = text === null ? null : recordOf(text)
        if (text !== null && record?.id !== id) this.#reportBroken(id, records.has(id))
        else {
          this.#broken.delete(id)
          if (record === null) records.delete(id)
          else records.set(id, record)
        }
      }
    }
    if (records.size > MAX_KEYS) {
      this.#enter(`${this.#reader.place}: holds more than ${MAX_KEYS} keys`)
      return false
    }
    this.#records = records
    return true
  }

  #hand(): void {
    const from = performance.now()
    this.#options.onSet(this.#records)
    const took = performance.now() - from
    this.#pauseMs = Math.min(LOOK_INTERVAL_MS, Math.max(LEAST_PAUSE_MS, took * PAUSE_SHARE))
  }

  #reportBroken(id: string, isInForce: boolean): void {
    if (this.#broken.has(id)) return
    // A stranger's names must not fill the memory.
    if (this.#broken.size < MAX_KEYS) this.#broken.add(id)
    if (this.#broken.size > 1) return
    this.#options.log(
      `${this.#reader.place}: the record of ${shownId(id)} cannot be read: ${isInForce ? 'its last good form stays in force' : 'it is passed over'}; "keys revoke" ends it (/status counts further ones)`,
      'warning',
    )
  }

  #enter(problem: string | null): void {
    if (problem === this.#problem) return
    const had = this.#problem !== null
    this.#problem = problem
    if (problem !== null) this.#options.log(problem, 'warning')
    else if (had)
      this.#options.log(`${this.#reader.place}: keys are followed again, ${this.#records.size} of them`)
  }

  #setKnown(): void {
    this.#isKnown = true
    this.#resolveKnown()
  }
}
