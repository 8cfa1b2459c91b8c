/**
 * Whose turn it is among the answers that take long: each is made in slices, between which others are served,
 * and sent as its reader takes it (`sliced-answer.ts`).
 *
 * A few are worked at in rotation; others wait, not too many and not for long, and no client has more than
 * its share of either. An answer whose reader takes nothing gives its slot to the next one meanwhile, and
 * stays counted until its connection ends. So its cost is bounded while it waits, too: the state of its steps
 * (176 KB at most) and what the connection has not taken (64 KB).
 */
import { MOST_WRITE_BYTES, type LaterEvents, type LaterReply } from '../http/exchange.ts'
import { JsonWriter } from '../answers/json.ts'
import { SlicedAnswer, type ExpensiveRequest, type Progress } from './sliced-answer.ts'

/**
 * Rest between two slices while others ask, too. A thread that never rests is put off by the system for as
 * long as others of the machine run: with 200 series at once on two busy cores p99 of the others went from 8
 * to 100 ms without rests, to 16 with them.
 */
const REST_MS = 1
/** For so long after a request more of them are expected. */
const BUSY_MS = 20
/** Answers that are worked at in rotation: so one that is long does not hold up all. */
const SLOTS = 4
/** Answers that have begun, those included that wait for their readers, and answers that wait for a slot. */
const MOST_BEGUN = 32
const MOST_WAITING = 128
/** The share of both that one client may have. */
export const CLIENT_SHARE = 1 / 4
/** An answer waits so long for a slot; a connection on which nothing happens ends after ten seconds. */
export const LONGEST_WAIT_MS = 8000
/** From its beginning to its end: 17 MB at 1.2 Mbit/s. Meanwhile it holds the snapshot that it began with. */
export const LONGEST_MS = 120_000
/** 1.2 Mbit/s: the rate of the line above. */
export const LEAST_BYTES_PER_MS = 150
/**
 * A reader that leaves no room for so long is given up. uws does so by itself; Node takes up to twice
 * as long.
 */
export const LONGEST_UNREAD_MS = 10_000
export const LOOK_INTERVAL_MS = 500

/** For `Retry-After`, seconds. */
export const BUSY_RETRY_SECONDS = Math.ceil(LONGEST_WAIT_MS / 1000)

export class ExpensiveAnswers {
  /** In the order they came in. */
  readonly #waiting: SlicedAnswer[] = []
  /** Those that are worked at, and those that wait for their readers. */
  readonly #working: SlicedAnswer[] = []
  readonly #unread = new Set<SlicedAnswer>()
  /** What was written of the answer at work. */
  readonly #writer = new JsonWriter(2 * MOST_WRITE_BYTES)
  /** The answer that the writer holds bytes of. */
  #atWork: SlicedAnswer | null = null
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

  readonly #clock: () => number

  /**
   * `requests`: how many requests of all kinds this thread has had. By `clock`, in ms, answers have waited
   * and gone on too long.
   */
  constructor(
    requests: () => number,
    { longestWaitMs = LONGEST_WAIT_MS, longestMs = LONGEST_MS, clock = (): number => performance.now() } = {},
  ) {
    this.#requests = requests
    this.#clock = clock
    this.#longestWaitMs = longestWaitMs
    this.#longestMs = longestMs
  }

  /** Answers that wait for a slot, and those that have begun. */
  get counts(): { waiting: number; begun: number } {
    return { waiting: this.#waiting.length, begun: this.#begun }
  }

  get #begun(): number {
    return this.#working.length + this.#unread.size
  }

  /** Whether one more of `client` finds a slot, now or after a wait. */
  hasSlot(client: number): boolean {
    if (this.#waiting.length >= MOST_WAITING) return false
    const isOfClient = ({ request }: SlicedAnswer): boolean => request.client === client
    const own = this.#waiting.filter(isOfClient).length + this.#begunOf(client)
    return own < (MOST_WAITING + MOST_BEGUN) * CLIENT_SHARE
  }

  /**
   * Takes an answer that `hasSlot` found a slot for. `later` defers the reply. @returns false where it cannot
   * be deferred, and nothing was taken
   */
  add(request: ExpensiveRequest, later: (events: LaterEvents) => LaterReply | null): boolean {
    const answer = new SlicedAnswer(this, request, this.#clock())
    answer.reply = later(answer)
    if (answer.reply === null) return false
    this.#waiting.push(answer)
    this.#looks ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref()
    this.#workSoon()
    return true
  }

  /** The reader of `answer` takes more. */
  goOn(answer: SlicedAnswer): void {
    if (!this.#unread.delete(answer)) return
    this.#working.push(answer)
    this.#workSoon()
  }

  /** `answer` is over, whole or not; its slot is free. */
  leave(answer: SlicedAnswer): void {
    if (this.#atWork === answer) this.#atWork = null
    this.#unread.delete(answer)
    remove(this.#waiting, answer)
    remove(this.#working, answer)
    // Lets go of what its steps hold.
    answer.steps?.return(undefined)
    if (this.#waiting.length + this.#begun > 0) this.#workSoon()
    else if (this.#looks !== null) {
      clearInterval(this.#looks)
      this.#looks = null
    }
  }

  #begunOf(client: number): number {
    let count = 0
    for (const { request } of this.#working) if (request.client === client) count++
    for (const { request } of this.#unread) if (request.client === client) count++
    return count
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

  /** One slice of one answer. */
  #work(): void {
    while (this.#working.length < SLOTS && this.#begun < MOST_BEGUN) {
      const next = this.#next()
      if (next === null) break
      remove(this.#waiting, next)
      this.#begin(next)
    }
    const answer = this.#atWork ?? this.#working.shift()
    if (answer === undefined) return
    if (this.#atWork === null) {
      // The others come first then.
      this.#working.push(answer)
      this.#atWork = answer
      this.#writer.begin()
    }
    try {
      this.#hasWorked(answer, answer.slice(this.#writer))
    } catch (error) {
      this.#fail(answer, error)
    }
    if (this.#working.length > 0) this.#workSoon()
  }

  /**
   * The first waiting answer of the client that has the fewest begun, unless that client has its share of
   * them.
   */
  #next(): SlicedAnswer | null {
    let best: SlicedAnswer | null = null
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

  /** Gives the turn to the next one, unless nothing has come of the slice of `answer`. */
  #hasWorked(answer: SlicedAnswer, progress: Progress): void {
    if (progress === 'unsent') return
    this.#atWork = null
    if (progress === 'over') this.leave(answer)
    else if (progress === 'full') {
      remove(this.#working, answer)
      this.#unread.add(answer)
      answer.unreadSince = this.#clock()
    }
  }

  #begin(answer: SlicedAnswer): void {
    answer.begunAt = this.#clock()
    answer.steps = answer.request.steps(this.#writer)
    this.#working.push(answer)
  }

  #fail(answer: SlicedAnswer, error: unknown): void {
    this.leave(answer)
    if (answer.isBegun) {
      answer.reply!.cut()
      answer.request.onFault(error)
    } else answer.request.refuse(answer.reply!, error)
  }

  /** A long one has the time that its bytes need at the least rate. */
  #longestOf({ request: { mostBytes = 0 } }: SlicedAnswer): number {
    return Math.max(this.#longestMs, mostBytes / LEAST_BYTES_PER_MS)
  }

  /** Ends what takes too long. */
  #look(): void {
    const now = this.#clock()
    for (const answer of this.#waiting.filter(({ askedAt }) => now - askedAt > this.#longestWaitMs)) {
      this.leave(answer)
      answer.request.refuse(answer.reply!, null)
    }
    for (const answer of [...this.#working, ...this.#unread]) {
      const unread = this.#unread.has(answer) ? now - answer.unreadSince : 0
      if (unread <= LONGEST_UNREAD_MS && now - answer.begunAt <= this.#longestOf(answer)) continue
      this.leave(answer)
      answer.reply!.cut()
    }
  }
}

function remove(list: SlicedAnswer[], answer: SlicedAnswer): void {
  const at = list.indexOf(answer)
  if (at !== -1) list.splice(at, 1)
}
