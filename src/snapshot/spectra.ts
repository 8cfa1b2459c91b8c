/** The part of a month's wave spectra, read as views on its bytes. */
import type { MonthRows } from '../index/segments.ts'
import { MISSING_U16 } from '../sea/columns.ts'
import { MISSING_U8, type BandName, type Bands, type Spectra } from '../sea/spectra.ts'
import { monthText } from '../sea/time.ts'
import { column, columnsOf, expectLength } from './part-columns.ts'
import { NO_MEASURES } from './part-kinds.ts'
import { expect, type Part } from './snapshot-format.ts'

/** A month's spectra as views on its part; they are rows of buoys without measures. */
export interface SpectraMonth extends MonthRows {
  readonly sets: readonly Bands[]
  /** Of each row: its set, the place of its first band, and its greatest density in m²/Hz. */
  readonly set: Uint16Array
  readonly first: Uint32Array
  readonly peak: Float32Array
  readonly codes: { readonly [name in BandName]: BandColumn }
}

/** `codes[at & mask]`: an absent column is a single missing code with a mask of 0. */
interface BandColumn {
  readonly codes: Uint16Array | Uint8Array
  readonly mask: number
}

export const ABSENT: { readonly [name in Exclude<BandName, 'density'>]: BandColumn } = {
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

/** The spectrum of a row. */
export function spectraAt(month: SpectraMonth, row: number): Spectra {
  return runOf(month, row, row + 1)
}

/** The spectra of rows with one set of bands. */
export function runOf(
  { sets, set, first, time, peak, codes }: SpectraMonth,
  from: number,
  to: number,
): Spectra {
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
