/** A keys file that servers share: an object in a bucket (`s3://…/keys.json`), or behind a web server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openReadable, openStore } from '../snapshot/store/open-store.ts'
import { parseAddress } from '../snapshot/store/store-address.ts'
import {
  readObject,
  refuses,
  StoreError,
  type ReadableStore,
  type Store,
  type StoreContext,
} from '../snapshot/store/store.ts'
import type { Changed, KeyRecord } from './key-records.ts'
import { KeysFileError, keysText, MAX_FILE_BYTES, parseKeys, type KeyStore } from './keys-file.ts'

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
  if (/^rediss?:/i.test(address)) {
    throw new Error(
      'a path, s3://BUCKET/PREFIX/keys.json or https://HOST/PATH/keys.json: keys are no longer kept in Redis; "keys export" of the version before this one writes them to a file',
    )
  }
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
