/**
 * A keys file that servers share: an object in a bucket (`s3://…/keys.json`), or behind a web server. Servers ask for it
 * every two seconds. The last good keys stay in force whatever happens there, and lie in a copy on the disk for a start
 * without it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { openReadable, openStore, parseAddress } from '../snapshot/store/store-address.ts'
import {
  readObject,
  refuses,
  StoreError,
  type ReadableStore,
  type Store,
  type StoreContext,
} from '../snapshot/store/store.ts'
import type { Changed, KeyRecord } from './key-records.ts'
import { KeysFileError, keysText, readText, MAX_FILE_BYTES, parseKeys, type KeyStore } from './keys-file.ts'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { RequestFault } from '../snapshot/store/web-request.ts'
import { codeInWords } from '../system/file-faults.ts'
import type { LogLine } from '../system/log.ts'
import { removeLeftovers, replaceFile } from '../system/replace-file.ts'

const NAME = /^[A-Za-z0-9._-]{1,100}\.json$/
const TYPE = 'application/json'
const MAX_TRIES = 20
/** Each further try waits up to this much longer, so that commands which meet do not go on meeting. */
const PAUSE_MS = 100
/** No object has it. */
const NO_ETAG = '"groundswell-has-no-such-etag"'

/** Whether keys lie at an address, rather than at a path. */
export function isAddress(place: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(place)
}

/** @throws Error that fits behind "expected " and repeats nothing of the address, which may hold a password */
export function checkKeysAddress(address: string): void {
  try {
    partsOf(address)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    throw new Error('a path, s3://BUCKET/PREFIX/keys.json or https://HOST/PATH/keys.json', { cause: error })
  }
}

/** @throws StoreError */
function partsOf(address: string): { folder: string; name: string; isBucket: boolean } {
  const slash = address.lastIndexOf('/')
  const folder = address.slice(0, slash + 1)
  const name = address.slice(slash + 1)
  const { kind } = parseAddress(folder)
  if (!NAME.test(name)) throw new StoreError('the name of a keys file ends in .json')
  return { folder, name, isBucket: kind === 's3' }
}

export interface FoundKeys {
  readonly records: KeyRecord[]
  readonly etag: string | null
}

export class KeysObject implements KeyStore {
  readonly address: string
  readonly kind: 'bucket' | 'web'
  readonly #store: ReadableStore
  /** Null for a web server, which is only read. */
  readonly #bucket: Store | null
  readonly #name: string
  readonly #random: () => number

  /** @throws StoreError for an address, or variables of the environment, that cannot be used */
  constructor(address: string, context: StoreContext) {
    const { folder, name, isBucket } = partsOf(address)
    this.address = address
    this.kind = isBucket ? 'bucket' : 'web'
    this.#bucket = isBucket ? openStore(folder, context) : null
    this.#store = this.#bucket ?? openReadable(folder, context)
    this.#name = name
    this.#random = context.random
  }

  /**
   * Null where there is no object, `'unchanged'` where it still has the ETag.
   * @throws RequestFault; KeysFileError for one that is no whole keys file
   */
  async read(etag: string | null, signal?: AbortSignal): Promise<FoundKeys | 'unchanged' | null> {
    const found = await readObject(this.#store, this.#name, {
      maxBytes: MAX_FILE_BYTES,
      ifNoneMatch: etag,
      signal,
    })
    if (found === null || found === 'unchanged') return found
    const records = parseKeys(found.bytes.toString('utf8'))
    if (typeof records === 'string') throw new KeysFileError(`${this.address}: ${records}`)
    return { records, etag: found.etag }
  }

  async all(): Promise<readonly KeyRecord[]> {
    return (await this.#now()).records
  }

  /** Each server counts for itself. */
  used(): null {
    return null
  }

  /**
   * Replaces the object if nobody else has meanwhile, and tries again if somebody has. A change that the next
   * try finds done, after a lost answer, counts.
   */
  async change<Result>(change: (records: readonly KeyRecord[]) => Changed<Result>): Promise<Result> {
    const bucket = this.#bucket
    if (bucket === null) {
      throw new KeysFileError(
        `${this.address}: a web server is only read: change the file that it serves, by its path or its s3:// address`,
      )
    }
    let made: { text: string; result: Result } | null = null
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const { records, etag } = await this.#now()
      if (made !== null && keysText(records) === made.text) return made.result
      if (tries === 0 && etag !== null) await this.#expectConditions(bucket, records)
      const [wanted, result] = change(records)
      made = { text: keysText(wanted), result }
      const condition = etag === null ? { ifNoneMatch: '*' as const } : { ifMatch: etag }
      const outcome = await bucket.put(this.#name, Buffer.from(made.text), { ...condition, type: TYPE })
      if (outcome === 'stored') return result
      await sleep(this.#random() * PAUSE_MS * (tries + 1))
    }
    throw new KeysFileError(`${this.address}: is unchanged: other commands change it all the time; try again`)
  }

  close(): void {
    void this.#store.close()
  }

  async #now(): Promise<FoundKeys> {
    const found = await this.read(null)
    if (found === null || found === 'unchanged') return { records: [], etag: null }
    if (found.etag === null && this.#bucket !== null)
      throw new KeysFileError(`${this.address}: the store gives it no ETag, so no change of it is safe`)
    return found
  }

  /** Without conditions, one command would undo the revocation of another. */
  async #expectConditions(bucket: Store, records: readonly KeyRecord[]): Promise<void> {
    const same = Buffer.from(keysText(records))
    if (await refuses(bucket, this.#name, same, { ifMatch: NO_ETAG, type: TYPE })) return
    throw new KeysFileError(
      `${this.address}: the store ignores the condition If-Match, so two commands at once could undo each other; keep the keys in a store that obeys it, or behind a web server`,
    )
  }
}

/** A change is in force within five seconds: the pause, and the time that an answer may take. */
const LOOK_PAUSE_MS = 2000
/** The next look is the next attempt. */
export const LOOK_LIMITS = { attempts: 1, connectMs: 1500, answerMs: 2000, stallMs: 2000 }
/** One look in this many asks without the ETag: servers make ETags of seconds and size, so two may match. */
const LOOKS_PER_FULL_ONE = 30
/** The default folder of data may be missing. */
const OWNER_ONLY = 0o700

export interface FollowerOptions {
  readonly object: KeysObject
  /** A file beside the snapshots. */
  readonly copyPath: string
  readonly onKeys: (records: readonly KeyRecord[]) => void
  readonly log: LogLine
  readonly pauseMs?: number
}

export class FollowedKeys {
  /** Resolves when it is known which keys there are. */
  readonly known: Promise<void>
  readonly #options: FollowerOptions
  readonly #stopping = new AbortController()
  #resolveKnown: () => void = () => {}
  /** Text of the keys in force; null while none are known. */
  #text: string | null = null
  #count = 0
  #etag: string | null = null
  /** What is wrong with the last look at the object. */
  #problem: string | null = null

  constructor(options: FollowerOptions) {
    this.#options = options
    this.known = new Promise((resolve) => (this.#resolveKnown = resolve))
    const records = readCopy(options.copyPath, options.object.address)
    if (records !== null) {
      this.#take(records)
      options.log(`${options.copyPath}: starting with the last good keys, ${records.length} of them`)
    }
    void this.#follow()
  }

  figures(): { backend: string; count: number; isUp: boolean } {
    return { backend: this.#options.object.kind, count: this.#count, isUp: this.#problem === null }
  }

  status(): object {
    const { kind, address } = this.#options.object
    return {
      store: kind,
      address,
      count: this.#count,
      good: this.#problem === null,
      problem: this.#problem,
    }
  }

  close(): void {
    this.#stopping.abort()
    this.#options.object.close()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    for (let looks = 0; !signal.aborted; looks++) {
      let problem: string | null
      try {
        problem = await this.#look(looks % LOOKS_PER_FULL_ONE === 0)
      } catch (error) {
        // A fault of the program must not end a server that has good keys.
        const isExpected = error instanceof RequestFault
        problem = isExpected
          ? error.message
          : `fault: ${error instanceof Error ? error.stack : String(error)}`
      }
      if (!signal.aborted) this.#enter(problem)
      await sleep(this.#options.pauseMs ?? LOOK_PAUSE_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** @returns what is wrong with the object, or null @throws RequestFault */
  async #look(isFull: boolean): Promise<string | null> {
    const { object, copyPath, log } = this.#options
    try {
      const found = await object.read(isFull ? null : this.#etag, this.#stopping.signal)
      if (found === 'unchanged') return null
      if (found !== null) {
        // Only that of good keys is kept, so an object that is unchanged is good.
        this.#etag = found.etag
        if (this.#take(found.records)) this.#writeCopy(copyPath)
      } else if (this.#text !== null) {
        return `${object.address}: has vanished`
      } else {
        log(
          `no keys in ${object.address}: every keyed operation answers 401 until "keys issue --keys ${object.address}" issues one`,
          'warning',
        )
        this.#resolveKnown()
      }
      return null
    } catch (error) {
      if (error instanceof KeysFileError) return error.message
      throw error
    }
  }

  /** @returns whether they are others than before */
  #take(records: readonly KeyRecord[]): boolean {
    const text = keysText(records, copyHead(this.#options.object.address))
    if (text === this.#text) return false
    this.#text = text
    this.#count = records.length
    this.#options.onKeys(records)
    this.#resolveKnown()
    return true
  }

  #writeCopy(path: string): void {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY })
      removeLeftovers(path)
      replaceFile(path, this.#text ?? '')
    } catch (error) {
      this.#options.log(
        `${path}: the copy of the keys cannot be written ${codeInWords(error)}: without it, a start needs ${this.#options.object.address}`,
        'warning',
      )
    }
  }

  #enter(problem: string | null): void {
    const { object, log } = this.#options
    const had = this.#problem !== null
    this.#problem = problem
    if (problem !== null && !had) {
      const meanwhile =
        this.#text === null
          ? 'no requests are taken until the keys are known'
          : `the last good keys, ${this.#count} of them, stay in force`
      log(`${problem}; ${meanwhile}`, 'warning')
    } else if (problem === null && had) {
      log(`${object.address}: the keys are followed again, ${this.#count} of them`)
    }
  }
}

const copyHead = (address: string): string => `"copy_of":${JSON.stringify(address)},`

/** Null for no copy of this address. @throws KeysFileError for one that cannot be used */
function readCopy(path: string, address: string): readonly KeyRecord[] | null {
  const text = readText(path)
  const [head] = keysText([], copyHead(address)).split('\n')
  if (text === null || !text.startsWith(head)) return null
  const records = parseKeys(text)
  if (typeof records === 'string') throw new KeysFileError(`${path}: ${records}; remove it, or restore it`)
  return records
}
