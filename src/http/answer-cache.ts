/** Answers of one snapshot by canonical request and coding; the least recently used go, by bytes. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { LRUCache } from 'lru-cache'
import type { Format } from '../operation/shape.ts'
import { TAIL_BYTES, type Moment } from '../operation/envelope.ts'
import { NO_LINK } from '../operation/links.ts'
import type { Encoding } from '../operation/preferences.ts'
import { NOTHING } from './exchange.ts'
import type { Tag } from './reply.ts'
import type { Target } from './router.ts'

/** A larger answer would drive out all others. */
const LARGEST_SHARE = 1 / 8
/** Rough cost of an entry in addition to bytes and key: map slot, objects and buffer. */
const ENTRY_BYTES = 300
/** A smaller answer fits a packet anyway. */
const LEAST_COMPRESSED_BYTES = 1024

/** A compressed answer shows the time of its compression, and goes out up to this age. */
const LONGEST_COMPRESSED_S = 60

/** Compressions at a time of answers that may go out plain; a further answer does. */
const MOST_JOBS = 2
/** A longer answer waits for its compression if the client takes a coding. */
export const MOST_PLAIN_BYTES = 64 * 1024
/** Bytes that wait for compression. Further answers go out plain. */
const MOST_WAITING_BYTES = 64 * 1024 * 1024
/** A longer answer would hold memory for long. */
const MOST_COMPRESSED_BYTES = 8 * 1024 * 1024

/** Characters of the longest target that is remembered. */
const LONGEST_TARGET = 256

/** The fastest level of each coding: a proxy in front can do more. */
const LEVEL = 1

/** Other threads compress. */
const COMPRESS: { readonly [coding in Encoding]: (bytes: Uint8Array) => Promise<Uint8Array> } = {
  gzip: (bytes) => promisify(gzip)(bytes, { level: LEVEL }),
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: LEVEL,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
}

/** Plain or compressed. The tail of plain JSON, its last bytes, holds the time and is written again. */
export class KeptAnswer {
  /** Null for plain. */
  readonly encoding: Encoding | null
  /** `Link` lines of the head; empty without any. */
  readonly link: Uint8Array
  /** Still in the cache. */
  kept = true
  /** Epoch second that the bytes show; −1 before it is known, and in formats without a time. */
  second: number
  #bytes: Uint8Array
  readonly #isPatched: boolean

  constructor(
    bytes: Uint8Array,
    format: Format,
    link: Uint8Array,
    encoding: Encoding | null = null,
    second = -1,
  ) {
    this.encoding = encoding
    this.link = link
    this.second = second
    this.#bytes = bytes
    this.#isPatched = format === 'json' && encoding === null
  }

  get length(): number {
    return this.#bytes.length
  }

  /** Plain JSON shows this moment, a compressed answer the time of its compression. */
  bytesAt({ second, tail }: Pick<Moment, 'second' | 'tail'>): Uint8Array {
    if (this.#isPatched && second !== this.second) {
      this.#bytes.set(tail, this.#bytes.length - TAIL_BYTES)
      this.second = second
    }
    return this.#bytes
  }

  /** A copy: requests write the time into the bytes. (`slice` of a `Buffer` would be a view.) */
  get copy(): Uint8Array {
    return new Uint8Array(this.#bytes)
  }

  /** Compresses a plain answer with the time that it shows now. */
  async compressed(encoding: Encoding, plain = this.copy): Promise<KeptAnswer> {
    const { second, link } = this
    return new KeptAnswer(await COMPRESS[encoding](plain), 'json', link, encoding, second)
  }

  /** Releases memory that a slow client may retain for long. */
  leave(): void {
    this.kept = false
    this.#bytes = NOTHING
  }
}

/** A body in its coding, as it goes out. */
export interface Coded {
  readonly encoding: Encoding | null
  /** They never change. */
  readonly bytes: Uint8Array
}

/** The answer of a request target: reading target and tag would take 10 to 30 % of a kept answer's time. */
export interface KnownTarget extends Tag {
  readonly target: Target
  readonly canonical: string
  readonly kept: KeptAnswer
  /** Epoch second until which the answer holds; 0 for ever. */
  readonly until: number
  /** Header line that names ignored parameters. */
  readonly ignored: string
}

export class AnswerCache {
  /**
   * Answers by canonical form, and known targets by their texts, which begin with a slash. Null: nothing is
   * kept.
   */
  readonly #entries: LRUCache<string, KeptAnswer | KnownTarget> | null
  #known = 0
  readonly #largest: number
  /** Compressions under way. */
  readonly #jobs = new Map<string, Promise<Coded>>()
  #waitingBytes = 0

  /** `limit` in bytes; 0 keeps nothing. */
  constructor(limit: number) {
    const maxSize = Math.floor(limit)
    this.#largest = maxSize * LARGEST_SHARE
    this.#entries =
      maxSize === 0
        ? null
        : new LRUCache({
            maxSize,
            dispose: (entry) => {
              if (entry instanceof KeptAnswer) entry.leave()
            },
          })
  }

  get bytes(): number {
    return this.#entries?.calculatedSize ?? 0
  }

  get isOff(): boolean {
    return this.#entries === null
  }

  get(canonical: string): KeptAnswer | undefined {
    const entry = this.#entries?.get(canonical)
    return entry instanceof KeptAnswer ? entry : undefined
  }

  known(path: string, query: string): KnownTarget | undefined {
    const entries = this.#entries
    if (entries === null) return undefined
    const key = targetOf(path, query)
    // A request keeps its entry; noting each one would cost half of the gain.
    const isNoted = (++this.#known & 7) === 0
    const known = isNoted ? entries.get(key) : entries.peek(key)
    if (known === undefined || known instanceof KeptAnswer || !known.kept.kept) return undefined
    if (isNoted) entries.get(known.canonical)
    return known
  }

  remember(path: string, query: string, known: KnownTarget): void {
    const key = targetOf(path, query)
    const size = 2 * (key.length + known.canonical.length) + ENTRY_BYTES
    if (key.length <= LONGEST_TARGET && size <= this.#largest) this.#entries?.set(key, known, { size })
  }

  /** Keeps a copy of `answer`, whatever its tail, with its `Link` lines. @returns null if it is too large */
  put(canonical: string, format: Format, answer: Uint8Array, link = NO_LINK): KeptAnswer | null {
    const before = this.#entries?.peek(canonical)
    if (before instanceof KeptAnswer) return before
    if (answer.length > this.#largest) return null
    return this.#keep(canonical, new KeptAnswer(new Uint8Array(answer), format, link.slice()))
  }

  get jobs(): number {
    return this.#jobs.size
  }

  /**
   * The answer in a coding. If it was not compressed within the last minute, a short answer comes plain and
   * is compressed meanwhile, a longer one is promised. `answer` need not be kept.
   */
  inCoding(canonical: string, answer: KeptAnswer, encoding: Encoding): KeptAnswer | Promise<Coded> {
    const { length } = answer
    if (length < LEAST_COMPRESSED_BYTES || length > MOST_COMPRESSED_BYTES) return answer
    const key = encoding + canonical
    const known = this.get(key)
    if (known !== undefined && answer.second - known.second < LONGEST_COMPRESSED_S) return known
    const isLong = length > MOST_PLAIN_BYTES
    const hasPlace = isLong ? this.#waitingBytes < MOST_WAITING_BYTES : this.#jobs.size < MOST_JOBS
    const job = this.#jobs.get(key) ?? (hasPlace ? this.#compress(key, answer, encoding) : null)
    return isLong && job !== null ? job : answer
  }

  #compress(key: string, answer: KeptAnswer, encoding: Encoding): Promise<Coded> {
    const { copy } = answer
    this.#waitingBytes += copy.length
    const job = answer
      .compressed(encoding, copy)
      .then((made): Coded => {
        const coded = { encoding, bytes: made.copy }
        this.#keep(key, made)
        return coded
      })
      // Out of memory for the compressor.
      .catch((): Coded => ({ encoding: null, bytes: copy }))
      .finally(() => {
        this.#waitingBytes -= copy.length
        this.#jobs.delete(key)
      })
    this.#jobs.set(key, job)
    return job
  }

  #keep(key: string, answer: KeptAnswer): KeptAnswer | null {
    const size = answer.length + key.length * 2 + answer.link.length + ENTRY_BYTES
    if (this.#entries === null || size > this.#largest) return null
    this.#entries.set(key, answer, { size })
    return answer
  }
}

/** A path alone is a text that V8 need not put together. */
function targetOf(path: string, query: string): string {
  return query === '' ? path : `${path}?${query}`
}
