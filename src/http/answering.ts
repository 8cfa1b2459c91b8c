/** Answers an admitted request: query → kept answer or handler → reply. */
import { ApiError } from '../operation/errors.ts'
import {
  EXPENSIVE_BYTES,
  EXPENSIVE_US,
  isExpensive,
  type ExpensiveAnswer,
  type Operation,
} from '../operation/operation.ts'
import type { View } from '../dataset/view.ts'
import { SEPARATOR, type RawQuery, type Texts } from '../operation/query.ts'
import { shapeKey, shapeOf, type Format, type Shape } from '../operation/shape.ts'
import { TagNumber } from '../operation/tag-number.ts'
import type { ParquetJob } from '../formats/parquet-job.ts'
import { ACCEPT, ACCEPT_LANGUAGE, IF_NONE_MATCH, type Exchange } from './exchange.ts'
import type { Route, Target } from './router.ts'
import { DEFAULT_LANGUAGE, LANGUAGES, type Language } from '../sea/languages.ts'
import { MINUTE } from '../sea/time.ts'
import { finish } from '../system/steps.ts'
import { keptBytes, MOST_KEPT_BYTES, stepsOf, type LaterRequests } from './later-requests.ts'
import { beginAnswer, endAnswer } from './envelope.ts'
import { linkHeader, NO_LINK, type LinkedQuery } from './links.ts'
import { Preference, preferredFormat, preferredLanguage } from './preferences.ts'
import type { Admitted, SharedState } from './request-state.ts'
import { LONG_BYTES, type Sender } from './sender.ts'
import { isJob, priceOf, shapedAnswer } from './shaped.ts'

interface Asked {
  readonly target: Target
  /** Decoded arguments of the path. */
  readonly path: readonly string[]
  readonly texts: Texts
  readonly query: Parameters<Operation['answer']>[1]
  readonly now: number
  readonly language: Language
}

interface Made {
  readonly body: Uint8Array | ExpensiveAnswer | ParquetJob
  /** More header lines, each begun by CRLF; the next answer may overwrite them. */
  readonly headers: Uint8Array
  /** In calls of the quota. */
  readonly price: number
}

const linkedQuery = ({ target: { reader }, texts }: Asked): LinkedQuery => ({ reader, texts, more: '' })

export class Answering {
  readonly #state: SharedState
  readonly #sender: Sender
  readonly #later: LaterRequests
  readonly #tag = new TagNumber()
  readonly #formats = new Map<readonly Format[], Preference<Format>>()

  constructor(state: SharedState, sender: Sender, later: LaterRequests) {
    this.#state = state
    this.#sender = sender
    this.#later = later
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
    const query = reader.read(texts, tag, raw.names)
    const language = languageOf(operation, query, exchange)
    const minute = operation.perMinute === true && query.time === undefined ? Math.floor(now / MINUTE) : 0
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
    const asked: Asked = { target, path, texts, query, now, language }
    let canonical = ''
    if (!cache.isOff) {
      canonical = [operation.name, ...path, reader.canonical(query), minute, language, shaped].join(SEPARATOR)
      // `Link` repeats the words of the query.
      const hasLinks = 'page' in operation.parameters
      if (hasLinks) canonical += SEPARATOR + texts.join(SEPARATOR)
      const kept = cache.get(canonical)
      if (kept !== undefined) {
        const isKnown = shape === null && !isPinned && kept.length <= LONG_BYTES && raw.get('api_key') === ''
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
        const again = shape === null && kept.length > LONG_BYTES ? this.#again(asked) : null
        this.#sender.sendKept(exchange, canonical, kept, format, again)
        return
      }
      state.options.totals.count('made')
    }
    const made = shape === null ? this.#json(view, asked) : this.#shaped(view, asked, shape, isPaged)
    admitted.describe(operation, low, high, minute, made.headers)
    this.#send(exchange, asked, made, { canonical, shape })
  }

  #send(
    exchange: Exchange,
    asked: Asked,
    { body, headers, price }: Made,
    { canonical, shape }: { canonical: string; shape: Shape | null },
  ): void {
    const { cache } = this.#state.served
    const { operation } = asked.target
    const format = shape?.format ?? 'json'
    if (body instanceof Uint8Array) {
      const kept = cache.put(canonical, format, body, headers)
      const again = shape === null && body.length > LONG_BYTES ? this.#again(asked) : null
      this.#sender.send(exchange, body, kept, format, again)
    } else {
      const lasting = headers.slice()
      const isKept = !isJob(body) && !cache.isOff && price === 1 && body.bytes <= MOST_KEPT_BYTES
      this.#later.send(exchange, operation, body, asked.now, {
        format,
        price,
        keep: isKept
          ? (answer) => keptBytes(cache.put(canonical, format, answer, lasting), answer, format)
          : null,
      })
    }
  }

  #json(view: View, asked: Asked): Made {
    const { target, path, query, now, language } = asked
    const { served, second, options } = this.#state
    const { pin, isPinned } = served
    const { writer } = view.fragments
    let begun = beginAnswer(view, target.operation, query, path, now, language)
    const paging = isExpensive(begun) ? begun.paging : begun
    const link =
      paging === undefined
        ? NO_LINK
        : linkHeader(linkedQuery(asked), view.dataset.snapshotId, paging, isPinned)
    if (isExpensive(begun)) {
      if (options.later !== null) return { body: begun, headers: link, price: 1 }
      begun = finish(begun.steps(writer))
    }
    endAnswer(writer, begun, second, pin)
    return { body: writer.answer(), headers: link, price: 1 }
  }

  /** Makes the JSON once more, for a slow reader. */
  #again({ target, path, query, now, language }: Asked): () => Uint8Array | null {
    const { second, served } = this.#state
    const { reference, pin } = served
    return () => {
      const { view } = reference
      if (view === null) return null
      const { writer } = view.fragments
      try {
        const begun = beginAnswer(view, target.operation, query, path, now, language)
        endAnswer(writer, isExpensive(begun) ? finish(begun.steps(writer)) : begun, second, pin)
        return writer.answer()
      } catch (error) {
        // The snapshot that changes are counted from has left meanwhile.
        if (error instanceof ApiError) return null
        throw error
      }
    }
  }

  /** Makes short tables now, longer ones in slices; one too long to keep has more time. @throws ApiError */
  #shaped(view: View, asked: Asked, shape: Shape, isPaged: boolean): Made {
    const { target, path, query, now, language } = asked
    const { operation } = target
    const { served, second, options } = this.#state
    const isWhole = shape.format !== 'json' && !isPaged
    const request = { view, query, path, now, language, isWhole }
    const { body, rows, microseconds, headers } = shapedAnswer(
      operation,
      request,
      shape,
      linkedQuery(asked),
      served.isPinned,
    )
    const price = isWhole && operation.tables!.costsByRows === true ? priceOf(rows) : 1
    const isLater = isJob(body) || body.bytes > EXPENSIVE_BYTES || microseconds > EXPENSIVE_US
    if (isJob(body) || (isLater && options.later !== null)) return { body, headers, price }
    const { writer } = view.fragments
    writer.begin()
    finish(stepsOf(body, writer, shape.format, second, served.pin))
    return { body: writer.answer(), headers, price }
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
