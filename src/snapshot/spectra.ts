/** The part of a month's wave spectra: made of codes, read as views on its bytes, and checked. */
import type { MonthRows } from '../index/segments.ts'
import { MISSING_U16, type Column } from '../sea/columns.ts'
import {
  BAND_NAMES,
  bandsKey,
  bandsOf,
  DIRECTION_SCALE,
  MISSING_U8,
  MOST_DENSITY,
  PEAK_CODE,
  R_SCALE,
  type BandName,
  type Bands,
  type Spectra,
} from '../sea/spectra.ts'
import { monthText } from '../sea/time.ts'
import { BuildError } from '../system/build-error.ts'
import type { Steps } from '../system/steps.ts'
import { column, columnsOf, expectLength, sums } from './part-columns.ts'
import { NO_MEASURES } from './part-kinds.ts'
import { expect, SnapshotError, type Part } from './snapshot-format.ts'

/** A month's spectra as views on its part; they are rows of buoys without measures. */
export interface SpectraMonth extends MonthRows {
  /** The sets of bands. */
  readonly sets: readonly Bands[]
  /** Of each row: its set, the place of its first band, and its greatest density in m²/Hz. */
  readonly set: Uint16Array
  readonly first: Uint32Array
  readonly peak: Float32Array
  readonly codes: { readonly [name in BandName]: BandColumn }
}

/** `codes[at & mask]`: an absent column is a single missing code with a mask of 0. */
export interface BandColumn {
  readonly codes: Uint16Array | Uint8Array
  readonly mask: number
}

const ABSENT: { readonly [name in Exclude<BandName, 'density'>]: BandColumn } = {
  direction: { codes: Uint16Array.of(MISSING_U16), mask: 0 },
  principal: { codes: Uint16Array.of(MISSING_U16), mask: 0 },
  r1: { codes: Uint8Array.of(MISSING_U8), mask: 0 },
  r2: { codes: Uint8Array.of(MISSING_U8), mask: 0 },
}
const ALL = -1

const COLUMNS = {
  buoy: Uint32Array,
  start: Uint32Array,
  time: Uint32Array,
  set: Uint16Array,
  first: Uint32Array,
  peak: Float32Array,
  density: Uint16Array,
  set_start: Uint32Array,
  frequency: Float64Array,
  bandwidth: Float64Array,
} as const

/** @throws SnapshotError when a column is missing, of another type, or of another length than the rows */
export function readSpectra(part: Part, month: number, file: string): SpectraMonth {
  const isOfMonth = part.meta.month === monthText(month)
  expect(isOfMonth, file, `is not of ${monthText(month)}, as the manifest says`)
  const columns = columnsOf(part, COLUMNS, file)
  const { buoy, start, time, set, first, peak, density, set_start: starts } = columns
  expectLength(time.length, [set, peak, first.subarray(1)], file)
  expectLength(buoy.length, [start.subarray(1)], file)
  expectLength(columns.frequency.length, [columns.bandwidth], file)
  const bandColumn = (name: Exclude<BandName, 'density'>): BandColumn => {
    if (!part.columns.has(name)) return ABSENT[name]
    const codes = name.startsWith('r')
      ? column(part, name, Uint8Array, file)
      : column(part, name, Uint16Array, file)
    expectLength(density.length, [codes], file)
    return { codes, mask: ALL }
  }
  const sets = Array.from({ length: Math.max(0, starts.length - 1) }, (_, i) => ({
    frequency: columns.frequency.subarray(starts[i], starts[i + 1]),
    bandwidth: columns.bandwidth.subarray(starts[i], starts[i + 1]),
  }))
  return {
    file,
    month,
    buoys: buoy,
    start,
    time,
    measures: NO_MEASURES,
    sets,
    set,
    first,
    peak,
    codes: {
      density: { codes: density, mask: ALL },
      direction: bandColumn('direction'),
      principal: bandColumn('principal'),
      r1: bandColumn('r1'),
      r2: bandColumn('r2'),
    },
  }
}

/** A month's sets have an index of 16 bits. */
const MAX_SETS = 2 ** 16

/** Spectra of one buoy that ascend in time, one after another. */
export interface BuoySpectra {
  readonly buoy: number
  readonly runs: readonly Spectra[]
}

/** The part of a month of spectra, of buoys in ascending order, and the number of its spectra. */
export function spectraPart(month: number, buoys: readonly BuoySpectra[]): { part: Part; rows: number } {
  const runs = buoys.flatMap((buoy) => buoy.runs)
  const sets = new Map(runs.map(({ bands }) => [bandsKey(bands), bands]))
  const keys = [...sets.keys()].sort()
  if (keys.length > MAX_SETS) {
    throw new BuildError(`the spectra of ${monthText(month)} have more than ${MAX_SETS} sets of bands`)
  }
  const indexes = new Map(keys.map((key, i) => [key, i]))
  const ordered = keys.map((key) => sets.get(key)!)
  const rows = runs.reduce((sum, { time }) => sum + time.length, 0)
  const values = runs.reduce((sum, { density }) => sum + density.length, 0)
  const columns = {
    time: new Uint32Array(rows),
    set: new Uint16Array(rows),
    first: new Uint32Array(rows + 1),
    peak: new Float32Array(rows),
    density: new Uint16Array(values),
    direction: new Uint16Array(values),
    principal: new Uint16Array(values),
    r1: new Uint8Array(values),
    r2: new Uint8Array(values),
  }
  let row = 0
  let at = 0
  for (const run of runs) {
    const set = indexes.get(bandsKey(run.bands))!
    columns.time.set(run.time, row)
    columns.peak.set(run.peak, row)
    columns.set.fill(set, row, row + run.time.length)
    for (const name of BAND_NAMES) columns[name].set(run[name], at)
    at += run.density.length
    for (let i = 0; i < run.time.length; i++, row++) {
      columns.first[row + 1] = columns.first[row] + run.bands.frequency.length
    }
  }
  const { direction, principal, r1, r2, ...always } = columns
  const measured = Object.entries({ direction, principal, r1, r2 }).filter(([name, codes]) =>
    codes.some((code) => code !== (name.startsWith('r') ? MISSING_U8 : MISSING_U16)),
  )
  const all: [string, Column][] = [
    ['buoy', Uint32Array.from(buoys, ({ buoy }) => buoy)],
    ['start', sums(buoys.map((each) => each.runs.reduce((sum, { time }) => sum + time.length, 0)))],
    ...Object.entries(always),
    ...measured,
    ['set_start', sums(ordered.map(({ frequency }) => frequency.length))],
    ['frequency', Float64Array.from(ordered.flatMap(({ frequency }) => [...frequency]))],
    ['bandwidth', Float64Array.from(ordered.flatMap(({ bandwidth }) => [...bandwidth]))],
  ]
  return { part: { kind: 'spectra', meta: { month: monthText(month) }, columns: new Map(all) }, rows }
}

/** The spectrum of a row. */
export function spectraAt(month: SpectraMonth, row: number): Spectra {
  return runOf(month, row, row + 1)
}

/** The spectra of the buoy at an index of a month, in runs of one set of bands. */
export function runsOf(month: SpectraMonth, index: number): Spectra[] {
  const { start, set } = month
  const runs: Spectra[] = []
  for (let row = start[index]; row < start[index + 1];) {
    const from = row
    while (row < start[index + 1] && set[row] === set[from]) row++
    runs.push(runOf(month, from, row))
  }
  return runs
}

/** The spectra of rows with one set of bands. */
function runOf({ sets, set, first, time, peak, codes }: SpectraMonth, from: number, to: number): Spectra {
  const [begin, end] = [first[from], first[to]]
  const words = (name: 'density' | 'direction' | 'principal'): Uint16Array => {
    const found = codes[name]
    return found.mask === 0
      ? new Uint16Array(end - begin).fill(MISSING_U16)
      : (found.codes.subarray(begin, end) as Uint16Array)
  }
  const bytes = (name: 'r1' | 'r2'): Uint8Array => {
    const found = codes[name]
    return found.mask === 0
      ? new Uint8Array(end - begin).fill(MISSING_U8)
      : (found.codes.subarray(begin, end) as Uint8Array)
  }
  return {
    bands: sets[set[from]],
    time: time.subarray(from, to),
    peak: peak.subarray(from, to),
    density: words('density'),
    direction: words('direction'),
    principal: words('principal'),
    r1: bytes('r1'),
    r2: bytes('r2'),
  }
}

/** The greatest code of each column of bands; above it there is only the missing code. */
const MOST: { readonly [name in Exclude<BandName, 'density'>]: number } = {
  direction: 360 * DIRECTION_SCALE - 1,
  principal: 360 * DIRECTION_SCALE - 1,
  r1: R_SCALE,
  r2: R_SCALE,
}

/** Some 50 µs of work. */
const CODES_A_SLICE = 65_536

/** Checks what a month of spectra has beyond the rows of any month. @throws SnapshotError */
export function* checkBands(month: SpectraMonth): Steps<void> {
  const { file, sets, set, first, peak, codes, time } = month
  const { density } = codes
  const keys = new Set<string>()
  for (const { frequency, bandwidth } of sets) {
    const bands = bandsOf([...frequency], [...bandwidth])
    if (typeof bands === 'string') throw new SnapshotError(`${file}: ${bands}`)
    keys.add(bandsKey(bands))
  }
  expect(keys.size === sets.length, file, 'it has a set of bands twice')
  yield
  const isWhole = first[0] === 0 && first.at(-1) === density.codes.length
  expect(isWhole, file, 'spectra and bands disagree')
  let checked = 0
  for (let row = 0; row < time.length; row++) {
    const [from, to] = [first[row], first[row + 1]]
    expect(to - from === sets[set[row]]?.frequency.length, file, 'spectra and bands disagree')
    expect(peak[row] > 0 && peak[row] <= MOST_DENSITY, file, 'a greatest density is outside its limits')
    let greatest = 0
    for (let at = from; at < to; at++) greatest = Math.max(greatest, density.codes[at])
    expect(greatest === PEAK_CODE, file, 'a spectrum has no greatest density')
    checked += to - from
    if (checked < CODES_A_SLICE) continue
    checked = 0
    yield
  }
  for (const name of ['direction', 'principal', 'r1', 'r2'] as const) yield* checkCodes(month, name)
}

function* checkCodes({ file, codes }: SpectraMonth, name: keyof typeof MOST): Steps<void> {
  const { codes: values, mask } = codes[name]
  const most = MOST[name]
  const missing = ABSENT[name].codes[0]
  if (mask === 0) return
  for (let from = 0; from < values.length; from += CODES_A_SLICE) {
    const to = Math.min(values.length, from + CODES_A_SLICE)
    for (let at = from; at < to; at++) {
      if (values[at] > most && values[at] !== missing) {
        throw new SnapshotError(`${file}: ${name} has a value outside its limits`)
      }
    }
    yield
  }
}
