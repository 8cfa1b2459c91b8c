/** Answers an admitted request: kept answer, handler, or the thread of long answers → reply. */
import type { Admitted } from './served.ts'
import type { KeptAnswer, KnownTarget } from './answer-cache.ts'
import { canonicalOf, isUsual, type Asked } from './asked.ts'
import { beginAnswer, endAnswer } from '../operation/envelope.ts'
import { linkHeader, NO_LINK } from '../operation/links.ts'
import { sendLong, type LongOptions } from './long-answers.ts'
import { isKnownToClient, partOf, preferredCoding, rangeAsked, sendNotModified } from './parts.ts'
import type { Format } from '../operation/shape.ts'
import type { HeadFields } from './reply.ts'

/** `lifetime`: seconds that the answer may be kept. @throws ApiError */
export function answer(
  options: LongOptions,
  request: Admitted,
  asked: Asked,
  lifetime: number,
  isKeyInQuery: boolean,
): void {
  const { exchange, served, ignored, now, moment } = request
  const { target, path, query, shape, language, texts } = asked
  const { operation, reader } = target
  const { cache, isPinned, pin } = served
  const format = shape?.format ?? 'json'
  if (isKnownToClient(request, asked)) {
    sendNotModified(request, { tag: asked, lifetime, link: NO_LINK, encoding: null })
    return
  }
  const canonical = cache.isOff ? '' : canonicalOf(asked)
  const kept = cache.get(canonical)
  if (kept !== undefined) {
    if (shape === null && !isPinned && !isKeyInQuery && isUsual(exchange, operation)) {
      const { low, high, until } = asked
      const known = { target, canonical, kept, low, high, until, ignored }
      cache.remember(exchange.path, exchange.query, known)
    }
    const fields = { tag: asked, lifetime, link: kept.link, encoding: null }
    sendKept(options, request, fields, { canonical, kept, format })
    return
  }
  if (!cache.isOff) options.counters.count('made')
  const view = served.view!
  const { writer } = view.fragments
  beginAnswer(view)
  const begun =
    shape === null && operation.answer !== undefined
      ? operation.answer(view, query, path, now, language)
      : 'long'
  if (begun === 'long') {
    sendLong(options, request, asked, lifetime, (body, link) => cache.put(canonical, format, body, link))
    return
  }
  const linked = { reader, texts, more: '' }
  const link = begun ? linkHeader(linked, view.dataset.snapshotId, begun, isPinned) : NO_LINK
  endAnswer(writer, begun, moment.second, pin)
  const body = writer.answer()
  cache.put(canonical, format, body, link)
  exchange.send(served.heads.write(request, { tag: asked, lifetime, link, encoding: null }), body)
}

/** As `answer`, for a target that led to a kept answer before. */
export function answerKnown(
  options: LongOptions,
  request: Admitted,
  known: KnownTarget,
  lifetime: number,
): void {
  const { canonical, kept } = known
  const fields = { tag: known, lifetime, link: kept.link, encoding: null }
  if (isKnownToClient(request, known)) sendNotModified(request, fields)
  else sendKept(options, request, fields, { canonical, kept, format: 'json' })
}

function sendKept(
  options: LongOptions,
  request: Admitted,
  fields: HeadFields,
  { canonical, kept, format }: { canonical: string; kept: KeptAnswer; format: Format },
): void {
  const { exchange, served, moment } = request
  options.counters.count('kept')
  const range = format === 'json' ? '' : rangeAsked(exchange)
  const encoding = preferredCoding(exchange, format, range)
  // It is compressed with this time.
  kept.bytesAt(moment)
  const coded = encoding === null ? kept : served.cache.inCoding(canonical, kept, encoding)
  const bytes = coded.bytesAt(moment)
  fields.encoding = coded.encoding
  if (format === 'json') exchange.send(served.heads.write(request, fields), bytes)
  else {
    const part = partOf(request, fields, format, [bytes], range)
    exchange.send(part.head, part.body[0])
  }
}
