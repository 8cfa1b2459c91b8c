/**
 * Gives turns to answers that take long or that another thread writes; others are served between two pieces.
 *
 * A few are worked at in rotation; a bounded number waits for a bounded time, and a client has a share of
 * each. While its reader or producer waits, an answer gives its slot away, but counts until its connection
 * ends. Meanwhile it holds 176 KB of steps or a row group of some 300 KB, and 64 KB for its reader.
 */
import type { LaterEvents, LaterReply } from './exchange.ts'

/** Pause between pieces while others ask: the system puts a thread off that never pauses. */
const PAUSE_MS = 1
/** Time after a request in which more are expected. */
const BUSY_MS = 20
/** Answers in rotation: a long one does not hold up all. */
const SLOTS = 4
/** Answers that have begun, readers that are waited for included, and answers that wait for a slot. */
const MOST_BEGUN = 32
const MOST_WAITING = 128
/** The share of `MOST_BEGUN` and `MOST_WAITING` that one client may have. */
const CLIENT_SHARE = 1 / 4
/** Longest wait for a slot; a connection on which nothing happens ends after ten seconds. */
const LONGEST_WAIT_MS = 8000
/** Longest time of an answer, which holds its snapshot: 17 MB at 1.2 Mbit/s. */
const LONGEST_MS = 120_000
/** 1.2 Mbit/s. */
const LEAST_BYTES_PER_MS = 150
/** A reader that leaves no room for this time is given up; uws does so by itself, Node in twice the time. */
const LONGEST_UNREAD_MS = 10_000
const LOOK_INTERVAL_MS = 500

/** For `Retry-After`. */
export const BUSY_RETRY_SECONDS = Math.ceil(LONGEST_WAIT_MS / 1000)

/** The next bytes, good until the next call, or why there are none. */
export type Piece =
  | Uint8Array
  /** Nothing can be sent yet. */
  | 'going'
  /** The producer calls `wake` when it is to be asked again. */
  | 'waits'
  | 'over'

/** Makes an answer, piece by piece. */
export interface Producer {
  /** Bytes of the answer; undefined while they are counted, null if unknown until its end. */
  readonly length: number | null | undefined
  /** Works for half a millisecond at most. @throws Error that ends the answer */
  next(): Piece
  /** The answer is over, whole or not. */
  close(): void
}

export interface LaterRequest {
  /** Client with the share: the slot of a key, or −1 without one. */
  readonly client: number
  /** Status and headers, asked for when the first bytes are there. */
  head(): string | Uint8Array
  /** `wake` reports that the producer no longer waits. */
  produce(wake: () => void): Producer
  /** Refuses an answer that waited too long (`fault` is null), or failed before any of it was sent. */
  refuse(reply: LaterReply, fault: unknown): void
  /** The answer failed after it had begun, and its connection was cut. */
  onFault(error: unknown): void
  /** Most bytes of an answer that may take longer than others. */
  readonly mostBytes?: number
}

class Answer implements LaterEvents {
  readonly request: LaterRequest
  readonly #answers: LaterAnswers
  reply: LaterReply | null = null
  producer: Producer | null = null
  hasBegun = false
  /** When it was asked for, and when its producer began, in ms of the clock. */
  readonly askedAt: number
  begunAt = 0
  /** Since when the reader leaves no room; 0: there is room. */
  unreadSince = 0

  constructor(answers: LaterAnswers, request: LaterRequest, askedAt: number) {
    this.#answers = answers
    this.request = request
    this.askedAt = askedAt
  }

  readonly onRoom = (): void => {
    if (this.unreadSince > 0) this.#answers.resume(this)
  }
  readonly onGone = (): void => this.#answers.leave(this)
}

export class LaterAnswers {
  /** Answers that wait, oldest first. */
  readonly #waiting = new Set<Answer>()
  /** Answers in rotation, and answers that wait for their readers or producers. */
  readonly #working = new Set<Answer>()
  readonly #idle = new Set<Answer>()
  #isScheduled = false
  /** Requests of this thread; their number at the last look, and when it had changed (`performance.now`). */
  readonly #requests: () => number
  #requestsBefore = 0
  #askedAt = -Infinity
  #looks: NodeJS.Timeout | null = null
  readonly #longestWaitMs: number
  readonly #longestMs: number
  readonly #longestUnreadMs: number
  readonly #clock: () => number

  /** `requests`: all that this thread has had. `clock`, in ms, limits waits and answers. */
  constructor(
    requests: () => number,
    {
      longestWaitMs = LONGEST_WAIT_MS,
      longestMs = LONGEST_MS,
      longestUnreadMs = LONGEST_UNREAD_MS,
      clock = (): number => performance.now(),
    } = {},
  ) {
    this.#requests = requests
    this.#longestWaitMs = longestWaitMs
    this.#longestMs = longestMs
    this.#longestUnreadMs = longestUnreadMs
    this.#clock = clock
  }

  get counts(): { waiting: number; begun: number } {
    return { waiting: this.#waiting.size, begun: this.#begun }
  }

  get #begun(): number {
    return this.#working.size + this.#idle.size
  }

  /** Whether one more answer of `client` finds a slot, now or after a wait. */
  hasSlot(client: number): boolean {
    if (this.#waiting.size >= MOST_WAITING) return false
    const own = countOf(this.#waiting, client) + this.#begunOf(client)
    return own < (MOST_WAITING + MOST_BEGUN) * CLIENT_SHARE
  }

  /** Call `hasSlot` before. `later` defers the reply. @returns false if it cannot, and nothing was taken */
  add(request: LaterRequest, later: (events: LaterEvents) => LaterReply | null): boolean {
    const answer = new Answer(this, request, this.#clock())
    answer.reply = later(answer)
    if (answer.reply === null) return false
    this.#waiting.add(answer)
    this.#looks ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref()
    this.#workSoon()
    return true
  }

  /** The reader takes more, or the producer makes more. */
  resume(answer: Answer): void {
    if (!this.#idle.delete(answer)) return
    answer.unreadSince = 0
    this.#working.add(answer)
    this.#workSoon()
  }

  /** The answer is over, whole or not. */
  leave(answer: Answer): void {
    for (const answers of [this.#waiting, this.#working, this.#idle]) answers.delete(answer)
    answer.producer?.close()
    answer.producer = null
    if (this.#waiting.size + this.#begun > 0) this.#workSoon()
    else if (this.#looks !== null) {
      clearInterval(this.#looks)
      this.#looks = null
    }
  }

  #begunOf(client: number): number {
    return countOf(this.#working, client) + countOf(this.#idle, client)
  }

  /** Works on after what is ready to be read has been answered. */
  #workSoon(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    const work = (): void => {
      this.#isScheduled = false
      this.#work()
    }
    if (this.#isBusy()) setTimeout(work, PAUSE_MS)
    else setImmediate(work)
  }

  #isBusy(): boolean {
    const now = performance.now()
    const requests = this.#requests()
    if (requests !== this.#requestsBefore) this.#askedAt = now
    this.#requestsBefore = requests
    return now - this.#askedAt < BUSY_MS
  }

  #work(): void {
    while (this.#working.size < SLOTS && this.#begun < MOST_BEGUN) {
      const next = this.#next()
      if (next === null) break
      this.#waiting.delete(next)
      this.#working.add(next)
      next.begunAt = this.#clock()
    }
    const [answer] = this.#working
    if (answer === undefined) return
    this.#working.delete(answer)
    this.#working.add(answer)
    try {
      answer.producer ??= answer.request.produce(() => this.resume(answer))
      this.#send(answer, answer.reply!, answer.producer)
    } catch (error) {
      this.#fail(answer, error)
    }
    if (this.#working.size > 0) this.#workSoon()
  }

  /** The first waiting answer of the client with the fewest begun, unless its share is used up. */
  #next(): Answer | null {
    let best: Answer | null = null
    let fewest = MOST_BEGUN * CLIENT_SHARE
    for (const answer of this.#waiting) {
      if (fewest === 0) break
      const begun = this.#begunOf(answer.request.client)
      if (begun < fewest) {
        fewest = begun
        best = answer
      }
    }
    return best
  }

  #send(answer: Answer, reply: LaterReply, producer: Producer): void {
    // Nothing has to be made for HEAD if the length is not known before.
    const piece = reply.isHead && producer.length === null ? 'over' : producer.next()
    if (piece === 'waits') this.#pause(answer)
    if (piece === 'going' || piece === 'waits') return
    if (!answer.hasBegun) {
      answer.hasBegun = true
      const head = answer.request.head()
      if (producer.length === null) reply.stream(head)
      else reply.begin(head, producer.length!)
      if (reply.isHead) {
        this.leave(answer)
        return
      }
    }
    if (piece === 'over') {
      this.leave(answer)
      reply.end()
    } else if (piece.length > 0 && !reply.write(piece) && !reply.isOver) {
      answer.unreadSince = this.#clock()
      this.#pause(answer)
    }
  }

  #pause(answer: Answer): void {
    // A write may have ended the connection.
    if (this.#working.delete(answer)) this.#idle.add(answer)
  }

  #fail(answer: Answer, error: unknown): void {
    this.leave(answer)
    if (answer.hasBegun) {
      answer.reply!.cut()
      answer.request.onFault(error)
    } else answer.request.refuse(answer.reply!, error)
  }

  #look(): void {
    const now = this.#clock()
    for (const answer of this.#waiting) {
      if (now - answer.askedAt <= this.#longestWaitMs) continue
      this.leave(answer)
      answer.request.refuse(answer.reply!, null)
    }
    for (const answer of [...this.#working, ...this.#idle]) {
      const { begunAt, unreadSince, request } = answer
      // A long answer has the time that its bytes need at the least rate.
      const longest = Math.max(this.#longestMs, (request.mostBytes ?? 0) / LEAST_BYTES_PER_MS)
      const isUnread = unreadSince > 0 && now - unreadSince > this.#longestUnreadMs
      if (!isUnread && now - begunAt <= longest) continue
      this.leave(answer)
      if (answer.hasBegun) answer.reply!.cut()
      else request.refuse(answer.reply!, null)
    }
  }
}

function countOf(answers: ReadonlySet<Answer>, client: number): number {
  let count = 0
  for (const { request } of answers) if (request.client === client) count++
  return count
}
