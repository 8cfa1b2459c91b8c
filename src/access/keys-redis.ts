/**
 * The keys in Redis, under names of one hash tag:
 * `PREFIX:{keys}:records`: hash of records (JSON) by id; its field `:state` has format, set, origin, version.
 * `PREFIX:{keys}:changes`: sorted set of the newest changes, ids by version; `*` stands for all.
 * A set has a random name, and an origin: `imported` where an import put it in the place of all keys, else
 * `issue`. A version is the time of Redis in microseconds, and above the one before: two copies of a database
 * that go on by themselves give different ones.
 */
import { RedisScript, type RedisConnection } from './redis/redis-connection.ts'
import { RedisFault } from './redis/redis-fault.ts'
import type { Reply } from './redis/redis-link.ts'
import { compareText } from '../system/text.ts'
import {
  findKey,
  ID_PATTERN,
  KeyCommandError,
  MAX_KEYS,
  randomBase62,
  recordOf,
  type Changed,
  type KeyRecord,
} from './key-records.ts'
import type { KeyStore } from './keys-file.ts'

/** The layout before this one. */
const OLD_FORMAT = 'groundswell-keys-1'
const STATE = ':state'
const STATE_TEXT = /^2 ([0-9A-Za-z]{1,40}) (issue|imported) ([0-9]{1,16})$/
/** A replica that has missed more reads all keys. */
const KEPT_CHANGES = 2000
const CHANGES_AT_ONCE = 200
/** Records of one call, which takes Redis a few milliseconds. */
const PAGE_RECORDS = 500
/** Pages at most: a table of Redis has up to some ten times as many places as records. */
const MOST_PAGES = (16 * MAX_KEYS) / PAGE_RECORDS
/** Time limit of calls with many records; only a start and the command line wait for them. */
const LONG_CALL_MS = 3000
/** Staged records expire, so that a killed import leaves nothing behind. */
const STAGING_S = 600

/** In both scripts the state that the caller has read must still be there; they return 0 where it is not. */
const PRELUDE = `
local records, changes = KEYS[1], KEYS[2]
local state = redis.call('HGET', records, '${STATE}') or ''
if state ~= ARGV[1] then return 0 end
local time = redis.call('TIME')
local version = math.max(time[1] * 1000000 + time[2], (tonumber(string.match(state, '(%d+)$')) or 0) + 1)
local function finish(set, origin)
  local text = string.format('%.0f', version)
  redis.call('HSET', records, '${STATE}', '2 ' .. set .. ' ' .. origin .. ' ' .. text)
  redis.call('PUBLISH', ARGV[2], text)
  return 1
end
`

/** ARGV: state, channel, name of the set where none is there, id, record ('' to end the key). */
const CHANGE = `${PRELUDE}
if state == '' and redis.call('EXISTS', unpack(KEYS)) > 0 then return redis.error_reply('GSWFOREIGN') end
if ARGV[5] == '' then redis.call('HDEL', records, ARGV[4]) else redis.call('HSET', records, ARGV[4], ARGV[5]) end
redis.call('ZADD', changes, version, ARGV[4])
redis.call('ZREMRANGEBYRANK', changes, 0, -${KEPT_CHANGES + 1})
local set, origin = string.match(state, '^2 (%w+) (%l+)')
return finish(set or ARGV[3], origin or 'issue')
`
const CHANGE_SCRIPT = new RedisScript(CHANGE)
/** A key can be ended also when Redis is out of memory. */
const END_SCRIPT = new RedisScript(`#!lua flags=allow-oom\n${CHANGE}`)

/** KEYS: staged records. ARGV: ids and records in turn. */
const STAGE_SCRIPT = new RedisScript(`
redis.call('HSET', KEYS[1], unpack(ARGV))
return redis.call('EXPIRE', KEYS[1], ${STAGING_S})
`)

/**
 * KEYS: records, changes, staged records, names to remove. ARGV: state, channel, name of the set, number of
 * staged records. In an upgrade KEYS[4] is the earlier state, and ARGV ends with its version and stamp.
 */
const REPLACE_SCRIPT = new RedisScript(`${PRELUDE}
if ARGV[5] then
  local old = redis.call('HMGET', KEYS[4], 'version', 'stamp')
  if old[1] ~= ARGV[5] or old[2] ~= ARGV[6] then return 0 end
end
if redis.call('HLEN', KEYS[3]) ~= tonumber(ARGV[4]) then return 0 end
for i = 1, #KEYS do if i ~= 3 then redis.call('DEL', KEYS[i]) end end
if redis.call('EXISTS', KEYS[3]) == 1 then
  redis.call('RENAME', KEYS[3], records)
  redis.call('PERSIST', records)
end
redis.call('ZADD', changes, version, '*')
return finish(ARGV[3], 'imported')
`)

export interface KeysState {
  /** Empty where there are no keys. */
  readonly text: string
  readonly set: string
  readonly origin: string
  readonly version: number
}

export interface KeyVersion {
  readonly id: string
  readonly version: number
}

const NO_KEYS: KeysState = { text: '', set: '', origin: '', version: 0 }

/** Keys in Redis that cannot be used. The message names the address and the fault, never content. */
export class RedisKeysError extends Error {
  override readonly name = 'RedisKeysError'
}

/** Each method throws RedisFault, or RedisKeysError for data that are not ours. */
export class KeysReader {
  /** The address without user and password. */
  readonly place: string
  /** Published to after every change. */
  readonly channel: string
  protected readonly connection: RedisConnection
  protected readonly records: string
  protected readonly changes: string
  /** Names of the layout before this one; the name of its records is still in use. */
  protected readonly oldNames: readonly string[]
  protected readonly prefix: string
  readonly #timeoutMs: number | undefined

  constructor(connection: RedisConnection, timeoutMs?: number) {
    this.connection = connection
    this.#timeoutMs = timeoutMs
    this.place = connection.address.place
    this.prefix = `${connection.address.prefix}:{keys}:`
    this.records = `${this.prefix}records`
    this.changes = `${this.prefix}changes`
    this.oldNames = ['state', 'owners', 'log'].map((name) => this.prefix + name)
    this.channel = `${this.prefix}changed`
  }

  async state(): Promise<KeysState> {
    const text = await this.ask(['HGET', this.records, STATE], textOrNull)
    if (text === null) {
      await this.#lookForOthers()
      return NO_KEYS
    }
    const [, set, origin, version] = STATE_TEXT.exec(text) ?? []
    if (set === undefined) throw this.foreign(`${this.records} has no state of this format`)
    return { text, set, origin, version: Number(version) }
  }

  /** @throws RedisKeysError where there is no state of ours, and our names are used */
  async #lookForOthers(): Promise<void> {
    const [oldState] = this.oldNames
    const names = [this.records, this.changes, ...this.oldNames]
    const used: string[] = []
    // A cluster may refuse a call with several names.
    for (const name of names) {
      const type = await this.ask(['TYPE', name], textOf, name)
      if (type !== 'none') used.push(`${name} is a ${type}`)
      if (name !== oldState || type !== 'hash') continue
      if ((await this.ask(['HGET', name, 'format'], textOrNull)) !== OLD_FORMAT) continue
      throw new RedisKeysError(
        `${this.place}: holds keys in the layout of an earlier version; nothing was changed: "keys upgrade --keys ${this.place}" takes them over`,
      )
    }
    if (used.length > 0) throw this.foreign(used[0])
  }

  /** The changes that are remembered, the newest first. */
  async *newest(): AsyncGenerator<KeyVersion, undefined> {
    for (let from = 0; from < KEPT_CHANGES; from += CHANGES_AT_ONCE) {
      const range = ['+inf', '-inf', 'BYSCORE', 'REV', 'LIMIT', String(from), String(CHANGES_AT_ONCE)]
      const page = await this.ask(['ZRANGE', this.changes, ...range, 'WITHSCORES'], readChanges)
      yield* page
      if (page.length < CHANGES_AT_ONCE) return
    }
  }

  /** The records of some ids as texts, null for those that are gone. */
  texts(ids: readonly string[]): Promise<(string | null)[]> {
    return this.ask(['HMGET', this.records, ...ids], (reply) => {
      const found = listOf(reply).map(textOrNull)
      if (found.length !== ids.length) throw new TypeError('not as many')
      return found
    })
  }

  /** All records, and ids of unreadable ones. Null for more than there may be. */
  async everything(): Promise<{ records: Map<string, KeyRecord>; broken: string[] } | null> {
    const count = await this.ask(['HLEN', this.records], (reply) => {
      if (!Number.isInteger(reply)) throw new TypeError('no number')
      return Number(reply)
    })
    if (count > MAX_KEYS + 1) return null
    const records = new Map<string, KeyRecord>()
    const broken = new Set<string>()
    let pages = 0
    const read = (reply: Reply): [cursor: string, fields: string[]] => {
      if (++pages > MOST_PAGES) throw new TypeError('no end')
      return readPage(reply)
    }
    for (let cursor = '0'; ;) {
      const command = ['HSCAN', this.records, cursor, 'COUNT', String(PAGE_RECORDS)]
      const [next, fields] = await this.ask(command, read, this.records, LONG_CALL_MS)
      for (let at = 0; at < fields.length; at += 2) {
        const id = fields[at]
        if (id.startsWith(':')) continue
        const record = recordOf(fields[at + 1])
        if (record?.id === id) records.set(id, record)
        else broken.add(id)
      }
      if (records.size + broken.size > MAX_KEYS) return null
      cursor = next
      if (cursor === '0') return { records, broken: [...broken] }
    }
  }

  protected async ask<T>(
    command: readonly string[],
    read: (reply: Reply) => T,
    key = this.records,
    timeoutMs = this.#timeoutMs,
  ): Promise<T> {
    try {
      return await this.connection.ask(key, command, read, timeoutMs)
    } catch (error) {
      throw this.explained(error)
    }
  }

  protected explained(error: unknown): unknown {
    if (!(error instanceof RedisFault)) return error
    if (error.answer.startsWith('WRONGTYPE'))
      return this.foreign(`a name of ${this.prefix}* has another type`)
    return error.answer.includes('GSWFOREIGN') ? this.foreign('it has no state of this format') : error
  }

  protected foreign(what: string): RedisKeysError {
    return new RedisKeysError(
      `${this.place}: is used by another program or version (${what}); nothing was changed: give another database, or ?prefix=NAME behind the address`,
    )
  }
}

const MAX_TRIES = 20
const PATIENCE_MS = 5000
/** Time limit of a command's call: a person waits, not a request. */
const CALL_MS = 2000
const PAUSE_MS = 100
const SHOWN_IDS = 5
const NAME_LETTERS = 16
const NAME_BYTES = 12

export class KeysInRedis extends KeysReader implements KeyStore {
  readonly #warn: (message: string) => void

  /** @param warn is told of unreadable records, which are passed over. */
  constructor(connection: RedisConnection, warn: (message: string) => void) {
    super(connection, CALL_MS)
    this.#warn = warn
  }

  async all(): Promise<KeyRecord[]> {
    const { records } = await this.#patiently(() => this.#read())
    return records
  }

  change<Result>(change: (records: readonly KeyRecord[]) => Changed<Result>): Promise<Result> {
    return this.#change('', change)
  }

  used(): null {
    return null
  }

  close(): void {
    this.connection.close()
  }

  /** `id` is empty unless a key ends. A change that the next try finds done, after a lost answer, counts. */
  async #change<Result>(
    id: string,
    change: (records: readonly KeyRecord[]) => Changed<Result>,
  ): Promise<Result> {
    let tried: { result: Result; id: string; text: string } | null = null
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { records, state } = await this.#patiently(() => this.#read())
      if (tried !== null) {
        const now = records.find((record) => record.id === tried?.id)
        if (tried.text === (now === undefined ? '' : JSON.stringify(now))) return tried.result
      }
      const [wanted, result] = change(records)
      const before = new Map(records.map((record) => [record.id, record]))
      const changed = wanted.find((record) => before.get(record.id) !== record)
      const text = changed === undefined ? '' : JSON.stringify(changed)
      tried = { result, id: changed?.id ?? id, text }
      if (await this.#write(state, tried.id, text)) return result
    }
    throw this.#contested()
  }

  async revoke(id: string): Promise<KeyRecord | null> {
    const [text] = ID_PATTERN.test(id) ? await this.#patiently(() => this.texts([id])) : [null]
    const isBroken = text !== null && recordOf(text)?.id !== id
    return this.#change(id, (records) => {
      const record = isBroken ? null : findKey(records, id)
      return [records.filter((other) => other !== record), record]
    })
  }

  async replaceAll(merge: (records: readonly KeyRecord[]) => readonly KeyRecord[]): Promise<void> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { records, state } = await this.#patiently(() => this.#read())
      if (await this.#replace(merge(records), state, null)) return
    }
    throw this.#contested()
  }

  /** Takes over the keys of the layout before. @returns their number; null where there are none */
  async upgrade(): Promise<number | null> {
    await this.connection.tried
    const [oldState] = this.oldNames
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      // The script finds what the earlier version changes after this read.
      const [format, version, stamp] = await this.#patiently(() =>
        this.ask(['HMGET', oldState, 'format', 'version', 'stamp'], (reply) => {
          const found = listOf(reply).map(textOrNull)
          if (found.length !== 3) throw new TypeError('not as many')
          return found
        }),
      )
      if (format !== OLD_FORMAT) return null
      if (version === null || stamp === null) throw this.foreign(`${oldState} has no version`)
      const found = await this.#patiently(() => this.everything())
      if (found !== null && found.broken.length > 0) throw this.#unreadable(found.broken)
      const records = this.#readable(found)
      if (await this.#replace(records, NO_KEYS, { names: this.oldNames, version, stamp }))
        return records.length
    }
    throw this.#contested()
  }

  #unreadable(ids: readonly string[]): RedisKeysError {
    const shown = ids.slice(0, SHOWN_IDS).map(shownId).join(', ')
    return new RedisKeysError(
      `${this.place}: ${ids.length} records cannot be read: ${shown}${ids.length > SHOWN_IDS ? ' and others' : ''}; nothing was changed: end these keys with "keys revoke" of the earlier version`,
    )
  }

  async #read(): Promise<{ records: KeyRecord[]; state: KeysState }> {
    const state = await this.state()
    return { records: state.text === '' ? [] : this.#readable(await this.everything()), state }
  }

  #readable(found: Awaited<ReturnType<KeysReader['everything']>>): KeyRecord[] {
    if (found === null) throw new KeyCommandError(`${MAX_KEYS} keys are the most that there can be`)
    const { records, broken } = found
    if (broken.length > 0) {
      this.#warn(
        `${this.place}: ${broken.length} records cannot be read and are passed over, the first ${shownId(broken[0])}`,
      )
    }
    return [...records.values()].toSorted((a, b) => compareText(a.created + a.id, b.created + b.id))
  }

  /** @returns false when something has changed since `state` was read */
  #write(state: KeysState, id: string, text: string): Promise<boolean> {
    return this.#run(
      text === '' ? END_SCRIPT : CHANGE_SCRIPT,
      [this.records, this.changes],
      [state.text, this.channel, newName(), id, text],
    )
  }

  async #replace(
    records: readonly KeyRecord[],
    { text }: KeysState,
    old: { names: readonly string[]; version: string; stamp: string } | null,
  ): Promise<boolean> {
    const set = newName()
    const staged = `${this.prefix}staged:${set}`
    for (let at = 0; at < records.length; at += PAGE_RECORDS) {
      const page = records
        .slice(at, at + PAGE_RECORDS)
        .flatMap((record) => [record.id, JSON.stringify(record)])
      await this.#run(STAGE_SCRIPT, [staged], page)
    }
    const args = [text, this.channel, set, String(records.length)]
    if (old !== null) args.push(old.version, old.stamp)
    const names = [this.records, this.changes, staged, ...(old?.names ?? [])]
    if (await this.#run(REPLACE_SCRIPT, names, args)) return true
    // After a lost answer, the name of the set shows whether the change was made.
    const now = await this.#patiently(() => this.ask(['HGET', this.records, STATE], textOrNull))
    return now !== null && STATE_TEXT.exec(now)?.[1] === set
  }

  #run(script: RedisScript, keys: readonly string[], args: readonly string[]): Promise<boolean> {
    return this.#patiently(async () => {
      try {
        return await this.connection.runScript({ script, keys, args, timeoutMs: LONG_CALL_MS, read: isOne })
      } catch (error) {
        throw this.explained(error)
      }
    })
  }

  /** @throws RedisKeysError with what the operator has to know */
  async #patiently<T>(attempt: () => Promise<T>): Promise<T> {
    await this.connection.tried
    const until = performance.now() + PATIENCE_MS
    for (;;) {
      try {
        return await attempt()
      } catch (error) {
        if (!(error instanceof RedisFault)) throw error
        const isPassing = error.kind === 'away' || error.kind === 'slow' || error.kind === 'loading'
        if (!isPassing || performance.now() > until) {
          const caution =
            error.kind === 'slow' ? '; a change may have been carried out: "keys list" shows it' : ''
          throw new RedisKeysError(`Redis ${this.place}: ${error.message}${caution}`)
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  }

  #contested(): RedisKeysError {
    return new RedisKeysError(`${this.place}: other commands change the same keys; try again`)
  }
}

function newName(): string {
  return randomBase62(NAME_BYTES, NAME_LETTERS)
}

function isOne(reply: Reply): boolean {
  if (reply !== 0 && reply !== 1) throw new TypeError('neither 0 nor 1')
  return reply === 1
}

function listOf(reply: Reply | undefined): Reply[] {
  if (Array.isArray(reply)) return reply
  throw new TypeError('no list')
}

function textOf(reply: Reply | undefined): string {
  if (typeof reply === 'string') return reply
  throw new TypeError('no text')
}

function textOrNull(reply: Reply | undefined): string | null {
  return reply === null ? null : textOf(reply)
}

function readChanges(reply: Reply): KeyVersion[] {
  const pairs = listOf(reply)
  if (pairs.length > CHANGES_AT_ONCE) throw new TypeError('more than asked for')
  return pairs.map((pair) => {
    const [id, version] = listOf(pair)
    if (!Number.isSafeInteger(version)) throw new TypeError('no version')
    return { id: textOf(id), version: Number(version) }
  })
}

function readPage(reply: Reply): [cursor: string, fields: string[]] {
  const [cursor, fields, ...more] = listOf(reply)
  const texts = listOf(fields).map(textOf)
  if (more.length > 0 || texts.length % 2 !== 0 || !/^[0-9]+$/.test(textOf(cursor)))
    throw new TypeError('no page')
  return [textOf(cursor), texts]
}

export function shownId(id: string): string {
  return ID_PATTERN.test(id) ? id : 'a malformed id'
}
