/**
 * Reading text formats as bytes: files, lines, fields, numbers, times.
 *
 * A national archive has hundreds of millions of lines, so nothing here makes a string for a line or a field
 * that is measured, and no measured value passes through a float: "2.30" becomes 2300 by integer arithmetic.
 */
import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createGunzip, gunzipSync } from 'node:zlib'
import { MEASURES, type MeasureName } from '../../sea/columns.ts'
import { readRegularFile, UnfitFile } from '../../system/files.ts'
import { type FileReport } from '../source.ts'
import { BuildError } from '../../system/build-error.ts'

/**
 * Largest file that is read, after decompression: it is held in memory whole, and a small .gz can hold any
 * amount.
 */
const MAX_FILE_BYTES = 2 ** 30

/** Names of one folder that are held at once. */
const MAX_ENTRIES = 500_000

/** Fields of one line whose places are kept; the widest format here has 73. */
const MAX_FIELDS = 256

/**
 * A quote that is not closed within this many bytes is a stray one; without the bound it would swallow the
 * file.
 */
const MAX_QUOTED_BYTES = 65_536

/** Of a bad line, before the report cuts it. */
const LINE_SHOWN_BYTES = 200

const LF = 10
const CR = 13
const TAB = 9
const BLANK = 32
const QUOTE = 34
const PLUS = 43
const MINUS = 45
const POINT = 46
const COLON = 58

export interface FolderListing {
  /** Names of regular files, sorted; hidden ones are left out. */
  files: string[]
  /** Names of sub-folders, sorted; hidden ones are left out. */
  folders: string[]
}

/** What lies directly in `folder`, or null where there is no such folder. */
export async function listFolder(folder: string): Promise<FolderListing | null> {
  const files: string[] = []
  const folders: string[] = []
  try {
    for await (const entry of await opendir(folder, { bufferSize: 1024 })) {
      if (entry.name.startsWith('.')) continue
      // A link counts as what it points to; pipes and devices are never opened.
      const kind = entry.isSymbolicLink() ? await stat(join(folder, entry.name)).catch(() => null) : entry
      if (kind?.isFile()) files.push(entry.name)
      else if (kind?.isDirectory()) folders.push(entry.name)
      if (files.length + folders.length > MAX_ENTRIES)
        throw new BuildError(`${folder}: holds more than ${MAX_ENTRIES} files; split it`)
    }
  } catch (error) {
    if (error instanceof BuildError) throw error
    const code = codeOfError(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw new BuildError(`${folder}: cannot be read (${code})`)
  }
  return { files: files.sort(), folders: folders.sort() }
}

/**
 * Reads a plain or gzip file (told apart by content) without its byte order mark.
 *
 * A damaged or cut gzip file is reported as one bad line, and the whole lines before the damage are returned.
 * @throws BuildError when the file cannot be read or is larger than `maxBytes`, before or after
 * decompression.
 */
export async function readText(path: string, file: FileReport, maxBytes = MAX_FILE_BYTES): Promise<Buffer> {
  let stored: Buffer
  try {
    stored = await readRegularFile(path, maxBytes)
  } catch (error) {
    if (error instanceof UnfitFile) {
      throw error.code === 'TOO_LARGE'
        ? tooLarge(path, maxBytes)
        : new BuildError(`${path}: ${error.message}`)
    }
    throw new BuildError(`${path}: cannot be read (${codeOfError(error)})`)
  }
  const bytes =
    stored[0] === 0x1f && stored[1] === 0x8b ? await decompress(path, stored, file, maxBytes) : stored
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return marked ? bytes.subarray(3) : fromUtf16(bytes)
}

/**
 * Spreadsheets save "Unicode text" as UTF-16 with a byte order mark: the same as UTF-8; all else as it is.
 */
function fromUtf16(bytes: Buffer): Buffer {
  const isLittle = bytes[0] === 0xff && bytes[1] === 0xfe
  const isBig = bytes[0] === 0xfe && bytes[1] === 0xff
  if (!isLittle && !isBig) return bytes
  return Buffer.from(new TextDecoder(isLittle ? 'utf-16le' : 'utf-16be').decode(bytes))
}

async function decompress(path: string, stored: Buffer, file: FileReport, maxBytes: number): Promise<Buffer> {
  try {
    return gunzipSync(stored, { maxOutputLength: maxBytes })
  } catch (error) {
    if (codeOfError(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(path, maxBytes)
  }
  // The call above gives all or nothing; the stream hands over what it had before the fault.
  const chunks: Buffer[] = []
  let length = 0
  try {
    const stream = createGunzip()
    stream.end(stored)
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > maxBytes) throw tooLarge(path, maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof BuildError) throw error
  }
  const whole = Buffer.concat(chunks)
  // The last line may be cut inside a number.
  const kept = whole.subarray(0, whole.lastIndexOf(LF) + 1)
  let line = 1
  for (let at = kept.indexOf(LF); at >= 0; at = kept.indexOf(LF, at + 1)) line++
  file.bad(line, 'the gzip data is damaged or cut off here')
  return kept
}

function tooLarge(path: string, maxBytes: number): BuildError {
  return new BuildError(`${path}: larger than ${maxBytes} bytes; split it`)
}

function codeOfError(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown fault'
}

/** Where the fields of one line lie; used again from line to line. */
export class Fields {
  readonly starts: Int32Array = new Int32Array(MAX_FIELDS)
  readonly ends: Int32Array = new Int32Array(MAX_FIELDS)
  /** Fields of the line; above MAX_FIELDS their places are not kept. */
  count = 0
  /** Where the next line begins. */
  next = 0
  /** Physical lines that this one spans: more than one where a quoted field holds line ends. */
  lines = 1
  /** What is wrong with the line as such, or null. */
  fault: string | null = null
  /** The field that `readMeasures` could not read. */
  wrong = 0
}

/** Splits the line at `from` on runs of blanks and tabs. A blank line has no fields. */
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
}

/**
 * Splits the line at `from` on `separator` (one byte) with the quoting of RFC 4180. Unquoted fields are
 * trimmed of blanks; a doubled quote inside quotes is left for `textOf`. A blank line has one empty field.
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
      for (let inner = at; inner < close; inner++) if (bytes[inner] === LF) fields.lines++
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

/** What is wrong with a line before any of its fields is looked at, or null. */
export function lineFault({ fault, count }: Fields, columns: number): string | null {
  return fault ?? (count === columns ? null : 'wrong number of fields')
}

/** The beginning of a line, for the report. */
export function lineText(bytes: Uint8Array, at: number, { next }: Fields): string {
  return decode(bytes.subarray(at, Math.min(next, at + LINE_SHOWN_BYTES))).trimEnd()
}

const SEPARATORS: readonly number[] = [0x2c, 0x3b, TAB]

/**
 * What stands most often in the first line of a table, a comma, a semicolon or a tab: spreadsheets of many
 * countries write the second.
 */
export function separatorOf(bytes: Uint8Array): number {
  const end = bytes.indexOf(LF)
  const header = bytes.subarray(0, end < 0 ? bytes.length : end)
  const counts = SEPARATORS.map((separator) => header.reduce((n, byte) => n + Number(byte === separator), 0))
  return SEPARATORS[counts.indexOf(Math.max(...counts))]
}

/** Index of the quote that closes the one at `open`, or −1. */
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

/** Bytes as text: UTF-8, or Latin-1 where they are no UTF-8. */
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

/** The texts of all fields of a line, as for a header. */
export function textsOf(bytes: Uint8Array, fields: Fields): string[] {
  return Array.from({ length: Math.min(fields.count, MAX_FIELDS) }, (_, index) =>
    textOf(bytes, fields, index),
  )
}

/** A name for people: runs of blanks and control characters become one blank, ends are trimmed. */
export function cleanName(text: string): string {
  // Without the cut a damaged list could carry a whole file as one name.
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, 200)
}

/** Decimal degrees between −limit and limit, or NaN. */
export function degreesOf(text: string, limit: number): number {
  if (!/^[+-]?\d{1,3}(\.\d{0,15})?$/.test(text)) return NaN
  const value = Number(text)
  return Math.abs(value) <= limit ? value : NaN
}

/** What `decimal` gives for text that is no number. */
export const MALFORMED = -0x40000000

/** `decimal` counts in this many parts of a unit: finer than any format here writes. */
const PARTS = 10_000
/**
 * Larger values saturate here: beyond every limit and every missing marker, and products with it stay in 31
 * bits.
 */
const SATURATED = 2000 * PARTS

/**
 * Reads plain decimal text ("-1.5", "+0.2", "07", ".5", "3.") as a count of ten-thousandths; MALFORMED for
 * anything else. Digits past the fourth decimal are cut off: they decide no rounding to a half that lies on a
 * ten-thousandth.
 */
export function decimal(bytes: Uint8Array, from: number, to: number): number {
  let at = from
  const negative = bytes[at] === MINUS
  if (negative || bytes[at] === PLUS) at++
  const first = at
  let value = 0
  for (; at < to; at++) {
    const digit = bytes[at] - 48
    if (digit < 0 || digit > 9) break
    if (value < 2000) value = value * 10 + digit
  }
  let digits = at - first
  value = value < 2000 ? value * PARTS : SATURATED
  if (at < to && bytes[at] === POINT) {
    at++
    let place = PARTS
    for (; at < to; at++) {
      const digit = bytes[at] - 48
      if (digit < 0 || digit > 9) break
      digits++
      place = (place / 10) | 0
      value += digit * place
    }
  }
  if (at !== to || digits === 0) return MALFORMED
  return negative ? -value : value
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

const DAYS_BEFORE_MONTH = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
const DAYS_OF_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

/**
 * Epoch seconds of a UTC date in the proleptic Gregorian calendar, or −1 where there is no such moment or the
 * time column cannot hold it (before 1970, after February 2106).
 */
export function epochSeconds(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  if (year < 1970 || year > 2106 || month < 1 || month > 12 || day < 1) return -1
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return -1
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  if (day > DAYS_OF_MONTH[month - 1] + (leap && month === 2 ? 1 : 0)) return -1
  const before = year - 1
  // 477 leap days lie before 1970.
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400) - 477
  const days =
    (year - 1970) * 365 + leapDays + DAYS_BEFORE_MONTH[month - 1] + (leap && month > 2 ? 1 : 0) + day - 1
  const seconds = days * 86_400 + hour * 3600 + minute * 60 + second
  return seconds <= 0xffff_ffff ? seconds : -1
}

/**
 * Reads `YYYY-MM-DDThh:mm[:ss[.000]]` (a blank for the T will do) as epoch seconds, or −1. `zone` says what
 * follows: 'none' is UTC without a mark, 'offset' is `Z`, `±hh`, `±hhmm` or `±hh:mm`. A fraction of a second
 * must be zero: times are whole seconds.
 */
export function isoSeconds(bytes: Uint8Array, from: number, to: number, zone: 'none' | 'offset'): number {
  if (to - from < 16 || bytes[from + 4] !== MINUS || bytes[from + 7] !== MINUS) return -1
  const middle = bytes[from + 10]
  if ((middle !== 84 && middle !== 116 && middle !== BLANK) || bytes[from + 13] !== COLON) return -1
  let at = from + 16
  let second = 0
  if (bytes[at] === COLON && at < to) {
    second = at + 3 <= to ? digitsAt(bytes, at + 1, at + 3) : -1
    at += 3
    if (at < to && bytes[at] === POINT) {
      at++
      const fraction = at
      while (at < to && bytes[at] === 48) at++
      if (at === fraction) return -1
    }
  }
  const local = epochSeconds(
    digitsAt(bytes, from, from + 4),
    digitsAt(bytes, from + 5, from + 7),
    digitsAt(bytes, from + 8, from + 10),
    digitsAt(bytes, from + 11, from + 13),
    digitsAt(bytes, from + 14, from + 16),
    second,
  )
  if (local < 0) return -1
  if (zone === 'none') return at === to ? local : -1
  const sign = bytes[at]
  if (sign === 90 || sign === 122) return at + 1 === to ? local : -1
  if (at >= to || (sign !== PLUS && sign !== MINUS)) return -1
  const hours = at + 3 <= to ? digitsAt(bytes, at + 1, at + 3) : -1
  at += 3
  let minutes = 0
  if (at < to) {
    if (bytes[at] === COLON) at++
    minutes = at + 2 === to ? digitsAt(bytes, at, to) : -1
  }
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return -1
  const utc = local - (sign === MINUS ? -1 : 1) * (hours * 3600 + minutes * 60)
  return utc >= 0 && utc <= 0xffff_ffff ? utc : -1
}

/** Stands for "not measured" among codes of every measure: below the lowest code that any of them has. */
export const NO_CODE = -0x8000

/** One column of a file that holds a measure: where it is and how its text becomes a code. */
export interface MeasureColumn {
  readonly name: MeasureName
  /** 0-based field of the line. */
  readonly field: number
  /** Code = ten-thousandths × times / over. */
  readonly times: number
  readonly over: number
  /** Values from here to there, in ten-thousandths, mark "missing". */
  readonly missingFrom: number
  readonly missingTo: number
  readonly min: number
  readonly max: number
  /** The code of a full circle, which is stored as 0; NO_CODE for what is no direction. */
  readonly circle: number
  readonly reasons: { readonly outside: string; readonly malformed: string }
}

export interface ColumnOptions {
  /** Values (in units of the text) from the first to the second, inclusive, mark "missing". */
  missing?: readonly [number, number]
  /** The text is in metres a second and becomes km/h. */
  metresPerSecond?: boolean
}

/**
 * Describes the column `field` with the header `label`, which holds `name` in the contract's unit unless
 * `options` say otherwise.
 */
export function measureColumn(
  name: MeasureName,
  field: number,
  label: string,
  options: ColumnOptions = {},
): MeasureColumn {
  const { scale, min, max, unit } = MEASURES[name]
  const metresPerSecond = options.metresPerSecond ?? false
  const [missingFrom, missingTo] = options.missing ?? [1, 0]
  return {
    name,
    field,
    // 3.6 km/h in 1 m/s; the fraction is in lowest terms so that the product stays in 31 bits.
    times: metresPerSecond ? 36 : 1,
    over: ((metresPerSecond ? 10 : 1) * PARTS) / scale,
    missingFrom: Math.round(missingFrom * PARTS),
    missingTo: Math.round(missingTo * PARTS),
    min: Math.round(min * scale),
    max: Math.round(max * scale),
    circle: unit === 'degree' ? 360 * scale : NO_CODE,
    reasons: {
      outside: `${label} outside ${min} to ${max} ${unit}`,
      malformed: `${label} is not a decimal number`,
    },
  }
}

/**
 * Reads the measured fields of a line into `codes`, one per column, NO_CODE where nothing was measured: an
 * empty field, the word `MM`, a marker of the column, or a value beyond the measure's limits, which is
 * counted as skipped. A value with more decimals than its column keeps is rounded to the nearest that it
 * does, halves away from zero. Returns what is wrong with the line, or null; `fields.wrong` is then the field
 * that is to blame.
 */
export function readMeasures(
  bytes: Uint8Array,
  fields: Fields,
  columns: readonly MeasureColumn[],
  codes: Int32Array,
  file: FileReport,
): string | null {
  const { starts, ends } = fields
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]
    const from = starts[column.field]
    const to = ends[column.field]
    codes[i] = NO_CODE
    if (to === from || (bytes[from] === 77 && bytes[from + 1] === 77 && to - from === 2)) continue
    const value = decimal(bytes, from, to)
    if (value === MALFORMED) {
      fields.wrong = column.field
      return column.reasons.malformed
    }
    if (value >= column.missingFrom && value <= column.missingTo) continue
    const size = Math.floor((2 * Math.abs(value) * column.times + column.over) / (2 * column.over))
    let code = value < 0 ? -size : size
    if (code === column.circle) code = 0
    if (code < column.min || code > column.max) file.skipped(column.reasons.outside)
    else codes[i] = code
  }
  return null
}

/** Measures that describe a wave sample and mean nothing without its significant height. */
const WAVE_MEASURES: ReadonlySet<MeasureName> = new Set([
  'significantHeight',
  'maximumHeight',
  'period',
  'peakPeriod',
  'direction',
])

/**
 * Takes wave values without a significant height out of a row, for they make no reading (contract:
 * "Reading"), and counts that. Returns whether anything is left. `codes[i]` belongs to `names[i]`.
 */
export function dropUnusable(names: readonly MeasureName[], codes: Int32Array, file: FileReport): boolean {
  const height = names.indexOf('significantHeight')
  const hasWaves = height >= 0 && codes[height] !== NO_CODE
  let isUsable = false
  let dropped = false
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === NO_CODE) continue
    if (hasWaves || !WAVE_MEASURES.has(names[i])) isUsable = true
    else {
      codes[i] = NO_CODE
      dropped = true
    }
  }
  if (dropped) file.skipped('wave values without a significant height')
  else if (!isUsable) file.skipped('a row without a value')
  return isUsable
}
