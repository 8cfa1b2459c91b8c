/** Sends answers that are whole: fresh ones, kept ones, compressed ones, and 304 in their place. */
import { ACCEPT_ENCODING, IF_NONE_MATCH, type Again, type Exchange } from './exchange.ts'
import type { Format } from '../operation/shape.ts'
import { ENCODINGS, type KeptAnswer } from './kept-answer.ts'
import { Preference, preferredEncoding } from './preferences.ts'
import { ANY_TAG } from './etag.ts'
import { callersRequestId } from './reply.ts'
import type { SharedState } from './request-state.ts'

/** A longer answer may have to be made again for a slow reader. */
export const LONG_BYTES = 64 * 1024

export class Sender {
  readonly #state: SharedState
  readonly #encodings = new Preference((accepted) => preferredEncoding(accepted, ENCODINGS))

  constructor(state: SharedState) {
    this.#state = state
  }

  /** Sends what is kept as `canonical`, in the preferred coding; `again` as in `send`. */
  sendKept(
    exchange: Exchange,
    canonical: string,
    plain: KeptAnswer,
    format: Format,
    again: Again | null,
  ): void {
    const { options, served, second, tail } = this.#state
    options.totals.count('kept')
    const accepted = exchange.headerValues(ACCEPT_ENCODING)
    const encoding = accepted === '' ? null : this.#encodings.of(accepted)
    const kept = encoding === null ? plain : served.cache.inCoding(canonical, plain, encoding)
    this.send(exchange, kept.bytesAt(second, kept.ownTail ?? tail), kept, format, again)
  }

  /** `kept`: the kept answer, null if it is not kept. `again` makes the body once more from the snapshot. */
  send(
    exchange: Exchange,
    body: Uint8Array,
    kept: KeptAnswer | null,
    format: Format,
    again: Again | null = null,
  ): void {
    if (this.sendNotModified(exchange)) return
    const { fields, served } = this.#state
    fields.encoding = kept?.encoding ?? null
    const heads = format === 'json' ? served.heads : served.headsOf(format)
    const head = heads.write(fields)
    if (body.length <= LONG_BYTES) exchange.send(head, body)
    else if (kept === null) exchange.send(head, body, again ?? false)
    else {
      const tail = kept.ownTail ?? this.#state.tail
      const remade = kept.encoding === null ? again : null
      exchange.send(head, body, () => (kept.kept ? kept.bytesWith(tail) : (remade?.() ?? null)))
    }
  }

  /** Answers 304 if the client has the answer. @returns whether it does */
  sendNotModified(exchange: Exchange): boolean {
    const state = this.#state
    if (state.namesAnotherTag) return false
    const { fields, served } = state
    fields.requestId = callersRequestId(exchange)
    const condition = exchange.headerValues(IF_NONE_MATCH)
    if (condition === '') return false
    state.namesAnotherTag = !served.heads.matches(condition, fields)
    if (state.namesAnotherTag) return false
    fields.encoding = null
    exchange.send(served.notModifiedHeads.write(fields), null)
    return true
  }

  /** Answers 304 before the answer is made. `*` does not count: there may be no answer. */
  sendNotModifiedUnmade(exchange: Exchange): boolean {
    return exchange.headerValues(IF_NONE_MATCH).trim() !== ANY_TAG && this.sendNotModified(exchange)
  }
}
