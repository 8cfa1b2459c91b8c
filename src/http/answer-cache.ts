/** Answers of one snapshot by canonical request and coding; the least recently used go, by bytes. */
import { LRUCache } from 'lru-cache'
import type { Format } from '../operation/shape.ts'
import { TAIL_BYTES } from './envelope.ts'
import { KeptAnswer } from './kept-answer.ts'
import { NO_LINK } from './links.ts'
import type { Encoding } from './preferences.ts'
import type { Target } from './router.ts'

/** A longer answer would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** Rough cost of an entry in addition to bytes and key: map slot, objects and buffer. */
const ENTRY_BYTES = 300
/** A smaller answer fits a packet anyway. */
const LEAST_COMPRESSED_BYTES = 1024

/** A compressed answer tells the time at which it was compressed: no older one than this goes out. */
const LONGEST_COMPRESSED_S = 60

/** Answers of a thread that are compressed at a time; one more goes out as it is. */
const MOST_JOBS = 2
const MOST_JOB_BYTES = 8 * 1024 * 1024

/** Characters of the longest target that is remembered. */
const LONGEST_TARGET = 256

/** What a request target leads to: reading target and tag would take 10 to 30 % of a kept answer's time. */
export interface KnownTarget {
  readonly target: Target
  readonly canonical: string
  readonly kept: KeptAnswer
  /** The ETag's lower 32 bits, and the 16 above. */
  readonly low: number
  readonly high: number
  /** The minute that the answer is about; 0 for any. */
  readonly minute: number
  /** Header line that names ignored parameters. */
  readonly ignored: string
}

/** What a thread compresses at the moment, for all caches. */
export class CompressionJobs {
  /** Bytes of the answers that are being compressed, even if they have left their cache. */
  bytes = 0
  #count = 0

  /** @returns null if too much is being compressed */
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
  /** Answers by canonical form, and known targets by their texts, which begin with a slash. Null: nothing is kept. */
  readonly #entries: LRUCache<string, KeptAnswer | KnownTarget> | null
  #known = 0
  readonly #largest: number
  readonly #jobs: CompressionJobs
  /** Keys of answers that are being compressed. */
  readonly #underWay = new Set<string>()

  /** `limit` in bytes; 0 keeps nothing. */
  constructor(limit: number, jobs = new CompressionJobs()) {
    const maxSize = Math.floor(limit)
    this.#largest = maxSize * LARGEST_SHARE
    this.#jobs = jobs
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
    // Being asked for keeps an entry; noting it each time would cost half of what is gained.
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
    return this.#keep(canonical, KeptAnswer.of(answer, format, link, TAIL_BYTES))
  }

  /** The answer in a coding; the plain one if it is short, or not compressed within the last minute. */
  inCoding(canonical: string, answer: KeptAnswer, encoding: Encoding): KeptAnswer {
    if (answer.length < LEAST_COMPRESSED_BYTES) return answer
    const key = encoding + canonical
    const known = this.get(key)
    if (
      known !== undefined &&
      (known.ownTail !== null || answer.second - known.second < LONGEST_COMPRESSED_S)
    )
      return known
    if (!this.#underWay.has(key)) this.#compress(key, answer, encoding)
    return answer
  }

  #compress(key: string, answer: KeptAnswer, encoding: Encoding): void {
    const job = this.#jobs.begin(answer, encoding)
    if (job === null) return
    this.#underWay.add(key)
    job
      .then((made) => this.#keep(key, made))
      // Out of memory for the compressor: the plain answer stays.
      .catch(() => {})
      .finally(() => this.#underWay.delete(key))
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
