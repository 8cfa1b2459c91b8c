/** A buoy's readings and its weather rows as one sequence in order of time. */
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { missingColumn } from '../sea/row-batch.ts'
import { entryOf } from '../system/entry-of.ts'
import { type MeasureColumn, type MonthRows, type MonthRun, Segments } from './segments.ts'

/**
 * A month of one buoy, which is put together when it is first read: most requests read a few of many months.
 */
class MergedMonth implements MonthRows {
  readonly file = ''
  readonly month: number
  readonly buoys = new Uint32Array(0)
  readonly start = new Uint32Array(1)
  readonly #runs: readonly MonthRun[]
  #merged: Pick<MonthRows, 'time' | 'measures'> | null = null

  constructor(month: number, runs: readonly MonthRun[]) {
    this.month = month
    this.#runs = runs
  }

  get time(): Uint32Array {
    return (this.#merged ??= merge(this.#runs)).time
  }

  get measures(): MonthRows['measures'] {
    return (this.#merged ??= merge(this.#runs)).measures
  }
}

/** No two rows of a buoy have one time. */
function merge(runs: readonly MonthRun[]): Pick<MonthRows, 'time' | 'measures'> {
  const places = runs.flatMap(({ month, from, count }) =>
    Array.from({ length: count }, (_, i) => ({ month, row: from + i, time: month.time[from + i] })),
  )
  places.sort((a, b) => a.time - b.time)
  const measure = (name: MeasureName): MeasureColumn => {
    const [{ month }] = runs
    if (runs.every((run) => run.month.measures[name].mask === 0)) return month.measures[name]
    const codes = missingColumn(MEASURES[name], places.length)
    places.forEach((place, i) => {
      const { codes: all, mask } = place.month.measures[name]
      codes[i] = all[place.row & mask]
    })
    return { codes, mask: -1 }
  }
  return {
    time: Uint32Array.from(places, ({ time }) => time),
    measures: Object.fromEntries(MEASURE_NAMES.map((name) => [name, measure(name)])) as MonthRows['measures'],
  }
}

/** The rows of `all`, readings and weather, of one buoy; other buoys have none. */
export function mergedRows(all: readonly Segments[], ordinal: number): Segments {
  const byMonth = new Map<number, MonthRun[]>()
  for (const run of all.flatMap((segments) => segments.runs(ordinal))) {
    entryOf(byMonth, run.month.month, () => []).push(run)
  }
  const months = [...byMonth].sort(([a], [b]) => a - b)
  const lengths = months.map(([, runs]) => runs.reduce((sum, { count }) => sum + count, 0))
  const endsOf = (pick: (...times: number[]) => number, rowOf: (run: MonthRun) => number): Uint32Array =>
    Uint32Array.from(months, ([, runs]) => pick(...runs.map((run) => run.month.time[rowOf(run)])))
  let before = 0
  return new Segments(
    months.map(([month, runs]) => new MergedMonth(month, runs)),
    {
      first: all[0].first.map((_, i) => (i <= ordinal ? 0 : months.length)),
      month: Uint16Array.from(months, (_, i) => i),
      from: new Uint32Array(months.length),
      to: Uint32Array.from(lengths),
      before: Uint32Array.from(lengths, (length) => (before += length) - length),
      oldest: endsOf(Math.min, ({ from }) => from),
      newest: endsOf(Math.max, ({ from, count }) => from + count - 1),
    },
  )
}
