/**
 * Readings for the thread that writes Parquet: a start, then the rows of one row group at a time. All of it
 * can be posted; the values stay in shared memory.
 */
import type { ReadingsBuoy, Table } from '../operation/answer-table.ts'
import type { Shape } from '../operation/shape.ts'
import type { MonthRows } from '../index/segments.ts'
import { COMMON_NAMES, MEASURE_NAMES, SWELL_NAMES, type MeasureName } from '../sea/columns.ts'
import { WIRE_NAMES } from '../dataset/wire-measures.ts'
import { selected } from './format-choice.ts'

/** Rows of 20 ms and, with all columns, 250 KB, which the server holds for a client that does not read. */
const GROUP_ROWS = 10_000
/** Bytes of a row at most, with all common columns: texts of a uuid and of the buoy, and 8 bytes a number. */
const ROW_BYTES = 160
const SWELL_BYTES = 8 * SWELL_NAMES.length

/** What a file begins with. */
export interface ParquetStart {
  readonly buoy: ReadingsBuoy
  readonly columns: readonly string[]
  readonly metadata: { readonly [key: string]: string }
}

/** Consecutive rows of a month, the oldest first; `isBackwards`: the newest is to come first. */
export interface ParquetRun {
  readonly rows: Pick<MonthRows, 'time' | 'measures'>
  readonly isBackwards: boolean
}

export interface ParquetJob {
  readonly start: ParquetStart
  /** Bytes of the file at most. */
  readonly bytes: number
  /** The runs of each row group; none for a file without rows. */
  groups(): Generator<ParquetRun[], void, undefined>
}

/** @throws ApiError 400 that names the parameter `fields` */
export function parquetJob(table: Table, shape: Shape, snapshotId: string): ParquetJob {
  const { buoy, credit, licence, isDemo } = table.readings!
  const columns = selected(table, shape)
  const hasSwell = SWELL_NAMES.some((name) => columns.some((column) => column.name === WIRE_NAMES[name]))
  const names = hasSwell ? MEASURE_NAMES : COMMON_NAMES
  const units = columns.flatMap(({ name, unit }) => (unit === '' ? [] : [[name, unit]]))
  return {
    start: {
      buoy,
      columns: columns.map(({ name }) => name),
      metadata: {
        snapshot: snapshotId,
        ...(isDemo && { demo: 'true' }),
        buoy: buoy.slug,
        source: buoy.source,
        ...(credit !== null && { credit }),
        ...(licence !== null && { licence }),
        units: JSON.stringify(Object.fromEntries(units)),
      },
    },
    bytes: table.rows * (hasSwell ? ROW_BYTES + SWELL_BYTES : ROW_BYTES),
    groups: () => rowGroups(table, names),
  }
}

function* rowGroups(table: Table, names: readonly MeasureName[]): Generator<ParquetRun[], void, undefined> {
  const { cursor } = table.readings!
  let group: ParquetRun[] = []
  let count = 0
  for (const run of table.runs()) {
    if (run === undefined) continue
    for (let done = 0; done < run.count;) {
      const length = Math.min(run.count - done, GROUP_ROWS - count)
      const first = run.from + done * run.step
      const from = run.step === 1 ? first : first - length + 1
      group.push({ rows: partOf(cursor.month, from, from + length, names), isBackwards: run.step !== 1 })
      count += length
      done += length
      if (count < GROUP_ROWS) continue
      yield group
      group = []
      count = 0
    }
  }
  if (count > 0) yield group
}

/** A part with the measures `names`: what is handed over takes time by its columns. */
function partOf(
  { time, measures }: MonthRows,
  from: number,
  to: number,
  names: readonly MeasureName[],
): ParquetRun['rows'] {
  const parts = names.map((name): [MeasureName, MonthRows['measures'][MeasureName]] => {
    const { codes, mask } = measures[name]
    return [name, { codes: mask === 0 ? codes : codes.subarray(from, to), mask }]
  })
  return { time: time.subarray(from, to), measures: Object.fromEntries(parts) as MonthRows['measures'] }
}
