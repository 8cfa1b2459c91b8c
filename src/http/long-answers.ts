/**
 * Long answers as a serving thread has them: asked of the thread that makes them, and sent as their readers
 * take them. A fault is a status until the first byte has gone out, and a cut connection from then on.
 */
import { commonHeaders, type Admitted } from './served.ts'
import type { Asked } from './asked.ts'
import { ApiError } from '../operation/errors.ts'
import type { Exchange, LaterReply } from './exchange.ts'
import { MOST_KEPT_BYTES, type FromLong, type LongRequest, type ToLong } from './long-messages.ts'
import { partOf, preferredCoding, rangeAsked } from './parts.ts'
import type { Encoding } from './preferences.ts'
import { edrFailure } from '../edr/translate.ts'
import { errorAnswer, errorIdOf, FAULT, noContentHead, TAKES_NO_BODY, type HeadFields } from './reply.ts'
import type { Counters } from './counters.ts'

/** One end of a channel to the thread. */
export interface LongPort {
  postMessage(message: ToLong): void
  on(event: 'message', listener: (message: FromLong) => void): unknown
  on(event: 'close', listener: () => void): unknown
}

type Whole = Extract<FromLong, { type: 'whole' }>
type Begun = Extract<FromLong, { type: 'begun' }>
export type Refused = Extract<FromLong, { type: 'refused' | 'busy' | 'fault' }>

/** What is to be said of an answer. */
interface LongReply {
  readonly request: LongRequest
  /** The head of a whole body, and the part of it that is to be sent. */
  whole(answer: Whole): { head: string | Uint8Array; body: readonly Uint8Array[] }
  /** The head of a body that follows. */
  begun(answer: Begun): Uint8Array
  /** The error in place of an answer. It is of no use once the answer has begun. */
  failed(why: Refused): { head: string; body: Uint8Array }
}

const lengthOf = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { length }) => sum + length, 0)

/** Bytes that go out in one turn of the event loop, of one answer: short ones wait for no more than them. */
const TURN_BYTES = 64 * 1024

const LOST = 'the thread that makes long answers has ended'

class Sending {
  readonly reply: LaterReply
  readonly said: LongReply
  hasBegun = false
  /** Bytes that have come and are not written, the next first. */
  readonly pieces: Uint8Array[] = []
  /** Bytes that were written since the thread was last told of some. */
  untaken = 0
  hasRoom = true
  isComplete = false

  constructor(reply: LaterReply, said: LongReply) {
    this.reply = reply
    this.said = said
  }
}

export class LongAnswers {
  #port: LongPort | null = null
  readonly #answers = new Map<number, Sending>()
  #last = 0
  /** Numbers of those that have something to send, in the order of their turns. */
  readonly #due = new Set<number>()
  #isScheduled = false
  readonly #soon: (work: () => void) => void

  /** `soon` runs work in the next turn of the event loop. */
  constructor(soon: (work: () => void) => void = setImmediate) {
    this.#soon = soon
  }

  /** Takes a new thread, in place of one that has ended. */
  connect(port: LongPort): void {
    this.#lose()
    this.#port = port
    port.on('message', (message) => this.#take(message))
    port.on('close', () => {
      if (this.#port === port) this.#lose()
    })
  }

  /** Answers that wait for their first byte, and answers that are being sent. */
  get counts(): { waiting: number; begun: number } {
    let begun = 0
    for (const { hasBegun } of this.#answers.values()) {
      if (hasBegun) begun++
    }
    return { waiting: this.#answers.size - begun, begun }
  }

  ask(exchange: Pick<Exchange, 'later'>, said: LongReply): void {
    const number = ++this.#last
    const reply = exchange.later({
      onRoom: () => {
        if (!this.#answers.has(number)) return
        sending.hasRoom = true
        this.#sendSoon(number)
      },
      onGone: () => this.#done(number),
    })
    const sending = new Sending(reply, said)
    this.#answers.set(number, sending)
    if (this.#port === null) this.#fail(number, sending, { type: 'busy', number })
    else this.#port.postMessage({ type: 'make', number, request: said.request })
  }

  #take(message: FromLong): void {
    const { number } = message
    const sending = this.#answers.get(number)
    // Its reader has gone meanwhile.
    if (sending === undefined) return
    const { reply, said, pieces } = sending
    switch (message.type) {
      case 'whole': {
        const { head, body } = said.whole(message)
        sending.hasBegun = true
        reply.begin(head, lengthOf(body))
        pieces.push(...body.filter(({ length }) => length > 0))
        sending.isComplete = true
        break
      }
      case 'begun':
        sending.hasBegun = true
        reply.begin(said.begun(message), null)
        break
      case 'bytes':
        pieces.push(message.bytes)
        break
      case 'end':
        sending.isComplete = true
        break
      case 'refused':
      case 'busy':
      case 'fault':
        this.#fail(number, sending, message)
        return
    }
    this.#sendSoon(number)
  }

  #sendSoon(number: number): void {
    this.#due.add(number)
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#soon(() => this.#sendNext())
  }

  /** Sends some of the answer that is next, and leaves the others to the turns that follow. */
  #sendNext(): void {
    this.#isScheduled = false
    const [number] = this.#due
    this.#due.delete(number)
    const sending = this.#answers.get(number)
    if (sending !== undefined && this.#send(number, sending)) this.#due.add(number)
    const [next] = this.#due
    if (next !== undefined) this.#sendSoon(next)
  }

  /** @returns whether there is more to send, and room for it */
  #send(number: number, sending: Sending): boolean {
    const { reply, pieces } = sending
    for (let left = TURN_BYTES; left > 0 && pieces.length > 0 && sending.hasRoom && !reply.isOver;) {
      const piece = pieces[0].subarray(0, left)
      if (piece.length === pieces[0].length) pieces.shift()
      else pieces[0] = pieces[0].subarray(left)
      left -= piece.length
      sending.untaken += piece.length
      sending.hasRoom = reply.write(piece)
    }
    if (reply.isOver) this.#done(number)
    else if (pieces.length > 0) return sending.hasRoom
    else if (sending.isComplete) {
      this.#done(number)
      reply.end()
    } else if (sending.hasRoom && sending.untaken > 0) {
      this.#port?.postMessage({ type: 'taken', number, bytes: sending.untaken })
      sending.untaken = 0
    }
    return false
  }

  #fail(number: number, { reply, said, hasBegun }: Sending, why: Refused): void {
    this.#done(number)
    const { head, body } = said.failed(why)
    if (hasBegun) reply.cut()
    else reply.send(head, body)
  }

  #done(number: number): void {
    if (this.#answers.delete(number)) this.#port?.postMessage({ type: 'done', number })
  }

  /** What has come whole is still sent. */
  #lose(): void {
    this.#port = null
    for (const [number, sending] of this.#answers) {
      if (!sending.isComplete) this.#fail(number, sending, { type: 'fault', number, fault: LOST })
    }
  }
}

const BUSY = {
  code: 'service_unavailable',
  message: 'Too many long answers are being made. Try again later, or ask for less',
  /** The longest wait for a place (`long/queue.ts`), and the time in which a new thread is there. */
  retryAfter: 8,
} as const

export interface LongOptions {
  long: LongAnswers
  counters: Counters
  /** Epoch seconds with a fraction. */
  clock: () => number
  /** Gets faults of our own (`faultText`); never a key or a query. */
  onFault: (fault: string, operation: string) => void
}

/**
 * Has the thread answer `request`. `keep` gets a whole answer, as it is without a coding. @throws ApiError
 * 400
 */
export function sendLong(
  options: LongOptions,
  request: Admitted,
  asked: Asked,
  lifetime: number,
  keep: (body: Uint8Array, headers: Uint8Array) => void,
): void {
  const { exchange, served, client, now } = request
  const { clock, counters, long } = options
  const headers = commonHeaders(request)
  if (exchange.cameWithBody) throw new ApiError('bad_request', TAKES_NO_BODY)
  const { target, path, texts, shape, isPaged, language } = asked
  const { operation } = target
  const format = shape?.format ?? 'json'
  const range = format === 'json' ? '' : rangeAsked(exchange)
  const wanted: LongRequest = {
    operation: target.index,
    path,
    texts,
    shape,
    isPaged,
    language,
    snapshot: served.view!.dataset.snapshotId,
    isPinned: served.isPinned,
    now,
    encoding: preferredCoding(exchange, format, range),
    isHead: exchange.method === 'HEAD',
    client: client.slot,
  }
  // Of an error, should there be one.
  const callersId = request.requestId
  const requestId = errorIdOf(exchange)
  // The time that it took is none of its life.
  const fieldsOf = (encoding: Encoding | null, link: Uint8Array): HeadFields => {
    return { tag: asked, lifetime: Math.max(0, lifetime - Math.round(clock() - now)), link, encoding }
  }
  const said: LongReply = {
    request: wanted,
    whole: ({ headers: more, pieces, encoding, plain }) => {
      const isEmpty = (encoding === null ? lengthOf(pieces) : plain?.length) === 0
      if (isEmpty && shape?.edr !== undefined) return { head: noContentHead(callersId, headers), body: [] }
      const length = lengthOf(pieces)
      // A long body stays in pieces, unless it is kept or a part of it is asked for.
      const isOne = range !== '' || length <= MOST_KEPT_BYTES
      const body = isOne && pieces.length > 1 ? [Buffer.concat(pieces, length)] : pieces
      const whole = isOne ? body[0] : null
      const kept = encoding !== null ? plain : whole
      if (kept !== null) keep(kept, more)
      return partOf(request, fieldsOf(encoding, more), format, body, range)
    },
    begun: ({ headers: more, encoding }) => served.headsOf(format).write(request, fieldsOf(encoding, more)),
    failed: (why) => {
      let error: Parameters<typeof errorAnswer>[1] = why.type === 'refused' ? why : FAULT
      if (why.type === 'busy') {
        counters.count('long_refused')
        error = BUSY
      } else if (why.type === 'fault') {
        counters.count('faults')
        options.onFault(why.fault, operation.name)
      }
      const spelled = shape?.edr === undefined ? error : edrFailure(error)
      return errorAnswer(requestId, spelled, clock(), headers)
    },
  }
  counters.count('long')
  long.ask(exchange, said)
}
