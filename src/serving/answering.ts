/** Answers an admitted request: query → kept answer or handler → reply. */
import { SEPARATOR } from '../answers/canonical.ts'
import { isExpensive, type ExpensiveAnswer, type Operation, type View } from '../answers/operation.ts'
import { ACCEPT_LANGUAGE, IF_NONE_MATCH, type Exchange } from '../http/exchange.ts'
import type { Route } from '../routes.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../sea/languages.ts'
import { MINUTE } from '../sea/time.ts'
import { finish } from '../system/steps.ts'
import type { AnswerCache } from './cache.ts'
import { keptBytes, MOST_KEPT_BYTES, NOT_KEPT, type DeferredAnswers } from './deferred-answers.ts'
import { beginAnswer, endAnswer } from './envelope.ts'
import type { AnsweredRequest } from './kept-answer.ts'
import { preferredLanguage } from './language.ts'
import { linkHeader } from './links.ts'
import type { RequestState } from './request-state.ts'
import type { Target } from './request-target.ts'
import type { Sender } from './sender.ts'
import type { Asked, ShapedRequests } from './shaped-requests.ts'

export class Answering {
  readonly #state: RequestState
  readonly #sender: Sender
  readonly #deferred: DeferredAnswers
  readonly #shaped: ShapedRequests
  /** The links of the answer that was written last. */
  #link = ''

  constructor(state: RequestState, sender: Sender, deferred: DeferredAnswers, shaped: ShapedRequests) {
    this.#state = state
    this.#sender = sender
    this.#deferred = deferred
    this.#shaped = shaped
  }

  /** @throws ApiError */
  answer(exchange: Exchange, view: View, { target, path }: Route<Target>, now: number): void {
    const state = this.#state
    const { operation, reader } = target
    const digest = state.digest.begin(target.index)
    const shape = this.#shaped.shapeOf(exchange, operation)
    const query = reader.read(state.raw, digest)
    for (let i = 0; i < path.length; i++) digest.text(path[i])
    const language = languageOf(operation, query, exchange)
    if (operation.language === true) digest.text(language)
    const minute = operation.perMinute === true && query.time === undefined ? Math.floor(now / MINUTE) : 0
    if (minute !== 0) digest.number(minute)
    if (shape !== null) {
      this.#shaped.answer(exchange, view, { target, path }, shape, { query, now, language, minute })
      return
    }
    const { low, high } = digest
    const { cache, isPinned } = state.served
    // Whoever names the tag of this very request had its answer: it need not be made. Heads of pinned answers
    // have links, which come of making them.
    if (!isPinned && exchange.headerValues(IF_NONE_MATCH) !== '') {
      state.describe(operation, low, high, minute, '')
      if (this.#sender.sendNotModifiedUnmade(exchange)) return
    }
    if (cache.isOff || !cache.asked(digest)) {
      if (!cache.isOff) state.options.totals.made()
      const body = this.#written(view, target, query, path, now, language)
      state.describe(operation, low, high, minute, this.#link)
      if (body instanceof Uint8Array) this.#sender.send(exchange, body, null, null)
      else this.#deferred.send(exchange, operation, body, now, NOT_KEPT)
      return
    }
    // Links repeat the words of the query.
    const words = isPinned && 'page' in operation.parameters ? reader.given(state.raw) : ''
    const canonical = [operation.name, ...path, reader.canonical(query), minute, language, words].join(
      SEPARATOR,
    )
    const kept = cache.get(canonical)
    if (kept === undefined) {
      const asked = { query, now, language, minute }
      this.#answerAndKeep(exchange, view, { target, path }, asked, { cache, canonical, low, high })
      return
    }
    // Not where a key in the query, a pin, or a language other than the default decides.
    const isForAll = !isPinned && (!kept.negotiated || language === DEFAULT_LANGUAGE)
    if (isForAll && state.raw.get('api_key') === '' && state.fields.ignored === '')
      cache.remember(exchange.path, exchange.query, kept)
    this.#sender.sendKept(exchange, kept)
  }

  /** @throws ApiError */
  #answerAndKeep(
    exchange: Exchange,
    view: View,
    { target, path }: Route<Target>,
    { query, now, language, minute }: Asked,
    { cache, canonical, low, high }: { cache: AnswerCache; canonical: string; low: number; high: number },
  ): void {
    const state = this.#state
    const { operation, index } = target
    state.options.totals.made()
    const body = this.#written(view, target, query, path, now, language)
    const link = this.#link
    const negotiated = operation.language === true && query.locale === undefined
    const request: AnsweredRequest = { operation, index, low, high, minute, negotiated, format: 'json' }
    state.describe(operation, low, high, minute, link)
    if (body instanceof Uint8Array) {
      this.#sender.send(exchange, body, cache.put(canonical, request, body, link), null)
      return
    }
    const isKept = body.bytes <= MOST_KEPT_BYTES
    this.#deferred.send(exchange, operation, body, now, {
      ...NOT_KEPT,
      keep: isKept
        ? (answer) => keptBytes(cache.put(canonical, request, answer, link), answer, 'json')
        : null,
    })
  }

  #written(
    view: View,
    { operation, reader }: Target,
    query: Parameters<Operation['answer']>[1],
    path: readonly string[],
    now: number,
    language: Language,
  ): Uint8Array | ExpensiveAnswer {
    const { writer } = view.fragments
    const { served, second, options, raw } = this.#state
    const { pin } = served
    let begun = beginAnswer(view, operation, query, path, now, language)
    const paging = isExpensive(begun) ? begun.paging : begun
    this.#link =
      pin === '' || paging === undefined
        ? ''
        : linkHeader(options.basePath, operation.path, path, reader.given(raw), pin, paging)
    if (isExpensive(begun)) {
      if (options.expensive !== null) return begun
      begun = finish(begun.steps(writer))
    }
    endAnswer(writer, begun, second, pin)
    return writer.answer()
  }
}

function languageOf(
  operation: Operation,
  query: Parameters<Operation['answer']>[1],
  exchange: Exchange,
): Language {
  if (operation.language !== true) return DEFAULT_LANGUAGE
  const locale = query.locale as Language | undefined
  if (locale !== undefined) return locale
  const accepted = exchange.headerValues(ACCEPT_LANGUAGE)
  return accepted === '' ? DEFAULT_LANGUAGE : preferredLanguage(accepted, LANGUAGES)
}
