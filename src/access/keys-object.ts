/**
 * A keys file that servers share, an object in a bucket (`s3://…/keys.json`) or behind a web server, and how
 * a server follows that or a file. The last good keys stay in force whatever happens there; the keys of an
 * object are also in a copy on the disk for a start without it.
 */
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { openReadable, openStore, parseAddress } from '../snapshot/store/store-address.ts'
import {
  readObject,
  refuses,
  StoreError,
  type ReadableStore,
  type StoreContext,
} from '../snapshot/store/store.ts'
import type { KeyRecord } from './key-records.ts'
import {
  fileSource,
  type FoundKeys,
  KeysFileError,
  keysText,
  type KeySource,
  type KeyStore,
  MAX_FILE_BYTES,
  parseKeys,
  readText,
  readVersion,
} from './keys-file.ts'
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
/** No object has this ETag. Without conditions, one command would undo the revocation of another. */
const NEVER = { ifMatch: '"groundswell-has-no-such-etag"', type: TYPE }

/** Whether keys are at an address, rather than at a path. */
export function isAddress(place: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(place)
}

/** @throws Error that fits after "expected " and repeats nothing of the address, which may hold a password */
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

/**
 * The keys at an address, to follow and to change.
 * @throws StoreError for an address, or variables of the environment, that cannot be used
 */
export function keysObject(address: string, context: StoreContext): KeySource & KeyStore {
  const { folder, name, isBucket } = partsOf(address)
  // A web server is only read.
  const bucket = isBucket ? openStore(folder, context) : null
  const store: ReadableStore = bucket ?? openReadable(folder, context)

  async function read(etag: string | null, signal?: AbortSignal): ReturnType<KeySource['read']> {
    const found = await readObject(store, name, { maxBytes: MAX_FILE_BYTES, ifNoneMatch: etag, signal })
    if (found === null || found === 'unchanged') return found
    const records = parseKeys(found.bytes.toString('utf8'))
    if (typeof records === 'string') throw new KeysFileError(`${address}: ${records}`)
    return { records, etag: found.etag }
  }

  async function now(): Promise<FoundKeys> {
    const found = await read(null)
    if (found === null || found === 'unchanged') return { records: [], etag: null }
    if (found.etag === null && isBucket)
      throw new KeysFileError(`${address}: the store gives it no ETag, so no change of it is safe`)
    return found
  }

  return {
    address,
    kind: isBucket ? 'bucket' : 'web',
    read,
    all: async () => (await now()).records,
    // Each server counts for itself.
    used: () => null,
    /**
     * Replaces the object if nobody else has meanwhile, and tries again if somebody has. A change counts if
     * the next try finds it done, after a lost answer.
     */
    async change(change) {
      if (bucket === null) {
        throw new KeysFileError(
          `${address}: a web server is only read: change the file that it serves, by its path or its s3:// address`,
        )
      }
      let made: { text: string; result: ReturnType<typeof change>[1] } | null = null
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const { records, etag } = await now()
        if (made !== null && keysText(records) === made.text) return made.result
        const same = Buffer.from(keysText(records))
        if (tries === 0 && etag !== null && !(await refuses(bucket, name, same, NEVER))) {
          throw new KeysFileError(
            `${address}: the store ignores the condition If-Match, so two commands at once could undo each other; keep the keys in a store that obeys it, or behind a web server`,
          )
        }
        const [wanted, result] = change(records)
        made = { text: keysText(wanted), result }
        const condition = etag === null ? { ifNoneMatch: '*' as const } : { ifMatch: etag }
        const outcome = await bucket.put(name, Buffer.from(made.text), { ...condition, type: TYPE })
        if (outcome === 'stored') return result
        await sleep(context.random() * PAUSE_MS * (tries + 1))
      }
      throw new KeysFileError(`${address}: is unchanged: other commands change it all the time; try again`)
    },
    close: () => void store.close(),
  }
}

/** A change is in force within five seconds: the pause, and the time that an answer may take. */
const PAUSE_OF_OBJECTS_MS = 2000
/**
 * Within one second: the largest file takes 0.3 s to read and index. A subscription would miss changes on
 * some mounts.
 */
const PAUSE_OF_FILES_MS = 200
/** The next poll is the next attempt. */
const POLL_LIMITS = { attempts: 1, connectMs: 1500, answerMs: 2000, stallMs: 2000 }
/** One poll in this many asks without the ETag: servers make ETags of seconds and size, so two may match. */
const POLLS_PER_FULL_ONE = 30
/** The default folder of data may be missing. */
const OWNER_ONLY = 0o700

/**
 * The keys at a path, or at an address with a copy at `copyPath`.
 * @throws StoreError for an address, or variables of the environment, that cannot be used
 */
export function keySource(
  place: string,
  copyPath: string,
  context: Omit<StoreContext, 'limits'>,
): Pick<FollowerOptions, 'source' | 'copyPath'> {
  return isAddress(place)
    ? { source: keysObject(place, { ...context, limits: POLL_LIMITS }), copyPath }
    : { source: fileSource(place), copyPath: null }
}

interface FollowerOptions {
  readonly source: KeySource
  /** A file beside the snapshots, for a start without the source; null where that is a file itself. */
  readonly copyPath: string | null
  readonly onKeys: (records: readonly KeyRecord[]) => void
  readonly log: LogLine
  readonly pauseMs?: number
}

/**
 * Hands the keys on, and again after every change. While they are broken or gone the last good ones stay in
 * force: an editor that writes in two steps must not lock everybody out.
 */
export class FollowedKeys {
  /** Resolves when the keys are known. */
  readonly known: Promise<void>
  readonly #options: FollowerOptions
  readonly #stopping = new AbortController()
  #resolveKnown: () => void = () => {}
  /** Hash of the keys in force; null while none are known. */
  #hash: string | null = null
  #count = 0
  #etag: string | null = null
  /** Whether the log has said that there are no keys. */
  #isEmpty = false
  /** The fault of the last poll. */
  #problem: string | null = null

  /** @throws KeysFileError for a file, or a copy, that cannot be used */
  constructor(options: FollowerOptions) {
    const { source, copyPath, log } = options
    this.#options = options
    this.known = new Promise((resolve) => (this.#resolveKnown = resolve))
    const found = copyPath === null ? readVersion(source.address) : readCopy(copyPath, source.address)
    if (found !== null) {
      this.#etag = found.etag
      this.#take(found.records)
      if (copyPath !== null) log(`${copyPath}: starting with the last good keys, ${this.#count} of them`)
    }
    void this.#follow()
  }

  figures(): { backend: string; count: number; isUp: boolean } {
    return { backend: this.#options.source.kind, count: this.#count, isUp: this.#problem === null }
  }

  status(): object {
    const { kind, address } = this.#options.source
    const [count, problem] = [this.#count, this.#problem]
    return { store: kind, address, count, good: problem === null, problem }
  }

  close(): void {
    this.#stopping.abort()
    this.#options.source.close()
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping
    const { source, pauseMs } = this.#options
    const isFile = source.kind === 'file'
    const pause = pauseMs ?? (isFile ? PAUSE_OF_FILES_MS : PAUSE_OF_OBJECTS_MS)
    for (let polls = 0; !signal.aborted; polls++) {
      let problem: string | null
      try {
        problem = await this.#poll(!isFile && polls % POLLS_PER_FULL_ONE === 0)
      } catch (error) {
        // A fault of the program must not end a server that has good keys.
        const isExpected = error instanceof RequestFault || error instanceof KeysFileError
        problem = isExpected
          ? error.message
          : `fault: ${error instanceof Error ? error.stack : String(error)}`
      }
      if (!signal.aborted) this.#enter(problem)
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  /** @returns the fault of the source, or null @throws RequestFault, KeysFileError */
  async #poll(isFull: boolean): Promise<string | null> {
    const { source, log } = this.#options
    const found = await source.read(isFull ? null : this.#etag, this.#stopping.signal)
    if (found === 'unchanged') return null
    if (found !== null) {
      // Only the ETag of good keys is kept, so unchanged keys are good.
      this.#etag = found.etag
      if (this.#take(found.records)) this.#writeCopy(found.records)
    } else if (this.#hash !== null) {
      return `${source.address}: has vanished`
    } else if (!this.#isEmpty) {
      this.#isEmpty = true
      log(
        `no keys in ${source.address}: every keyed operation answers 401 until "keys issue --keys ${source.address}" issues one`,
        'warning',
      )
      this.#resolveKnown()
    }
    return null
  }

  /** @returns whether they are others than before */
  #take(records: readonly KeyRecord[]): boolean {
    const found = hash('sha256', keysText(records))
    if (found === this.#hash) return false
    this.#hash = found
    this.#count = records.length
    this.#options.onKeys(records)
    this.#resolveKnown()
    return true
  }

  #writeCopy(records: readonly KeyRecord[]): void {
    const { source, copyPath: path, log } = this.#options
    if (path === null) return
    try {
      mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY })
      removeLeftovers(path)
      replaceFile(path, keysText(records, copyHead(source.address)))
    } catch (error) {
      log(
        `${path}: the copy of the keys cannot be written ${codeInWords(error)}: without it, a start needs ${source.address}`,
        'warning',
      )
    }
  }

  #enter(problem: string | null): void {
    const { source, log } = this.#options
    const had = this.#problem !== null
    this.#problem = problem
    if (problem !== null && !had) {
      const meanwhile =
        this.#hash === null
          ? 'no requests are taken until the keys are known'
          : `the last good keys, ${this.#count} of them, stay in force`
      log(`${problem}; ${meanwhile}`, 'warning')
    } else if (problem === null && had) {
      log(`${source.address}: the keys are followed again, ${this.#count} of them`)
    }
  }
}

const copyHead = (address: string): string => `"copy_of":${JSON.stringify(address)},`

/** Null for no copy of this address. @throws KeysFileError for one that cannot be used */
function readCopy(path: string, address: string): FoundKeys | null {
  const text = readText(path)
  const [head] = keysText([], copyHead(address)).split('\n')
  if (text === null || !text.startsWith(head)) return null
  const records = parseKeys(text)
  if (typeof records === 'string') throw new KeysFileError(`${path}: ${records}; remove it, or restore it`)
  return { records, etag: null }
}
