/** Whether answers are the same, whenever they were given. */
import { isDeepStrictEqual } from 'node:util'
import { TIMESTAMP, type JsonObject } from '../../test/oracle/oracle.ts'

/** ms that an answer's time may be away from ours. */
const NOW = 30_000
/** Whether two answers say the same, whenever they were given. */
export function sameAnswer(a: Buffer, b: Buffer): boolean {
  const timeless = (body: Buffer): unknown => {
    const parsed = JSON.parse(body.toString('utf8')) as { meta?: { timestamp?: string } }
    delete parsed.meta?.timestamp
    return parsed
  }
  return isDeepStrictEqual(timeless(a), timeless(b))
}

const STAMP = '"timestamp":"'
const STAMP_LENGTH = '2026-01-01T00:00:00Z'.length

const isNow = (time: string): boolean =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(time) && Math.abs(Date.parse(time) - Date.now()) < NOW

/** Whether `text` is `body` as JSON, with the time of now where that has `TIMESTAMP`. */
export function isText(text: string, body: JsonObject): boolean {
  const [before, after, ...more] = JSON.stringify(body).split(TIMESTAMP)
  return (
    more.length === 0 &&
    after !== undefined &&
    text.length === before.length + STAMP_LENGTH + after.length &&
    text.startsWith(before) &&
    text.endsWith(after) &&
    isNow(text.slice(before.length, before.length + STAMP_LENGTH))
  )
}

/** Whether two answers are the same bytes, but for the time of now in `meta.timestamp`. */
export function sameBytes(a: Buffer, b: Buffer): boolean {
  const at = a.lastIndexOf(STAMP)
  if (at === -1 || a.length !== b.length) return false
  const [start, end] = [at + STAMP.length, at + STAMP.length + STAMP_LENGTH]
  return (
    a.subarray(0, start).equals(b.subarray(0, start)) &&
    a.subarray(end).equals(b.subarray(end)) &&
    [a, b].every((body) => isNow(body.toString('latin1', start, end)))
  )
}
