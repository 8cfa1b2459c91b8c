/**
 * A store: objects under names, somewhere else. A bucket (`s3://bucket/prefix`) is read and written, a web
 * server (`https://host/path/`) only read. Names are relative to the address, such as `manifest.msgpack`.
 *
 * Every call has limits of time and tries again what may pass. What fails for good is a StoreError, with a
 * message that names the object and what to do, and never holds a secret.
 */
import { RequestFault, type Attempts, type RequestLimits, type WebAnswer } from './web-request.ts'

export interface GetOptions {
  /** Bytes `from` to `to`, both included; to the end where `to` is left out. */
  range?: { from: number; to?: number }
  /** An ETag: the answer is 304 while the object has it. */
  ifNoneMatch?: string | null
  signal?: AbortSignal | undefined
}

export interface ReadOptions extends Omit<GetOptions, 'range'> {
  /** An object of more bytes is refused. */
  maxBytes: number
}

export interface StoreAnswer extends WebAnswer {
  /** Only 200 and 206 (a range) have a body; a range may get 200. 416: the range begins beyond the end. */
  status: 200 | 206 | 304 | 404 | 416
}

/** The statuses of a `StoreAnswer`; every other one is a fault. */
export const READ_STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 404, 416])

/** A small object as a whole. */
export interface StoreObject {
  bytes: Buffer
  etag: string | null
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

export interface ReadableStore {
  /** As the operator wrote it, for messages. */
  readonly address: string
  /** One object as a stream; tries again until the answer begins. @throws RequestFault */
  get(name: string, options?: GetOptions): Promise<StoreAnswer>
  /** Closes kept connections. */
  close(): Promise<void>
}

export interface Store extends ReadableStore {
  /**
   * A small object as a whole, tried again also where its bytes break off. Null where there is none,
   * `'unchanged'` where it still has the ETag `ifNoneMatch`. @throws StoreError
   */
  read(name: string, options: ReadOptions): Promise<StoreObject | 'unchanged' | null>
  /** `'refused'` where the condition does not hold, perhaps because an earlier try of the call succeeded. */
  put(name: string, body: PutBody, options?: PutOptions): Promise<'stored' | 'refused'>
  /**
   * All objects with names that begin with `prefix`, in the order of their names.
   * @param options.most refuses more objects than these: the address is not a folder of ours
   */
  list(prefix: string, options?: { most?: number; signal?: AbortSignal | undefined }): Promise<Listing>
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
  clock: () => number
  random: () => number
  /** Takes what an operator should know although it was made good. */
  warn?: (message: string) => void
  limits?: Partial<StoreLimits> | undefined
}

/** Bounds of one call; all times in milliseconds. */
export interface StoreLimits extends RequestLimits {
  attempts: number
  /** Pause before the second attempt, about; doubled for each further one. */
  retryFirstMs: number
  retryLongestMs: number
}

export const DEFAULT_LIMITS: StoreLimits = {
  attempts: 6,
  connectMs: 5000,
  answerMs: 15_000,
  stallMs: 15_000,
  slowestBytesPerSecond: 16 * 1024,
  retryFirstMs: 200,
  retryLongestMs: 5000,
}

/** A store that asks for a longer wait is left alone: the caller tries again at its own time. */
const LONGEST_RETRY_AFTER_S = 10

/** The attempts of one call. @param random gives a number in [0, 1) */
export function attemptsWithin(
  { attempts, retryFirstMs, retryLongestMs }: StoreLimits,
  random: () => number,
  signal: AbortSignal | undefined,
): Attempts {
  return {
    most: attempts,
    firstPauseMs: retryFirstMs,
    longestPauseMs: retryLongestMs,
    longestRetryAfterS: LONGEST_RETRY_AFTER_S,
    random,
    signal,
  }
}
