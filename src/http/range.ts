/** One range of a body that is whole (RFC 9110, section 14): GDAL, DuckDB and readers of Parquet ask for parts. */
import { IF_RANGE, RANGE, type Exchange } from './exchange.ts'

/** Bytes `from` to before `to`. */
export interface ByteRange {
  readonly from: number
  readonly to: number
}

export const UNSATISFIABLE = 'unsatisfiable'

const ONE_RANGE = /^bytes=(\d{0,15})-(\d{0,15})$/

/** `Range`, or '' where all is to be sent: `If-Range` never holds, since our tags are weak. */
export function rangeAsked(exchange: Exchange): string {
  if (exchange.method !== 'GET' || exchange.header(IF_RANGE) !== '') return ''
  return exchange.headerValues(RANGE)
}

/** Null where all is to be sent: no range, several, or one that is not understood. */
export function rangeOf(asked: string, length: number): ByteRange | typeof UNSATISFIABLE | null {
  const [, first = '', last = ''] = ONE_RANGE.exec(asked.trim()) ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const count = Math.min(length, Number(last))
    return count === 0 ? UNSATISFIABLE : { from: length - count, to: length }
  }
  const [from, to] = [Number(first), last === '' ? Infinity : Number(last) + 1]
  if (to <= from) return null
  return from >= length ? UNSATISFIABLE : { from, to: Math.min(length, to) }
}
