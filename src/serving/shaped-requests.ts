/** Requests for an answer in another form than the usual JSON: a table, fewer fields, more about each row. */
import { SEPARATOR } from '../answers/canonical.ts'
import {
  EXPENSIVE_BYTES,
  EXPENSIVE_US,
  type ExpensiveAnswer,
  type Operation,
  type View,
} from '../answers/operation.ts'
import { shapeKey, shapeOf, type Shape } from '../answers/shape.ts'
import { ACCEPT, type Exchange } from '../http/exchange.ts'
import type { Route } from '../routes.ts'
import type { Language } from '../sea/languages.ts'
import { finish } from '../system/steps.ts'
import { FormatPreference } from './accept.ts'
import { keptBytes, MOST_KEPT_BYTES, stepsOf, type DeferredAnswers } from './deferred-answers.ts'
import type { RequestState } from './request-state.ts'
import type { Target } from './request-target.ts'
import type { Sender } from './sender.ts'
import { isJob, priceOf, shapedAnswer } from './shaped.ts'

/** What was read of a request. */
export interface Asked {
  readonly query: Parameters<Operation['answer']>[1]
  readonly now: number
  readonly language: Language
  readonly minute: number
}

export class ShapedRequests {
  readonly #state: RequestState
  readonly #sender: Sender
  readonly #deferred: DeferredAnswers
  readonly #formats = new FormatPreference()

  constructor(state: RequestState, sender: Sender, deferred: DeferredAnswers) {
    this.#state = state
    this.#sender = sender
    this.#deferred = deferred
  }

  /** The shape that a request asks for, null for the usual JSON. @throws ApiError 400 */
  shapeOf(exchange: Exchange, operation: Operation): Shape | null {
    const { raw } = this.#state
    const { tables } = operation
    if (!raw.mayShape && (tables === undefined || hasUsualAccept(exchange))) return null
    const canInclude = 'include' in operation.parameters
    return shapeOf(tables, canInclude, raw, (formats) =>
      this.#formats.of(exchange.headerValues(ACCEPT), formats),
    )
  }

  /**
   * Answers as a table. A short answer is made now and kept, a longer one is made in slices, and one that is
   * too long to be kept has more time. @throws ApiError
   */
  answer(
    exchange: Exchange,
    view: View,
    { target, path }: Route<Target>,
    shape: Shape,
    { query, now, language, minute }: Asked,
  ): void {
    const state = this.#state
    const { operation, reader, index } = target
    const { cache, isPinned } = state.served
    const { raw } = state
    const isPaged = raw.get('page') !== '' || raw.get('per_page') !== ''
    const key = `${shapeKey(shape)}|${isPaged ? 'p' : ''}`
    const { low, high } = state.digest.text(key)
    const { format } = shape
    const given = reader.given(raw)
    // Links repeat the words of the query.
    const words = 'page' in operation.parameters ? given : ''
    const canonical = [operation.name, ...path, reader.canonical(query), minute, language, key, words].join(
      SEPARATOR,
    )
    const mayBeKept = !cache.isOff && cache.asked({ low, high })
    const kept = mayBeKept ? cache.get(canonical) : undefined
    if (kept !== undefined) {
      const isForAll =
        !isPinned &&
        shape.isExplicit &&
        raw.get('api_key') === '' &&
        state.fields.ignored === '' &&
        !kept.negotiated
      if (isForAll) cache.remember(exchange.path, exchange.query, kept)
      this.#sender.sendKept(exchange, kept)
      return
    }
    state.options.totals.made()
    const isWhole = format !== 'json' && !isPaged
    const request = { view, query, path, now, language, isWhole }
    const { basePath } = state.options
    const {
      body: shaped,
      rows,
      microseconds,
      headers,
    } = shapedAnswer(operation, request, shape, basePath, given, isPinned)
    state.describe(operation, low, high, minute, headers)
    const negotiated = operation.language === true && query.locale === undefined
    const answered = { operation, index, low, high, minute, negotiated, format }
    const price = isWhole && operation.tables!.costsByRows === true ? priceOf(rows) : 1
    if (isJob(shaped)) {
      this.#deferred.export(exchange, operation, shaped, now, { format, price })
      return
    }
    if (this.#isMadeNow(shaped, microseconds)) {
      const body = this.#made(view, shaped, shape)
      const put = mayBeKept ? cache.put(canonical, answered, body, headers) : null
      this.#sender.send(exchange, body, put, null, format)
      return
    }
    // What is kept costs one call.
    const isKept = mayBeKept && price === 1 && shaped.bytes <= MOST_KEPT_BYTES
    this.#deferred.send(exchange, operation, shaped, now, {
      format,
      isLong: shaped.bytes > MOST_KEPT_BYTES,
      price,
      keep: isKept
        ? (answer) => keptBytes(cache.put(canonical, answered, answer, headers), answer, format)
        : null,
    })
  }

  #isMadeNow({ bytes }: ExpensiveAnswer, microseconds: number): boolean {
    return (
      this.#state.options.expensive === null || (bytes <= EXPENSIVE_BYTES && microseconds <= EXPENSIVE_US)
    )
  }

  #made({ fragments: { writer } }: View, answer: ExpensiveAnswer, { format }: Shape): Uint8Array {
    const { second, served } = this.#state
    writer.begin()
    finish(stepsOf(answer, writer, format, second, served.pin))
    return writer.answer()
  }
}

/** Most clients say no more. */
export function hasUsualAccept(exchange: Exchange): boolean {
  const accept = exchange.headerValues(ACCEPT)
  return accept === '' || accept === '*/*' || accept === 'application/json'
}
