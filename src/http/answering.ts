/** Answers an admitted request: query → kept answer or handler → reply. */
import { isLong, nowOf, type Operation } from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { SEPARATOR, type RawQuery } from '../operation/query.ts'
import { shapeKey, shapeOf, type Format, type Shape } from '../operation/shape.ts'
import { TagNumber } from '../operation/tag-number.ts'
import { ACCEPT, ACCEPT_LANGUAGE, IF_NONE_MATCH, type Exchange } from './exchange.ts'
import type { Route, Target } from './router.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../sea/languages.ts'
import { MINUTE } from '../sea/time.ts'
import type { LongRequests } from './long-requests.ts'
import { beginAnswer, endAnswer } from './envelope.ts'
import { linkHeader, NO_LINK } from './links.ts'
import { Preference, preferredFormat, preferredLanguage } from './preferences.ts'
import type { Admitted, SharedState } from './request-state.ts'
import type { Sender } from './sender.ts'

export class Answering {
  readonly #state: SharedState
  readonly #sender: Sender
  readonly #long: LongRequests
  readonly #tag = new TagNumber()
  readonly #formats = new Map<readonly Format[], Preference<Format>>()

  constructor(state: SharedState, sender: Sender, long: LongRequests) {
    this.#state = state
    this.#sender = sender
    this.#long = long
  }

  /** @throws ApiError */
  answer(
    exchange: Exchange,
    admitted: Admitted,
    view: View,
    { target, path, raw }: Route<Target> & { raw: RawQuery },
    now: number,
  ): void {
    const state = this.#state
    const { operation, reader } = target
    const { cache, isPinned } = state.served
    const shape = this.#shapeOf(exchange, operation, raw)
    const tag = this.#tag.begin().add(target.index)
    const texts = reader.textsOf(raw)
    const query = reader.read(texts, tag, nowOf(operation, view, now), raw.names)
    const language = languageOf(operation, query, exchange)
    const isOfMinute = operation.perMinute === true && (query.time?.moves ?? query.time === undefined)
    const minute = isOfMinute ? Math.floor(now / MINUTE) : 0
    const isPaged = shape !== null && (raw.get('page') !== '' || raw.get('per_page') !== '')
    for (const argument of path) tag.add(argument)
    tag.add(minute)
    if (operation.language === true) tag.add(language)
    const shaped = shape === null ? '' : shapeKey(shape) + (isPaged ? '|p' : '')
    if (shape !== null) tag.add(shaped)
    const { low, high } = tag
    const format = shape?.format ?? 'json'
    // A client that names the ETag has the answer: it is made only for the `Link` lines of a pinned one.
    if (shape === null && !isPinned && exchange.headerValues(IF_NONE_MATCH) !== '') {
      admitted.describe(operation, low, high, minute, NO_LINK)
      if (this.#sender.sendNotModifiedUnmade(exchange)) return
    }
    let canonical = ''
    if (!cache.isOff) {
      canonical = [operation.name, ...path, reader.canonical(query), minute, language, shaped].join(SEPARATOR)
      // `Link` repeats the words of the query.
      const hasLinks = 'page' in operation.parameters
      if (hasLinks) canonical += SEPARATOR + texts.join(SEPARATOR)
      const kept = cache.get(canonical)
      if (kept !== undefined) {
        const isKnown = shape === null && !isPinned && raw.get('api_key') === ''
        if (isKnown && isUsual(exchange, operation)) {
          const { ignored } = state.fields
          cache.remember(exchange.path, exchange.query, {
            target,
            canonical,
            kept,
            low,
            high,
            minute,
            ignored,
          })
        }
        admitted.describe(operation, low, high, minute, kept.link)
        this.#sender.sendKept(exchange, canonical, kept, format)
        return
      }
      state.options.totals.count('made')
    }
    const begun = shape === null ? beginAnswer(view, operation, query, path, now, language) : null
    if (begun === null || isLong(begun)) {
      admitted.describe(operation, low, high, minute, NO_LINK)
      const asked = { operation: target.index, path, texts, shape, isPaged, language, now }
      this.#long.send(exchange, operation, asked, (body, headers) =>
        cache.put(canonical, format, body, headers),
      )
      return
    }
    const { writer } = view.fragments
    const linked = { reader, texts, more: '' }
    const link = begun ? linkHeader(linked, view.dataset.snapshotId, begun, isPinned) : NO_LINK
    endAnswer(writer, begun, state.second, state.served.pin)
    const body = writer.answer()
    admitted.describe(operation, low, high, minute, link)
    cache.put(canonical, format, body, link)
    this.#sender.send(exchange, body)
  }

  /** Null for the usual JSON. @throws ApiError 400 */
  #shapeOf(exchange: Exchange, { tables, parameters }: Operation, raw: RawQuery): Shape | null {
    if (!raw.mayShape && (tables === undefined || hasUsualAccept(exchange))) return null
    return shapeOf(tables, 'include' in parameters, raw, (formats) => {
      let preference = this.#formats.get(formats)
      if (preference === undefined) {
        preference = new Preference((accept) => preferredFormat(accept, formats))
        this.#formats.set(formats, preference)
      }
      return preference.of(exchange.headerValues(ACCEPT))
    })
  }
}

/** Whether the answer depends on the target alone, not on a header. */
export function isUsual(exchange: Exchange, { tables, language }: Operation): boolean {
  return (
    (tables === undefined || hasUsualAccept(exchange)) &&
    (language !== true || exchange.headerValues(ACCEPT_LANGUAGE) === '')
  )
}

function hasUsualAccept(exchange: Exchange): boolean {
  const accept = exchange.headerValues(ACCEPT)
  return accept === '' || accept === '*/*' || accept === 'application/json'
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
