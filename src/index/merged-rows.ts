/** A buoy's readings and its weather rows as one sequence in order of time. */
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../sea/columns.ts'
import { missingColumn } from '../sea/row-batch.ts'
import { type MeasureColumn, type MonthRows, Segments } from './segments.ts'

/** Rows from `from` to before `to` of a month, all of one buoy. */
interface Stretch {
  readonly rows: MonthRows
  readonly from: number
  readonly to: number
}

/**
 * A month of one buoy, which is put together when it is first read: most requests read a few of many months.
 */
class MergedMonth implements MonthRows {
  readonly file = ''
  readonly month: number
  readonly buoys = new Uint32Array(0)
  readonly start = new Uint32Array(1)
  readonly #stretches: readonly Stretch[]
  #merged: Pick<MonthRows, 'time' | 'measures'> | null = null

  constructor(month: number, stretches: readonly Stretch[]) {
    this.month = month
    this.#stretches = stretches
  }

  get time(): Uint32Array {
    return (this.#merged ??= merge(this.#stretches)).time
  }

  get measures(): MonthRows['measures'] {
    return (this.#merged ??= merge(this.#stretches)).measures
  }
}

/** No two rows of a buoy have one time. */
function merge(stretches: readonly Stretch[]): Pick<MonthRows, 'time' | 'measures'> {
  const places = stretches.flatMap(({ rows, from, to }) =>
    Array.from({ length: to - from }, (_, i) => ({ rows, row: from + i, time: rows.time[from + i] })),
  )
  places.sort((a, b) => a.time - b.time)
  const measure = (name: MeasureName): MeasureColumn => {
    const [{ rows }] = stretches
    if (stretches.every((stretch) => stretch.rows.measures[name].mask === 0)) return rows.measures[name]
    const codes = missingColumn(MEASURES[name], places.length)
    places.forEach((place, i) => {
      const { codes: all, mask } = place.rows.measures[name]
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
  const byMonth = new Map<number, Stretch[]>()
  for (const segments of all) {
    for (let i = segments.first[ordinal]; i < segments.first[ordinal + 1]; i++) {
      const rows = segments.months[segments.month[i]]
      const stretch = { rows, from: segments.from[i], to: segments.to[i] }
      byMonth.set(rows.month, [...(byMonth.get(rows.month) ?? []), stretch])
    }
  }
  const months = [...byMonth].sort(([a], [b]) => a - b)
  const lengths = months.map(([, stretches]) => stretches.reduce((sum, { from, to }) => sum + to - from, 0))
  const endsOf = (pick: (...times: number[]) => number, at: (stretch: Stretch) => number): Uint32Array =>
    Uint32Array.from(months, ([, stretches]) => pick(...stretches.map((each) => each.rows.time[at(each)])))
  let before = 0
  return new Segments(
    months.map(([month, stretches]) => new MergedMonth(month, stretches)),
    {
      first: all[0].first.map((_, i) => (i <= ordinal ? 0 : months.length)),
      month: Uint16Array.from(months, (_, i) => i),
      from: new Uint32Array(months.length),
      to: Uint32Array.from(lengths),
      before: Uint32Array.from(lengths, (length) => (before += length) - length),
      oldest: endsOf(Math.min, ({ from }) => from),
      newest: endsOf(Math.max, ({ to }) => to - 1),
    },
  )
}
