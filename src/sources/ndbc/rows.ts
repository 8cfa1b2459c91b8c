/** Files of standard meteorological data: their header in any generation, and their rows as codes. */
import { digitsAt, Fields, lineText, splitBlanks, textOf, textsOf } from '../reading/fields.ts'
import type { FileReport } from '../source.ts'
import { codeLimits, MEASURES, NO_CODE } from '../../sea/columns.ts'
import { type MeasureColumn, measureColumn, readMeasures } from '../reading/measures.ts'
import { epochSeconds } from '../reading/times.ts'

/**
 * The columns that are read, by the header's names since 2007. APD serves only to compare samples. The
 * archive marks "missing" by nines, column by column: in another column the same number is a measurement.
 */
const READ = [
  { label: 'WVHT', measure: 'significantHeight', nines: 99, metresPerSecond: false },
  { label: 'DPD', measure: 'period', nines: 99, metresPerSecond: false },
  { label: 'APD', measure: 'period', nines: 99, metresPerSecond: false },
  { label: 'MWD', measure: 'direction', nines: 999, metresPerSecond: false },
  { label: 'WTMP', measure: 'waterTemperature', nines: 999, metresPerSecond: false },
  { label: 'WDIR', measure: 'windDirection', nines: 999, metresPerSecond: false },
  { label: 'WSPD', measure: 'windSpeed', nines: 99, metresPerSecond: true },
  { label: 'GST', measure: 'gustSpeed', nines: 99, metresPerSecond: true },
] as const

export const WIDTH = READ.length
export const WVHT = 0
export const DPD = 1
export const APD = 2
export const MWD = 3
export const WTMP = 4
export const WDIR = 5
export const WSPD = 6
export const GST = 7

/**
 * The rows of one feed of a station, in the order of its files; codes as in the snapshot, NO_CODE where
 * missing.
 */
export class StationRows {
  length = 0
  time: Float64Array
  /** The values of each row, in the order of READ. */
  codes: Int32Array
  /** Row at which each file begins. */
  readonly files: { first: number; file: FileReport }[] = []

  constructor(capacity: number) {
    this.time = new Float64Array(capacity)
    this.codes = new Int32Array(capacity * WIDTH)
  }

  clear(): void {
    this.length = 0
    this.files.length = 0
  }

  /** Makes room for this many more rows. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.time.length) return
    const capacity = Math.max(needed, this.time.length * 2)
    const longer = new Float64Array(capacity)
    longer.set(this.time.subarray(0, this.length))
    this.time = longer
    const wider = new Int32Array(capacity * WIDTH)
    wider.set(this.codes.subarray(0, this.length * WIDTH))
    this.codes = wider
  }

  append({ length, time, codes }: StationRows, file: FileReport): void {
    this.reserve(length)
    this.files.push({ first: this.length, file })
    this.time.set(time.subarray(0, length), this.length)
    this.codes.set(codes.subarray(0, length * WIDTH), this.length * WIDTH)
    this.length += length
  }

  fileOf(row: number): FileReport {
    let found = this.files[0]
    for (const entry of this.files) if (entry.first <= row) found = entry
    return found.file
  }
}

/** Names of the header before 2007, and of the years in `latest_obs.txt`. */
const OLD_LABELS: { readonly [label: string]: string } = { WD: 'WDIR', BAR: 'PRES', YYYY: 'YY' }

interface Header {
  labels: readonly string[]
  realtime: boolean
  /** Five fields: year, month, day, hour, minute; −1 for a minute that the generation does not have. */
  time: readonly number[]
  columns: readonly MeasureColumn[]
  /** For each of READ its index in `columns`, or −1. */
  places: readonly number[]
}

function parseHeader(bytes: Uint8Array, fields: Fields): Header | null {
  const labels = textsOf(bytes, fields)
    .map((label, index) => (index === 0 ? label.replace('#', '') : label))
    .map((label) => OLD_LABELS[label] ?? label)
  const time = ['YY', 'MM', 'DD', 'hh', 'mm'].map((label) => labels.indexOf(label))
  if (time.slice(0, 4).includes(-1) || !labels.includes('WVHT') || !labels.includes('DPD')) return null
  // Only real-time files have the pressure tendency, and only they write MM and never nines.
  const realtime = labels.includes('PTDY')
  const columns: MeasureColumn[] = []
  const places = READ.map(({ label, measure, nines, metresPerSecond }) => {
    const field = labels.indexOf(label)
    if (field < 0) return -1
    const missing = realtime ? {} : { missing: [nines, nines] as const }
    return columns.push(measureColumn(measure, field, label, { metresPerSecond, ...missing })) - 1
  })
  return fields.count === labels.length ? { labels, realtime, time, columns, places } : null
}

/**
 * Finds the header and returns a reader of the lines below it, all of `station` if one is named. A file
 * without a header is reported.
 */
export function openRows(bytes: Uint8Array, file: FileReport, station?: string): RowReader | null {
  const fields = new Fields()
  let line = 1
  let at = 0
  do {
    splitBlanks(bytes, at, fields)
    at = fields.next
    line++
  } while (fields.count === 0 && at < bytes.length)
  const header = parseHeader(bytes, fields)
  if (header !== null) return new RowReader(bytes, at, line, header, file, station)
  file.bad(line - 1, 'no header line of an NDBC standard meteorological file')
  return null
}

const BLANK = 32
const LF = 10
const CR = 13
const HASH = 35
const MINUS = 45
const POINT = 46
const CAPITAL_M = 77

/** Plain values have at most this many decimals, and this many bytes of digits and point. */
const PLAIN_DECIMALS = 4

const PLAIN_BYTES = 7

/** Reads a file row by row. */
class RowReader {
  /** Epoch seconds of the row. */
  time = 0
  /** Fields of the line, unless the row was a plain one. */
  readonly fields: Fields = new Fields()
  readonly header: Header
  readonly bytes: Uint8Array
  readonly #file: FileReport
  readonly #station: string | undefined
  #at: number
  #line: number
  /**
   * Lines before this offset may be read as plain ones, which looks for the end of the line but not of the
   * file.
   */
  readonly #plainEnd: number
  readonly #plan: PlainPlan | null
  /** The last date, as one number, and its midnight. */
  #date = -1
  #midnight = 0
  readonly #read: Int32Array
  #understood = 0

  constructor(
    bytes: Uint8Array,
    at: number,
    line: number,
    header: Header,
    file: FileReport,
    station: string | undefined,
  ) {
    this.#station = station
    this.bytes = bytes
    this.#at = at
    this.#line = line
    this.header = header
    this.#file = file
    this.#plan = plainPlan(header)
    this.#plainEnd = this.#plan === null ? 0 : bytes.lastIndexOf(LF) + 1
    this.#read = new Int32Array(header.columns.length)
  }

  /**
   * Puts the values of the next row with waves, wind or water temperature at `base` of `codes`, in the order
   * of READ. False at the end of the file.
   */
  next(codes: Int32Array, base: number): boolean {
    while (this.#at < this.bytes.length) {
      const end = this.#at < this.#plainEnd ? this.#readPlain(codes, base) : -1
      if (end >= 0) {
        this.#at = end
        this.#line++
      } else if (!this.#readAny(codes, base)) continue
      this.#understood++
      if (codes[base + DPD] === 0) {
        codes[base + DPD] = NO_CODE
        this.#file.skipped('dominant period of 0 s', this.#station)
      }
      if (codes[base + WVHT] !== NO_CODE || hasWeather(codes, base)) return true
      this.#file.skipped('neither waves, wind nor water temperature', this.#station)
    }
    this.#file.rows(this.#understood)
    return false
  }

  /** Reports the row that was read last as one that cannot be used. */
  refuse(reason: string): void {
    this.#understood--
    this.#file.bad(this.#line - 1, reason)
  }

  /**
   * Reads a plain line, as nearly all are, in one pass over its bytes: blanks between fields, a date of
   * digits, and values that are whole codes within their limits. Returns where the next line begins, or −1
   * for any other line, without reporting it.
   */
  #readPlain(codes: Int32Array, base: number): number {
    const bytes = this.bytes
    const { clockFields, tasks, factors, missing, least, most, circle } = this.#plan!
    let at = this.#at
    let date = 0
    let clock = 0
    for (let field = 0; field < clockFields; field++) {
      while (bytes[at] === BLANK) at++
      const first = at
      let value = 0
      for (let digit = bytes[at] - 48; digit >= 0 && digit <= 9; digit = bytes[at] - 48) {
        value = value * 10 + digit
        at++
        if (at - first > 4) return -1
      }
      if (at === first || bytes[at] > BLANK) return -1
      if (field === 0) date = value
      else if (field === 3) {
        if (value > 23) return -1
        clock = value * 3600
      } else if (field === 4) {
        if (value > 59) return -1
        clock += value * 60
      } else {
        if (value > 31) return -1
        date = date * 32 + value
      }
    }
    if (date !== this.#date && !this.#startDate(date)) return -1
    for (let i = 0; i < tasks.length; i++) {
      while (bytes[at] === BLANK) at++
      const task = tasks[i]
      const first = at
      if (task < 0) {
        while (bytes[at] > BLANK) at++
        if (at === first) return -1
        continue
      }
      const isNegative = bytes[at] === MINUS
      if (isNegative) at++
      else if (bytes[at] === CAPITAL_M) {
        if (bytes[at + 1] !== CAPITAL_M || bytes[at + 2] > BLANK) return -1
        at += 2
        codes[base + task] = NO_CODE
        continue
      }
      const digits = at
      let value = 0
      let decimals = 0
      let digit = bytes[at] - 48
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit
        digit = bytes[++at] - 48
      }
      if (at === digits || at - digits > PLAIN_BYTES) return -1
      if (digit === POINT - 48) {
        const point = at
        digit = bytes[++at] - 48
        while (digit >= 0 && digit <= 9) {
          value = value * 10 + digit
          digit = bytes[++at] - 48
        }
        if (at - digits > PLAIN_BYTES) return -1
        decimals = at - point - 1
        if (decimals > PLAIN_DECIMALS) return -1
      }
      if (bytes[at] > BLANK) return -1
      const factor = factors[task * (PLAIN_DECIMALS + 1) + decimals]
      let code = (isNegative ? -value : value) * factor
      if (code === missing[task]) code = NO_CODE
      else {
        if (code === circle[task]) code = 0
        if (factor === 0 || code < least[task] || code > most[task]) return -1
      }
      codes[base + task] = code
    }
    while (bytes[at] === BLANK) at++
    if (bytes[at] === CR) at++
    if (bytes[at] !== LF) return -1
    for (const task of this.#plan!.absent) codes[base + task] = NO_CODE
    this.time = this.#midnight + clock
    return at + 1
  }

  /** Sets the date to `(year × 32 + month) × 32 + day`; false if the day does not exist. */
  #startDate(date: number): boolean {
    const year = Math.floor(date / 1024)
    // Years had two digits until 1998.
    const midnight = epochSeconds(
      year < 100 ? 1900 + year : year,
      Math.floor(date / 32) % 32,
      date % 32,
      0,
      0,
      0,
    )
    // The column of times ends within a day.
    if (midnight < 0 || midnight > 0xffff_ffff - 86_400) return false
    this.#date = date
    this.#midnight = midnight
    return true
  }

  /**
   * Reads any line and moves on to the next. False if it is not a row, which is reported unless it is a
   * comment.
   */
  #readAny(codes: Int32Array, base: number): boolean {
    const bytes = this.bytes
    const { fields, header } = this
    const { starts, ends } = fields
    splitBlanks(bytes, this.#at, fields)
    this.#at = fields.next
    const line = this.#line++
    // The unit line, and remarks between the rows.
    if (fields.count === 0 || bytes[starts[0]] === HASH) return false
    if (fields.count !== header.labels.length) {
      this.#file.bad(line, 'wrong number of fields', lineText(bytes, starts[0], fields))
      return false
    }
    const [year, month, day, hour, minute] = header.time.map((field) =>
      field < 0 ? 0 : digitsAt(bytes, starts[field], ends[field]),
    )
    this.time = epochSeconds(year >= 0 && year < 100 ? 1900 + year : year, month, day, hour, minute, 0)
    if (this.time < 0) {
      this.#file.bad(line, 'no valid date and time', lineText(bytes, starts[0], fields))
      return false
    }
    const fault = readMeasures(this, header.columns, this.#read, this.#file)
    if (fault !== null) {
      this.#file.bad(line, fault, textOf(bytes, fields, fields.wrong))
      return false
    }
    for (let i = 0; i < WIDTH; i++) {
      const place = header.places[i]
      codes[base + i] = place < 0 ? NO_CODE : this.#read[place]
    }
    return true
  }
}

/** How plain lines of a file are read. */
interface PlainPlan {
  /** Fields of date and time, which stand first. */
  clockFields: number
  /** For each later field its index in READ, −1 for those that are not read. */
  tasks: Int8Array
  /** Indexes in READ that the file has no field for. */
  absent: readonly number[]
  /**
   * By index in READ and number of decimals: the factor from a value without its point to its code; 0 if that
   * is not exact.
   */
  factors: Int32Array
  /** By index in READ: the codes that mark "missing" and a full circle, and the lowest and highest. */
  missing: Int32Array
  circle: Int32Array
  least: Int32Array
  most: Int32Array
}

/** No value has this code. */
const NEVER = -0x4000_0000

/** Null if date and time are not the first fields, in their order. */
function plainPlan({ labels, realtime, time, places }: Header): PlainPlan | null {
  const clockFields = time[4] < 0 ? 4 : 5
  if (time.slice(0, clockFields).some((field, place) => field !== place)) return null
  const filled = (code: number): Int32Array => new Int32Array(WIDTH).fill(code)
  const plan: PlainPlan = {
    clockFields,
    tasks: new Int8Array(labels.length - clockFields).fill(-1),
    absent: places.flatMap((place, i) => (place < 0 ? [i] : [])),
    factors: new Int32Array(WIDTH * (PLAIN_DECIMALS + 1)),
    missing: filled(NEVER),
    circle: filled(NEVER),
    least: filled(0),
    most: filled(0),
  }
  READ.forEach(({ label, measure, nines, metresPerSecond }, i) => {
    const field = labels.indexOf(label)
    if (field >= clockFields) plan.tasks[field - clockFields] = i
    const { scale } = MEASURES[measure]
    const { min, max, circle } = codeLimits(MEASURES[measure])
    // 3.6 km/h in 1 m/s.
    const codesPerUnit = metresPerSecond ? (scale * 36) / 10 : scale
    for (let decimals = 0; decimals <= PLAIN_DECIMALS; decimals++) {
      const factor = codesPerUnit / 10 ** decimals
      if (Number.isInteger(factor)) plan.factors[i * (PLAIN_DECIMALS + 1) + decimals] = factor
    }
    if (!realtime) plan.missing[i] = nines * codesPerUnit
    if (circle !== NO_CODE) plan.circle[i] = circle
    plan.least[i] = min
    plan.most[i] = max
  })
  return plan
}

/** Whether the values at `base` hold wind or water temperature. */
function hasWeather(codes: Int32Array, base: number): boolean {
  return (
    codes[base + WTMP] !== NO_CODE ||
    codes[base + WDIR] !== NO_CODE ||
    codes[base + WSPD] !== NO_CODE ||
    codes[base + GST] !== NO_CODE
  )
}
