/** Rows over months against plain arrays, and the search by proportion against a scan. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { segmentsOf, type Segments } from '../../src/index/segments.ts'
import { finish } from '../../src/system/steps.ts'
import type { MonthRows } from '../../src/index/segments.ts'
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

/** The position of the row that was found last, or −1. */
function positionFound(segments: Segments, row: number): number {
  const { found } = segments
  return row === -1 ? -1 : segments.before[found] + row - segments.from[found]
}

test('Counts, positions, times, segments and the closest row are those of one sorted array per buoy.', () => {
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
        for (const [position, time] of times.entries()) {
          assert.equal(segments.timeAt(ordinal, position), time)
          const segment = segments.segmentOf(ordinal, position)
          assert.ok(segment >= segments.first[ordinal] && segment < segments.first[ordinal + 1])
          const { buoys, time: column } = segments.months[segments.month[segment]]
          assert.ok(buoys.includes(id))
          assert.equal(column[segments.from[segment] + position - segments.before[segment]], time)
          assert.ok(position - segments.before[segment] < segments.to[segment] - segments.from[segment])
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
          assert.equal(positionFound(segments, segments.closestRow(ordinal, moment)), closest)
          const away = Math.abs(times[closest] - moment)
          for (const reach of [0, away - 1, away, 20, 400]) {
            const within = segments.closestRowWithin(ordinal, moment, reach)
            assert.equal(positionFound(segments, within), away <= reach ? closest : -1)
          }
          assert.equal(positionFound(segments, segments.rowAt(ordinal, moment)), times.indexOf(moment))
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
    [0, 149, 150, 151, 1000, 1001, 5000].map((moment) =>
      positionFound(segments, segments.closestRow(0, moment)),
    ),
    [0, 0, 0, 1, 2, 3, 3],
  )
})
