/** Requests for long answers: what is asked of the thread that makes them, and the heads of their replies. */
import type { Operation } from '../operation/operation.ts'
import { ANY_TAG } from './etag.ts'
import { IF_NONE_MATCH, type Exchange, type LaterReply } from './exchange.ts'
import { MOST_KEPT_BYTES, type LongRequest } from './long-messages.ts'
import type { Refused } from './long-answers.ts'
import type { Encoding } from './preferences.ts'
import { rangeAsked } from './range.ts'
import { errorAnswer, FAULT, sendError, TAKES_NO_BODY, type HeadFields } from './reply.ts'
import type { SharedState } from './request-state.ts'
import { partOf, type Sender } from './sender.ts'

/** For `Retry-After`: the longest wait for a place (`long/queue.ts`), and the time in which a new thread is there. */
const RETRY = '\r\nRetry-After: 8'
const BUSY = 'Too many long answers are being made. Try again later, or ask for less'

export type Asked = Omit<LongRequest, 'snapshot' | 'isPinned' | 'encoding' | 'isHead' | 'client'>

export class LongRequests {
  readonly #state: SharedState
  readonly #sender: Sender

  constructor(state: SharedState, sender: Sender) {
    this.#state = state
    this.#sender = sender
  }

  /** `keep` keeps a whole answer, given as it is without a coding. */
  send(
    exchange: Exchange,
    operation: Operation,
    asked: Asked,
    keep: (body: Uint8Array, headers: Uint8Array) => void,
  ): void {
    const state = this.#state
    const { served, admission } = state
    const { clock, totals, long } = state.options
    const format = asked.shape?.format ?? 'json'
    const isAny = exchange.headerValues(IF_NONE_MATCH).trim() === ANY_TAG
    if (!isAny && this.#sender.sendNotModified(exchange)) return
    const headers = state.commonHeaders(operation)
    if (!long.isConnected) {
      totals.count('long_refused')
      sendError(exchange, 'service_unavailable', BUSY, asked.now, { headers: headers + RETRY })
      return
    }
    const range = format === 'json' ? '' : rangeAsked(exchange)
    const request: LongRequest = {
      ...asked,
      snapshot: served.view!.dataset.snapshotId,
      isPinned: served.isPinned,
      encoding: this.#sender.encodingOf(exchange, format, range),
      isHead: exchange.method === 'HEAD',
      client: admission.client,
    }
    const heads = served.headsOf(format)
    const charge = state.fields.charge && { ...state.fields.charge }
    // Other requests come and go before the answer begins.
    const fields = { ...state.fields, charge }
    const fieldsOf = (encoding: Encoding | null, link: Uint8Array): HeadFields => {
      const lifetime = Math.max(0, fields.lifetime - Math.round(clock() - asked.now))
      return { ...fields, lifetime, encoding, link }
    }
    /** Whether the client has what there is. */
    const isKnown = (reply: LaterReply, link: Uint8Array): boolean => {
      if (isAny) reply.send(served.notModifiedHeads.write(fieldsOf(null, link)), null)
      return isAny
    }
    const isTaken = long.ask(
      {
        request,
        whole: (reply, { headers: more, body, encoding, plain }) => {
          const kept = encoding === null && (range !== '' || body.length <= MOST_KEPT_BYTES) ? body : plain
          if (kept !== null) keep(kept, more)
          if (isKnown(reply, more)) return null
          return partOf(served, fieldsOf(encoding, more), format, body, range)
        },
        begun: (reply, { headers: more, encoding }) =>
          isKnown(reply, more) ? null : heads.write(fieldsOf(encoding, more)),
        refuse: (reply, why) => {
          const error = this.#errorOf(operation, why, { requestId: fields.requestId, headers })
          reply.send(error.head, error.body)
        },
        onFault: (fault) => state.reportFault(fault, operation),
      },
      (events) => exchange.later(events),
    )
    if (isTaken) totals.count('long')
    else sendError(exchange, 'bad_request', TAKES_NO_BODY, asked.now, { headers })
  }

  #errorOf(
    operation: Operation,
    why: Refused,
    { requestId, headers }: { requestId: string; headers: string },
  ): { head: string; body: Uint8Array } {
    const { clock, totals } = this.#state.options
    const now = clock()
    switch (why.type) {
      case 'refused': {
        const { code, message, details } = why
        return errorAnswer(requestId, code, message, now, { headers, details })
      }
      case 'busy':
        totals.count('long_refused')
        return errorAnswer(requestId, 'service_unavailable', BUSY, now, { headers: headers + RETRY })
      case 'fault':
        this.#state.reportFault(why.fault, operation)
        return errorAnswer(requestId, 'internal_error', FAULT, now, { headers })
    }
  }
}
