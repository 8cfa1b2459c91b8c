/**
 * A store: objects under names, somewhere else. A bucket (`s3://bucket/prefix`) is read and written, a web
 * server (`https://host/path/`) only read. Names are relative to the address, such as `manifest.msgpack`.
 *
 * Every call has a time limit and retries faults that may pass. At last it throws a RequestFault, with a
 * message that names the object and what to do, and never holds a secret.
 */
import type { Readable } from 'node:stream'
import { readUpTo, RequestFault, type RequestLimits } from './web-request.ts'

export interface BucketAddress {
  kind: 's3'
  text: string
  bucket: string
  /** Empty, or ends with a slash. */
  prefix: string
}

export interface GetOptions {
  /** An ETag: the answer is `'unchanged'` while the object has it. */
  ifNoneMatch?: string | null
  signal?: AbortSignal | undefined
}

/** The head of an object, known before its bytes have come. */
interface StoredHead {
  etag: string | null
  /** `Last-Modified`, epoch seconds; null where the store does not say. */
  modified: number | null
}

export interface StoreStream extends StoredHead {
  /** Fails with a RequestFault where the bytes stop or come too slowly. Read it or `destroy()` it. */
  body: Readable
}

/** A small object as a whole. */
interface StoreObject extends StoredHead {
  bytes: Buffer
}

export interface ReadableStore {
  /** As the operator wrote it, for messages. */
  readonly address: string
  /**
   * One object as a stream; null where there is none. Tries again until the answer begins. @throws
   * RequestFault
   */
  get(name: string, options?: GetOptions): Promise<StoreStream | 'unchanged' | null>
  /** Closes kept connections. */
  close(): Promise<void>
}

/** Bytes in memory, or a file of a known size. */
export type PutBody = Uint8Array | { path: string; bytes: number }

export interface PutOptions {
  /** `*` puts the object only where the name is free. A store may ignore that without a word: probe it. */
  ifNoneMatch?: '*'
  /** An ETag: replaces the object only while it has it. A store may ignore that, too. */
  ifMatch?: string
  /** SHA-256 of the body, in hexadecimal: the store refuses another body. */
  sha256?: string
  /** Media type; `application/octet-stream` without it. */
  type?: string
  cacheControl?: string
  signal?: AbortSignal | undefined
}

export interface StoredObject {
  name: string
  bytes: number
  /** When it was stored, by the store's clock, epoch seconds. */
  modified: number
}

/** Objects, and the store's clock then, epoch seconds, or null. */
export interface Listing {
  objects: StoredObject[]
  now: number | null
}

export interface Store extends ReadableStore {
  /** `'refused'` where the condition does not hold, perhaps because an earlier try of the call succeeded. */
  put(name: string, body: PutBody, options?: PutOptions): Promise<'stored' | 'refused'>
  /** All objects with names that begin with `prefix`, in the order of their names. */
  list(prefix: string, options?: { signal?: AbortSignal | undefined }): Promise<Listing>
  /** Removes an object; a missing one is not a fault. */
  remove(name: string, options?: { signal?: AbortSignal | undefined }): Promise<void>
}

/** A store that cannot be used, or an address that cannot be one. */
export class StoreError extends RequestFault {
  override name = 'StoreError'
}

export interface StoreContext {
  /** Variables `AWS_…`: credentials, region, endpoint. */
  environment: { readonly [name: string]: string | undefined }
  random: () => number
  limits?: Partial<StoreLimits> | undefined
}

/** Bounds of one attempt, and their number. */
export interface StoreLimits extends RequestLimits {
  attempts: number
}

export const DEFAULT_LIMITS: StoreLimits = {
  attempts: 6,
  connectMs: 5000,
  answerMs: 15_000,
  stallMs: 15_000,
  slowestBytesPerSecond: 16 * 1024,
}

/** Attempts at a body that breaks off; `get` makes its own before. */
const BODY_ATTEMPTS = 4

/**
 * Takes an object's bytes, again after a break. Null where there is none, `'unchanged'` where it still has
 * the ETag `ifNoneMatch`. @throws RequestFault; what `take` throws
 */
export async function receive<T>(
  store: ReadableStore,
  name: string,
  options: GetOptions,
  take: (found: StoreStream) => Promise<T>,
): Promise<T | 'unchanged' | null> {
  for (let left = BODY_ATTEMPTS - 1; ; left--) {
    const found = await store.get(name, options)
    if (found === null || found === 'unchanged') return found
    try {
      return await take(found)
    } catch (error) {
      options.signal?.throwIfAborted()
      if (left === 0 || !(error instanceof RequestFault) || !error.passing) throw error
    } finally {
      found.body.destroy()
    }
  }
}

/** As `receive`, a small object as a whole. @throws RequestFault, also for one of more than `maxBytes` */
export function readObject(
  store: ReadableStore,
  name: string,
  { maxBytes, ...options }: GetOptions & { maxBytes: number },
): Promise<StoreObject | 'unchanged' | null> {
  return receive(store, name, options, async ({ body, ...head }) => {
    const tooLarge = (): StoreError =>
      new StoreError(`${store.address}/${name}: has more than ${maxBytes} bytes`)
    return { bytes: await readUpTo(body, maxBytes, tooLarge), ...head }
  })
}

/**
 * Whether the store refuses `body` under a condition that does not hold. Several stores ignore conditions
 * without a word, and some refuse the header itself. @throws RequestFault
 */
export async function refuses(
  store: Store,
  name: string,
  body: Uint8Array,
  condition: Pick<PutOptions, 'ifNoneMatch' | 'ifMatch' | 'type'>,
): Promise<boolean> {
  try {
    return (await store.put(name, body, condition)) === 'refused'
  } catch (error) {
    if (error instanceof RequestFault && [400, 405, 501].includes(error.status ?? 0)) return false
    throw error
  }
}
