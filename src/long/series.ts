/** Seasonal series as a table. */
import { Series, type SeriesYear } from '../index/seasons.ts'
import type { Run } from '../index/segments.ts'
import { isDirection, NO_VALUE } from '../index/statistics.ts'
import { buoyBeside } from '../dataset/buoy-table.ts'
import { type Column, flag, integer, number, type Table, word } from '../dataset/table.ts'
import { askedOf, type parameters } from '../handlers/series.ts'
import type { MakeRequest } from './maker.ts'

/** `"2026-03-29T00:00:00+01:00"` and `Mar 29 05:00`. */
const MOMENT_BYTES = 27
const LABEL_BYTES = 16

type SeasonRun = Run & SeriesYear

/** A row for each point of each season. */
export function seriesTable({ view, query, path: [buoyId] }: MakeRequest<typeof parameters>): Table {
  const { ordinal, asked, rows } = askedOf(view, query, buoyId)
  const { catalog } = view.dataset
  const { zone: clock, measure, bucket, startYear, endYear } = asked
  const circular = isDirection(measure)
  const series = new Series(asked, rows)
  const moment = (name: string, timeOf: (point: number) => number): Column =>
    word(name, MOMENT_BYTES, (writer, point) => {
      const epoch = timeOf(point)
      writer.localTime(epoch, clock.offsetAt(epoch))
      // Drops the quotes.
      const start = writer.at - MOMENT_BYTES
      writer.bytes.copyWithin(start, start + 1, writer.at - 1)
      writer.at -= 2
    })
  return {
    columns: [
      integer('year', (_point, { year }: SeasonRun) => year),
      flag('complete', (_point, { complete }: SeasonRun) => complete),
      integer('bucket_index', (point) => series.bucket(point).ordinal),
      word('label', LABEL_BYTES, (writer, point) => {
        const { start } = series.bucket(point)
        writer.dayLabel(start + clock.offsetAt(start), bucket === 'hour')
      }),
      moment('bucket_start', (point) => series.bucket(point).start),
      moment('bucket_end', (point) => series.bucket(point).end),
      number(
        'value',
        (point) => {
          const value = series.value[point]
          if (value === NO_VALUE) return NaN
          return circular ? value : value / 100
        },
        measure.unit,
      ),
      integer('sample_count', (point) => series.count[point]),
      ...buoyBeside(view.dataset, () => ordinal, true),
    ],
    runs: Array.from({ length: endYear - startYear + 1 }, (_, i) => (): SeasonRun => {
      const season = series.season(startYear + i)
      return { from: 0, step: 1, count: series.length, ...season }
    }),
    place: null,
    total: null,
    name: `${catalog.slugs[ordinal]}_${query.metric}_${startYear}-${endYear}`,
    list: null,
  }
}
