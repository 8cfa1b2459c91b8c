/** The forecast index against plain computations on the records it was made from. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { directionAt, directionBetween, Forecast, valueAt } from '../../src/index/forecast.ts'
import { compassPoint } from '../../src/dataset/number-text.ts'
import { ForecastSet } from '../../src/snapshot/make-forecast.ts'
import { readForecast } from '../../src/snapshot/part-kinds.ts'
import type { ForecastRecord } from '../../src/sea/records.ts'

const NONE = 0xffff
const START = 1_774_569_600
const HOUR = 3600

function indexOf(records: readonly ForecastRecord[]): Forecast {
  const set = new ForecastSet()
  for (const record of records) set.add(record)
  return new Forecast(readForecast(set.part().part, 'a part'))
}

function recordAt(lat: number, lng: number, more: Partial<ForecastRecord> = {}): ForecastRecord {
  return { lat, lng, runAt: START, times: [START], values: { waveHeight: [1] }, ...more }
}

test('Where two directions are of one compass point, so is every direction between them.', () => {
  const check = (before: number, after: number, share: number): void => {
    if (compassPoint(before) !== compassPoint(after)) return
    const between = directionBetween(before, after, share)
    if (compassPoint(between) !== compassPoint(before)) assert.fail(`${before}, ${after}, ${share}`)
  }
  // The shares nearest to the ends: a second before and after six hours.
  const shares = [1 / 21_600, 1 / 3600, 0.3, 0.5, 0.7, 1 - 1 / 3600, 1 - 1 / 21_600]
  for (let point = 0; point < 16; point++) {
    const first = point * 2250 + 34_875
    for (const before of [0, 1, 2, 1124, 1125, 2247, 2248, 2249]) {
      for (let after = 0; after < 2250; after += after < 10 || after > 2239 ? 1 : 7) {
        for (const share of shares) check((first + before) % 36_000, (first + after) % 36_000, share)
      }
    }
  }
})

test('Full hours hold what each hour alone is answered: hundredths, tenths of a km/h, whole degrees.', () => {
  const code = fc.option(fc.integer({ min: 0, max: 25_000 }))
  const STEPS = { waveHeight: 10, wavePeriod: 10, windSpeed: 10, windDirection: 100 } as const
  const UNITS = { waveHeight: 1, wavePeriod: 1, windSpeed: 10, windDirection: 100 } as const
  fc.assert(
    fc.property(
      // Times at quarters of an hour, some more than six hours apart.
      fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 30 }),
      fc.array(fc.tuple(code, code), { minLength: 30, maxLength: 30 }),
      fc.integer({ min: -5, max: 60 }),
      fc.integer({ min: 0, max: 90 }),
      (quarters, codes, firstHour, count) => {
        const times = quarters.toSorted((a, b) => a - b).map((quarter) => START + quarter * 900)
        const scaled = (which: 0 | 1, scale: number): (number | null)[] =>
          times.map((_, i) => (codes[i][which] === null ? null : codes[i][which] / scale))
        const values = {
          // A point without any value is left out.
          waveHeight: scaled(0, 1000).map((value, i) => (i === 0 ? (value ?? 1) : value)),
          wavePeriod: scaled(0, 1000),
          windSpeed: scaled(0, 100),
          windDirection: scaled(1, 100),
        }
        const index = indexOf([recordAt(10, 20, { times, values })])
        const from = START + firstHour * HOUR
        for (const name of ['waveHeight', 'wavePeriod', 'windSpeed', 'windDirection'] as const) {
          const hours = new Uint16Array(count + 1).fill(7)
          index.hoursInto(name, 0, from, count, hours)
          const at = name === 'windDirection' ? directionAt : valueAt
          for (let i = 0; i < count; i++) {
            const row = index.rowAt(0, from + i * HOUR)
            const value =
              row === -1 ? NONE : at(index.columns.codes[name], row, index.shareAt(row, from + i * HOUR))
            const rounded = (Math.round(value / STEPS[name]) * UNITS[name]) % 36_000
            assert.equal(hours[i], value === NONE ? NONE : rounded, `${name}, hour ${i}`)
          }
          assert.equal(hours[count], 7)
        }
      },
    ),
    { numRuns: 300 },
  )
})
