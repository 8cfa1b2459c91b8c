/** Sends answers that are whole: fresh ones, kept ones, compressed ones, parts of files, and 304 in their place. */
import { ACCEPT_ENCODING, IF_NONE_MATCH, type Exchange } from './exchange.ts'
import type { Format } from '../operation/shape.ts'
import { ENCODINGS, type KeptAnswer } from './kept-answer.ts'
import { Preference, preferredEncoding, type Encoding } from './preferences.ts'
import { ANY_TAG } from './etag.ts'
import { rangeAsked, rangeOf, UNSATISFIABLE } from './range.ts'
import { callersRequestId, unsatisfiableHead, type HeadFields } from './reply.ts'
import type { SharedState } from './request-state.ts'
import type { ServedView } from './served.ts'

const NOTHING = new Uint8Array(0)

interface Part {
  readonly head: string | Uint8Array
  readonly body: Uint8Array
}

/** The whole body, or the part of a file that `range` asks for (`rangeAsked`). JSON tells the time, so no two bodies are the same. */
export function partOf(
  served: ServedView,
  fields: HeadFields,
  format: Format,
  body: Uint8Array,
  range: string,
): Part {
  if (format === 'json' || fields.encoding !== null)
    return { head: served.headsOf(format).write(fields), body }
  const part = rangeOf(range, body.length)
  if (part === UNSATISFIABLE) return { head: unsatisfiableHead(body.length), body: NOTHING }
  const more = part === null ? '' : `\r\nContent-Range: bytes ${part.from}-${part.to - 1}/${body.length}`
  const link = Buffer.concat([fields.link, Buffer.from(`\r\nAccept-Ranges: bytes${more}`)])
  if (part === null) return { head: served.headsOf(format).write({ ...fields, link }), body }
  return {
    head: served.partialHeadsOf(format).write({ ...fields, link }),
    body: body.subarray(part.from, part.to),
  }
}

export class Sender {
  readonly #state: SharedState
  readonly #encodings = new Preference((accepted) => preferredEncoding(accepted, ENCODINGS))

  constructor(state: SharedState) {
    this.#state = state
  }

  /** Parts are those of a body as it is. Parquet is never coded: who reads it asks for its length, and then for parts. */
  encodingOf(exchange: Exchange, format: Format, range: string): Encoding | null {
    if (format === 'parquet' || range !== '') return null
    const accepted = exchange.headerValues(ACCEPT_ENCODING)
    return accepted === '' ? null : this.#encodings.of(accepted)
  }

  /** Sends what is kept as `canonical`, in the preferred coding. */
  sendKept(exchange: Exchange, canonical: string, plain: KeptAnswer, format: Format): void {
    const { options, served, second, tail } = this.#state
    options.totals.count('kept')
    const range = format === 'json' ? '' : rangeAsked(exchange)
    const encoding = this.encodingOf(exchange, format, range)
    const bytes = plain.bytesAt(second, plain.ownTail ?? tail)
    const kept = encoding === null ? plain : served.cache.inCoding(canonical, plain, encoding)
    const body = kept === plain ? bytes : kept.bytesAt(second, tail)
    this.send(exchange, body, kept.encoding, format, range)
  }

  send(
    exchange: Exchange,
    body: Uint8Array,
    encoding: Encoding | null = null,
    format: Format = 'json',
    range = '',
  ): void {
    if (this.sendNotModified(exchange)) return
    const { fields, served } = this.#state
    fields.encoding = encoding
    if (format === 'json') exchange.send(served.heads.write(fields), body)
    else {
      const part = partOf(served, fields, format, body, range)
      exchange.send(part.head, part.body)
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
