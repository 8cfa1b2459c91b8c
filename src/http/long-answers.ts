/**
 * Long answers as a serving thread has them: asked of the thread that makes them, and sent as their readers take
 * them. A fault is a status until the first byte has gone out, and a cut connection from then on.
 */
import type { LaterEvents, LaterReply } from './exchange.ts'
import type { FromLong, LongRequest, ToLong } from './long-messages.ts'

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
export interface LongReply {
  readonly request: LongRequest
  /** The head of a whole body, and the part of it that is to be sent. */
  whole(answer: Whole): { head: string | Uint8Array; body: readonly Uint8Array[] }
  /** The head of a body that follows. */
  begun(answer: Begun): Uint8Array
  /** Nothing of the answer was sent. */
  refuse(reply: LaterReply, why: Refused): void
  /** The answer failed after it had begun, and its connection was cut. */
  onFault(fault: string): void
}

const LOST = 'the thread that makes long answers has ended'

interface Sending {
  readonly reply: LaterReply
  readonly said: LongReply
  hasBegun: boolean
  /** Bytes that have come and are not written, the next first. */
  readonly pieces: Uint8Array[]
  /** Bytes that were written since the thread was last told of some. */
  untaken: number
  hasRoom: boolean
  isComplete: boolean
}

export class LongAnswers {
  #port: LongPort | null = null
  readonly #answers = new Map<number, Sending>()
  #last = 0

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
    for (const { hasBegun } of this.#answers.values()) if (hasBegun) begun++
    return { waiting: this.#answers.size - begun, begun }
  }

  get isConnected(): boolean {
    return this.#port !== null
  }

  /** Call it while connected. `later` defers the reply. @returns false if it cannot, and nothing was asked */
  ask(said: LongReply, later: (events: LaterEvents) => LaterReply | null): boolean {
    const number = ++this.#last
    const reply = later({
      onRoom: () => {
        const sending = this.#answers.get(number)
        if (sending === undefined || sending.hasRoom) return
        sending.hasRoom = true
        this.#send(number, sending)
      },
      onGone: () => this.#done(number),
    })
    if (reply === null) return false
    this.#answers.set(number, {
      reply,
      said,
      hasBegun: false,
      pieces: [],
      untaken: 0,
      hasRoom: true,
      isComplete: false,
    })
    this.#port!.postMessage({ type: 'make', number, request: said.request })
    return true
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
        const length = body.reduce((sum, piece) => sum + piece.length, 0)
        reply.begin(head, length)
        if (length > 0) pieces.push(...body)
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
    this.#send(number, sending)
  }

  #send(number: number, sending: Sending): void {
    const { reply, pieces } = sending
    while (pieces.length > 0 && sending.hasRoom && !reply.isOver) {
      const piece = pieces.shift()!
      sending.untaken += piece.length
      sending.hasRoom = reply.write(piece)
    }
    if (reply.isOver) this.#done(number)
    else if (!sending.hasRoom) return
    else if (sending.isComplete) {
      this.#done(number)
      reply.end()
    } else if (sending.untaken > 0) {
      this.#port?.postMessage({ type: 'taken', number, bytes: sending.untaken })
      sending.untaken = 0
    }
  }

  #fail(number: number, { reply, said, hasBegun }: Sending, why: Refused): void {
    this.#done(number)
    if (!hasBegun) {
      said.refuse(reply, why)
      return
    }
    reply.cut()
    if (why.type === 'fault') said.onFault(why.fault)
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
