/** The forecast index against plain computations on the records it was made from. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { directionAt, directionBetween, Forecast, valueAt } from '../../src/index/forecast.ts'
import { compassPoint } from '../../src/dataset/number-text.ts'
import { ForecastSet } from '../../src/snapshot/make-forecast.ts'
import { readForecast } from '../../src/snapshot/part-kinds.ts'
import type { ForecastRecord } from '../../src/sea/records.ts'
import { FORECAST_NAMES, type ForecastName } from '../../src/sea/columns.ts'

const NONE = 0xffff
const START = 1_774_569_600
const HOUR = 3600

/** Codes per unit and the largest code, written out again so that a change of scale in the product shows. */
const CODES: { readonly [name in ForecastName]: readonly [perUnit: number, largest: number] } = {
  waveHeight: [1000, 25_000],
  wavePeriod: [1000, 60_000],
  waveDirection: [100, 35_999],
  swellHeight: [1000, 25_000],
  swellPeriod: [1000, 60_000],
  swellDirection: [100, 35_999],
  windSpeed: [100, 50_000],
  windDirection: [100, 35_999],
}

function indexOf(records: readonly ForecastRecord[]): Forecast {
  const set = new ForecastSet()
  for (const record of records) set.add(record)
  return new Forecast(readForecast(set.part().part, 'a part'))
}

function recordAt(lat: number, lng: number, more: Partial<ForecastRecord> = {}): ForecastRecord {
  return { lat, lng, runAt: START, times: [START], values: { waveHeight: [1] }, ...more }
}

/** The angle of a weighted sum of two unit vectors, degrees in 0…360. */
function meanDirection(before: number, after: number, share: number): number {
  const [a, b] = [(before * Math.PI) / 180, (after * Math.PI) / 180]
  const east = (1 - share) * Math.sin(a) + share * Math.sin(b)
  const north = (1 - share) * Math.cos(a) + share * Math.cos(b)
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}

/** How far two directions are apart, degrees. */
function apart(a: number, b: number): number {
  const difference = Math.abs(a - b) % 360
  return Math.min(difference, 360 - difference)
}

const aValue = (name: ForecastName) =>
  fc.option(fc.integer({ min: 0, max: CODES[name][1] }), { freq: 4, nil: null })

const aSeries = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 }).chain((steps) => {
  // Steps of half an hour to fifteen hours: some are too long to be bridged.
  let time = START
  const times = steps.map((step) => (time += step * (HOUR / 2)))
  const values = Object.fromEntries(
    FORECAST_NAMES.map((name) => [
      name,
      fc.array(aValue(name), { minLength: times.length, maxLength: times.length }),
    ]),
  ) as { [name in ForecastName]: fc.Arbitrary<(number | null)[]> }
  return fc.record({ times: fc.constant(times), codes: fc.record(values) })
})

test('Values between two times lie on the straight line, directions on the circle, and nothing lies beyond.', () => {
  fc.assert(
    fc.property(
      aSeries,
      // Another point of the same times, of others, or none.
      fc.oneof(fc.constant(null), fc.constant('same'), aSeries),
      fc.array(fc.double({ min: -0.1, max: 1.1, noNaN: true })),
      ({ times, codes }, other, shares) => {
        const values = Object.fromEntries(
          FORECAST_NAMES.map((name) => [
            name,
            codes[name].map((code) => (code === null ? null : code / CODES[name][0])),
          ]),
        )
        const anchor = recordAt(10, 10, { times, values })
        // One that has a value, so that the record is a forecast whatever the others are.
        anchor.values.waveHeight = times.map((_, i) => codes.waveHeight[i] ?? 1000).map((code) => code / 1000)
        const heights = times.map((_, i) => codes.waveHeight[i] ?? 1000)
        const ownTimes = other === null || other === 'same' ? [] : other.times
        const otherTimes = other === 'same' ? times : ownTimes
        const before = recordAt(9, 10, { times: otherTimes, values: { waveHeight: otherTimes.map(() => 1) } })
        const forecast = indexOf(other === null ? [anchor] : [anchor, before])
        const point = other === null ? 0 : 1
        const span = times.at(-1)! - times[0]
        const asked = [
          ...times,
          ...shares.map((share) => Math.round(times[0] + share * span)),
          0,
          0xffff_ffff,
        ]
        for (const time of asked) {
          const row = forecast.rowAt(point, time)
          const after = times.findIndex((known) => known >= time)
          const isExact = times[after] === time
          const isBridged = after > 0 && times[after] - times[after - 1] <= 6 * HOUR
          if (!isExact && !isBridged) {
            assert.equal(row, -1)
            continue
          }
          const share = isExact ? 0 : (time - times[after - 1]) / (times[after] - times[after - 1])
          assert.equal(forecast.shareAt(row, time), share)
          for (const name of FORECAST_NAMES) {
            const own = name === 'waveHeight' ? heights : codes[name]
            const at = name.endsWith('Direction') ? directionAt : valueAt
            const got = at(forecast.columns.codes[name], row, share)
            if (isExact) {
              assert.equal(got, own[after] ?? NONE)
              continue
            }
            const [left, right] = [own[after - 1], own[after]]
            if (left === null || right === null) {
              assert.equal(got, NONE)
              continue
            }
            if (!name.endsWith('Direction')) {
              assert.ok(Math.abs(got - (left * (1 - share) + right * share)) < 1e-6)
            } else if (Math.abs(left - right) === 18_000) {
              assert.equal(got, NONE)
            } else {
              assert.ok(got >= 0 && got < 36_000)
              assert.ok(apart(got / 100, meanDirection(left / 100, right / 100, share)) < 1e-4)
            }
          }
        }
      },
    ),
    { numRuns: 500 },
  )
})

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
