/** Requests for long answers: what is asked of the thread that makes them, and the heads of their replies. */
import { commonHeaders, type Admitted } from './admitted.ts'
import type { Asked } from './asked.ts'
import { MOST_KEPT_BYTES, type LongRequest } from './long-messages.ts'
import type { LongAnswers, Refused } from './long-answers.ts'
import { joined, partOf, preferredCoding, rangeAsked } from './parts.ts'
import type { Encoding } from './preferences.ts'
import { errorAnswer, FAULT, sendError, TAKES_NO_BODY, type HeadFields } from './reply.ts'
import type { Totals } from './totals.ts'

/** For `Retry-After`: the longest wait for a place (`long/queue.ts`), and the time in which a new thread is there. */
const RETRY = '\r\nRetry-After: 8'
const BUSY = 'Too many long answers are being made. Try again later, or ask for less'

export interface LongRequestsOptions {
  long: LongAnswers
  totals: Totals
  /** Epoch seconds with a fraction. */
  clock: () => number
  /** Gets faults of our own (`faultText`); never a key or a query. */
  onFault: (fault: string, operation: string) => void
}

export interface Reply {
  readonly fields: HeadFields
  /** Keeps a whole answer, as it is without a coding. */
  readonly keep: (body: Uint8Array, headers: Uint8Array) => void
}

export class LongRequests {
  readonly #options: LongRequestsOptions

  constructor(options: LongRequestsOptions) {
    this.#options = options
  }

  send(request: Admitted, asked: Asked, { fields, keep }: Reply): void {
    const { exchange, served, client, now } = request
    const { clock, totals, long } = this.#options
    const headers = commonHeaders(request)
    if (!long.isConnected) {
      totals.count('long_refused')
      sendError(exchange, 'service_unavailable', BUSY, now, { headers: headers + RETRY })
      return
    }
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
    // The time that it took is none of its life.
    const fieldsOf = (encoding: Encoding | null, link: Uint8Array): HeadFields => {
      return { ...fields, lifetime: Math.max(0, fields.lifetime - Math.round(clock() - now)), encoding, link }
    }
    const isTaken = long.ask(
      {
        request: wanted,
        whole: ({ headers: more, pieces, encoding, plain }) => {
          const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
          // A long body stays in pieces, unless it is kept or a part of it is asked for.
          const isOne = range !== '' || length <= MOST_KEPT_BYTES
          const body = isOne && pieces.length > 1 ? [joined(pieces, length)] : pieces
          const kept = encoding !== null ? plain : isOne ? body[0] : null
          if (kept !== null) keep(kept, more)
          return partOf(served, fieldsOf(encoding, more), format, body, range)
        },
        begun: ({ headers: more, encoding }) => served.headsOf(format).write(fieldsOf(encoding, more)),
        refuse: (reply, why) => {
          const error = this.#errorOf(operation.name, why, fields.requestId, headers)
          reply.send(error.head, error.body)
        },
        onFault: (fault) => this.#report(fault, operation.name),
      },
      (events) => exchange.later(events),
    )
    if (isTaken) totals.count('long')
    else sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
  }

  #errorOf(
    operation: string,
    why: Refused,
    requestId: string,
    headers: string,
  ): { head: string; body: Uint8Array } {
    const { clock, totals } = this.#options
    switch (why.type) {
      case 'refused': {
        const { code, message, details } = why
        return errorAnswer(requestId, code, message, clock(), { headers, details })
      }
      case 'busy':
        totals.count('long_refused')
        return errorAnswer(requestId, 'service_unavailable', BUSY, clock(), { headers: headers + RETRY })
      case 'fault':
        this.#report(why.fault, operation)
        return errorAnswer(requestId, 'internal_error', FAULT, clock(), { headers })
    }
  }

  #report(fault: string, operation: string): void {
    this.#options.totals.count('faults')
    this.#options.onFault(fault, operation)
  }
}
