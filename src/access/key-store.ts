/** Where the commands keep keys: a file, or Redis. */
import type { RedisConnection } from '../redis/connection.ts'
import { RedisFault } from '../redis/fault.ts'
import { compareText } from '../system/compare-text.ts'
import { randomBase62 } from './key-text.ts'
import { changeKeys, loadKeys, MAX_KEYS, type KeyRecord } from './keys-file.ts'
import { KeysTable, NOTHING, RedisKeysError, shownId, type Cursor, type Outcome } from './keys-table.ts'
import {
  checkedQuota,
  checkId,
  findKey,
  issueKey,
  KeyCommandError,
  newKey,
  noSuchKey,
  ownerHasKey,
  revokeKey,
  rotateKey,
  setQuota,
  tooManyKeys,
  withNewKey,
  type IssuedKey,
  type KeyRequest,
} from './keys.ts'
import { readUsage, usagePath } from './usage-file.ts'

/** For what the members throw see `keys.ts`: KeyCommandError, and KeysFileError or RedisKeysError. */
export interface KeyStore {
  all(): Promise<KeyRecord[]>
  find(id: string): Promise<KeyRecord>
  issue(request: KeyRequest): Promise<IssuedKey>
  rotate(id: string, now: number): Promise<IssuedKey>
  /** Resolves to the record that is gone; null for one that could not be read. */
  revoke(id: string): Promise<KeyRecord | null>
  setQuota(id: string, quota: number): Promise<KeyRecord>
  /** Writes the records that `merge` makes of those that are there, in one step. */
  replaceAll(merge: (records: readonly KeyRecord[]) => readonly KeyRecord[]): Promise<void>
  /** Calls counted in the hour of `now`, by id; null where only each server knows its own. */
  used(now: number): ReadonlyMap<string, number> | null
  close(): void
}

export function fileStore(path: string): KeyStore {
  return {
    all: async () => loadKeys(path),
    find: async (id) => findKey(loadKeys(path), id),
    issue: async (request) => issueKey(path, request),
    rotate: async (id, now) => rotateKey(path, id, now),
    revoke: async (id) => revokeKey(path, id),
    setQuota: async (id, quota) => setQuota(path, id, quota),
    replaceAll: async (merge) => changeKeys(path, (records) => [[...merge(records)], undefined]),
    used: (now) => readUsage(usagePath(path), now).counts,
    close: () => {},
  }
}

/** A change that met another one is tried again with what is there now. */
const MAX_TRIES = 20
/** How long a command waits for a Redis that is away or slow. */
const PATIENCE_MS = 5000
/** For the answer to one call. A person waits, no request. */
const CALL_MS = 2000
const PAUSE_MS = 100
const STAMP_LETTERS = 16
const STAMP_BYTES = 12

/** A random name of a change. */
const newStamp = (): string => randomBase62(STAMP_BYTES, STAMP_LETTERS)

/**
 * Closes `connection` when it is closed.
 *
 * @param warn gets a line about records that cannot be read, which are passed over.
 */
export function redisStore(connection: RedisConnection, warn: (line: string) => void): KeyStore {
  const table = new KeysTable(connection, CALL_MS)
  const store = new RedisStore(table, connection, warn)
  return {
    all: async () => (await store.all()).records,
    find: (id) => store.find(id),
    issue: (request) => store.issue(request),
    rotate: (id, now) => store.update(id, (record) => withNewKey(record, now)),
    revoke: (id) => store.revoke(id),
    setQuota: async (id, quota) => {
      checkedQuota(quota)
      return (await store.update(id, (record) => ({ record: { ...record, quota }, key: '' }))).record
    },
    replaceAll: (merge) => store.replaceAll(merge),
    used: () => null,
    close: () => connection.close(),
  }
}

class RedisStore {
  readonly #table: KeysTable
  readonly #connection: RedisConnection
  readonly #warn: (line: string) => void

  constructor(table: KeysTable, connection: RedisConnection, warn: (line: string) => void) {
    this.#table = table
    this.#connection = connection
    this.#warn = warn
  }

  /** All keys, as they were at one moment, and the state of then; null where there are none. */
  async all(): Promise<{ records: KeyRecord[]; state: Cursor | null }> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const now = await this.#patiently(() => this.#table.changes(NOTHING))
      if (now.kind === 'empty') return { records: [], state: null }
      const { state } = now
      if (state.count > MAX_KEYS) throw tooManyKeys()
      const found = await this.#pages(state.generation)
      if (found === null) continue
      const after = await this.#patiently(() => this.#table.changes(state))
      if (after.kind !== 'same') continue
      if (found.broken.length > 0) {
        const first = shownId(found.broken[0])
        this.#warn(
          `warning: ${this.#table.name}: ${found.broken.length} records cannot be read and are passed over, the first ${first}`,
        )
      }
      return { records: found.records, state }
    }
    throw new RedisKeysError(`${this.#table.name}: its keys change too fast to be read; try again`)
  }

  async #pages(generation: string): Promise<{ records: KeyRecord[]; broken: string[] } | null> {
    const byId = new Map<string, KeyRecord>()
    const broken: string[] = []
    for (let cursor = '0'; ;) {
      const page = await this.#patiently(() => this.#table.page(generation, cursor))
      if (page === null) return null
      for (const record of page.records) byId.set(record.id, record)
      broken.push(...page.broken)
      cursor = page.cursor
      if (cursor === '0') break
    }
    const records = [...byId.values()].toSorted((a, b) => compareText(a.created + a.id, b.created + b.id))
    return { records, broken }
  }

  async find(id: string): Promise<KeyRecord> {
    return (await this.#read(id)).record
  }

  async #read(id: string): Promise<{ record: KeyRecord; text: string }> {
    checkId(id)
    const found = await this.#patiently(() => this.#table.read(id))
    if (found === null) throw noSuchKey(id)
    return found
  }

  async issue(request: KeyRequest): Promise<IssuedKey> {
    const stamp = newStamp()
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const issued = newKey(request)
      const outcome = await this.#write(issued.record, '', false, stamp)
      if (outcome.kind === 'done') return issued
      if (outcome.kind === 'owner') throw ownerHasKey(outcome.id)
      if (outcome.kind === 'full') throw tooManyKeys()
      // The id is taken: another one is drawn.
    }
    throw this.#contested()
  }

  async update(id: string, change: (record: KeyRecord) => IssuedKey): Promise<IssuedKey> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { record, text } = await this.#read(id)
      const changed = change(record)
      const outcome = await this.#write(changed.record, text, false, newStamp())
      if (outcome.kind === 'done') return changed
      if (outcome.kind === 'owner') throw ownerHasKey(outcome.id)
    }
    throw this.#contested()
  }

  async revoke(id: string): Promise<KeyRecord | null> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#readAnyhow(id)
      const record = found?.record ?? { id, owner: '', hash: '', quota: 1, created: '' }
      const outcome = await this.#write(record, found?.text ?? '*', true, newStamp())
      if (outcome.kind === 'done') return found?.record ?? null
    }
    throw this.#contested()
  }

  /** As `#read`, but null for a record that cannot be read. */
  async #readAnyhow(id: string): Promise<{ record: KeyRecord; text: string } | null> {
    try {
      return await this.#read(id)
    } catch (error) {
      if (error instanceof RedisKeysError && error.message.includes(id)) return null
      throw error
    }
  }

  async replaceAll(merge: (records: readonly KeyRecord[]) => readonly KeyRecord[]): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { records, state } = await this.all()
      const wanted = merge(records)
      // The generation is new, so an answer that was lost is known by it.
      const stamp = newStamp()
      if (await this.#patiently(() => this.#table.replace(wanted, state, stamp))) return
    }
    throw this.#contested()
  }

  /** Writes once: when the answer is lost and the change is there at the next try, it counts as done. */
  async #write(record: KeyRecord, expected: string, isEnd: boolean, stamp: string): Promise<Outcome> {
    let wasSent = false
    return this.#patiently(async () => {
      const isRepeated = wasSent
      wasSent = true
      const outcome = await this.#table.change(record, expected, isEnd, stamp)
      const isThere = outcome.kind === 'changed' && outcome.text === (isEnd ? '' : JSON.stringify(record))
      return isRepeated && isThere ? { kind: 'done' } : outcome
    })
  }

  /** Tries again while Redis is away or slow. @throws RedisKeysError with what the operator has to know */
  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    await this.#connection.tried
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof RedisFault)) throw error
        const isPassing = error.kind === 'away' || error.kind === 'slow' || error.kind === 'loading'
        if (!isPassing || performance.now() > until) {
          const doubt =
            error.kind === 'slow' ? '; a change may have been carried out: "keys list" shows it' : ''
          throw new RedisKeysError(`Redis ${this.#table.name}: ${error.message}${doubt}`)
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }

  #contested(): RedisKeysError {
    return new RedisKeysError(`${this.#table.name}: other commands change the same keys; try again`)
  }
}

/** What an import did. */
export interface Imported {
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly same: number
}

/**
 * The records of a store after an import: those of both, or with `replace` the imported ones alone.
 *
 * @throws KeyCommandError for an id or an owner that both have with different records, unless `replace`.
 */
export function merged(
  there: readonly KeyRecord[],
  imported: readonly KeyRecord[],
  replace: boolean,
): { records: readonly KeyRecord[]; counts: Imported } {
  const byId = new Map(there.map((record) => [record.id, record]))
  const byOwner = new Map(there.map((record) => [record.owner, record.id]))
  const counts = { added: 0, changed: 0, removed: 0, same: 0 }
  for (const record of imported) {
    const before = byId.get(record.id)
    const isSame = before !== undefined && sameRecord(before, record)
    if (isSame) counts.same++
    else if (before !== undefined) counts.changed++
    else counts.added++
    const ownersKey = byOwner.get(record.owner)
    if (replace || isSame) continue
    if (before !== undefined) {
      throw new KeyCommandError(
        `${record.id} is there already and differs; nothing was imported: --replace takes exactly the imported keys`,
      )
    }
    if (ownersKey !== undefined) {
      throw new KeyCommandError(
        `the owner of ${record.id} has the key ${ownersKey} already; nothing was imported: --replace takes exactly the imported keys`,
      )
    }
  }
  if (replace)
    return { records: imported, counts: { ...counts, removed: there.length - counts.same - counts.changed } }
  const ids = new Set(imported.map(({ id }) => id))
  const records = [...there.filter(({ id }) => !ids.has(id)), ...imported]
  if (records.length > MAX_KEYS) throw tooManyKeys()
  return { records, counts }
}

function sameRecord(a: KeyRecord, b: KeyRecord): boolean {
  return (['owner', 'hash', 'quota', 'created', 'rotated'] as const).every((field) => a[field] === b[field])
}
