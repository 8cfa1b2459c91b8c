/**
 * Gives turns to long answers: a few are made in rotation, each piece by piece, and a bounded number waits
 * for a bounded time. A client has a share of both. An answer that is short enough is sent when it is whole;
 * of a longer one there is never much more than its client has taken.
 */
import { type FromLong, type LongRequest, MOST_KEPT_BYTES } from '../operation/long-messages.ts'
import { ApiError } from '../operation/errors.ts'
import { JsonWriter } from '../dataset/json-writer.ts'
import type { LongAnswer } from './long-answer.ts'
import { once } from 'node:events'
import type { Transform } from 'node:stream'
import { constants, createBrotliCompress, createGzip } from 'node:zlib'
import type { Encoding } from '../operation/preferences.ts'

/** An answer up to this many bytes is made whole: it has a length, and clients may ask for ranges of it. */
const MOST_WHOLE_BYTES = 8 * 1024 * 1024
/** Bytes of a longer answer that its client has not taken. */
const CREDIT_BYTES = 256 * 1024
/** Answers in rotation: a long one does not hold up all. */
const SLOTS = 4
/** Answers that have begun, also if their bytes are only being sent, and answers that wait. */
const MOST_BEGUN = 32
const MOST_WAITING = 512
/** Bytes that are made and not taken. */
const MOST_UNTAKEN_BYTES = 64 * 1024 * 1024
/**
 * An answer that begins may become whole within this share of the bytes that are left, and half of those left
 * to its client: a few unread answers leave room for all others. It waits while that is less than the least.
 */
const WHOLE_SHARE = 1 / 4
const LEAST_WHOLE_BYTES = 256 * 1024
/** The share of all three that one client may have. */
const CLIENT_SHARE = 1 / 4
const LONGEST_WAIT_MS = 8000
/**
 * An older answer goes on if its client takes 20 KB/s, keeps no other from beginning, and may hold the newest
 * of the snapshots that nobody else holds.
 */
const OLD_MS = 120_000
const LEAST_TAKEN_BYTES_PER_MS = 20
/** Longest time of an answer; a long one has the time that its bytes need at 1.2 Mbit/s. */
const LONGEST_MS = 600_000
const LEAST_BYTES_PER_MS = 150
const EXPIRY_INTERVAL_MS = 500
/** Room that the writer of the pieces begins with. */
const WRITER_BYTES = 256 * 1024

/** Posts the outcome of an answer, with buffers that are handed over. */
type Post = (message: FromLong, transferred?: ArrayBuffer[]) => void

export interface QueueOptions {
  /** The text of a fault that may be logged. */
  readonly faultText: (error: unknown) => string
  /** Runs work after messages that have come; the next turn of the event loop by default. */
  readonly soon?: (work: () => void) => void
  /** Whether others hold a snapshot, too; all of them by default. */
  readonly isHeld?: (snapshot: string) => boolean
  /** Milliseconds. */
  readonly clock?: () => number
  readonly mostWholeBytes?: number
}

interface LongTask {
  readonly number: number
  readonly request: LongRequest
  /** @throws ApiError */
  readonly make: () => LongAnswer
  readonly post: Post
}

type Distribute<T> = T extends unknown ? Omit<T, 'number'> : never
type Said = Distribute<FromLong>

export class Job {
  readonly asked: LongTask
  readonly request: LongRequest
  answer: LongAnswer | null = null
  coder: Transform | null = null
  /** Times of the request and of the beginning, in ms of the clock. */
  readonly askedAt: number
  begunAt = 0
  /** Bytes are being compressed; all pieces are made. */
  isCoding = false
  isMade = false
  /** Bytes up to which the answer is made whole. */
  mostWhole = 0
  /** The pieces of an answer that may become whole; null once its bytes are sent as they come. */
  pieces: Uint8Array<ArrayBuffer>[] | null = []
  /** Bytes before the coder, while the answer may be kept. */
  plain: Uint8Array[] = []
  plainBytes = 0
  /** Bytes made so far, and bytes that the client has taken. */
  made = 0
  taken = 0

  constructor(asked: LongTask, askedAt: number) {
    this.asked = asked
    this.request = asked.request
    this.askedAt = askedAt
  }

  post(said: Said, transferred: ArrayBuffer[] = []): void {
    const { number, post } = this.asked
    post({ ...said, number }, transferred)
  }
}

export class LongQueue {
  readonly #options: Required<QueueOptions>
  /**
   * Jobs that wait, oldest first; jobs in rotation, the next first; jobs that wait for their client or coder.
   */
  readonly #waiting = new Set<Job>()
  readonly #working = new Set<Job>()
  readonly #idle = new Set<Job>()
  readonly #writer = new JsonWriter(WRITER_BYTES)
  #isScheduled = false
  #expiry: NodeJS.Timeout | null = null

  constructor(options: QueueOptions) {
    this.#options = {
      soon: setImmediate,
      isHeld: () => true,
      clock: () => performance.now(),
      mostWholeBytes: MOST_WHOLE_BYTES,
      ...options,
    }
  }

  /** Takes a request on, or says at once that there is no place for it. */
  add(asked: LongTask): Job | null {
    const job = new Job(asked, this.#options.clock())
    const { client } = asked.request
    let own = this.#used(client).begun
    for (const { request } of this.#waiting) {
      if (request.client === client) own++
    }
    if (this.#waiting.size >= MOST_WAITING || own >= (MOST_WAITING + MOST_BEGUN) * CLIENT_SHARE) {
      job.post({ type: 'busy' })
      return null
    }
    this.#waiting.add(job)
    this.#expiry ??= setInterval(() => this.expire(), EXPIRY_INTERVAL_MS).unref()
    this.#workSoon()
    return job
  }

  taken(job: Job, bytes: number): void {
    job.taken += bytes
    this.#goOn(job)
    if (this.#waiting.size > 0) this.#workSoon()
  }

  /** All is sent, or nobody reads it any more. */
  leave(job: Job): void {
    for (const jobs of [this.#waiting, this.#working, this.#idle]) jobs.delete(job)
    job.coder?.destroy()
    if (this.#waiting.size + this.#working.size + this.#idle.size > 0) this.#workSoon()
    else if (this.#expiry !== null) {
      clearInterval(this.#expiry)
      this.#expiry = null
    }
  }

  /** Gives up jobs that wait or take too long. */
  expire(): void {
    const now = this.#options.clock()
    for (const job of this.#waiting) {
      if (now - job.askedAt > LONGEST_WAIT_MS) this.#giveUp(job)
    }
    let alone: string | null = null
    // The youngest first.
    for (const job of this.#begunJobs().toSorted((a, b) => b.begunAt - a.begunAt)) {
      const age = now - job.begunAt
      if (age <= OLD_MS) continue
      const { snapshot } = job.request
      const isAlone = !this.#options.isHeld(snapshot)
      if (isAlone) alone ??= snapshot
      const isTooLong = age > Math.max(LONGEST_MS, job.made / LEAST_BYTES_PER_MS)
      const isTooSlow = job.taken + CREDIT_BYTES < age * LEAST_TAKEN_BYTES_PER_MS
      if (isTooLong || isTooSlow || (isAlone && snapshot !== alone)) this.#giveUp(job)
    }
  }

  #begunJobs(): Job[] {
    return [...this.#working, ...this.#idle]
  }

  /** Places and bytes of all answers that have begun, or of one client's; `young`: places of young ones. */
  #used(client?: string): { begun: number; young: number; bytes: number } {
    const oldest = this.#options.clock() - OLD_MS
    const used = { begun: 0, young: 0, bytes: 0 }
    for (const job of this.#begunJobs()) {
      if (client !== undefined && job.request.client !== client) continue
      used.begun++
      if (job.begunAt >= oldest) used.young++
      used.bytes += job.pieces === null ? job.made - job.taken : Math.max(job.made, job.mostWhole)
    }
    return used
  }

  #giveUp(job: Job): void {
    this.leave(job)
    job.post({ type: 'busy' })
  }

  #workSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#options.soon(() => {
      this.#isScheduled = false
      this.#work()
    })
  }

  #work(): void {
    while (this.#working.size < SLOTS && this.#waiting.size > 0) {
      const next = this.#next()
      if (next === null) break
      this.#waiting.delete(next)
      this.#working.add(next)
      next.begunAt = this.#options.clock()
    }
    const [job] = this.#working
    if (job === undefined) return
    this.#working.delete(job)
    this.#idle.add(job)
    try {
      this.#makePiece(job)
    } catch (error) {
      this.#fail(job, error)
    }
    if (this.#working.size > 0) this.#workSoon()
  }

  /** The first waiting job of the client with the fewest begun, of those with room in their share. */
  #next(): Job | null {
    const all = this.#used()
    const shareOfAll = (MOST_UNTAKEN_BYTES - all.bytes) * WHOLE_SHARE
    if (all.young >= MOST_BEGUN || shareOfAll < LEAST_WHOLE_BYTES) return null
    const seen = new Set<string>()
    let best: Job | null = null
    let fewest = MOST_BEGUN * CLIENT_SHARE
    for (const job of this.#waiting) {
      const { client } = job.request
      if (seen.has(client)) continue
      seen.add(client)
      const { begun, bytes } = this.#used(client)
      const ownShare = (MOST_UNTAKEN_BYTES * CLIENT_SHARE - bytes) / 2
      if (begun >= fewest || ownShare < LEAST_WHOLE_BYTES) continue
      job.mostWhole = Math.min(this.#options.mostWholeBytes, shareOfAll, ownShare)
      fewest = begun
      best = job
      if (fewest === 0) break
    }
    return best
  }

  #makePiece(job: Job): void {
    const { request } = job
    const answer = (job.answer ??= job.asked.make())
    this.#writer.begin()
    const isLast = answer.next(this.#writer)
    const piece = new Uint8Array(this.#writer.answer())
    job.isMade = isLast
    if (request.encoding === null) {
      this.#out(job, piece)
      this.#afterPiece(job)
      return
    }
    job.isCoding = true
    job.plainBytes += piece.length
    if (job.plainBytes <= MOST_KEPT_BYTES) job.plain.push(piece)
    else job.plain = []
    job.coder ??= coderOf(request.encoding).on('data', (bytes) => this.#out(job, new Uint8Array(bytes)))
    compress(job.coder, piece, isLast).then(
      () => {
        job.isCoding = false
        this.#afterPiece(job)
      },
      (error: unknown) => this.#fail(job, error),
    )
  }

  #afterPiece(job: Job): void {
    // Nobody reads it any more.
    if (!this.#idle.has(job)) return
    if (!job.isMade) this.#goOn(job)
    else if (job.pieces === null) job.post({ type: 'end' })
    else this.#sendWhole(job, job.pieces)
  }

  #out(job: Job, bytes: Uint8Array<ArrayBuffer>): void {
    job.made += bytes.length
    if (job.pieces === null) job.post({ type: 'bytes', bytes }, [bytes.buffer])
    else {
      job.pieces.push(bytes)
      if (job.made > job.mostWhole) this.#begin(job, job.pieces)
    }
  }

  /** An answer too long to be whole: its pieces go out. */
  #begin(job: Job, pieces: Uint8Array<ArrayBuffer>[]): void {
    const { isHead, encoding } = job.request
    job.pieces = null
    job.post({ type: 'begun', headers: new Uint8Array(job.answer!.headers), encoding })
    if (isHead) this.leave(job)
    else for (const bytes of pieces) job.post({ type: 'bytes', bytes }, [bytes.buffer])
  }

  #sendWhole(job: Job, pieces: readonly Uint8Array<ArrayBuffer>[]): void {
    const { answer, request, plainBytes } = job
    const isKept = request.encoding !== null && plainBytes <= MOST_KEPT_BYTES
    // A copy, as a pool that is handed over would be lost to its thread.
    const plain = isKept ? new Uint8Array(Buffer.concat(job.plain, plainBytes)) : null
    job.pieces = null
    const headers = new Uint8Array(answer!.headers)
    const transferred = [...pieces, ...(plain === null ? [] : [plain])].map(({ buffer }) => buffer)
    job.post({ type: 'whole', headers, pieces, encoding: request.encoding, plain }, transferred)
  }

  /** Back into the rotation, if there is more to make and room for it. */
  #goOn(job: Job): void {
    const hasRoom = job.pieces !== null || job.made - job.taken < CREDIT_BYTES
    if (job.isMade || job.isCoding || !hasRoom || !this.#idle.delete(job)) return
    this.#working.add(job)
    this.#workSoon()
  }

  #fail(job: Job, error: unknown): void {
    if (!this.#idle.has(job)) return
    this.leave(job)
    if (error instanceof ApiError) {
      const { code, message, details } = error
      job.post({ type: 'refused', code, message, details })
    } else job.post({ type: 'fault', fault: this.#options.faultText(error) })
  }
}

/** The fastest of each format. */
const LEVEL = 1

/** Resolves when the bytes are taken, with `isLast` when all are out. */
async function compress(coder: Transform, bytes: Uint8Array, isLast: boolean): Promise<void> {
  if (isLast) {
    coder.end(bytes)
    await once(coder, 'end')
  } else
    await new Promise<void>((done, fail) => coder.write(bytes, (error) => (error ? fail(error) : done())))
}

function coderOf(encoding: Encoding): Transform {
  return encoding === 'gzip'
    ? createGzip({ level: LEVEL })
    : createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: LEVEL } })
}
