/** Rows over months against plain arrays, and the search by proportion against a scan. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type MonthRow, type MonthRows, type MonthRun } from '../../src/index/segments.ts'
import { segmentsOf } from '../../src/server/index-snapshot.ts'
import { finish } from '../../src/system/steps.ts'
import { NOTHING_MEASURED } from './nothing_measured.ts'

/** Times of each buoy's rows in one month, ascending, by the buoy's id. */
type Month = Map<number, number[]>

function monthRows(month: number, rows: Month): MonthRows {
  const buoys = [...rows.keys()].filter((id) => rows.get(id)?.length !== 0).toSorted((a, b) => a - b)
  const start = [0]
  const time: number[] = []
  for (const id of buoys) {
    time.push(...(rows.get(id) ?? []))
    start.push(time.length)
  }
  return {
    file: `month ${month}`,
    month,
    buoys: Uint32Array.from(buoys),
    start: Uint32Array.from(start),
    time: Uint32Array.from(time),
    measures: NOTHING_MEASURED,
  }
}

const MONTH_LENGTH = 1000

const worlds = fc.record({
  // Some ids have rows without being asked for, some are asked for without a row.
  ids: fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 8 }),
  months: fc.array(
    fc.dictionary(
      fc.integer({ min: 1, max: 12 }).map(String),
      fc.uniqueArray(fc.integer({ min: 0, max: MONTH_LENGTH - 1 }), { maxLength: 12 }),
      { maxKeys: 8 },
    ),
    { maxLength: 5 },
  ),
})

/** The time of a row that was found, which no other row of a buoy has. */
const timeOf = (found: MonthRow | null): number | undefined => found?.month.time[found.row]

/** The times of runs in their order, none of which is empty. */
const timesOf = (runs: readonly MonthRun[]): number[] =>
  runs.flatMap(({ month, from, step, count }) => {
    assert.ok(count > 0)
    return Array.from({ length: count }, (_, i) => month.time[from + i * step])
  })

test('Counts, positions, times, runs and the closest row are those of one sorted array per buoy.', () => {
  fc.assert(
    fc.property(worlds, fc.array(fc.double({ min: -50, max: 5050, noNaN: true })), (world, moments) => {
      const ids = world.ids.toSorted((a, b) => a - b)
      const months = world.months.map((rows, month) => {
        const entries = Object.entries(rows).map(([id, times]): [number, number[]] => [
          Number(id),
          times.map((time) => month * MONTH_LENGTH + time).toSorted((a, b) => a - b),
        ])
        return monthRows(month, new Map(entries))
      })
      const segments = finish(segmentsOf(Uint32Array.from(ids), months))
      for (const [ordinal, id] of ids.entries()) {
        const times = world.months.flatMap((rows, month) =>
          (rows[String(id)] ?? []).map((time) => month * MONTH_LENGTH + time).toSorted((a, b) => a - b),
        )
        assert.equal(segments.count(ordinal), times.length)
        assert.equal(segments.newestTime(ordinal), times.at(-1) ?? -1)
        assert.equal(timeOf(segments.newestRow(ordinal)), times.at(-1))
        for (const first of times.keys()) {
          for (const end of [first, first + 1, times.length - 1, times.length]) {
            const wanted = times.slice(first, end)
            assert.deepEqual(timesOf(segments.runs(ordinal, first, end)), wanted)
            assert.deepEqual(timesOf(segments.runs(ordinal, first, end, false)), wanted.toReversed())
          }
        }
        assert.deepEqual(timesOf(segments.runs(ordinal)), times)
        for (const [position, time] of times.entries()) {
          assert.equal(segments.timeAt(ordinal, position), time)
          const { month, row } = segments.rowAt(ordinal, position)
          const place = month.buoys.indexOf(id)
          assert.ok(row >= month.start[place] && row < month.start[place + 1])
          assert.equal(month.time[row], time)
        }
        for (const moment of [...moments, ...times, ...times.map((time) => time + 1), -Infinity, Infinity]) {
          assert.equal(segments.positionOf(ordinal, moment), times.filter((time) => time < moment).length)
          if (!Number.isFinite(moment)) continue
          let closest = -1
          for (const [position, time] of times.entries()) {
            // On a tie the earlier one stays.
            if (closest === -1 || Math.abs(time - moment) < Math.abs(times[closest] - moment))
              closest = position
          }
          assert.equal(timeOf(segments.closestRow(ordinal, moment)), times[closest])
          const away = Math.abs(times[closest] - moment)
          for (const reach of [0, away - 1, away, 20, 400]) {
            const within = segments.closestRowWithin(ordinal, moment, reach)
            assert.equal(timeOf(within), away <= reach ? times[closest] : undefined)
          }
          const exact = times.includes(moment) ? moment : undefined
          assert.equal(timeOf(segments.rowOf(ordinal, moment)), exact)
        }
      }
    }),
    { numRuns: 300 },
  )
})

test('Of two rows equally far from a moment the earlier one is the closest, within a month and between two.', () => {
  const months = [monthRows(0, new Map([[7, [100, 200, 900]]])), monthRows(1, new Map([[7, [1100]]]))]
  const segments = finish(segmentsOf(Uint32Array.of(7), months))
  assert.deepEqual(
    [0, 149, 150, 151, 1000, 1001, 5000].map((moment) => timeOf(segments.closestRow(0, moment))),
    [100, 100, 100, 200, 900, 1100, 1100],
  )
})
