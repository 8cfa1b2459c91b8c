/** How much of an answer is sent, and in which coding: nothing (304), a part of a file (206), or all. */
import type { Format } from '../operation/shape.ts'
import type { Admitted, Tag } from './admitted.ts'
import { ANY_TAG } from './etag.ts'
import { ACCEPT_ENCODING, IF_NONE_MATCH, type Exchange } from './exchange.ts'
import { ENCODINGS } from './kept-answer.ts'
import { Preference, preferredEncoding, type Encoding } from './preferences.ts'
import { rangeOf, UNSATISFIABLE } from './range.ts'
import { unsatisfiableHead, type HeadFields } from './reply.ts'
import type { ServedView } from './served.ts'

const NOTHING = new Uint8Array(0)
const codings = new Preference((accepted) => preferredEncoding(accepted, ENCODINGS))

/** Whether the client has the answer: it names its tag, or (`any`) whatever there is, so it has to be made first. */
export function conditionOf({ exchange, served }: Admitted, tag: Tag): 'none' | 'known' | 'any' {
  const condition = exchange.headerValues(IF_NONE_MATCH)
  if (condition === '') return 'none'
  if (condition.trim() === ANY_TAG) return 'any'
  return served.heads.matches(condition, tag) ? 'known' : 'none'
}

export function sendNotModified({ exchange, served }: Admitted, fields: HeadFields): void {
  exchange.send(served.notModifiedHeads.write(fields), null)
}

/** Parts are those of a body as it is. Parquet is never coded: who reads it asks for its length, and then for parts. */
export function preferredCoding(exchange: Exchange, format: Format, range: string): Encoding | null {
  if (format === 'parquet' || range !== '') return null
  const accepted = exchange.headerValues(ACCEPT_ENCODING)
  return accepted === '' ? null : codings.of(accepted)
}

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
