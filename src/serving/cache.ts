/**
 * Whole answers of one snapshot, by canonical request, bounded in bytes. Nothing relies on it; a new snapshot
 * begins with an empty one.
 *
 * Where it is full, answers that are asked for often stay, and others are not even taken in: where requests
 * are for twice as many answers as fit, taking in each of them and dropping the oldest costs more than it
 * saves (`bench/profiles.md`).
 */
import {
  compressAnswer,
  compressAnswerElsewhere,
  LEAST_COMPRESSED_BYTES,
  msElsewhere,
  type CompressedAnswer,
} from './compressed.ts'
import { CompressionBudget } from './compression-budget.ts'
import type { Encoding } from './encoding.ts'
import { KeptAnswer, type AnsweredRequest } from './kept-answer.ts'
import { MOST_COUNTED, Popularity } from './popularity.ts'
import { RequestTargets } from './request-targets.ts'
import { Slabs } from './slabs.ts'

/** An answer that takes more than this share of the cache would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** What an entry costs beside its bytes and key, about: map slot, objects and array header. */
const ENTRY_BYTES = 300
/** A longer answer is compressed on another thread: this one would serve nobody for more than 0.2 ms. */
const MOST_BYTES_HERE = 32 * 1024
/**
 * Memory is taken in pieces of this share of the cache, at most of this size: looking through one takes 0.3
 * ms.
 */
const SLAB_SHARE = 1 / 16
const MOST_SLAB_BYTES = 1024 * 1024
/** So much of a slab may stay when room is made: the rest is won. */
const STAYING_SHARE = 3 / 4

/** Number in the ETag of an answer: its lower 32 bits, and the 16 above. */
type Digested = Pick<AnsweredRequest, 'low' | 'high'>

/** Bytes in a slab: an answer, plain where there is no coding. */
interface Piece {
  readonly answer: KeptAnswer
  readonly encoding: Encoding | null
  readonly length: number
}

export class AnswerCache {
  /** How often requests came lately, those for answers that are not kept among them. */
  readonly popularity: Popularity
  readonly #limit: number
  readonly #answers = new Map<string, KeptAnswer>()
  /** Not in the answers themselves: few have any, and an answer is to fit into two cache lines. */
  readonly #links = new Map<KeptAnswer, string>()
  readonly #slabs: Slabs<Piece>
  #targets: RequestTargets<KeptAnswer> | null = null
  /** What entries take beside their bytes. */
  #entryBytes = 0
  /** An answer asked for less often is not taken in; 0 until room had to be made. */
  #bar = 0
  #halvings = 0
  readonly #compression: CompressionBudget

  /** `limit` in bytes; 0 keeps nothing. `popularity`: as the cache of the snapshot before knows it. */
  constructor(limit: number, popularity = new Popularity(), compression = new CompressionBudget()) {
    this.#limit = limit
    this.#compression = compression
    this.#slabs = new Slabs(Math.min(MOST_SLAB_BYTES, limit * SLAB_SHARE))
    this.popularity = popularity
    this.#halvings = popularity.halvings
  }

  /** What it takes now. */
  get bytes(): number {
    return this.#slabs.bytes + this.#entryBytes
  }

  get isOff(): boolean {
    return this.#limit === 0
  }

  get(canonical: string): KeptAnswer | undefined {
    return this.#answers.get(canonical)
  }

  /**
   * The answer to a request of the same target as before, in a third of the time that parsing takes.
   */
  getByTarget(path: string, query: string): KeptAnswer | undefined {
    if (this.#targets === null) return undefined
    const answer = this.#targets.find(path, query)
    return answer !== undefined && answer.kept ? answer : undefined
  }

  remember(path: string, query: string, answer: KeptAnswer): void {
    this.#targets ??= new RequestTargets()
    this.#targets.add(path, query, answer)
  }

  /** Counts a request by its digest. @returns whether so many came lately that its answer may be kept */
  asked({ low, high }: Digested): boolean {
    this.popularity.count(low, high)
    return this.#bar === 0 || this.popularity.of(low, high) >= this.#leastPopularity()
  }

  /** The header lines of the links of a kept answer; '' where it has none. */
  linkOf(kept: KeptAnswer): string {
    return this.#links.get(kept) ?? ''
  }

  /**
   * Keeps a copy of `answer`, whatever its tail says, and the header lines of its links.
   * @returns what is kept, null where it is too large, or others of its size are asked for as often
   */
  put(canonical: string, request: AnsweredRequest, answer: Uint8Array, link = ''): KeptAnswer | null {
    const before = this.#answers.get(canonical)
    if (before !== undefined) return before
    const entryBytes = entryBytesOf(canonical, link)
    if (answer.length + entryBytes > this.#limit * LARGEST_SHARE) return null
    if (!this.#makeRoom(answer.length, entryBytes, this.#popularityOf(request))) return null
    const kept = new KeptAnswer(canonical, request, answer)
    kept.move(null, (bytes) => this.#place(bytes, kept, null))
    this.#answers.set(canonical, kept)
    if (link !== '') this.#links.set(kept, link)
    this.#entryBytes += entryBytes
    return kept
  }

  /**
   * The answer in a coding, compressed once; null where it is not yet, and requests get it plain: there is no
   * time for it, or another thread is at it.
   */
  compressed(
    answer: KeptAnswer,
    encoding: Encoding,
    second: number,
    tail: Uint8Array,
  ): CompressedAnswer | null {
    const compressed = answer[encoding]
    if (compressed !== null) return compressed === 'under way' ? null : compressed
    const own = answer.ownTail ?? tail
    const bytes = answer.bytesAt(second, own)
    if (bytes.length < LEAST_COMPRESSED_BYTES || !this.#compression.allows()) return null
    if (bytes.length > MOST_BYTES_HERE) {
      this.#compressElsewhere(answer, encoding, bytes, own.length)
      return null
    }
    return this.#compressHere(answer, encoding, bytes, own.length)
  }

  #compressHere(
    answer: KeptAnswer,
    encoding: Encoding,
    bytes: Uint8Array,
    tailLength: number,
  ): CompressedAnswer | null {
    try {
      const made = this.#compression.during(() => compressAnswer(encoding, bytes, tailLength))
      this.#keepCompressed(answer, made)
      return made
    } catch {
      // Out of memory for the compressor: this answer stays as it is.
      return null
    }
  }

  #compressElsewhere(answer: KeptAnswer, encoding: Encoding, bytes: Uint8Array, tailLength: number): void {
    this.#compression.spend(msElsewhere(bytes.length))
    answer[encoding] = 'under way'
    compressAnswerElsewhere(encoding, bytes, tailLength)
      .then((made) => this.#keepCompressed(answer, made))
      // Stays as it is, as above.
      .catch(() => {})
  }

  #keepCompressed(answer: KeptAnswer, made: CompressedAnswer): void {
    if (!answer.kept) return
    // It would be compressed again otherwise.
    this.#makeRoom(made.bytes.length, 0, Infinity)
    // Room may have been made by letting go of this very answer.
    if (!answer.kept) return
    made.bytes = this.#place(made.bytes, answer, made.encoding)
    answer[made.encoding] = made
  }

  #place(bytes: Uint8Array, answer: KeptAnswer, encoding: Encoding | null): Uint8Array {
    return this.#slabs.place(bytes, { answer, encoding, length: bytes.length })
  }

  /** Below it an answer is not taken in. What is popular is so for a while only. */
  #leastPopularity(): number {
    this.#bar >>>= Math.min(31, this.popularity.halvings - this.#halvings)
    this.#halvings = this.popularity.halvings
    return this.#bar
  }

  /**
   * Lets go of answers until a piece of `length` bytes fits.
   * @returns whether it does: not where that would cost an answer that is asked for as often and fills a slab
   */
  #makeRoom(length: number, entryBytes: number, popularity: number): boolean {
    // Each slab is looked through once: where all that lies in them stays, room is never won.
    let looks = this.#slabs.count
    while (this.bytes + entryBytes + this.#slabs.growthFor(length) > this.#limit) {
      const alone = this.#slabs.onlyPieceOfOldest
      if (alone !== null && alone.answer.kept && this.#popularityOf(alone.answer) >= popularity) {
        this.#slabs.renewOldest()
        return false
      }
      this.#dropSlab(alone === null && looks-- > 0 ? STAYING_SHARE : 0)
    }
    return true
  }

  #popularityOf({ low, high }: Digested): number {
    return this.popularity.of(low, high)
  }

  /** Lets go of the oldest slab, but for the most popular of what lies in it, which moves to the newest. */
  #dropSlab(stayingShare: number): void {
    const { size, pieces } = this.#slabs.dropOldest()
    const live = pieces.filter(({ answer }) => answer.kept)
    let { bar, left } = barOf(live, this.popularity, size * stayingShare)
    for (const { answer, encoding, length } of live) {
      // Gone with another piece of it.
      if (!answer.kept) continue
      const popularity = this.#popularityOf(answer)
      const isJustBelow = popularity === bar - 1 && length <= left
      if (isJustBelow) left -= length
      if (popularity >= bar || isJustBelow) {
        answer.move(encoding, (bytes) => this.#place(bytes, answer, encoding))
      } else {
        this.#drop(answer)
      }
    }
    if (stayingShare > 0) this.#bar = Math.min(bar, MOST_COUNTED)
  }

  #drop(answer: KeptAnswer): void {
    this.#entryBytes -= entryBytesOf(answer.canonical, this.linkOf(answer))
    this.#answers.delete(answer.canonical)
    this.#links.delete(answer)
    answer.leave()
  }
}

function entryBytesOf(canonical: string, link: string): number {
  return canonical.length * 2 + link.length + ENTRY_BYTES
}

/**
 * The least popularity of which, and of all above, there are at most `most` bytes, and how many are left of
 * them.
 */
function barOf(
  pieces: readonly Piece[],
  popularity: Popularity,
  most: number,
): { bar: number; left: number } {
  const bytes = new Float64Array(MOST_COUNTED + 1)
  for (const { answer, length } of pieces) bytes[popularity.of(answer.low, answer.high)] += length
  let bar = MOST_COUNTED + 1
  let left = most
  while (bar > 0 && bytes[bar - 1] <= left) left -= bytes[--bar]
  return { bar, left }
}
