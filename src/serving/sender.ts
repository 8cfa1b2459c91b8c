/** Sends answers that are whole: fresh ones, kept ones, compressed ones, and 304 in their place. */
import { ACCEPT_ENCODING, IF_NONE_MATCH, type Again, type Exchange } from '../http/exchange.ts'
import type { Format } from '../answers/shape.ts'
import type { KeptAnswer } from './kept-answer.ts'
import { ENCODINGS, type CompressedAnswer } from './compressed.ts'
import { EncodingPreference, type Encoding } from './encoding.ts'
import { ANY_TAG, callersRequestId } from './reply.ts'
import type { RequestState } from './request-state.ts'
import type { Rewriter } from './rewriter.ts'

/** A longer answer may have to be made again for a client that is slow to read it. */
const LONG_BYTES = 64 * 1024

export class Sender {
  readonly #state: RequestState
  readonly #rewriter: Rewriter
  readonly #encodings = new EncodingPreference(ENCODINGS)

  constructor(state: RequestState, rewriter: Rewriter) {
    this.#state = state
    this.#rewriter = rewriter
  }

  sendKept(exchange: Exchange, kept: KeptAnswer): void {
    const state = this.#state
    const { operation, low, high, minute } = kept
    const { served, second, tail } = state
    state.options.totals.kept()
    const hasLink = served.isPinned || kept.format !== 'json'
    // Before it is compressed, for which it may be let go of itself.
    const link = hasLink ? served.cache.linkOf(kept) : ''
    const encoding = this.#encodings.of(exchange.headerValues(ACCEPT_ENCODING))
    const compressed = encoding === null ? null : served.cache.compressed(kept, encoding, second, tail)
    const body = (compressed ?? kept).bytesAt(second, kept.ownTail ?? tail)
    state.describe(operation, low, high, minute, link)
    this.send(exchange, body, kept, compressed === null ? null : encoding, kept.format)
  }

  /** `kept`: what is kept of the answer, in `encoding`; null where nothing is. */
  send(
    exchange: Exchange,
    body: Uint8Array,
    kept: KeptAnswer | null,
    encoding: Encoding | null,
    format: Format = 'json',
  ): void {
    if (this.sendNotModified(exchange)) return
    const { fields, served } = this.#state
    fields.encoding = encoding
    const heads = format === 'json' ? served.heads : served.headsOf(format)
    const head = heads.write(fields)
    if (body.length <= LONG_BYTES) exchange.send(head, body)
    else exchange.send(head, body, this.#again(exchange, kept, encoding, format))
  }

  /** Answers 304 where the client has the answer already. @returns whether it does */
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

  /**
   * Answers 304 in place of an answer that need not be made for that: the client names its tag. `*` names any
   * answer that there is, and whether there is one is not known yet. @returns whether it does
   */
  sendNotModifiedUnmade(exchange: Exchange): boolean {
    return exchange.headerValues(IF_NONE_MATCH).trim() !== ANY_TAG && this.sendNotModified(exchange)
  }

  /**
   * Makes an answer that was sent just now once more: from what is kept of it, else from the snapshot, which
   * knows no encodings and only the usual JSON.
   */
  #again(
    { path, query }: Exchange,
    kept: KeptAnswer | null,
    encoding: Encoding | null,
    format: Format,
  ): Again {
    const state = this.#state
    const { hold, pin } = state.served
    const { second } = state
    const tail = kept?.ownTail ?? state.tail
    return () => {
      if (kept?.kept === true) {
        const compressed = encoding === null ? null : (kept[encoding] as CompressedAnswer)
        return compressed === null ? kept.bytesWith(tail) : compressed.bytesAt(second, tail)
      }
      return encoding !== null || format !== 'json' || hold.view === null
        ? null
        : this.#rewriter.rewritten(hold.view, pin, path, query, second)
    }
  }
}
