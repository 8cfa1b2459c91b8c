/**
 * NDBC's wave spectra: live files of five endings beside `realtime2`, and annual files of five letters
 * (`docs/sources-networks.md`). One of five has the densities, the others alpha1, alpha2, r1 and r2, which
 * are in hundredths in annual files and in ones in live files. A spectrum adds to the readings of its station
 * and makes none.
 */
import { lowerBound } from '../../index/bisect.ts'
import { type Bands, bandsKey } from '../../sea/spectra.ts'
import { bandsOf, type BandValues, nearerTo, SpectraBatch } from '../../sea/spectra-batch.ts'
import { MINUTE } from '../../sea/time.ts'
import { entryOf } from '../../system/entry-of.ts'
import { digitsAt, LF } from '../reading/fields.ts'
import { readText, takeDoubts } from '../reading/source-files.ts'
import { epochSeconds } from '../reading/times.ts'
import { numberAt } from '../reading/units.ts'
import type { FileReport, Report, Sink } from '../source.ts'
import type { StationHandle } from './ndbc-samples.ts'

const LIVE_FILE = /^([0-9a-z]{3,8})\.(data_spec|swdir2?|swr[12])(?:\.gz)?$/i
const ANNUAL_FILE = /^([0-9a-z]{5}|[0-9]{7})([wdijk])((?:19|20)\d\d)\.txt(?:\.gz)?$/i

type Quantity = 'density' | 'direction' | 'principal' | 'r1' | 'r2'

const QUANTITIES: { readonly [ending: string]: Quantity } = {
  data_spec: 'density',
  swdir: 'direction',
  swdir2: 'principal',
  swr1: 'r1',
  swr2: 'r2',
  w: 'density',
  d: 'direction',
  i: 'principal',
  j: 'r1',
  k: 'r2',
}

export interface SpectraFile {
  readonly path: string
  readonly identifier: string
  readonly quantity: Quantity
  /** The year of an annual file; null for a live one. */
  readonly year: string | null
}

/** Parts of a file's name; null for a file of another kind. */
export function spectraFile(name: string, path: string): SpectraFile | null {
  const [, identifier, ending, year = null] = LIVE_FILE.exec(name) ?? ANNUAL_FILE.exec(name) ?? []
  if (identifier === undefined) return null
  const quantity = QUANTITIES[ending.toLowerCase()]
  return { path, identifier: identifier.toUpperCase(), quantity, year }
}

/** Feeds of spectra: the archive is quality-controlled and wins. */
const ARCHIVE_FEED = 0
const LIVE_FEED = 1
/**
 * Live and annual files give one sample times up to ten minutes apart; samples come each half hour at most.
 */
const SAME_SAMPLE_SECONDS = 15 * MINUTE

/** Marks "missing" in every file; in hundredths too, so it is looked for before any division. */
const MISSING = 999

/** Annual files have one line of names above their rows; bands begin after the time. */
const CLOCK_FIELDS = 5
/** Files before 2005 have no minutes. */
const CLOCK_WITHOUT_MINUTES = 4

/** A row of a file: a value by band, NaN where it is missing. */
interface Row {
  readonly bands: Bands
  readonly values: Float64Array
}

/** Reads a station's files of spectra and sends them. */
export async function readSpectra(
  { buoy, identifier }: StationHandle,
  files: readonly SpectraFile[],
  sink: Sink,
  report: Report,
): Promise<void> {
  const groups = new Map<string | null, SpectraFile[]>()
  for (const file of files) entryOf(groups, file.year, () => []).push(file)
  const archived: number[] = []
  // The archive first: its samples are known when the live ones come.
  for (const [year, group] of [...groups].sort(([a], [b]) => (b ?? '').localeCompare(a ?? ''))) {
    const skips = year === null ? Uint32Array.from(archived).sort() : null
    const batches = await readGroup(identifier, group, skips, report)
    for (const batch of batches) {
      if (year !== null) archived.push(...batch.time.subarray(0, batch.length))
      if (batch.length > 0) sink.spectra(buoy, batch.taken(), year === null ? LIVE_FEED : ARCHIVE_FEED)
    }
  }
}

/** Files of one quantity each that belong together. `skips`: times of samples that the archive has. */
async function readGroup(
  station: string,
  group: readonly SpectraFile[],
  skips: Uint32Array | null,
  report: Report,
): Promise<SpectraBatch[]> {
  const doubt = takeDoubts(report)
  const sets = new BandSets()
  const rows = new Map<Quantity, { rows: Map<number, Row>; file: FileReport }>()
  for (const { path, quantity, year } of group) {
    const file = report.file(path)
    const isHundredths = year !== null && quantity.startsWith('r')
    const found = readFile(await readText(path, file), file, year === null, isHundredths, sets)
    if (file.end()) rows.set(quantity, { rows: found, file })
  }
  const given = [...rows.keys()]
  const densities = rows.get('density')
  if (densities === undefined) {
    if (given.length > 0) doubt('noDensities', `${station}: ${given.join(', ')}`)
    return []
  }
  const lacking = (['direction', 'principal', 'r1', 'r2'] as const).filter((name) => !rows.has(name))
  if (lacking.length > 0 && lacking.length < 4) doubt('lackingMoments', `${station}: ${lacking.join(', ')}`)
  for (const [quantity, { rows: found, file }] of rows) {
    if (quantity === 'density') continue
    const alone = [...found.keys()].filter((time) => !densities.rows.has(time)).length
    if (alone > 0) file.skipped('directions of a time without a spectrum', station, alone)
  }
  return joined(station, densities, (quantity, time) => rows.get(quantity)?.rows.get(time), skips)
}

function joined(
  station: string,
  { rows, file }: { rows: Map<number, Row>; file: FileReport },
  rowOf: (quantity: Quantity, time: number) => Row | undefined,
  skips: Uint32Array | null,
): SpectraBatch[] {
  const batches = new Map<string, SpectraBatch>()
  for (const [time, { bands, values: density }] of rows) {
    if (skips !== null && isNear(skips, time)) {
      file.skipped('a live spectrum that the archive has', station)
      continue
    }
    const valuesOf = (quantity: Quantity): Float64Array | null => {
      const row = rowOf(quantity, time)
      return row === undefined ? null : inBands(row, bands)
    }
    const direction = valuesOf('direction')
    const principal = valuesOf('principal')?.map((axis, i) => nearerTo(direction?.[i] ?? NaN, axis)) ?? null
    const values: BandValues = { density, direction, principal, r1: valuesOf('r1'), r2: valuesOf('r2') }
    const batch = entryOf(batches, bandsKey(bands), () => new SpectraBatch(bands))
    const fault = batch.add(time, values)
    if (fault !== null) file.skipped(fault, station)
  }
  for (const { outside } of batches.values()) {
    if (outside > 0) file.skipped('r1 or r2 outside 0 to 1', station, outside)
  }
  return [...batches.values()]
}

function isNear(times: Uint32Array, time: number): boolean {
  const after = lowerBound(times, time - SAME_SAMPLE_SECONDS + 1)
  return after < times.length && times[after] < time + SAME_SAMPLE_SECONDS
}

/** The values of a row by the bands of another one; NaN for a band that it does not have. */
function inBands({ bands, values }: Row, wanted: Bands): Float64Array {
  if (bands === wanted) return values
  return wanted.frequency.map((hz) => values[bands.frequency.indexOf(hz)] ?? NaN)
}

/** NDBC's bands since 1996: 47 with the lowest one, which few files have. */
const MIDDLES = [
  0.02,
  ...Array.from({ length: 13 }, (_, i) => (325 + 50 * i) / 10_000),
  ...Array.from({ length: 26 }, (_, i) => (10 + i) / 100),
  ...Array.from({ length: 7 }, (_, i) => (365 + 20 * i) / 1000),
]
const widthAt = (hz: number): number => {
  if (hz <= 0.0925) return 0.005
  return hz <= 0.35 ? 0.01 : 0.02
}
/** Live files round to thousandths: 0.0925 is 0.093 there. */
const ROUNDING_HZ = 0.00051

/**
 * Sets of bands in files that belong together, one for each quantity. NDBC changes a station's bands once in
 * years.
 */
const MAX_SETS = 16

/** The bands of a line by their middles, or their fault. Equal bands are one object. */
class BandSets {
  readonly #sets = new Map<string, Bands | string>()

  bandsBy(middles: readonly number[]): Bands | string {
    if (this.#sets.size === MAX_SETS && !this.#sets.has(middles.join()))
      return `more than ${MAX_SETS} sets of bands`
    return entryOf(this.#sets, middles.join(), () => {
      const exact = middles.map((hz) => MIDDLES.find((middle) => Math.abs(middle - hz) < ROUNDING_HZ))
      const known = exact.filter((hz) => hz !== undefined)
      return known.length === middles.length ? bandsOf(known, known.map(widthAt)) : bandsOf(middles, null)
    })
  }
}

/** The rows of a file by time. The later one of two rows of a time counts. */
function readFile(
  bytes: Buffer,
  file: FileReport,
  isLive: boolean,
  isHundredths: boolean,
  sets: BandSets,
): Map<number, Row> {
  const rows = new Map<number, Row>()
  const fields: number[] = []
  let header: readonly number[] | null = null
  let clock = CLOCK_FIELDS
  let before: readonly number[] = []
  let line = 0
  for (let at = 0; at < bytes.length;) {
    line++
    const end = bytes.indexOf(LF, at)
    const next = end < 0 ? bytes.length : end
    split(bytes, at, next, fields)
    const from = at
    at = next + 1
    if (fields.length === 0) continue
    const isHeader = line === 1 && /^(?:#|YY)/.test(bytes.toString('latin1', fields[0], fields[1]))
    if (isHeader) {
      if (isLive) continue
      const words = wordsOf(bytes, fields)
      clock = words.includes('mm') ? CLOCK_FIELDS : CLOCK_WITHOUT_MINUTES
      header = words.slice(clock).map(Number)
      continue
    }
    const time = timeOf(bytes, fields, clock)
    const found = isLive ? livePairs(bytes, fields) : annualValues(bytes, fields, clock, header)
    const fault = time < 0 ? 'no valid date and time' : faultOf(found, before, isHundredths)
    if (fault !== null) {
      file.bad(line, fault, bytes.toString('latin1', from, Math.min(next, from + 200)))
      continue
    }
    const { middles, values } = found as Pairs
    before = middles
    const bands = sets.bandsBy(middles)
    if (typeof bands === 'string') {
      file.bad(line, bands)
      continue
    }
    for (let i = 0; i < values.length; i++) {
      if (values[i] === MISSING) values[i] = NaN
      else if (isHundredths) values[i] /= 100
    }
    rows.set(time, { bands, values })
  }
  file.rows(rows.size)
  return rows
}

interface Pairs {
  readonly middles: readonly number[]
  readonly values: Float64Array
}

function faultOf(found: Pairs | string, before: readonly number[], isHundredths: boolean): string | null {
  if (typeof found === 'string') return found
  const { middles, values } = found
  // A file that was cut off ends within a row, and its rest looks like a row of fewer bands.
  const isCut = middles.length < before.length && middles.every((hz, i) => hz === before[i])
  if (isCut) return 'a row that ends before its last bands'
  return isHundredths && values.some((value) => !Number.isInteger(value))
    ? 'r1 and r2 of an annual file are not in hundredths'
    : null
}

/** The starts and ends of the words of a line, one after another. */
function split(bytes: Buffer, from: number, to: number, fields: number[]): void {
  fields.length = 0
  for (let at = from; at < to;) {
    while (at < to && bytes[at] <= 32) at++
    if (at === to) return
    fields.push(at)
    while (at < to && bytes[at] > 32) at++
    fields.push(at)
  }
}

function wordsOf(bytes: Buffer, fields: readonly number[]): string[] {
  return Array.from({ length: fields.length / 2 }, (_, i) =>
    bytes.toString('latin1', fields[2 * i], fields[2 * i + 1]),
  )
}

/** Epoch seconds, or −1 for no real moment. */
function timeOf(bytes: Buffer, fields: readonly number[], clock: number): number {
  const [year, month, day, hour, minute] = Array.from({ length: CLOCK_FIELDS }, (_, i) =>
    i < clock ? digitsAt(bytes, fields[2 * i], fields[2 * i + 1]) : 0,
  )
  return epochSeconds(year >= 0 && year < 100 ? 1900 + year : year, month, day, hour, minute, 0)
}

const OPENING = 0x28
const CLOSING = 0x29

/**
 * `0.218 (0.068) …` after the time; with densities the separation frequency comes first, which is a word
 * alone.
 */
function livePairs(bytes: Buffer, fields: readonly number[]): Pairs | string {
  const isMiddle = (field: number): boolean => bytes[fields[2 * field]] === OPENING
  const count = fields.length / 2
  const first = CLOCK_FIELDS + ((count - CLOCK_FIELDS) % 2)
  const middles: number[] = []
  const values = new Float64Array(Math.max(0, (count - first) / 2))
  for (let field = first; field < count; field += 2) {
    const [from, to] = [fields[2 * field + 2], fields[2 * field + 3]]
    const isWhole = isMiddle(field + 1) && bytes[to - 1] === CLOSING && !isMiddle(field)
    const value = numberAt(bytes, fields[2 * field], fields[2 * field + 1])
    const middle = isWhole ? numberAt(bytes, from + 1, to - 1) : null
    if (middle === null || value === null) return 'no pairs of a value and a frequency in brackets'
    values[middles.length] = value
    middles.push(middle)
  }
  return middles.length === 0 ? 'no pairs of a value and a frequency in brackets' : { middles, values }
}

/** A value for each band of the header. */
function annualValues(
  bytes: Buffer,
  fields: readonly number[],
  clock: number,
  header: readonly number[] | null,
): Pairs | string {
  if (header === null || header.length === 0 || header.some((hz) => Number.isNaN(hz)))
    return 'the first line does not name frequencies'
  if (fields.length / 2 !== clock + header.length) return 'wrong number of fields'
  const values = new Float64Array(header.length)
  for (let i = 0; i < header.length; i++) {
    const value = numberAt(bytes, fields[2 * (clock + i)], fields[2 * (clock + i) + 1])
    if (value === null) return 'a value is not a number'
    values[i] = value
  }
  return { middles: header, values }
}
