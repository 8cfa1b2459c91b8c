/** Ready bytes of the newest readings against the writer of readings, row by row. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { JsonWriter } from '../../src/dataset/json-writer.ts'
import { NewestReadings } from '../../src/handlers/readings.ts'
import { READING_BYTES, writeReadings } from '../../src/dataset/reading-json.ts'
import { segmentColumns, Segments, type MonthRows } from '../../src/index/segments.ts'
import { NOTHING_MEASURED } from '../index/nothing_measured.ts'
import { finish } from '../../src/system/steps.ts'

const IDS = Uint32Array.of(7, 8, 800_000)
const MONTH_SECONDS = 30 * 86_400

/** A month in which the buoys have so many rows each; `seed` decides their values. */
function monthOf(month: number, counts: readonly number[], seed: number): MonthRows {
  const start = Uint32Array.of(0, counts[0], counts[0] + counts[1], counts[0] + counts[1] + counts[2])
  const rows = start[3]
  const codes = (step: number): Uint16Array =>
    Uint16Array.from({ length: rows }, (_, row) => (seed + row * step) % 20_000)
  const whole = (step: number) => ({ codes: codes(step), mask: -1 })
  const time = new Uint32Array(rows)
  for (let buoy = 0; buoy < 3; buoy++) {
    for (let row = start[buoy]; row < start[buoy + 1]; row++)
      time[row] = month * MONTH_SECONDS + (row - start[buoy]) * 1800
  }
  return {
    file: 'a part',
    month,
    buoys: IDS,
    start,
    time,
    measures: {
      ...NOTHING_MEASURED,
      significantHeight: whole(7),
      maximumHeight: whole(11),
      period: whole(13),
      direction: whole(17),
    },
  }
}

function segmentsOf(counts: readonly (readonly number[])[], seed: number): Segments {
  const months = counts.map((each, i) => monthOf(600 + i, each, seed))
  return new Segments(months, finish(segmentColumns(IDS, months)))
}

/** The long way. */
function written(readings: Segments, ordinal: number, position: number, count: number): string {
  const out = new JsonWriter(64)
  for (let at = position; at > position - count; at--) {
    const segment = readings.segmentOf(ordinal, at)
    out.ensure(READING_BYTES)
    const row = readings.from[segment] + at - readings.before[segment]
    writeReadings(out, IDS[ordinal], readings.months[readings.month[segment]], row, -1, 1)
  }
  return out.textOf(0, out.at)
}

const rows = fc.constantFrom(0, 1, 5, 47, 60)
const counts = fc.array(fc.tuple(rows, rows, rows), { minLength: 1, maxLength: 3 })

test('Ready readings are those of their snapshot, whichever was asked for before.', () => {
  const asked = fc.record({
    which: fc.constantFrom(0, 0, 0, 1),
    ordinal: fc.nat(2),
    skipped: fc.oneof(fc.constant(0), fc.nat(60)),
    count: fc.integer({ min: 1, max: 50 }),
    /** Often enough that another snapshot takes over. */
    times: fc.constantFrom(1, 1, 2, 3, 300),
  })
  let ready = 0
  fc.assert(
    fc.property(
      counts,
      counts,
      fc.array(asked, { minLength: 1, maxLength: 30 }),
      (first, second, requests) => {
        const snapshots = [segmentsOf(first, 1), segmentsOf(second, 2)]
        const newest = new NewestReadings()
        const out = new JsonWriter(64)
        for (const { which, ordinal, skipped, count, times } of requests) {
          const readings = snapshots[which]
          const position = readings.count(ordinal) - 1 - skipped
          if (position - count < -1) continue
          for (let i = 0; i < times; i++) {
            out.begin()
            if (!newest.write(out, readings, ordinal, IDS[ordinal], position, count)) continue
            ready++
            assert.equal(out.textOf(0, out.at), written(readings, ordinal, position, count))
          }
        }
      },
    ),
    { numRuns: 60 },
  )
  assert.ok(ready > 1000, `${ready} were ready`)
})

test('Readings of a buoy are ready from the second request for it on, and only the newest 48.', () => {
  const readings = segmentsOf(
    [
      [60, 47, 0],
      [1, 0, 5],
    ],
    3,
  )
  const newest = new NewestReadings()
  const out = new JsonWriter(64)
  const isReady = (ordinal: number, skipped: number, count: number): boolean =>
    newest.write(out, readings, ordinal, IDS[ordinal], readings.count(ordinal) - 1 - skipped, count)
  assert.deepEqual([isReady(0, 0, 20), isReady(0, 0, 20), isReady(0, 28, 20)], [false, true, true])
  assert.deepEqual([isReady(0, 29, 20), isReady(0, 0, 49)], [false, false])
  assert.deepEqual([isReady(1, 0, 47), isReady(1, 0, 47)], [false, true])
})
