/** The keys in Redis: the functions of `keys-library.ts` with types, and their answers checked. */
import { RedisFault } from '../redis/fault.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { Reply } from '../redis/link.ts'
import { KEYS_LIBRARY } from './keys-library.ts'
import { ID_PATTERN, MAX_KEYS, recordOf, type KeyRecord } from './keys-file.ts'

/** Records of one call. A page of as many takes Redis a few milliseconds. */
const PAGE_RECORDS = 500
const CHANGES_AT_ONCE = 1000
const TAIL_ENTRIES = 10_000
/**
 * For calls that carry many records; nobody waits for them but the start of a replica and the command line.
 */
const LONG_CALL_MS = 3000

/** A place in the history of a set of keys. */
export interface Cursor {
  /** Random name of the set; another one after an import. Empty before anything is known. */
  readonly generation: string
  /** Counts the changes of a set. */
  readonly version: number
  /** Random name of the change: two copies of a database may give the same number to different changes. */
  readonly stamp: string
}

/** Before anything is known. */
export const NOTHING: Cursor = { generation: '', version: 0, stamp: '' }

export interface SetState extends Cursor {
  /** What began the set: the first `keys issue`, or an import. */
  readonly origin: string
  readonly count: number
}

export interface Change {
  readonly version: number
  readonly stamp: string
  readonly id: string
  /** Null for a key that ended. */
  readonly record: KeyRecord | null
  /** Whether the record cannot be read; `record` is null then. */
  readonly isBroken: boolean
}

export type Changes =
  /** No keys and no trace of any. */
  | { readonly kind: 'empty' }
  /** `other`: the set is another one. `lost`: the cursor is not in its log. */
  | { readonly kind: 'same' | 'other' | 'lost'; readonly state: SetState }
  | { readonly kind: 'changes'; readonly state: SetState; readonly changes: readonly Change[] }

export interface Page {
  readonly cursor: string
  readonly records: readonly KeyRecord[]
  /** Ids of records that cannot be read. */
  readonly broken: readonly string[]
}

/** What became of a change. */
export type Outcome =
  | { readonly kind: 'done' }
  /** The record is another one now; its text, empty for none. */
  | { readonly kind: 'changed'; readonly text: string }
  /** The owner has the key of this id. */
  | { readonly kind: 'owner'; readonly id: string }
  | { readonly kind: 'full' }

/** Keys in Redis that cannot be used. The message names the address and what is wrong, never content. */
export class RedisKeysError extends Error {
  override readonly name = 'RedisKeysError'
}

export class KeysTable {
  readonly name: string
  /** Published to after every change. */
  readonly channel: string
  readonly #connection: RedisConnection
  readonly #names: readonly string[]
  readonly #prefix: string
  readonly #timeoutMs: number | undefined

  /** @param timeoutMs for calls of one key; those that carry many have more. */
  constructor(connection: RedisConnection, timeoutMs?: number) {
    this.#connection = connection
    this.#timeoutMs = timeoutMs
    this.name = connection.address.place
    this.#prefix = `${connection.address.prefix}:{keys}`
    this.#names = ['records', 'owners', 'state', 'log'].map((part) => `${this.#prefix}:${part}`)
    this.channel = `${this.#prefix}:changed`
  }

  /** What has changed since `cursor`. @throws RedisFault, RedisKeysError for what is not ours */
  async changes({ generation, version, stamp }: Cursor): Promise<Changes> {
    const args = [generation, String(version), stamp, String(CHANGES_AT_ONCE)]
    const reply = this.#list(await this.#ask('changes', args))
    const [kind, now, origin, number, nowStamp, count] = this.#texts(reply.slice(0, 6))
    if (kind === 'empty') return { kind }
    const state = { generation: now, origin, version: Number(number), stamp: nowStamp, count: Number(count) }
    if (kind === 'same' || kind === 'other' || kind === 'lost') return { kind, state }
    return { kind: 'changes', state, changes: reply.slice(6).map((change) => this.#changeOf(change)) }
  }

  /** Version and stamp of the newest changes, the newest first. */
  async tail(): Promise<{ version: number; stamp: string }[]> {
    const reply = this.#texts(await this.#ask('tail', [String(TAIL_ENTRIES)], LONG_CALL_MS))
    return Array.from({ length: reply.length >> 1 }, (_, at) => ({
      version: Number(reply[2 * at]),
      stamp: reply[2 * at + 1],
    }))
  }

  /** Some records, from cursor `0` until it is `0` again; null when the set is another one. */
  async page(generation: string, cursor: string): Promise<Page | null> {
    const args = [generation, cursor, String(PAGE_RECORDS)]
    const [kind, next, ...pairs] = this.#texts(await this.#ask('page', args, LONG_CALL_MS))
    if (kind !== 'page') return null
    const records: KeyRecord[] = []
    const broken: string[] = []
    for (let at = 0; at < pairs.length; at += 2) {
      const id = pairs[at]
      const record = recordOf(pairs[at + 1])
      if (record?.id === id) records.push(record)
      else broken.push(id)
    }
    return { cursor: next, records, broken }
  }

  /**
   * The record of an id and its text; null where there is none. @throws RedisKeysError when it cannot be read
   */
  async read(id: string): Promise<{ record: KeyRecord; text: string } | null> {
    const [kind, text] = this.#texts(await this.#ask('read', [id]))
    if (kind === 'gone') return null
    const record = kind === 'here' ? recordOf(text) : null
    if (record?.id === id) return { record, text }
    throw new RedisKeysError(
      `${this.name}: the record of ${id} cannot be read: it was not written by groundswell`,
    )
  }

  /**
   * Writes a record in the place of the one with the text `expected`, or ends the key.
   *
   * @param expected empty for a new key, `*` for a record that cannot be read.
   * @param stamp random name of the change; also the generation's where it is the first.
   */
  async change(record: KeyRecord, expected: string, isEnd: boolean, stamp: string): Promise<Outcome> {
    const { id, owner } = record
    const args = [id, owner, expected, isEnd ? '' : JSON.stringify(record), stamp, stamp, this.channel]
    const reply = await this.#call(isEnd ? 'revoke' : 'change', [...args, String(MAX_KEYS)])
    const [kind, text = ''] = this.#texts(reply)
    if (kind === 'owner') return { kind, id: text }
    if (kind === 'changed') return { kind, text }
    return { kind: kind === 'full' ? 'full' : 'done' }
  }

  /**
   * Replaces all keys in one step, provided that nothing has changed since `state` was read.
   *
   * @param state null where there were no keys.
   * @returns false when something has changed.
   */
  async replace(records: readonly KeyRecord[], state: Cursor | null, stamp: string): Promise<boolean> {
    const staged = [`${this.#prefix}:staged-records:${stamp}`, `${this.#prefix}:staged-owners:${stamp}`]
    for (let at = 0; at < records.length; at += PAGE_RECORDS) {
      const args = records
        .slice(at, at + PAGE_RECORDS)
        .flatMap((record) => [record.id, record.owner, JSON.stringify(record)])
      await this.#connection.callFunction({
        library: KEYS_LIBRARY,
        name: 'stage',
        keys: staged,
        args,
        timeoutMs: LONG_CALL_MS,
      })
    }
    const was = [state?.generation ?? '', String(state?.version ?? 0)]
    const args = [...was, stamp, stamp, this.channel, String(records.length)]
    const reply = await this.#call('swap', args, LONG_CALL_MS, staged)
    return this.#texts(reply)[0] === 'done'
  }

  #ask(name: string, args: readonly string[], timeoutMs = this.#timeoutMs): Promise<Reply> {
    const call = { library: KEYS_LIBRARY, name, keys: this.#names, args, timeoutMs }
    return this.#checked(this.#connection.callReader(call))
  }

  #call(
    name: string,
    args: readonly string[],
    timeoutMs = this.#timeoutMs,
    more: readonly string[] = [],
  ): Promise<Reply> {
    const keys = [...this.#names, ...more]
    return this.#checked(
      this.#connection.callFunction({ library: KEYS_LIBRARY, name, keys, args, timeoutMs }),
    )
  }

  async #checked(call: Promise<Reply>): Promise<Reply> {
    try {
      return await call
    } catch (error) {
      if (!(error instanceof RedisFault && error.answer.startsWith('GSWFOREIGN'))) throw error
      const what = error.answer
        .slice('GSWFOREIGN '.length)
        .split(/ script:|\n/)[0]
        .slice(0, 100)
      throw new RedisKeysError(
        `${this.name}: is used by another program or version (${what}); nothing was changed: give another database, or ?prefix=NAME behind the address`,
      )
    }
  }

  #list(reply: Reply): Reply[] {
    if (Array.isArray(reply)) return reply
    throw new RedisKeysError(`${this.name}: answers in a form that is not known`)
  }

  /** A list of texts and numbers, as texts. */
  #texts(reply: Reply): string[] {
    return this.#list(reply).map((item) => (typeof item === 'string' ? item : JSON.stringify(item)))
  }

  #changeOf(reply: Reply): Change {
    const [version, stamp, id, kind, text] = this.#texts(reply)
    const record = kind === 'here' ? recordOf(text) : null
    const isBroken = kind === 'long' || (kind === 'here' && record?.id !== id)
    return {
      version: Number(version),
      stamp,
      id: kind === 'seen' ? '' : id,
      record: isBroken ? null : record,
      isBroken,
    }
  }
}

/** Whether a text can be an id, so that it may stand in a message. */
export function shownId(id: string): string {
  return ID_PATTERN.test(id) ? id : 'a malformed id'
}
