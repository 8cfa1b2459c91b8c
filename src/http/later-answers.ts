/**
 * Gives turns to the answers that come later: answers that take long, and answers that another thread writes.
 * A producer makes each of them piece by piece, and others are served between two pieces. A piece goes out as
 * the reader takes it.
 *
 * A few are worked at in rotation; others wait, not too many and not for long, and no client has more than
 * its share of either. While its reader takes nothing, or its producer waits for another thread, an answer
 * gives its slot to the next one. It stays counted until its connection ends. So its cost is bounded while it
 * waits, too: what its producer holds (176 KB of steps, or a row group of some 300 KB) and what the
 * connection has not taken (64 KB).
 */
import type { LaterEvents, LaterReply } from './exchange.ts'

/**
 * Rest between two pieces while others ask, too. A thread that never rests is put off by the system for as
 * long as others of the machine run, and all its other answers wait.
 */
const REST_MS = 1
/** More of these requests are expected for this time after one. */
const BUSY_MS = 20
/** Answers that are worked at in rotation: so one that is long does not hold up all. */
const SLOTS = 4
/** Answers that have begun, those included that wait for their readers, and answers that wait for a slot. */
const MOST_BEGUN = 32
const MOST_WAITING = 128
/** The share of both that one client may have. */
const CLIENT_SHARE = 1 / 4
/** Longest wait of an answer for a slot; a connection on which nothing happens ends after ten seconds. */
const LONGEST_WAIT_MS = 8000
/** Longest time of an answer, 17 MB at 1.2 Mbit/s. It holds the snapshot that it began with. */
const LONGEST_MS = 120_000
/** 1.2 Mbit/s: the rate of the line above. */
const LEAST_BYTES_PER_MS = 150
/**
 * A reader that leaves no room for this time is given up. uws does so by itself; Node takes up to twice as
 * long.
 */
const LONGEST_UNREAD_MS = 10_000
const LOOK_INTERVAL_MS = 500

/** For `Retry-After`, seconds. */
export const BUSY_RETRY_SECONDS = Math.ceil(LONGEST_WAIT_MS / 1000)

/** What comes of a moment's work: the next bytes, good until it is asked again, or why there are none. */
export type Piece =
  | Uint8Array
  /** Nothing can be sent yet. */
  | 'going'
  /** The producer tells by `wake` when it is to be asked again. */
  | 'waits'
  /** All of the answer was given. */
  | 'over'

/** Makes an answer, piece by piece. */
export interface Producer {
  /** Bytes of all of it; undefined while it counts them, null where they are never known before. */
  readonly length: number | null | undefined
  /** Works for half a millisecond at most. @throws Error that ends the answer */
  next(): Piece
  /** Lets go of what it holds: the answer is over, whole or not. */
  close(): void
}

/** What is asked for. */
export interface LaterRequest {
  /** Whose share it takes: the slot of a key, or −1 without one. */
  readonly client: number
  /** Status and headers, asked for when the first bytes are there. */
  head(): string | Uint8Array
  /** `wake` reports that the producer no longer waits. */
  produce(wake: () => void): Producer
  /** The answer waited too long (`fault` is null), or failed before any of it was sent: refuses it. */
  refuse(reply: LaterReply, fault: unknown): void
  /** The answer failed after it had begun; its connection was cut. */
  onFault(error: unknown): void
  /** Bytes that it takes at most, where it may take longer than others for them. */
  readonly mostBytes?: number
}

/** One answer from its request to its end. */
class Answer implements LaterEvents {
  readonly request: LaterRequest
  readonly #answers: LaterAnswers
  reply: LaterReply | null = null
  producer: Producer | null = null
  /** Whether its head is out. */
  hasBegun = false
  /** When it was asked for, and when its producer began, in ms of the clock. */
  readonly askedAt: number
  begunAt = 0
  /** Since when its reader leaves no room; 0: it does. */
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
  /** Answers that wait, in the order in which they came in. */
  readonly #waiting = new Set<Answer>()
  /** Answers that are worked at, in rotation, and answers that wait for their readers or producers. */
  readonly #working = new Set<Answer>()
  readonly #idle = new Set<Answer>()
  #isScheduled = false
  /**
   * How many requests this thread has had, when it was last looked, and when that had changed, in ms of
   * `performance.now`.
   */
  readonly #requests: () => number
  #requestsBefore = 0
  #askedAt = -Infinity
  #looks: NodeJS.Timeout | null = null
  readonly #longestWaitMs: number
  readonly #longestMs: number
  readonly #longestUnreadMs: number
  readonly #clock: () => number

  /**
   * `requests`: how many requests of all kinds this thread has had. By `clock`, in ms, answers have waited
   * and gone on too long.
   */
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

  /** Answers that wait for a slot, and those that have begun. */
  get counts(): { waiting: number; begun: number } {
    return { waiting: this.#waiting.size, begun: this.#begun }
  }

  get #begun(): number {
    return this.#working.size + this.#idle.size
  }

  /** Whether one more of `client` finds a slot, now or after a wait. */
  hasSlot(client: number): boolean {
    if (this.#waiting.size >= MOST_WAITING) return false
    const own = countOf(this.#waiting, client) + this.#begunOf(client)
    return own < (MOST_WAITING + MOST_BEGUN) * CLIENT_SHARE
  }

  /**
   * Takes an answer that `hasSlot` found a slot for. `later` defers the reply. @returns false where it cannot
   * be deferred, and nothing was taken
   */
  add(request: LaterRequest, later: (events: LaterEvents) => LaterReply | null): boolean {
    const answer = new Answer(this, request, this.#clock())
    answer.reply = later(answer)
    if (answer.reply === null) return false
    this.#waiting.add(answer)
    this.#looks ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref()
    this.#workSoon()
    return true
  }

  /** The reader of `answer` takes more, or its producer makes more. */
  resume(answer: Answer): void {
    if (!this.#idle.delete(answer)) return
    answer.unreadSince = 0
    this.#working.add(answer)
    this.#workSoon()
  }

  /** `answer` is over, whole or not; its slot is free. */
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
    if (this.#isBusy()) setTimeout(work, REST_MS)
    else setImmediate(work)
  }

  /** Whether others ask, too. */
  #isBusy(): boolean {
    const now = performance.now()
    const requests = this.#requests()
    if (requests !== this.#requestsBefore) this.#askedAt = now
    this.#requestsBefore = requests
    return now - this.#askedAt < BUSY_MS
  }

  /** One piece of one answer. */
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
    // The answer goes behind the others.
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

  /**
   * The first waiting answer of the client that has the fewest begun, unless that client has its share of
   * them.
   */
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

  /** Has the next piece made, and sends it. */
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
    // A write may have ended its connection.
    if (this.#working.delete(answer)) this.#idle.add(answer)
  }

  #fail(answer: Answer, error: unknown): void {
    this.leave(answer)
    if (answer.hasBegun) {
      answer.reply!.cut()
      answer.request.onFault(error)
    } else answer.request.refuse(answer.reply!, error)
  }

  /** Ends what takes too long. */
  #look(): void {
    const now = this.#clock()
    for (const answer of this.#waiting) {
      if (now - answer.askedAt <= this.#longestWaitMs) continue
      this.leave(answer)
      answer.request.refuse(answer.reply!, null)
    }
    for (const answer of [...this.#working, ...this.#idle]) {
      const { begunAt, unreadSince, request } = answer
      // A long one has the time that its bytes need at the least rate.
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
