/**
 * Daily aggregates: whatever is built upon what, a series with them is the series without them, and the parts
 * are those that a build from the readings alone makes.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Dataset } from '../../src/dataset/dataset.ts'
import { viewOf } from '../answered.ts'
import { rounds } from '../rounds.ts'
import { type SeasonDates, Series } from '../../src/index/seasons.ts'
import type { MeasureRows } from '../../src/index/buckets.ts'
import { isDirection, type Aggregation } from '../../src/index/statistics.ts'
import { MEASURE_NAMES, MEASURES } from '../../src/sea/columns.ts'
import { zone } from '../../src/sea/zones.ts'
import { encodeManifest, type Manifest } from '../../src/snapshot/manifest.ts'
import { loadSnapshot, readManifest, readPart } from '../../src/snapshot/read-snapshot.ts'
import { lockFolder, publishManifest } from '../../src/snapshot/write-snapshot.ts'
import { temporaryFolder } from '../live.ts'
import { build, fakeSource, type FakeBuoy, type FakeRow, northBuoy } from './fake_source.ts'

const at = (text: string): number => Date.parse(text) / 1000
const HOUR = 3600

/** Half an hour ahead, clocks that change by half an hour, a skipped day, no change, and far behind. */
const ZONES = [
  'Europe/Paris',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'UTC',
  'Etc/GMT+12',
  'Pacific/Kiritimati',
]

/** Moments about which clocks change, or months, or years. */
const MOMENTS = [
  '2010-12-31T12:00:00Z',
  '2011-01-01T00:00:00Z',
  '2011-03-27T01:00:00Z',
  '2011-12-30T10:00:00Z',
  '2012-01-01T00:00:00Z',
  '2012-02-29T12:00:00Z',
  '2012-04-01T00:00:00Z',
].map(at)

const code = (low: number, high: number): fc.Arbitrary<number | undefined> =>
  fc.option(fc.integer({ min: low, max: high }), { nil: undefined, freq: 4 })
const codes = fc.record({
  significantHeight: code(0, 25_000),
  maximumHeight: code(0, 50_000),
  period: code(0, 60_000),
  peakPeriod: code(0, 60_000),
  direction: fc.option(fc.constantFrom(0, 9000, 18_000, 27_000, 35_999), { nil: undefined }),
  waterTemperature: code(-500, 4500),
  windSpeed: code(0, 50_000),
  windDirection: code(0, 35_999),
  gustSpeed: code(0, 50_000),
})
const row: fc.Arbitrary<FakeRow> = fc
  .tuple(fc.constantFrom(...MOMENTS), fc.integer({ min: -40, max: 40 }), codes)
  .map(([moment, halves, measured]) => {
    const given = Object.entries(measured).filter(([, value]) => value !== undefined)
    return { time: moment + halves * (HOUR / 2), ...Object.fromEntries(given) }
  })
/** What a build is given of each buoy: whether its source mentions it, its zone, and its new rows. */
const given = fc.record({
  isMentioned: fc.boolean(),
  timezone: fc.constantFrom(...ZONES),
  rows: fc.array(row, { maxLength: 30 }),
})
const builds = fc.array(fc.tuple(given, given, given), { minLength: 1, maxLength: 4 })

const buoyOf = (number: number, timezone: string, rows: readonly FakeRow[]): FakeBuoy =>
  northBuoy(
    `N${number}`,
    [...rows].sort((a, b) => a.time - b.time),
    { lat: number, lng: -number, timezone },
  )

const WHOLE_YEAR: SeasonDates = { startMonth: 1, startDay: 1, endMonth: 12, endDay: 31 }
const WINTER: SeasonDates = { startMonth: 11, startDay: 15, endMonth: 3, endDay: 31 }

/** All series of a buoy by day in its zone, as text. */
function seriesOf(dataset: Dataset, ordinal: number, withKnown: boolean): string[] {
  const clock = zone(dataset.catalog.timezones[ordinal]) ?? assert.fail()
  const series: string[] = []
  for (const name of MEASURE_NAMES) {
    const measure = MEASURES[name]
    const lists = [dataset.readings, dataset.weather].map((segments) => {
      const rows: MeasureRows[] = []
      for (let i = segments.first[ordinal]; i < segments.first[ordinal + 1]; i++) {
        const { time, measures } = segments.months[segments.month[i]]
        const { codes: values, mask } = measures[name]
        if (mask !== 0) rows.push({ time, codes: values, from: segments.from[i], to: segments.to[i] })
      }
      return rows
    })
    const aggregations: Aggregation[] = isDirection(measure)
      ? ['median', 'avg']
      : ['median', 'avg', 'min', 'max']
    for (const aggregation of aggregations) {
      for (const dates of [WHOLE_YEAR, WINTER]) {
        const asked = { zone: clock, dates, bucket: 'day', aggregation, measure, asOf: dataset.asOf } as const
        const known = withKnown ? { aggregates: dataset.aggregates, ordinal } : null
        const made = new Series({ ...asked, startYear: 2009, endYear: 2013, known }, () => lists)
        for (let year = 2009; year <= 2013; year++) {
          made.season(year)
          const points = Array.from({ length: made.length }, (_, i) =>
            [...Object.values(made.bucket(i)), made.value[i], made.count[i]].join(' '),
          )
          series.push(`${name} ${aggregation} ${dates.startMonth} ${year}: ${points.join(', ')}`)
        }
      }
    }
  }
  return series
}

test('Series with daily aggregates are those without, and a year grown by builds is one made at once.', async () => {
  await fc.assert(
    fc.asyncProperty(builds, async (steps) => {
      const folder = mkdtempSync(join(tmpdir(), 'groundswell-aggregates-'))
      try {
        for (const buoys of steps) {
          const mentioned = buoys.flatMap(({ isMentioned, timezone, rows }, i) =>
            isMentioned || i === 0 ? [buoyOf(i + 1, timezone, rows)] : [],
          )
          // One reading keeps the build from being empty.
          const anchor = buoyOf(9, 'UTC', [{ time: at('2012-06-01T00:00:00Z'), significantHeight: 1 }])
          await build([fakeSource([...mentioned, anchor])], folder, { allowLoss: 1 })
          const dataset = (await viewOf(folder)).dataset
          for (let ordinal = 0; ordinal < dataset.buoyCount; ordinal++) {
            assert.deepEqual(seriesOf(dataset, ordinal, true), seriesOf(dataset, ordinal, false))
          }
        }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    }),
    { numRuns: rounds(6, 60) },
  )
})

/** A reading every six hours, from `start` to before `end`. */
function every6Hours(start: string, end: string, height: number): FakeRow[] {
  const rows: FakeRow[] = []
  for (let time = at(start); time < at(end); time += 6 * HOUR) rows.push({ time, significantHeight: height })
  return rows
}

const yearsOf = (manifest: Manifest): string[] =>
  manifest.parts.filter(({ kind }) => kind === 'aggregates').map(({ file }) => file)

test('Closed years keep their files, a revised reading renews its year, a new zone all years of its buoy.', async (t) => {
  const folder = temporaryFolder(t)
  const rows = every6Hours('2024-01-01T00:00:00Z', '2026-02-01T00:00:00Z', 1000)
  await build([fakeSource([buoyOf(1, 'Europe/Paris', rows), buoyOf(2, 'UTC', rows)])], folder)
  const first = (await readManifest(folder))!
  assert.equal(yearsOf(first).length, 3)
  const writtenAt = statSync(join(folder, yearsOf(first)[0])).mtimeMs
  const more = every6Hours('2026-02-01T00:00:00Z', '2026-02-02T00:00:00Z', 2000)
  await build([fakeSource([buoyOf(1, 'Europe/Paris', more), buoyOf(2, 'UTC', [])])], folder)
  const second = (await readManifest(folder))!
  assert.deepEqual(yearsOf(second).slice(0, 2), yearsOf(first).slice(0, 2))
  assert.notEqual(yearsOf(second)[2], yearsOf(first)[2])
  assert.equal(statSync(join(folder, yearsOf(second)[0])).mtimeMs, writtenAt)
  const revised = [{ time: at('2025-07-01T06:00:00Z'), significantHeight: 9000 }]
  await build([fakeSource([buoyOf(1, 'Europe/Paris', revised), buoyOf(2, 'UTC', [])])], folder)
  const third = (await readManifest(folder))!
  assert.deepEqual(
    yearsOf(third).map((file, i) => file === yearsOf(second)[i]),
    [true, false, true],
  )
  await build([fakeSource([buoyOf(1, 'America/St_Johns', []), buoyOf(2, 'UTC', [])])], folder)
  const fourth = (await readManifest(folder))!
  assert.deepEqual(
    yearsOf(fourth).map((file) => yearsOf(third).includes(file)),
    [false, false, false],
  )
})

test('A day that goes on in the next month of UTC is worked out anew when rows of that month come.', async (t) => {
  const folder = temporaryFolder(t)
  const rows = every6Hours('2012-01-20T00:00:00Z', '2012-02-01T00:00:00Z', 1000)
  const late = [{ time: at('2012-02-01T06:00:00Z'), significantHeight: 9000 }]
  for (const given of [rows, late]) await build([fakeSource([buoyOf(1, 'Etc/GMT+12', given)])], folder)
  const { dataset } = await viewOf(folder)
  assert.deepEqual(seriesOf(dataset, 0, true), seriesOf(dataset, 0, false))
})

test('A buoy that moves to another zone with the same clock is known in that one, in closed years as well.', async (t) => {
  const folder = temporaryFolder(t)
  const rows = every6Hours('2024-12-01T00:00:00Z', '2025-02-01T00:00:00Z', 1000)
  for (const name of ['Europe/Paris', 'Europe/Berlin']) {
    await build([fakeSource([buoyOf(1, name, rows)])], folder)
    const { aggregates } = (await viewOf(folder)).dataset
    for (const year of [2024, 2025])
      assert.ok(aggregates.knows(year, 0, zone(name) ?? assert.fail()), `${name} ${year}`)
  }
})

test('What the tz database says of later months is not in the part of a year that is under way.', async (t) => {
  // Until 30 October 2016 both clocks were the same.
  const zones = ['Europe/Athens', 'Europe/Istanbul']
  const rulesUntil = async (end: string): Promise<string[]> => {
    const folder = temporaryFolder(t)
    const rows = every6Hours('2016-01-01T00:00:00Z', end, 1000)
    await build([fakeSource(zones.map((timezone, i) => buoyOf(i + 1, timezone, rows)))], folder)
    const manifest = (await readManifest(folder))!
    const entry = manifest.parts.find(({ kind }) => kind === 'aggregates')!
    const { meta } = await readPart(folder, entry, (part) => part)
    const { aggregates } = (await viewOf(folder)).dataset
    zones.forEach((name, ordinal) =>
      assert.ok(aggregates.knows(2016, ordinal, zone(name) ?? assert.fail()), `${end}: ${name} is known`),
    )
    return (meta.zones as [string, string][]).map(([, rules]) => rules)
  }
  const [athens, istanbul] = await rulesUntil('2016-10-29T18:00:01Z')
  assert.equal(athens, istanbul)
  const [athensLater, istanbulLater] = await rulesUntil('2016-10-30T18:00:01Z')
  assert.notEqual(athensLater, istanbulLater)
  assert.notEqual(athensLater, athens)
})

/** Publishes the folder's snapshot again with other parts. */
async function republish(
  folder: string,
  change: (parts: Manifest['parts']) => Manifest['parts'],
): Promise<void> {
  const { asOf, parts } = (await readManifest(folder))!
  const held = lockFolder(folder)
  publishManifest(folder, encodeManifest({ asOf, parts: change(parts) }).bytes, held)
  held.release()
}

test('Aggregates of other months are refused, and none are needed.', async (t) => {
  const folder = temporaryFolder(t)
  const rows = every6Hours('2025-12-01T00:00:00Z', '2026-02-01T00:00:00Z', 1000)
  await build([fakeSource([buoyOf(1, 'Europe/Paris', rows)])], folder, { keep: 1 })
  const { parts } = (await readManifest(folder))!
  const entry = parts.findLast(({ kind }) => kind === 'aggregates')!
  await republish(folder, (all) =>
    all.filter(({ kind, month }) => kind !== 'readings' || month !== entry.month),
  )
  await assert.rejects(loadSnapshot(folder), /aggregates-.*: was not made from the manifest's monthly parts/)
  await republish(folder, () => parts.filter(({ kind }) => kind !== 'aggregates'))
  const dataset = (await viewOf(folder)).dataset
  assert.deepEqual(seriesOf(dataset, 0, true), seriesOf(dataset, 0, false))
})
