/**
 * Whole answers of one snapshot, bounded in bytes: one entry for each canonical request and content coding.
 * Nothing relies on it; a new snapshot begins with an empty one. Where it is full, the answer that was not
 * asked for the longest goes.
 */
import { LRUCache } from 'lru-cache'
import type { Format } from '../operation/shape.ts'
import { TAIL_BYTES } from './envelope.ts'
import { KeptAnswer } from './kept-answer.ts'
import type { Encoding } from './preferences.ts'
import type { Target } from './request-state.ts'

/** An answer that takes more than this share of the cache would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** What an entry costs in addition to its bytes and key, about: map slot, objects and buffer. */
const ENTRY_BYTES = 300
/** Smaller answers fit a packet anyway. */
const LEAST_COMPRESSED_BYTES = 1024

/** Answers of a thread that are being compressed at a time; one more goes out as it is. */
const MOST_JOBS = 2
const MOST_JOB_BYTES = 8 * 1024 * 1024

/** Of the bytes, what known targets may take, and the characters of the longest of them. */
const TARGETS_SHARE = 1 / 16
const LONGEST_TARGET = 256

/**
 * What a request target leads to, so that one that comes again is answered without being read: reading it, the
 * tag and the canonical text take 1 to 3 µs, 10 to 30 % of a kept answer.
 */
export interface KnownTarget {
  readonly target: Target
  readonly canonical: string
  /** Empty once it has left the cache. */
  readonly kept: KeptAnswer
  /** The number of the ETag: its lower 32 bits, and the 16 above. */
  readonly low: number
  readonly high: number
  /** The minute that the answer is about; 0 for any. */
  readonly minute: number
  /** The header line of parameters that are ignored. */
  readonly ignored: string
}

/** What a thread compresses at the moment, for all of its caches. */
export class CompressionJobs {
  /** Bytes of the answers that are being compressed. They may have left their cache. */
  bytes = 0
  #count = 0

  /** Has `answer` compressed. @returns null where too much is being compressed */
  begin(answer: KeptAnswer, encoding: Encoding): Promise<KeptAnswer> | null {
    const { length } = answer
    if (this.#count === MOST_JOBS || this.bytes + length > MOST_JOB_BYTES) return null
    this.#count++
    this.bytes += length
    return answer.compressed(encoding).finally(() => {
      this.#count--
      this.bytes -= length
    })
  }
}

export class AnswerCache {
  readonly #answers: LRUCache<string, KeptAnswer> | null
  /** All are forgotten where one more would take too much. */
  readonly #targets = new Map<string, KnownTarget>()
  readonly #targetsLimit: number
  #targetsBytes = 0
  #known = 0
  readonly #largest: number
  readonly #jobs: CompressionJobs
  /** Keys of what is being compressed. */
  readonly #underWay = new Set<string>()

  /** `limit` in bytes; 0 keeps nothing. */
  constructor(limit: number, jobs = new CompressionJobs()) {
    this.#targetsLimit = limit * TARGETS_SHARE
    const maxSize = Math.floor(limit - this.#targetsLimit)
    this.#largest = maxSize * LARGEST_SHARE
    this.#jobs = jobs
    this.#answers = maxSize === 0 ? null : new LRUCache({ maxSize, dispose: (answer) => answer.leave() })
  }

  /** What it takes now. */
  get bytes(): number {
    return (this.#answers?.calculatedSize ?? 0) + this.#targetsBytes
  }

  get isOff(): boolean {
    return this.#answers === null
  }

  get(canonical: string): KeptAnswer | undefined {
    return this.#answers?.get(canonical)
  }

  /** What a request target led to, where that is kept still. */
  known(path: string, query: string): KnownTarget | undefined {
    if (this.#targets.size === 0) return undefined
    const known = this.#targets.get(`${path}?${query}`)
    if (known?.kept.kept !== true) return undefined
    // Being asked for keeps an answer; noting that each time would cost half of what is gained.
    if ((++this.#known & 7) === 0) this.#answers?.get(known.canonical)
    return known
  }

  remember(path: string, query: string, known: KnownTarget): void {
    const key = `${path}?${query}`
    const size = 2 * (key.length + known.canonical.length) + ENTRY_BYTES
    if (key.length > LONGEST_TARGET || size > this.#targetsLimit) return
    if (this.#targetsBytes + size > this.#targetsLimit) {
      this.#targets.clear()
      this.#targetsBytes = 0
    }
    if (!this.#targets.has(key)) this.#targetsBytes += size
    this.#targets.set(key, known)
  }

  /**
   * Keeps a copy of `answer`, whatever its tail is, and the header lines of its links.
   * @returns what is kept, null where it is too large
   */
  put(canonical: string, format: Format, answer: Uint8Array, link = ''): KeptAnswer | null {
    const before = this.#answers?.peek(canonical)
    if (before !== undefined) return before
    if (answer.length > this.#largest) return null
    return this.#keep(canonical, KeptAnswer.of(answer, format, link, TAIL_BYTES))
  }

  /** A kept answer in a coding; the plain one where it is short, or not compressed yet. */
  inCoding(canonical: string, answer: KeptAnswer, encoding: Encoding): KeptAnswer {
    if (answer.length < LEAST_COMPRESSED_BYTES) return answer
    const key = encoding + canonical
    const known = this.get(key)
    if (known !== undefined) return known
    if (!this.#underWay.has(key)) this.#compress(key, answer, encoding)
    return answer
  }

  #compress(key: string, answer: KeptAnswer, encoding: Encoding): void {
    const job = this.#jobs.begin(answer, encoding)
    if (job === null) return
    this.#underWay.add(key)
    job
      .then((made) => this.#keep(key, made))
      // Out of memory for the compressor: this answer stays as it is.
      .catch(() => {})
      .finally(() => this.#underWay.delete(key))
  }

  #keep(key: string, answer: KeptAnswer): KeptAnswer | null {
    const size = answer.length + key.length * 2 + answer.link.length + ENTRY_BYTES
    if (this.#answers === null || size > this.#largest) return null
    this.#answers.set(key, answer, { size })
    return answer
  }
}
