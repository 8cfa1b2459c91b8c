/** Answers an admitted request: kept answer, handler, or the thread of long answers → reply. */
import { NO_EVENTS } from './exchange.ts'
import type { Admitted } from './served.ts'
import { type Coded, KeptAnswer, type KnownTarget, MOST_PLAIN_BYTES } from './answer-cache.ts'
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
  const fields = { tag: asked, lifetime, link, encoding: null }
  const made = cache.put(canonical, format, body, link)
  const encoding = body.length > MOST_PLAIN_BYTES ? preferredCoding(exchange, format, '') : null
  if (encoding !== null) {
    const long = made ?? new KeptAnswer(new Uint8Array(body), format, link)
    long.bytesAt(moment)
    const coded = cache.inCoding(canonicalOf(asked), long, encoding)
    if (coded instanceof Promise) {
      sendWhenCoded(request, { ...fields, link: link.slice() }, format, coded)
      return
    }
  }
  exchange.send(served.heads.write(request, fields), body)
}

function sendWhenCoded(request: Admitted, fields: HeadFields, format: Format, coded: Promise<Coded>): void {
  const { exchange, served } = request
  const heads = format === 'json' ? served.heads : served.headsOf(format)
  const reply = exchange.later(NO_EVENTS)
  void coded.then(({ encoding, bytes }) => reply.send(heads.write(request, { ...fields, encoding }), bytes))
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
  if (coded instanceof Promise) {
    sendWhenCoded(request, fields, format, coded)
    return
  }
  const bytes = coded.bytesAt(moment)
  fields.encoding = coded.encoding
  if (format === 'json') exchange.send(served.heads.write(request, fields), bytes)
  else {
    const part = partOf(request, fields, format, [bytes], range)
    exchange.send(part.head, part.body[0])
  }
}
