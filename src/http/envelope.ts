/** What surrounds the data of every answer: `{"status":"success","data":…,"meta":{…,"timestamp":"…"}}`. */
import type { JsonWriter } from '../dataset/json-writer.ts'
import { Literal } from '../dataset/literals.ts'
import { META, PRELUDE_BYTES } from '../operation/operation.ts'
import type { Paging, Pieces } from '../dataset/table.ts'
import type { View } from '../dataset/view.ts'
import { timestampText } from '../sea/time.ts'

const ENVELOPE_START = new Literal('{"status":"success","data":')
const SNAPSHOT = new Literal('"snapshot":"')
const SNAPSHOT_END = new Literal('",')
const TIMESTAMP = new Literal('"timestamp":')
const ENVELOPE_END = new Literal('}}')

/** More than what follows the data and the members of `meta`. */
const ENVELOPE_END_BYTES = 128

/** `2026-03-27T09:00:00Z"}}` ends every answer: the bytes of a kept one that change. */
export const TAIL_BYTES = 23

const ENCODER = new TextEncoder()

/** `second`: epoch seconds. */
export function tailAt(second: number): Uint8Array<ArrayBuffer> {
  return ENCODER.encode(`${timestampText(second)}"}}`)
}

/** Begins an answer, whose data an operation is to write into the view's writer. */
export function beginAnswer({ fragments: { writer } }: View): void {
  writer.begin()
  writer.ensure(PRELUDE_BYTES)
  writer.literal(ENVELOPE_START)
}

/** `second`: epoch seconds. `pin`: id of the pinned snapshot, which a list names. */
export function endAnswer(writer: JsonWriter, begun: Paging | void, second: number, pin = ''): void {
  writer.ensure(ENVELOPE_END_BYTES)
  if (begun === undefined) writer.literal(META)
  else if (pin !== '') {
    writer.literal(SNAPSHOT)
    writer.text(pin)
    writer.literal(SNAPSHOT_END)
  }
  writer.literal(TIMESTAMP)
  writer.timestamp(second)
  writer.literal(ENVELOPE_END)
}

/** A whole answer around the pieces of its `data`, which begin its `meta` where there is a paging. */
export function enveloped(data: Pieces, paging: Paging | undefined, second: number, pin: string): Pieces {
  let hasBegun = false
  return {
    next(writer) {
      if (!hasBegun) {
        writer.ensure(PRELUDE_BYTES)
        writer.literal(ENVELOPE_START)
      }
      hasBegun = true
      const isLast = data.next(writer)
      if (isLast) endAnswer(writer, paging, second, pin)
      return isLast
    },
  }
}
