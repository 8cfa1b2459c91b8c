/**
 * Lines and their fields as bytes: separated by blanks, or by a separator with the quoting of RFC 4180. An
 * archive has hundreds of millions of lines, so no line or measured field becomes a string.
 */

/** Fields of one line that can be read; a Spotter's table with the bands of its spectra has some 500. */
const MAX_FIELDS = 1024

/** A quote not closed within this many bytes is a stray one; an unbounded one would swallow the file. */
const MAX_QUOTED_BYTES = 65_536

const LINE_SHOWN_BYTES = 200

export const LF = 10
export const CR = 13
const TAB = 9
export const BLANK = 32
export const QUOTE = 34

export class Fields {
  readonly starts: Int32Array = new Int32Array(MAX_FIELDS)
  readonly ends: Int32Array = new Int32Array(MAX_FIELDS)
  /** Fields of the line; above MAX_FIELDS their places are not kept. */
  count = 0
  next = 0
  /** Physical lines that this one spans: a quoted field may hold line ends. */
  lines = 1
  /** The fault of the line apart from its fields, or null. */
  fault: string | null = null
}

/** Splits the line at `from` on runs of blanks and tabs; a blank line has no fields. */
export function splitBlanks(bytes: Uint8Array, from: number, fields: Fields): void {
  const { starts, ends } = fields
  const length = bytes.length
  let count = 0
  let at = from
  for (;;) {
    let byte = LF
    while (at < length && ((byte = bytes[at]) === BLANK || byte === TAB || byte === CR)) at++
    if (at >= length || byte === LF) break
    const start = at
    while (at < length && (byte = bytes[at]) !== BLANK && byte !== LF && byte !== TAB && byte !== CR) at++
    if (count < MAX_FIELDS) {
      starts[count] = start
      ends[count] = at
    }
    count++
  }
  fields.count = count
  fields.next = at + 1
  fields.lines = 1
  fields.fault = null
}

/**
 * Splits the line at `from` on `separator` (one byte), quoted as in RFC 4180. Unquoted fields are trimmed; a
 * doubled quote inside quotes is left for `textOf`. A blank line has one empty field.
 */
export function splitSeparated(bytes: Uint8Array, from: number, separator: number, fields: Fields): void {
  const { starts, ends } = fields
  const length = bytes.length
  let count = 0
  let at = from
  fields.lines = 1
  fields.fault = null
  for (;;) {
    let start = at
    let end = at
    if (bytes[at] === QUOTE) {
      const close = closingQuote(bytes, at)
      if (close < 0) {
        fields.fault = 'a quote is not closed'
        break
      }
      for (let inner = at; inner < close; inner++) {
        if (bytes[inner] === LF) fields.lines++
      }
      start = at + 1
      end = close
      at = close + 1
      if (bytes[at] === CR) at++
      if (at < length && bytes[at] !== separator && bytes[at] !== LF) {
        fields.fault = 'text after a closing quote'
        break
      }
    } else {
      while (at < length && bytes[at] !== separator && bytes[at] !== LF) at++
      end = at
      while (end > start && isBlank(bytes[end - 1])) end--
      while (start < end && isBlank(bytes[start])) start++
    }
    if (count < MAX_FIELDS) {
      starts[count] = start
      ends[count] = end
    }
    count++
    if (at >= length || bytes[at] === LF) break
    at++
  }
  while (at < length && bytes[at] !== LF) at++
  fields.count = count
  fields.next = at + 1
}

function isBlank(byte: number): boolean {
  return byte === BLANK || byte === TAB || byte === CR
}

export function lineText(bytes: Uint8Array, at: number, { next }: Fields): string {
  return decode(bytes.subarray(at, Math.min(next, at + LINE_SHOWN_BYTES))).trimEnd()
}

const SEPARATORS: readonly number[] = [0x2c, 0x3b, TAB]

/** The most frequent one in the first line: a comma, a semicolon or a tab. */
export function separatorOf(bytes: Uint8Array): number {
  const end = bytes.indexOf(LF)
  const header = bytes.subarray(0, end < 0 ? bytes.length : end)
  const counts = SEPARATORS.map((separator) => header.reduce((n, byte) => n + Number(byte === separator), 0))
  return SEPARATORS[counts.indexOf(Math.max(...counts))]
}

function closingQuote(bytes: Uint8Array, open: number): number {
  const limit = Math.min(bytes.length, open + MAX_QUOTED_BYTES)
  for (let at = open + 1; at < limit; at++) {
    if (bytes[at] !== QUOTE) continue
    if (bytes[at + 1] !== QUOTE) return at
    at++
  }
  return -1
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
const latin1 = new TextDecoder('latin1')

/** Bytes as text: UTF-8, or Latin-1 if they are not UTF-8. */
export function decode(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return latin1.decode(bytes)
  }
}

/** Field `index` as text; a field that the line does not have is empty. */
export function textOf(bytes: Uint8Array, fields: Fields, index: number): string {
  if (index < 0 || index >= Math.min(fields.count, MAX_FIELDS)) return ''
  const text = decode(bytes.subarray(fields.starts[index], fields.ends[index]))
  return bytes[fields.starts[index] - 1] === QUOTE ? text.replaceAll('""', '"') : text
}

export function textsOf(bytes: Uint8Array, fields: Fields): string[] {
  return Array.from({ length: Math.min(fields.count, MAX_FIELDS) }, (_, index) =>
    textOf(bytes, fields, index),
  )
}

/**
 * A name for people: runs of blanks and control characters become one blank, ends are trimmed. One with more
 * than `most` characters is cut at a word and ends in `…`.
 */
export function cleanName(text: string, most = 200): string {
  const clean = text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
  // Without the cut a damaged list could carry a whole file as one name.
  if (clean.length <= most) return clean
  const cut = clean.slice(0, most - 1)
  const words = cut.slice(0, Math.max(cut.lastIndexOf(' '), 0))
  return `${words || cut}…`
}

/** Characters of a credit, as in a configuration. */
export const MOST_OF_CREDIT = 1000

const MINUTES = /^(\d{1,3})° ?(\d{1,2}(?:[.,]\d{0,9})?)['′’] ?(?:(\d{1,2}(?:[.,]\d{0,9})?)["″”] ?)?([NSEW])$/

/**
 * Decimal degrees between −limit and limit, with a point or a comma, or degrees and minutes (`48°17.42'N`);
 * NaN for anything else.
 */
export function degreesOf(text: string, limit: number): number {
  const [, whole, minutes, seconds = '0', side] = MINUTES.exec(text) ?? []
  if (whole !== undefined) {
    const [m, s] = [minutes, seconds].map((part) => Number(part.replace(',', '.')))
    const size = Number(whole) + m / 60 + s / 3600
    const isWhere = 'NS'.includes(side) === (limit === 90) && m < 60 && s < 60 && size <= limit
    return isWhere ? (('SW'.includes(side) ? -1 : 1) * Math.round(size * 1e6)) / 1e6 : NaN
  }
  if (!/^[+-]?\d{1,3}([.,]\d{0,15})?$/.test(text)) return NaN
  const value = Number(text.replace(',', '.'))
  return Math.abs(value) <= limit ? value : NaN
}

/** Reads 1 to 10 digits, or −1. */
export function digitsAt(bytes: Uint8Array, from: number, to: number): number {
  if (to <= from || to - from > 10) return -1
  let value = 0
  for (let at = from; at < to; at++) {
    const digit = bytes[at] - 48
    if (digit < 0 || digit > 9) return -1
    value = value * 10 + digit
  }
  return value
}
