/** The forecast part: what goes in comes out, in an order of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { checkForecast } from '../../src/snapshot/check-snapshot.ts'
import { ForecastSet } from '../../src/snapshot/make-forecast.ts'
import { readForecast } from '../../src/snapshot/part-kinds.ts'
import { Forecast } from '../../src/index/forecast.ts'
import type { Part } from '../../src/snapshot/snapshot-format.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import type { ForecastRecord } from '../../src/sea/records.ts'
import { finish } from '../../src/system/steps.ts'
import { entryOf } from './entry_of.ts'

const START = 1_774_569_600

function recordAt(lat: number, lng: number, more: Partial<ForecastRecord> = {}): ForecastRecord {
  return {
    lat,
    lng,
    runAt: START,
    times: [START, START + 3600],
    values: { waveHeight: [1.234, 1.5] },
    ...more,
  }
}

function partOf(records: readonly ForecastRecord[]): { part: Part; rows: number } {
  const set = new ForecastSet()
  for (const record of records) set.add(record)
  return set.part()
}

/** Through the bytes of a part, as a reader sees it. */
function reread(part: Part) {
  return readForecast(decodePart(encodePart(part), 'forecast-0.msgpack'), 'forecast-0.msgpack')
}

test('Points know their model and owner, or that nobody named one.', () => {
  const [named, owned, unknown] = [
    recordAt(1, 1, { model: 'Spectral', credit: 'Owner “A”' }),
    recordAt(2, 2, { credit: 'Owner' }),
    recordAt(3, 3),
  ]
  const modelsOf = (records: readonly ForecastRecord[]) => {
    const { part, rows } = partOf(records)
    const columns = reread(part)
    finish(checkForecast(columns, entryOf('forecast', rows)))
    const set = new ForecastSet()
    set.restore(columns)
    assert.deepEqual(set.part(), { part, rows }, 'and a part of a part is the same')
    return Array.from({ length: records.length }, (_, i) => new Forecast(columns).modelOf(i))
  }
  assert.deepEqual(modelsOf([unknown, named, owned]), [
    { model: 'Spectral', credit: 'Owner “A”' },
    { model: null, credit: 'Owner' },
    { model: null, credit: null },
  ])
  assert.deepEqual(modelsOf([unknown]), [{ model: null, credit: null }])
})

test('A forecast is read back point by point, south to north, rounded to its codes.', () => {
  const { part, rows } = partOf([
    recordAt(50, -5, {
      values: { waveHeight: [null, 2], windSpeed: [36.004, null], waveDirection: [360, 359.996] },
    }),
    recordAt(-10, 120.5, { runAt: START - 60, times: [START], values: { swellPeriod: [12.3456] } }),
  ])
  const columns = reread(part)
  finish(checkForecast(columns, entryOf('forecast', rows)))
  assert.equal(rows, 3)
  assert.deepEqual([...columns.lat], [-10, 50])
  assert.deepEqual([...columns.lng], [120.5, -5])
  assert.deepEqual([...columns.run], [START - 60, START])
  assert.deepEqual([...columns.start], [0, 1, 3])
  assert.deepEqual([...columns.time], [START, START, START + 3600])
  assert.deepEqual([...columns.codes.swellPeriod], [12_346, 65_535, 65_535])
  assert.deepEqual([...columns.codes.waveHeight], [65_535, 65_535, 2000])
  assert.deepEqual([...columns.codes.windSpeed], [65_535, 3600, 65_535])
  assert.deepEqual([...columns.codes.waveDirection], [65_535, 0, 0])
  assert.deepEqual([...columns.codes.swellHeight], [65_535, 65_535, 65_535])
})

test('The bytes do not depend on the order in which points arrive.', () => {
  const point = fc.record({
    lat: fc.integer({ min: -9, max: 9 }).map((tens) => tens * 10),
    lng: fc.integer({ min: -18, max: 17 }).map((tens) => tens * 10),
    height: fc.integer({ min: 0, max: 2500 }),
  })
  fc.assert(
    fc.property(
      fc.uniqueArray(point, {
        minLength: 2,
        maxLength: 20,
        selector: ({ lat, lng }) => `${lat},${lng}`,
      }),
      (points) => {
        const records = points.map(({ lat, lng, height }) =>
          recordAt(lat, lng, { times: [START], values: { waveHeight: [height / 100] } }),
        )
        const forwards = encodePart(partOf(records).part)
        const backwards = encodePart(partOf(records.toReversed()).part)
        assert.equal(Buffer.compare(forwards, backwards), 0)
      },
    ),
    { numRuns: 50 },
  )
})

test('Of several runs for one point the newest stays, of equal ones the first.', () => {
  const height = (metres: number, runAt: number, lat = 10, lng = 20) =>
    recordAt(lat, lng, { runAt, times: [START], values: { waveHeight: [metres] } })
  const heights = (records: ForecastRecord[]) => [...reread(partOf(records).part).codes.waveHeight]
  assert.deepEqual(heights([height(1, 100), height(2, 200), height(3, 150)]), [2000])
  assert.deepEqual(heights([height(1, 100), height(2, 100)]), [1000])
  // The same point to four decimals, and the same meridian from both sides.
  assert.deepEqual(heights([height(1, 100), height(2, 200, 10.00004, 19.99996)]), [2000])
  assert.deepEqual(heights([height(1, 100, 5, 180), height(2, 200, 5, -180)]), [2000])
  assert.deepEqual(heights([height(1, 100), height(2, 200, 10.0001, 20)]), [1000, 2000])
  // Without any value it is left out and replaces no other.
  const empty = recordAt(10, 20, { runAt: 300, times: [START], values: { waveHeight: [null] } })
  assert.deepEqual(heights([empty]), [])
  assert.deepEqual(heights([height(1, 100), empty]), [1000])
})

test('A record that breaks the rules ends the build.', () => {
  const set = new ForecastSet()
  const faults: [Partial<ForecastRecord>, RegExp][] = [
    [{ lat: 90.1 }, /not on the globe/],
    [{ lng: Number.NaN }, /not on the globe/],
    [{ runAt: -1 }, /run is not from 1970/],
    [{ runAt: 1.5 }, /run is not from 1970/],
    [{ times: [START, START] }, /do not ascend/],
    [{ times: [START, 2 ** 32] }, /do not ascend, or are not from 1970/],
    [{ values: { waveHeight: [1] } }, /not have one value/],
    [{ values: { waveHeight: [1, 25.1] } }, /waveHeight is outside 0 to 25/],
    [{ values: { waveHeight: [1, -0.01] } }, /waveHeight is outside/],
    [{ values: { windSpeed: [1, Number.NaN] } }, /windSpeed is outside/],
    [{ values: { windDirection: [1, 361] } }, /windDirection is outside/],
  ]
  for (const [fault, message] of faults) {
    assert.throws(
      () => set.add(recordAt(1, 2, fault)),
      { name: 'BuildError', message },
      JSON.stringify(fault),
    )
  }
})
