/**
 * Long answers as a serving thread has them: asked of the thread that makes them, and sent as their readers
 * take them. A fault is a status until the first byte has gone out, and a cut connection from then on.
 */
import type { TrustedProxies } from '../access/trusted-proxies.ts'
import { addressOf } from './admission.ts'
import { commonHeaders, type Admitted } from './served.ts'
import type { Asked } from './asked.ts'
import { ApiError } from '../operation/errors.ts'
import type { Exchange, LaterReply } from './exchange.ts'
import { MOST_KEPT_BYTES, type FromLong, type LongRequest, type ToLong } from '../operation/long-messages.ts'
import { partOf, preferredCoding, rangeAsked } from './parts.ts'
import type { Encoding } from '../operation/preferences.ts'
import { edrFailure } from '../edr/paths.ts'
import { errorAnswer, errorIdOf, FAULT, noContentHead, TAKES_NO_BODY, type HeadFields } from './reply.ts'
import type { Counters } from './counters.ts'

/** One end of a channel to the thread. */
interface LongPort {
  postMessage(message: ToLong): void
  on(event: 'message', listener: (message: FromLong) => void): unknown
  on(event: 'close', listener: () => void): unknown
}

type Whole = Extract<FromLong, { type: 'whole' }>
type Begun = Extract<FromLong, { type: 'begun' }>
export type Refused = Extract<FromLong, { type: 'refused' | 'busy' | 'fault' }>

/** The reply to a request, by the outcome. */
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
/**
 * Least bytes of one write to a stream: of 16 KB or less the engine `uws` does not say whether the kernel
 * took them. Fewer bytes wait for more, and the last bytes are no fewer.
 */
const LEAST_BYTES = 17 * 1024
/** Time between two looks: untaken bytes are offered again, taken ones are reported. */
const LOOK_INTERVAL_MS = 2000
/** A client that takes nothing for so long is cut: twice the longest pause seen behind a proxy at 20 KB/s. */
const SILENCE_MS = 20_000
/**
 * The mark of a stream's end needs room: the engine keeps it for ten seconds only. The client of a stream
 * shorter than this makes room in that time. After a longer stream the mark waits for a share of the stream's
 * time, at most for these looks.
 */
const QUICK_MS = 5000
const END_SHARE = 1 / 4
const END_LOOKS = 5

const LOST = 'the thread that makes long answers has ended'

class Sending {
  readonly reply: LaterReply
  readonly said: LongReply
  hasBegun = false
  /** A body of unknown length. */
  isStream = false
  /** Bytes that have come and are not written, the next first. */
  readonly #pieces: Uint8Array[] = []
  #pending = 0
  /** Bytes that are out, and that the thread was not told of; bytes of which some may not be out. */
  untold = 0
  #unsure = 0
  #hasRoom = true
  isComplete = false
  /** When it began, and when its client last took something, ms. */
  begunAt = 0
  readAt = 0
  /** A look has found no room: writes are short, so that they are soon known to be out. */
  isSlow = false
  /** Something was written since the kernel told of much room. */
  isTight = false
  /** Looks since all was written. */
  lastLooks = 0

  constructor(reply: LaterReply, said: LongReply) {
    this.reply = reply
    this.said = said
  }

  add(pieces: readonly Uint8Array[]): void {
    this.#pieces.push(...pieces.filter(({ length }) => length > 0))
    this.#pending += lengthOf(pieces)
  }

  get hasRoom(): boolean {
    return this.#hasRoom
  }

  /** There is room again, which means that all is out. */
  room(now: number): void {
    this.#hasRoom = true
    this.readAt = now
    this.untold += this.#unsure
    this.#unsure = 0
  }

  /** Writes the next bytes, some `most` of them. */
  write(most: number, now: number): void {
    const bytes = this.#take(most)
    this.#unsure += bytes.length
    this.#hasRoom = false
    this.isTight = true
    if (this.reply.write(bytes)) this.room(now)
  }

  get isAllWritten(): boolean {
    return this.isComplete && this.#pending === 0
  }

  get canWrite(): boolean {
    return this.isStream && !this.isComplete ? this.#pending >= 2 * LEAST_BYTES : this.#pending > 0
  }

  #take(most: number): Uint8Array {
    const held = this.isStream ? LEAST_BYTES : 0
    let length = Math.min(most, this.#pending - held)
    if (this.isComplete && this.#pending - most < held) length = this.#pending
    this.#pending -= length
    const taken: Uint8Array[] = []
    for (let left = length; left > 0;) {
      const piece = this.#pieces[0].subarray(0, left)
      if (piece.length === this.#pieces[0].length) this.#pieces.shift()
      else this.#pieces[0] = this.#pieces[0].subarray(left)
      left -= piece.length
      taken.push(piece)
    }
    return taken.length === 1 ? taken[0] : Buffer.concat(taken, length)
  }
}

export class LongAnswers {
  #port: LongPort | null = null
  readonly #answers = new Map<number, Sending>()
  #last = 0
  /** Numbers of answers that have bytes to send, in the order of their turns. */
  readonly #due = new Set<number>()
  #isScheduled = false
  readonly #soon: (work: () => void) => void
  readonly #clock: () => number
  #looking: NodeJS.Timeout | null = null

  /** `soon` runs work in the next turn of the event loop; `clock` gives ms. */
  constructor(
    soon: (work: () => void) => void = setImmediate,
    clock: () => number = () => performance.now(),
  ) {
    this.#soon = soon
    this.#clock = clock
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
        sending.isSlow = sending.isTight = false
        this.#room(number, sending)
      },
      onGone: () => this.#done(number),
    })
    const sending = new Sending(reply, said)
    this.#answers.set(number, sending)
    this.#looking ??= setInterval(() => this.look(), LOOK_INTERVAL_MS).unref()
    if (this.#port === null) this.#fail(number, sending, { type: 'busy', number })
    else this.#port.postMessage({ type: 'make', number, request: said.request })
  }

  #take(message: FromLong): void {
    const { number } = message
    const sending = this.#answers.get(number)
    // Its reader has gone meanwhile.
    if (sending === undefined) return
    const { reply, said } = sending
    switch (message.type) {
      case 'whole': {
        const { head, body } = said.whole(message)
        this.#begun(sending)
        reply.begin(head, lengthOf(body))
        sending.add(body)
        sending.isComplete = true
        break
      }
      case 'begun':
        this.#begun(sending)
        sending.isStream = true
        reply.begin(said.begun(message), null)
        break
      case 'bytes':
        sending.add([message.bytes])
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

  #begun(sending: Sending): void {
    sending.hasBegun = true
    sending.begunAt = sending.readAt = this.#clock()
  }

  #room(number: number, sending: Sending): void {
    sending.room(this.#clock())
    this.#sendSoon(number)
  }

  /** @returns whether there is more to send, and room for it */
  #send(number: number, sending: Sending): boolean {
    const { reply, isSlow } = sending
    const now = this.#clock()
    if (sending.hasRoom && sending.canWrite && !reply.isOver) {
      sending.write(isSlow ? LEAST_BYTES : TURN_BYTES, now)
    }
    if (reply.isOver) this.#done(number)
    else if (!sending.hasRoom) return false
    else if (sending.canWrite) return true
    else if (!sending.isAllWritten) this.#tellTaken(number, sending)
    else if (!sending.isStream || !sending.isTight || now - sending.begunAt < QUICK_MS)
      this.#end(number, sending)
    return false
  }

  #end(number: number, { reply }: Sending): void {
    this.#done(number)
    reply.end()
  }

  #tellTaken(number: number, sending: Sending): void {
    if (sending.untold === 0) return
    this.#port?.postMessage({ type: 'taken', number, bytes: sending.untold })
    sending.untold = 0
  }

  /** Offers again what clients had no room for, and cuts those that take nothing. */
  look(): void {
    for (const [number, sending] of this.#answers) {
      // While there is more to send, this is the only time.
      this.#tellTaken(number, sending)
      if (!sending.hasRoom) this.#tryAgain(number, sending)
      else if (sending.isAllWritten) {
        sending.reply.retry()
        const waited = ++sending.lastLooks * LOOK_INTERVAL_MS
        const enough = Math.min(END_LOOKS * LOOK_INTERVAL_MS, (this.#clock() - sending.begunAt) * END_SHARE)
        if (waited >= enough) this.#end(number, sending)
      }
    }
  }

  #tryAgain(number: number, sending: Sending): void {
    sending.isSlow = true
    const { isRead, mayWrite } = sending.reply.retry()
    if (isRead && mayWrite) this.#room(number, sending)
    else if (isRead) sending.readAt = this.#clock()
    else if (this.#clock() - sending.readAt >= SILENCE_MS) {
      // The engine has all of a stream, and does not say what is out. A client that reads has taken it by
      // now.
      if (mayWrite && sending.isAllWritten) {
        this.#end(number, sending)
        return
      }
      this.#done(number)
      sending.reply.cut()
    } else if (mayWrite && sending.canWrite) {
      // A short write finds out whether there is room.
      sending.write(LEAST_BYTES, this.#clock())
      if (sending.hasRoom) this.#sendSoon(number)
    }
  }

  #fail(number: number, { reply, said, hasBegun }: Sending, why: Refused): void {
    this.#done(number)
    const { head, body } = said.failed(why)
    if (hasBegun) reply.cut()
    else reply.send(head, body)
  }

  #done(number: number): void {
    if (this.#answers.delete(number)) this.#port?.postMessage({ type: 'done', number })
    if (this.#answers.size > 0 || this.#looking === null) return
    clearInterval(this.#looking)
    this.#looking = null
  }

  /** The thread has ended. Answers that have come whole are still sent. */
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
  proxies: TrustedProxies
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
  const { clock, counters, long, proxies } = options
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
    client: client.slot === -1 ? client.address || addressOf(exchange, proxies) : `key ${client.slot}`,
  }
  // The id that an error would show.
  const callersId = request.requestId
  const requestId = errorIdOf(exchange)
  // Its age counts from the request.
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
