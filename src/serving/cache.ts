/**
 * Whole answers of one snapshot, by canonical request, bounded in bytes. Nothing relies on it; a new snapshot
 * begins with an empty one.
 *
 * Where it is full, answers that are asked for often stay, and others are not even taken in: where requests are
 * for twice as many answers as fit, taking in each of them and dropping the oldest costs more than it saves
 * (`bench/profiles.md`).
 */
import { compressAnswer, LEAST_COMPRESSED_BYTES, type CompressedAnswer } from './compressed.ts'
import type { Encoding } from './encoding.ts'
import { KeptAnswer, type AnsweredRequest } from './kept-answer.ts'
import { MOST_COUNTED, Popularity } from './popularity.ts'
import { RequestTargets } from './request-targets.ts'
import { Slabs } from './slabs.ts'

/** An answer that takes more than this share of the cache would drive out everything else. */
const LARGEST_SHARE = 1 / 8
/** What an entry costs beside its bytes and key, about: map slot, objects and array header. */
const ENTRY_BYTES = 300
/**
 * So much is compressed in a ms: a quarter of what a core can. After a swap thousands of answers are due, on threads
 * that may share the core of the one that serves.
 */
const COMPRESSED_BYTES_PER_MS = 16 * 1024
/** At a time, after a while without: some 15 ms of a core. */
const MOST_COMPRESSED_BYTES = 1024 * 1024
/** Memory is taken in pieces of this share of the cache, at most of this size: looking through one takes 0.3 ms. */
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
  /** That may be compressed now, as of a ms of the clock; less than none where the last one was longer. */
  #compressible = MOST_COMPRESSED_BYTES
  #compressibleAt = 0
  /** An answer asked for less often is not taken in; 0 until room had to be made. */
  #bar = 0
  #halvings = 0
  readonly #clock: () => number

  /**
   * `limit` in bytes; 0 keeps nothing. `popularity`: as the cache of the snapshot before knows it. `clock` in
   * ms.
   */
  constructor(limit: number, popularity = new Popularity(), clock = () => performance.now()) {
    this.#limit = limit
    this.#clock = clock
    this.#compressibleAt = clock()
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
    return this.#bar === 0 || this.popularity.of(low, high) >= this.#barNow()
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
   * The answer in a coding, or null as long as it is not compressed: once, on another thread, while requests
   * get it plain.
   */
  compressed(
    answer: KeptAnswer,
    encoding: Encoding,
    second: number,
    tail: Uint8Array,
  ): CompressedAnswer | null {
    const compressed = answer[encoding]
    if (compressed === null) {
      const own = answer.ownTail ?? tail
      this.#compress(answer, encoding, answer.bytesAt(second, own), own.length)
    }
    return compressed === 'under way' ? null : compressed
  }

  #compress(answer: KeptAnswer, encoding: Encoding, bytes: Uint8Array, tailLength: number): void {
    if (bytes.length < LEAST_COMPRESSED_BYTES || !this.#mayCompress(bytes.length)) return
    answer[encoding] = 'under way'
    compressAnswer(encoding, bytes, tailLength)
      .then((compressed) => {
        if (!answer.kept) return
        // It would be compressed again otherwise.
        this.#makeRoom(compressed.bytes.length, 0, Infinity)
        compressed.bytes = this.#place(compressed.bytes, answer, encoding)
        // Room may have been made by letting go of this very answer.
        if (answer.kept) answer[encoding] = compressed
      })
      // Out of memory for the compressor: this answer stays as it is.
      .catch(() => {})
  }

  #mayCompress(bytes: number): boolean {
    const now = this.#clock()
    const won = (now - this.#compressibleAt) * COMPRESSED_BYTES_PER_MS
    this.#compressibleAt = now
    this.#compressible = Math.min(MOST_COMPRESSED_BYTES, this.#compressible + won)
    if (this.#compressible <= 0) return false
    this.#compressible -= bytes
    return true
  }

  #place(bytes: Uint8Array, answer: KeptAnswer, encoding: Encoding | null): Uint8Array {
    return this.#slabs.place(bytes, { answer, encoding, length: bytes.length })
  }

  /** What is popular is so for a while only. */
  #barNow(): number {
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
      const own = this.#slabs.oldestOwn
      if (own !== null && own.answer.kept && this.#popularityOf(own.answer) >= popularity) {
        this.#slabs.renewOldest()
        return false
      }
      this.#dropSlab(own === null && looks-- > 0 ? STAYING_SHARE : 0)
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

/** The least popularity of which, and of all above, there are at most `most` bytes, and how many are left of them. */
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
