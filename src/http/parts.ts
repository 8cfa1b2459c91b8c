/** How much of an answer is sent, and in which coding: nothing (304), a part of a file (206), or all. */
import type { Format } from '../operation/shape.ts'
import type { Admitted } from './served.ts'
import { NOTHING, type Exchange } from './exchange.ts'
import { ENCODINGS, Preference, preferredEncoding, type Encoding } from '../operation/preferences.ts'
import { unsatisfiableHead, type HeadFields, type Tag } from './reply.ts'

const codings = new Preference((accepted) => preferredEncoding(accepted, ENCODINGS))

/** Whether the client has the answer: it names its tag. */
export function isKnownToClient({ exchange, served }: Admitted, tag: Tag): boolean {
  const condition = exchange.headerValues('if-none-match')
  return condition !== '' && served.heads.matches(condition, tag)
}

export function sendNotModified(request: Admitted, fields: HeadFields): void {
  request.exchange.send(request.served.notModifiedHeads.write(request, fields), null)
}

/**
 * Ranges are of a body without a coding. Parquet is never coded: clients ask for its length, then for ranges.
 */
export function preferredCoding(exchange: Exchange, format: Format, range: string): Encoding | null {
  if (format === 'parquet' || range !== '') return null
  const accepted = exchange.headerValues('accept-encoding')
  return accepted === '' ? null : codings.choiceFor(accepted)
}

/** Bytes `from` to before `to`. */
interface ByteRange {
  readonly from: number
  readonly to: number
}

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/**
 * `Range` (RFC 9110, section 14), or '' where all is to be sent: `If-Range` never holds, since our tags are
 * weak.
 */
export function rangeAsked(exchange: Exchange): string {
  if (exchange.method !== 'GET' || exchange.header('if-range') !== '') return ''
  return exchange.headerValues('range')
}

/** Null where all is to be sent: no range, several, or one that is not understood. */
export function rangeOf(asked: string, length: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = ONE_RANGE.exec(asked.trim()) ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const count = Math.min(length, Number(last))
    return count === 0 ? 'unsatisfiable' : { from: length - count, to: length }
  }
  const [from, to] = [Number(first), last === '' ? Infinity : Number(last) + 1]
  if (to <= from) return null
  return from >= length ? 'unsatisfiable' : { from, to: Math.min(length, to) }
}

/**
 * The whole body, or the range of a body in one piece (`rangeAsked`). JSON shows the time, so no two bodies
 * are the same: it has no ranges.
 */
export function partOf(
  request: Admitted,
  fields: HeadFields,
  format: Format,
  body: readonly Uint8Array[],
  range: string,
): { head: string | Uint8Array; body: readonly Uint8Array[] } {
  const { served } = request
  if (format === 'json' || fields.encoding !== null)
    return { head: served.headsOf(format).write(request, fields), body }
  const [{ length }] = body
  const part = rangeOf(range, length)
  if (part === 'unsatisfiable') return { head: unsatisfiableHead(length), body: [NOTHING] }
  const more = part === null ? '' : `\r\nContent-Range: bytes ${part.from}-${part.to - 1}/${length}`
  const link = Buffer.concat([fields.link, Buffer.from(`\r\nAccept-Ranges: bytes${more}`)])
  if (part === null) return { head: served.headsOf(format).write(request, { ...fields, link }), body }
  return {
    head: served.headsOf(format, 'part').write(request, { ...fields, link }),
    body: [body[0].subarray(part.from, part.to)],
  }
}
