/**
 * Answers that another thread writes, a group of rows at a time, and this one sends as their readers take
 * them.
 *
 * The other thread writes a group when this one asks for it: when the group before has gone out. So a reader
 * that takes nothing holds one group (some 300 KB) and what its connection has not taken (64 KB). Their
 * length is not known in front; one that breaks off has no last chunk.
 *
 * Not too many are under way or wait, none waits for long, and no client has more than its share of either.
 * The thread is started for the first and ends a while after the last. If it dies, what it was writing breaks
 * off, and those that wait get a new one.
 */
import type { Worker } from 'node:worker_threads'
import type { ParquetJob, ParquetRun } from '../formats/parquet-job.ts'
import type { FromParquet, ToParquet } from '../formats/parquet-thread.ts'
import { MOST_WRITE_BYTES, type LaterEvents, type LaterReply } from '../http/exchange.ts'
import { startThread } from '../system/thread.ts'
import {
  CLIENT_SHARE,
  LEAST_BYTES_PER_MS,
  LONGEST_MS,
  LONGEST_UNREAD_MS,
  LONGEST_WAIT_MS,
  LOOK_INTERVAL_MS,
} from './expensive-answers.ts'

/** Answers that have begun, and answers that wait until one of them is over. */
const MOST_BEGUN = 16
const MOST_WAITING = 64
/** A thread that has not written a group for so long hangs, and is ended; one group takes some 20 ms. */
const LONGEST_GROUP_MS = 30_000
/** A thread without work ends after so long: it holds some 40 MB. */
const LONGEST_IDLE_MS = 10_000
/** Its heap: many times what row groups take. */
const THREAD_HEAP_MB = 256

/** What is asked for. */
export interface ExportRequest {
  /** Whose share it takes: the slot of a key, or −1 without one. */
  readonly client: number
  readonly job: ParquetJob
  /** Status and headers, asked for when the first bytes are there. */
  head(): string | Uint8Array
  /** It waited too long (`fault` is null), or failed before any of it was sent: says so in `reply`. */
  refuse(reply: LaterReply, fault: unknown): void
  /** It failed after it had begun; its connection was cut. */
  onFault(error: unknown): void
}

/** One answer from its request to its end. */
class Answer implements LaterEvents {
  readonly request: ExportRequest
  readonly #answers: ExportedAnswers
  /** Names it to the thread. */
  readonly file: number
  reply: LaterReply | null = null
  groups: Iterator<ParquetRun[], void, undefined> | null = null
  /** The runs of the group after the one that was asked for; undefined where there is none. */
  next: ParquetRun[] | undefined
  /** Bytes of a group that have come, and how many of them have gone out. */
  bytes: Uint8Array | null = null
  sent = 0
  hasBegun = false
  /** Whether the last group has been asked for. */
  isLast = false
  /** When it was asked for and when it began, in ms of `performance.now`. */
  readonly askedAt: number
  begunAt = 0
  /**
   * Since when the thread is at its next group, and since when its reader leaves no room; 0: is not, does
   * not.
   */
  writtenSince = 0
  unreadSince = 0

  constructor(answers: ExportedAnswers, file: number, request: ExportRequest) {
    this.#answers = answers
    this.file = file
    this.request = request
    this.askedAt = performance.now()
  }

  readonly onRoom = (): void => this.#answers.goOn(this)
  readonly onGone = (): void => this.#answers.leave(this)
}

export interface ExportedAnswersOptions {
  /** Another thread than the usual one. */
  readonly start?: () => Worker
  readonly longestWaitMs?: number
  readonly longestMs?: number
  readonly longestUnreadMs?: number
  readonly longestGroupMs?: number
  readonly longestIdleMs?: number
}

const startParquet = (): Worker =>
  startThread(new URL('../formats/parquet-thread', import.meta.url), null, {
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  })

export class ExportedAnswers {
  /** In the order they came in. */
  readonly #waiting: Answer[] = []
  readonly #begun = new Map<number, Answer>()
  readonly #options: Required<ExportedAnswersOptions>
  #thread: Worker | null = null
  #files = 0
  #looks: NodeJS.Timeout | null = null
  /** When the last answer was over, in ms of `performance.now`. */
  #idleSince = 0

  constructor(options: ExportedAnswersOptions = {}) {
    this.#options = {
      start: startParquet,
      longestWaitMs: LONGEST_WAIT_MS,
      longestMs: LONGEST_MS,
      longestUnreadMs: LONGEST_UNREAD_MS,
      longestGroupMs: LONGEST_GROUP_MS,
      longestIdleMs: LONGEST_IDLE_MS,
      ...options,
    }
  }

  /** Answers that wait for others to be over, and those that have begun. */
  get counts(): { waiting: number; begun: number } {
    return { waiting: this.#waiting.length, begun: this.#begun.size }
  }

  /** Whether one more of `client` finds a slot, now or after a wait. */
  hasSlot(client: number): boolean {
    if (this.#waiting.length >= MOST_WAITING) return false
    const waiting = this.#waiting.filter(({ request }) => request.client === client).length
    return waiting + this.#begunOf(client) < (MOST_WAITING + MOST_BEGUN) * CLIENT_SHARE
  }

  /**
   * Takes an answer that `hasSlot` found a slot for. `later` defers the reply. @returns false where it cannot
   * be deferred, and nothing was taken
   */
  add(request: ExportRequest, later: (events: LaterEvents) => LaterReply | null): boolean {
    const answer = new Answer(this, this.#files++, request)
    answer.reply = later(answer)
    if (answer.reply === null) return false
    this.#looks ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref()
    if (answer.reply.isHead) {
      // The length is not known, so nothing has to be made.
      answer.reply.stream(request.head())
      return true
    }
    this.#waiting.push(answer)
    this.#beginSome()
    return true
  }

  /** The reader of `answer` takes more. */
  goOn(answer: Answer): void {
    if (answer.unreadSince === 0) return
    answer.unreadSince = 0
    this.#sendSoon(answer)
  }

  /** `answer` is over, whole or not; its slot is free. */
  leave(answer: Answer): void {
    const at = this.#waiting.indexOf(answer)
    if (at !== -1) this.#waiting.splice(at, 1)
    if (this.#begun.delete(answer.file)) this.#tell({ type: 'drop', file: answer.file })
    // Lets go of the snapshot.
    answer.groups = null
    answer.next = undefined
    answer.bytes = null
    this.#idleSince = performance.now()
    this.#beginSome()
  }

  /** Ends the thread. */
  close(): void {
    const thread = this.#thread
    this.#thread = null
    void thread?.terminate()
  }

  #begunOf(client: number): number {
    let count = 0
    for (const { request } of this.#begun.values()) if (request.client === client) count++
    return count
  }

  #beginSome(): void {
    while (this.#begun.size < MOST_BEGUN) {
      const answer = this.#waiting.find(
        ({ request }) => this.#begunOf(request.client) < MOST_BEGUN * CLIENT_SHARE,
      )
      if (answer === undefined) return
      this.#waiting.splice(this.#waiting.indexOf(answer), 1)
      this.#begun.set(answer.file, answer)
      answer.begunAt = performance.now()
      try {
        answer.groups = answer.request.job.groups()
        answer.next = this.#nextGroup(answer)
        this.#threadOf().postMessage({ type: 'begin', file: answer.file, start: answer.request.job.start })
        this.#ask(answer)
      } catch (error) {
        this.#fail(answer, error)
      }
    }
  }

  #threadOf(): Worker {
    if (this.#thread !== null) return this.#thread
    const thread = this.#options.start()
    this.#thread = thread
    // It keeps no process alive: what it writes for does.
    thread.unref()
    thread.on('message', (message: FromParquet) => this.#take(message))
    thread.once('error', (error) => this.#lost(thread, error))
    thread.once('exit', () => this.#lost(thread, new Error('the thread that writes Parquet has ended')))
    return thread
  }

  #tell(message: ToParquet): void {
    this.#thread?.postMessage(message)
  }

  #nextGroup({ groups }: Answer): ParquetRun[] | undefined {
    const { done, value } = groups!.next()
    return done === true ? undefined : value
  }

  /** Has the next group written. */
  #ask(answer: Answer): void {
    const runs = answer.next ?? []
    answer.next = this.#nextGroup(answer)
    answer.isLast = answer.next === undefined
    answer.writtenSince = performance.now()
    this.#tell({ type: 'group', file: answer.file, runs, isLast: answer.isLast })
  }

  #take(message: FromParquet): void {
    const answer = this.#begun.get(message.file)
    // Its client has gone.
    if (answer === undefined) return
    if ('fault' in message) {
      this.#fail(answer, message.fault)
      return
    }
    answer.writtenSince = 0
    answer.bytes = message.bytes
    answer.sent = 0
    if (!answer.hasBegun) {
      answer.hasBegun = true
      answer.reply!.stream(answer.request.head())
    }
    this.#send(answer)
  }

  /** Sends on after what is ready to be read has been answered. */
  #sendSoon(answer: Answer): void {
    setImmediate(() => {
      if (this.#begun.get(answer.file) === answer && answer.unreadSince === 0) this.#send(answer)
    })
  }

  /** Sends a piece of what has come. */
  #send(answer: Answer): void {
    const reply = answer.reply!
    const { bytes } = answer
    try {
      if (bytes !== null) {
        const piece = bytes.subarray(answer.sent, answer.sent + MOST_WRITE_BYTES)
        answer.sent += piece.length
        if (answer.sent === bytes.length) answer.bytes = null
        const hasRoom = reply.write(piece)
        // The write may have ended the connection.
        if (this.#begun.get(answer.file) !== answer) return
        if (hasRoom) this.#sendSoon(answer)
        else answer.unreadSince = performance.now()
      } else if (!answer.isLast) this.#ask(answer)
      else {
        this.leave(answer)
        reply.end()
      }
    } catch (error) {
      this.#fail(answer, error)
    }
  }

  #fail(answer: Answer, error: unknown): void {
    this.leave(answer)
    if (answer.hasBegun) {
      answer.reply!.cut()
      answer.request.onFault(error)
    } else answer.request.refuse(answer.reply!, error)
  }

  /** The thread has died: what it was writing cannot go on. */
  #lost(thread: Worker, error: unknown): void {
    if (this.#thread !== thread) return
    this.#thread = null
    const begun = [...this.#begun.values()]
    this.#begun.clear()
    for (const answer of begun) this.#fail(answer, error)
    this.#beginSome()
  }

  /** Ends what takes too long. */
  #look(): void {
    const now = performance.now()
    const { longestWaitMs, longestMs, longestUnreadMs, longestGroupMs, longestIdleMs } = this.#options
    for (const answer of this.#waiting.filter(({ askedAt }) => now - askedAt > longestWaitMs)) {
      this.leave(answer)
      answer.request.refuse(answer.reply!, null)
    }
    const begun = [...this.#begun.values()]
    if (begun.some(({ writtenSince }) => writtenSince > 0 && now - writtenSince > longestGroupMs)) {
      void this.#thread?.terminate()
    }
    for (const answer of begun) {
      const unread = answer.unreadSince === 0 ? 0 : now - answer.unreadSince
      const longest = Math.max(longestMs, answer.request.job.bytes / LEAST_BYTES_PER_MS)
      if (unread <= longestUnreadMs && now - answer.begunAt <= longest) continue
      this.leave(answer)
      if (answer.hasBegun) answer.reply!.cut()
      else answer.request.refuse(answer.reply!, null)
    }
    if (this.#begun.size + this.#waiting.length > 0 || now - this.#idleSince < longestIdleMs) return
    this.close()
    clearInterval(this.#looks!)
    this.#looks = null
  }
}
