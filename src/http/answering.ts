/** Answers an admitted request: kept answer, handler, or the thread of long answers → reply. */
import { headFields, type Admitted } from './admitted.ts'
import type { KeptAnswer, KnownTarget } from './answer-cache.ts'
import { canonicalOf, isUsual, type Asked } from './asked.ts'
import { beginAnswer, endAnswer } from './envelope.ts'
import { linkHeader, NO_LINK } from './links.ts'
import { sendLong, type LongOptions } from './long-answers.ts'
import { isKnownToClient, partOf, preferredCoding, rangeAsked, sendNotModified } from './parts.ts'
import type { Format } from '../operation/shape.ts'
import type { HeadFields } from './reply.ts'

export class Answering {
  readonly #options: LongOptions

  constructor(options: LongOptions) {
    this.#options = options
  }

  /** `lifetime`: seconds that the answer may be kept. @throws ApiError */
  answer(request: Admitted, asked: Asked, lifetime: number, isKeyInQuery: boolean): void {
    const { exchange, served, ignored, now, moment } = request
    const { target, path, query, shape, language, texts } = asked
    const { operation, reader } = target
    const { cache, isPinned, pin } = served
    const format = shape?.format ?? 'json'
    if (isKnownToClient(request, asked)) {
      sendNotModified(request, headFields(request, asked, lifetime, NO_LINK))
      return
    }
    const canonical = cache.isOff ? '' : canonicalOf(asked)
    const kept = cache.get(canonical)
    if (kept !== undefined) {
      if (shape === null && !isPinned && !isKeyInQuery && isUsual(exchange, operation)) {
        const { low, high, minute } = asked
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
      const fields = headFields(request, asked, lifetime, kept.link)
      this.#sendKept(request, fields, { canonical, kept, format })
      return
    }
    if (!cache.isOff) this.#options.totals.count('made')
    const view = served.view!
    if (shape !== null || operation.answer === undefined) {
      const fields = headFields(request, asked, lifetime, NO_LINK)
      sendLong(this.#options, request, asked, {
        fields,
        keep: (body, link) => cache.put(canonical, format, body, link),
      })
      return
    }
    const { writer } = view.fragments
    beginAnswer(view)
    const begun = operation.answer(view, query, path, now, language)
    const linked = { reader, texts, more: '' }
    const link = begun ? linkHeader(linked, view.dataset.snapshotId, begun, isPinned) : NO_LINK
    endAnswer(writer, begun, moment.second, pin)
    const body = writer.answer()
    cache.put(canonical, format, body, link)
    const fields = headFields(request, asked, lifetime, link)
    exchange.send(served.heads.write(fields), body)
  }

  /** As `answer`, for a target that led to a kept answer before. */
  answerKnown(request: Admitted, { canonical, kept, low, high }: KnownTarget, lifetime: number): void {
    const fields = headFields(request, { low, high }, lifetime, kept.link)
    if (isKnownToClient(request, fields)) sendNotModified(request, fields)
    else this.#sendKept(request, fields, { canonical, kept, format: 'json' })
  }

  #sendKept(
    request: Admitted,
    fields: HeadFields,
    { canonical, kept, format }: { canonical: string; kept: KeptAnswer; format: Format },
  ): void {
    const { exchange, served, moment } = request
    this.#options.totals.count('kept')
    const range = format === 'json' ? '' : rangeAsked(exchange)
    const encoding = preferredCoding(exchange, format, range)
    const plain = kept.bytesAt(moment.second, kept.ownTail ?? moment.tail)
    const coded = encoding === null ? kept : served.cache.inCoding(canonical, kept, encoding)
    if (coded !== kept) {
      fields.encoding = coded.encoding
      exchange.send(served.headsOf(format).write(fields), coded.bytesAt(moment.second, moment.tail))
    } else if (format === 'json') exchange.send(served.heads.write(fields), plain)
    else {
      const part = partOf(served, fields, format, [plain], range)
      exchange.send(part.head, part.body[0])
    }
  }
}
