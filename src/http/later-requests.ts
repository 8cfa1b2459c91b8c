/** Requests with answers that come later: their replies, and who gets the answers in the end. */
import { JsonWriter } from '../dataset/json-writer.ts'
import type { ExpensiveAnswer, Operation } from '../operation/operation.ts'
import type { Format } from '../operation/shape.ts'
import type { ParquetJob } from '../formats/parquet-job.ts'
import { MOST_WRITE_BYTES, type Exchange } from './exchange.ts'
import type { Steps } from '../system/steps.ts'
import { answerInSteps, TAIL_BYTES } from './envelope.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { BUSY_RETRY_SECONDS } from './later-answers.ts'
import { errorAnswer, FAULT, sendError, TAKES_NO_BODY } from './reply.ts'
import type { SharedState } from './request-state.ts'
import type { Sender } from './sender.ts'
import { isJob } from './shaped.ts'
import { SlicedAnswer, type Kept } from './sliced-answer.ts'

/** A longer expensive answer is not kept: it would push out what many ask for. */
export const MOST_KEPT_BYTES = 1024 * 1024

const BUSY = 'Too many long answers are being made. Try again later, or ask for less'

export interface Later {
  readonly format: Format
  /** In calls of the quota. */
  readonly price: number
  /** Gets the whole answer; null for one that is not kept, which has more time if it is too long for that. */
  readonly keep: ((answer: Uint8Array) => Kept | null) | null
}

export class LaterRequests {
  readonly #state: SharedState
  readonly #sender: Sender
  #writer: JsonWriter | null = null

  constructor(state: SharedState, sender: Sender) {
    this.#state = state
    this.#sender = sender
  }

  /** Sends an answer piece by piece from the snapshot of its request; refuses without a slot or payment. */
  send(
    exchange: Exchange,
    operation: Operation,
    answer: ExpensiveAnswer | ParquetJob,
    now: number,
    { format, price, keep }: Later,
  ): void {
    const state = this.#state
    const { clock, totals, later, parquet } = state.options
    const { client } = state.admission
    if (this.#sender.sendNotModified(exchange)) return
    const headers = state.commonHeaders(operation)
    const busy = { headers: `${headers}\r\nRetry-After: ${BUSY_RETRY_SECONDS}` }
    if (!later!.hasSlot(client)) {
      totals.count('long_refused')
      sendError(exchange, 'service_unavailable', BUSY, now, busy)
      return
    }
    if (this.#refuseUnpaid(exchange, operation, price, now)) return
    const { head, requestId } = this.#head(format)
    const { pin } = state.served
    const writer = (this.#writer ??= new JsonWriter(2 * MOST_WRITE_BYTES))
    const isTaken = later!.add(
      {
        client,
        head,
        mostBytes: keep === null && answer.bytes > MOST_KEPT_BYTES ? answer.bytes : 0,
        produce: (wake) =>
          isJob(answer)
            ? parquet.produce(answer, wake)
            : new SlicedAnswer({
                writer,
                steps: (into) => stepsOf(answer, into, format, Math.floor(clock()), pin),
                keep,
              }),
        refuse: (reply, fault) => {
          if (fault !== null) state.reportFault(fault, operation)
          else totals.count('long_refused')
          const [code, message] =
            fault === null ? (['service_unavailable', BUSY] as const) : (['internal_error', FAULT] as const)
          const error = errorAnswer(requestId, code, message, clock(), fault === null ? busy : { headers })
          reply.send(error.head, error.body)
        },
        onFault: (fault) => state.reportFault(fault, operation),
      },
      (events) => exchange.later(events),
    )
    if (isTaken) totals.count('long')
    else sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
  }

  /** Writes the head when the answer begins: other requests have come and gone since. */
  #head(format: Format): { head: () => Uint8Array; requestId: string } {
    const state = this.#state
    const { pin } = state.served
    const heads = state.served.headsOf(format)
    const charge = state.fields.charge && { ...state.fields.charge }
    const fields = { ...state.fields, encoding: null, charge, link: state.fields.link.slice() }
    const head = (): Uint8Array => {
      state.tick(state.options.clock())
      if (pin === '') fields.lifetime = state.lifetime
      return heads.write(fields)
    }
    return { head, requestId: fields.requestId }
  }

  /** Charges the calls that an answer costs beyond the first. @returns whether it is refused */
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

export function stepsOf(
  answer: ExpensiveAnswer,
  writer: JsonWriter,
  format: Format,
  second: number,
  pin: string,
): Steps<unknown> {
  return format === 'json' ? answerInSteps(answer, writer, second, pin) : answer.steps(writer)
}

/** Gives what is kept of `answer`, with its own tail. */
export function keptBytes(kept: KeptAnswer | null, answer: Uint8Array, format: Format): Kept | null {
  if (kept === null) return null
  if (format !== 'json') return () => (kept.kept ? kept.bytesWith(kept.ownTail!) : null)
  const tail = new Uint8Array(answer.subarray(-TAIL_BYTES))
  return () => (kept.kept ? kept.bytesWith(tail) : null)
}
