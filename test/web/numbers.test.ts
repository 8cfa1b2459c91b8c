/**
 * The numbers of a buoy's panel that the page works out itself, each beside a plain count over the same
 * values.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { SeriesYear } from '../../clients/typescript/groundswell.ts'
import { commonMeans } from '../../web/explorer/charts/calendar.ts'
import { bucketsOf, changeOf, type Part } from '../../web/explorer/charts/parts.ts'
import { bucketName, calendarDay, duration, UTC, zoneOf } from '../../web/explorer/format.ts'

const WEEK_MS = 7 * 86_400_000
const NOW = Date.UTC(2026, 10, 28)

/** A season of weeks from samples; null where a week has none. Its week of index 3 is not over at `NOW`. */
const seasonOf = (weeks: readonly number[][]): SeriesYear['points'] =>
  weeks.map((samples, i) => ({
    bucket_index: i + 1,
    label: '',
    bucket_start: new Date(NOW + (i - 3) * WEEK_MS).toISOString(),
    bucket_end: new Date(NOW + (i - 3) * WEEK_MS + WEEK_MS).toISOString(),
    value: samples.length === 0 ? null : samples.reduce((sum, each) => sum + each, 0) / samples.length,
    sample_count: samples.length,
  }))

test('The sentence of the seasons has the means of all readings in the whole weeks that both years have.', () => {
  const week = fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 6 })
  fc.assert(
    fc.property(fc.array(week, { maxLength: 5 }), fc.array(week, { maxLength: 5 }), (own, other) => {
      const isCommon = (i: number): boolean => i < 3 && own[i]?.length > 0 && other[i]?.length > 0
      const meanOf = (weeks: readonly number[][]): number => {
        const samples = weeks.filter((_, i) => isCommon(i)).flat()
        return samples.reduce((sum, each) => sum + each, 0) / samples.length
      }
      const found = commonMeans(seasonOf(own), seasonOf(other), NOW)
      if (!own.some((_, i) => isCommon(i))) return assert.equal(found, null)
      assert.ok(found !== null && Math.abs(found[0] - meanOf(own)) < 1e-9)
      assert.ok(Math.abs(found[1] - meanOf(other)) < 1e-9)
    }),
  )
  // A week of two samples and one of a single one: the mean of their means would be 2.
  assert.deepEqual(commonMeans(seasonOf([[1, 1], [3]]), seasonOf([[2, 2], [2]]), NOW), [5 / 3, 2])
})

test('A day of a long range has its mean, its extremes and the greatest maximum, and a part of a day is no day.', () => {
  const days = ['2026-07-03', '2026-07-04', '2026-07-05'].map((day) => `${day}T22:00:00Z`)
  const part = (values: Part['values'], time = days): Part => ({ time, values })
  const mean = part({ significant_height: [1, 2, 3], maximum_height: [2, 3, 3.57], period: [8, null, 9] })
  const greatest = part({ significant_height: [1.5, 2.5, 3.5], maximum_height: [3, 4, 4.15] })
  // The server gives no row for what has no value.
  const least = part({ significant_height: [0.5, 2.8] }, [days[0], days[2]])
  const drawn = bucketsOf(mean, { least, greatest }, (time) => time > '2026-07-04')
  assert.deepEqual(drawn, {
    time: days.slice(1),
    values: {
      significant_height: [2, 3],
      maximum_height: [4, 4.15],
      period: [null, 9],
      least_height: [null, 2.8],
      greatest_height: [2.5, 3.5],
    },
  })
})

test('Whether the sea rises is told by the reading about three hours before the newest one, or not at all.', () => {
  const at = (hours: number): string => new Date(NOW + hours * 3_600_000).toISOString()
  const change = (...values: [hours: number, height: number | null][]) =>
    changeOf({
      time: values.map(([hours]) => at(hours)),
      values: { significant_height: values.map(([, height]) => height) },
    })
  assert.deepEqual(change([-4, 9], [-3, 1], [-1.5, 9], [0, 2]), [1, 2])
  assert.deepEqual(change([-3.5, 9], [-2.8, 1], [0, 2], [0.5, null]), [1, 2])
  assert.equal(change([-2, 1], [0, 2]), null, 'two hours are not three')
  assert.equal(change([0, 2]), null)
  assert.equal(change(), null)
})

test('A day has the name of its zone, with the year where that is another one, and a month its year always.', () => {
  const paris = zoneOf('Europe/Paris')
  const time = new Date('2026-07-04T22:30:00Z')
  assert.equal(bucketName(time, '1d', paris, NOW).replace(',', ''), 'Sun 5 July')
  assert.equal(bucketName(time, '1d', UTC, NOW).replace(',', ''), 'Sat 4 July')
  assert.match(bucketName(time, '1d', paris, NOW + 60 * 86_400_000), /^Sun,? 5 July 2026$/)
  assert.equal(bucketName(time, '1mo', paris, NOW), 'July 2026')
  assert.equal(calendarDay(time, paris), '2026-07-05')
})

test('Three years are three years, not 1096 days.', () => {
  const DAY = 86_400
  const hours = [0, 59, 3600, 3660, 47 * 3600].map(duration)
  assert.equal(hours.join(), '0 min,1 min,1 h,1 h 1 min,47 h')
  const days = [2, 89, 90, 700, 730, 1096].map((count) => duration(count * DAY))
  assert.equal(days.join(), '2 days,89 days,3 months,23 months,2 years,3 years')
})
