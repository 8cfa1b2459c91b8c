/** The replies of expensive answers, which are made in slices after their handler has returned. */
import type { ExpensiveAnswer, Operation } from '../answers/operation.ts'
import type { JsonWriter } from '../answers/json.ts'
import type { Format } from '../answers/shape.ts'
import type { ParquetJob } from '../formats/parquet-job.ts'
import type { Exchange, LaterEvents, LaterReply } from '../http/exchange.ts'
import type { Steps } from '../system/steps.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { answerInSteps, TAIL_BYTES } from './envelope.ts'
import type { ExpensiveRequest, Kept } from './sliced-answer.ts'
import { BUSY_RETRY_SECONDS } from './expensive-answers.ts'
import { errorAnswer, FAULT, sendError, TAKES_NO_BODY } from './reply.ts'
import type { RequestState } from './request-state.ts'
import type { Sender } from './sender.ts'

/** An expensive answer of more bytes is not kept: it would push out what many ask for. */
export const MOST_KEPT_BYTES = 1024 * 1024

const BUSY = 'Too many long answers are being made. Try again later, or ask for less'

/** How an expensive answer is sent, and who gets it in the end. */
export interface Deferral {
  readonly format: Format
  readonly isLong: boolean
  /** In calls of the quota. */
  readonly price: number
  readonly keep: ((answer: Uint8Array) => Kept | null) | null
}

export const NOT_KEPT: Deferral = { format: 'json', isLong: false, price: 1, keep: null }

/** Where a deferred answer waits for its turn. */
interface Slots {
  hasSlot(client: number): boolean
}

/** What all deferred answers need. */
type DeferredRequest = Pick<ExpensiveRequest, 'client' | 'head' | 'refuse' | 'onFault'>

export class DeferredAnswers {
  readonly #state: RequestState
  readonly #sender: Sender

  constructor(state: RequestState, sender: Sender) {
    this.#state = state
    this.#sender = sender
  }

  /**
   * Has an expensive answer made and sent in slices, from the snapshot of its request. `keep` gets it in the
   * end. A long one has more time, and is never kept.
   */
  send(
    exchange: Exchange,
    operation: Operation,
    answer: ExpensiveAnswer,
    now: number,
    { format, isLong, price, keep }: Deferral,
  ): void {
    const { clock, expensive } = this.#state.options
    const { pin } = this.#state.served
    this.#defer(exchange, operation, now, { format, price, slots: expensive! }, (request, later) =>
      expensive!.add(
        {
          ...request,
          steps: (writer) => stepsOf(answer, writer, format, Math.floor(clock()), pin),
          ...(isLong && { mostBytes: answer.bytes }),
          keep,
        },
        later,
      ),
    )
  }

  /** Has an answer written by another thread, from the snapshot of its request. */
  export(
    exchange: Exchange,
    operation: Operation,
    job: ParquetJob,
    now: number,
    { format, price }: Pick<Deferral, 'format' | 'price'>,
  ): void {
    const { exported } = this.#state.options
    this.#defer(exchange, operation, now, { format, price, slots: exported }, (request, later) =>
      exported.add({ ...request, job }, later),
    )
  }

  /** Answers now what has no slot or is not paid for; has the rest taken by `add`. */
  #defer(
    exchange: Exchange,
    operation: Operation,
    now: number,
    { format, price, slots }: Pick<Deferral, 'format' | 'price'> & { slots: Slots },
    add: (request: DeferredRequest, later: (events: LaterEvents) => LaterReply | null) => boolean,
  ): void {
    const state = this.#state
    const { clock, totals } = state.options
    const { client } = state.admission
    if (this.#sender.sendNotModified(exchange)) return
    const headers = state.commonHeaders(operation)
    const busy = { headers: `${headers}\r\nRetry-After: ${BUSY_RETRY_SECONDS}` }
    if (!slots.hasSlot(client)) {
      totals.count('long_refused')
      sendError(exchange, 'service_unavailable', BUSY, now, busy)
      return
    }
    if (this.#refuseUnpaid(exchange, operation, price, now)) return
    const { head, requestId } = this.#head(format)
    const request: DeferredRequest = {
      client,
      head,
      refuse: (reply, fault) => {
        if (fault !== null) state.reportFault(fault, operation)
        else totals.count('long_refused')
        const [code, message] =
          fault === null ? (['service_unavailable', BUSY] as const) : (['internal_error', FAULT] as const)
        const error = errorAnswer(requestId, code, message, clock(), fault === null ? busy : { headers })
        reply.send(error.head, error.body)
      },
      onFault: (fault) => state.reportFault(fault, operation),
    }
    if (add(request, (events) => exchange.later(events))) totals.count('long')
    else sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
  }

  /** Writes the head when the answer begins: other requests have come and gone since. */
  #head(format: Format): { head: () => Uint8Array; requestId: string } {
    const state = this.#state
    const { pin } = state.served
    const heads = state.served.headsOf(format)
    const charge = state.fields.charge && { ...state.fields.charge }
    const fields = { ...state.fields, encoding: null, charge }
    const head = (): Uint8Array => {
      state.tick(state.options.clock())
      if (pin === '') fields.lifetime = state.lifetime
      return heads.write(fields)
    }
    return { head, requestId: fields.requestId }
  }

  /**
   * Charges the calls that an answer costs beyond the one that every request does. @returns whether it is
   * refused
   */
  #refuseUnpaid(exchange: Exchange, operation: Operation, price: number, now: number): boolean {
    if (price === 1 || exchange.method === 'HEAD') return false
    const refusal = this.#state.admission.chargeMore(price - 1, now)
    if (refusal === null) return false
    const { code, message, headers, more } = refusal
    sendError(exchange, code, message, now, {
      headers: this.#state.commonHeaders(operation) + headers,
      more,
    })
    return true
  }
}

/** All of an answer, step by step. */
export function stepsOf(
  answer: ExpensiveAnswer,
  writer: JsonWriter,
  format: Format,
  second: number,
  pin: string,
): Steps<unknown> {
  return format === 'json' ? answerInSteps(answer, writer, second, pin) : answer.steps(writer)
}

/** What is kept of `answer`, with its own tail. */
export function keptBytes(kept: KeptAnswer | null, answer: Uint8Array, format: Format): Kept | null {
  if (kept === null) return null
  if (format !== 'json') return () => (kept.kept ? kept.bytesWith(kept.ownTail!) : null)
  const tail = new Uint8Array(answer.subarray(-TAIL_BYTES))
  return () => (kept.kept ? kept.bytesWith(tail) : null)
}
