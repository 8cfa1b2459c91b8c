/** The made-up data: what docs/sources-beyond-buoys.md says of the demo and of `demo:scale`. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import {
  COMMON_NAMES,
  MEASURE_NAMES,
  MEASURES,
  type MeasureName,
  FORECAST_NAMES,
} from '../../src/sea/columns.ts'
import { RowBatch } from '../../src/sea/row-batch.ts'
import { openDemo } from '../../src/sources/demo/demo.ts'
import { STEP } from '../../src/sources/demo/demo-sea.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { Report, Source } from '../../src/sources/source.ts'
import type { BuoyRecord, ForecastRecord, PassRecord } from '../../src/sea/records.ts'
import { fieldOf } from '../fields.ts'
import { kilometres } from '../oracle/oracle.ts'
import { RecordingSink } from './recorder.ts'

const AS_OF = Date.UTC(2026, 5, 17, 9, 30) / 1000
const HOUR = 3600
const DAY = 86_400

const NAMES = MEASURE_NAMES
const isThere = (name: MeasureName, code: number): boolean => code !== MEASURES[name].missing

interface Collected {
  record: BuoyRecord
  times: number[]
  codes: { [name in MeasureName]: number[] }
}

/** Keeps rows by buoy. */
class Collector extends RecordingSink {
  /** All of them by handle, virtual ones too. */
  all: Collected[] = []
  reported = 0

  report: Report = {
    maxBadShare: 0,
    file: () => ({
      rows: (count) => void (this.reported += count),
      skipped: () => assert.fail('nothing to skip'),
      bad: () => assert.fail('nothing is bad'),
      end: () => true,
    }),
    doubt: () => {},
    withoutPosition: () => {},
  }

  override buoy(record: BuoyRecord): number {
    const codes = Object.fromEntries(NAMES.map((name) => [name, [] as number[]]))
    this.all.push({ record, times: [], codes: codes as Collected['codes'] })
    return super.buoy(record)
  }

  rows(handle: number, batch: RowBatch): void {
    const buoy = this.all[handle]
    for (let row = 0; row < batch.length; row++) {
      buoy.times.push(batch.time[row])
      for (const name of NAMES) buoy.codes[name].push(batch.columns[name][row])
    }
  }

  get rowCount(): number {
    return this.all.reduce((sum, { times }) => sum + times.length, 0)
  }

  /** Those that float. */
  get buoys(): Collected[] {
    return this.all.filter(({ record }) => record.virtual !== true)
  }

  get virtual(): Collected[] {
    return this.all.filter(({ record }) => record.virtual === true)
  }

  find(identifier: string): Collected {
    const found = this.all.find(({ record }) => record.identifier === identifier)
    assert.ok(found, `no buoy ${identifier}`)
    return found
  }
}

async function read(source: Source, asOf: number | null, now = AS_OF): Promise<Collector> {
  const collector = new Collector()
  await source.read(collector, { asOf, now, report: collector.report })
  return collector
}

const readDemo = (asOf: number | null, now?: number): Promise<Collector> => read(openDemo(''), asOf, now)
const readScale = (options: string, asOf = AS_OF): Promise<Collector> =>
  read(openDemo(`scale,${options}`), asOf)

const newest = (buoy: Collected): number => buoy.times.at(-1) ?? -Infinity
const values = (buoy: Collected, name: MeasureName): number[] =>
  buoy.codes[name].filter((code) => isThere(name, code)).map((code) => code / MEASURES[name].scale)
const rowsOf = ({ times, codes }: Collected): string[] =>
  times.map((time, row) => [time, ...COMMON_NAMES.map((name) => codes[name][row])].join(' '))
const ascends = (times: readonly number[]): boolean =>
  times.every((time, i) => i === 0 || time > times[i - 1])

// One reading of the demo takes some three seconds, so tests share what they compare with.
const demo = await readDemo(AS_OF, AS_OF + 40 * DAY)
const halfHourLater = await readDemo(null, AS_OF + HOUR / 2 + 900)
const monthLater = await readDemo(AS_OF + 30 * DAY)

/** Buoys whose history is hourly; that of the others is twelve-hourly. */
const HOURLY = new Set(['46042', '06403'])
const stepOf = ({ record }: Collected): number => (HOURLY.has(record.identifier) ? HOUR : 12 * HOUR)

/** How long the buoys that stopped reporting have been silent, at least; none has been a day longer. */
const SILENT = { '05602': 5 * HOUR, '44011': 2 * DAY, '51001': 30 * DAY, '05008': Infinity }

test('The demo takes the last half hour as its time, and refuses another argument and a time it has no sea for.', async () => {
  assert.equal(openDemo('').defaultAsOf?.(AS_OF + 1799), AS_OF)
  assert.equal(openDemo('').defaultAsOf?.(AS_OF), AS_OF)
  assert.throws(() => openDemo('scal'), BuildError)
  assert.throws(() => openDemo('scaled,buoys=3'), BuildError)
  for (const asOf of [0, Date.UTC(2200, 0, 1) / 1000, NaN]) await assert.rejects(readDemo(asOf), BuildError)
})

test('A later demo has the rows of an earlier one, but for months that have left its window or were thinned.', () => {
  const moved = Date.UTC(2026, 5, 1) / 1000
  for (const [handle, buoy] of demo.all.entries()) {
    const { times, record } = buoy
    const next = halfHourLater.all[handle]
    assert.deepEqual(next.record, record)
    assert.ok(next.times.length - times.length <= 1, record.name)
    for (const name of ['times', ...NAMES] as const) {
      const list = (of: Collected): number[] => (name === 'times' ? of.times : of.codes[name])
      // Asserted once: there are ten million values.
      assert.ok(
        list(buoy).every((value, row) => list(next)[row] === value),
        `${record.name} ${name}`,
      )
    }
    if (record.virtual === true) continue
    const later = monthLater.all[handle]
    const rowAt = new Map(later.times.map((time, row) => [time, row]))
    const changed = times.find((time, row) => {
      if (time < moved && time % stepOf(buoy) !== 0) return false
      const other = rowAt.get(time)
      // Rows of thinned months do not tell swell from wind sea.
      const names = time < moved ? COMMON_NAMES : NAMES
      return other === undefined || names.some((name) => later.codes[name][other] !== buoy.codes[name][row])
    })
    assert.equal(changed, undefined, record.name)
  }
})

test('The demo has some forty buoys of six networks and virtual ones of a seventh, all marked as made up.', () => {
  assert.ok(demo.buoys.length >= 40 && demo.buoys.length <= 45)
  assert.equal(demo.reported, demo.rowCount)
  const identifiers = demo.all.map(({ record }) => `${record.source}/${record.identifier}`)
  assert.equal(new Set(identifiers).size, identifiers.length)
  const networks = new Map(demo.sources.map(({ name, network }) => [name, network]))
  assert.equal(networks.size, 7)
  assert.deepEqual(new Set(networks.values()), new Set(['coastal', 'national', 'satellite']))
  for (const { record } of demo.all) {
    assert.ok(Math.abs(record.lat) <= 90 && Math.abs(record.lng) <= 180)
    const isVirtual = networks.get(record.source) === 'satellite'
    assert.equal(record.virtual === true, isVirtual)
    if (!isVirtual) assert.match(record.country ?? '', /^[A-Z]{2}$/)
  }
  for (const { credit } of demo.sources) assert.match(credit ?? '', /made up, not measured/)
})

test('Every buoy that reports has eleven years, hourly for two, and forty-five days of half hours.', () => {
  const start = Date.UTC(2015, 0, 1) / 1000
  for (const buoy of demo.buoys) {
    const { times, record } = buoy
    assert.ok(ascends(times) && times.every((time) => time % 1800 === 0 && time <= AS_OF), record.name)
    if (record.identifier === '05008') continue
    assert.ok(times[0] - start < 2 * DAY, record.name)
    const old = times.filter((time) => time < AS_OF - 80 * DAY)
    assert.ok(old.every((time) => time % stepOf(buoy) === 0))
    assert.ok(old.length > (11.2 * 365 * 0.93 * DAY) / stepOf(buoy), record.name)
    if (AS_OF - newest(buoy) >= DAY) continue
    const recent = times.filter((time) => time > AS_OF - 45 * DAY)
    assert.ok(recent.length > 0.9 * 45 * 48, `${record.name}: ${recent.length}`)
    assert.ok(
      recent.every((time, i) => i === 0 || time - recent[i - 1] < DAY),
      record.name,
    )
  }
})

test('Three buoys stopped five hours, two days and a month ago, one never reported, and one never misses a report.', () => {
  for (const collector of [demo, halfHourLater, monthLater]) {
    const end = Math.max(...collector.buoys.map(newest))
    for (const buoy of collector.buoys) {
      const silence = end - newest(buoy)
      const least = (SILENT as { [identifier: string]: number })[buoy.record.identifier] ?? 0
      assert.ok(silence >= least && (silence < least + DAY || silence === Infinity), buoy.record.name)
    }
    const recent = collector.find('06402').times.filter((time) => time > end - 45 * DAY)
    assert.deepEqual([recent.length, recent.at(-1)], [45 * 48, end])
  }
})

test('The demo holds the awkward buoys that a client meets in real data.', () => {
  for (const [identifier, name] of [
    ['98000', 'direction'],
    ['02B04', 'waterTemperature'],
    ['45161', 'period'],
    ['45161', 'peakPeriod'],
  ] as const) {
    assert.deepEqual(values(demo.find(identifier), name), [], `${identifier} ${name}`)
  }
  const records = fieldOf(demo.buoys, 'record')
  assert.ok(records.some(({ name }) => /[éèîô]/.test(name)))
  assert.ok(records.some(({ lng }) => lng > 179.5))
  assert.ok(records.some(({ lat }) => lat < 0))
  assert.ok(new Set(fieldOf(records, 'name')).size < records.length)
  const countries = fieldOf(records, 'country')
  assert.ok(countries.filter((one) => countries.filter((other) => other === one).length === 1).length >= 3)
})

test('All values of the demo are physically possible.', () => {
  const limits: { [name in MeasureName]: [number, number] } = {
    significantHeight: [0.05, 20],
    maximumHeight: [0.05, 46],
    period: [1.6, 24],
    peakPeriod: [1.8, 22],
    direction: [0, 359],
    waterTemperature: [-1.8, 33],
    windSpeed: [0, 150],
    windDirection: [0, 359],
    gustSpeed: [0, 220],
    swellHeight: [0, 20],
    swellPeriod: [1.8, 22],
    swellDirection: [0, 359],
    windWaveHeight: [0, 20],
    windWavePeriod: [1, 22],
    windWaveDirection: [0, 359],
  }
  for (const buoy of demo.all) {
    for (const name of NAMES) {
      const [low, high] = limits[name]
      const outside = values(buoy, name).find((value) => !(value >= low && value <= high))
      assert.equal(outside, undefined, `${buoy.record.name} ${name} ${outside}`)
    }
  }
})

test('The demo makes the rows, passes, forecasts and harbours that it made when this test was written.', () => {
  const hash = createHash('sha256')
  for (const { record, times, codes } of demo.all) {
    hash.update(JSON.stringify([record, times]))
    for (const name of NAMES) hash.update(codes[name].join())
  }
  const thousandths = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Math.round(value * 1000) / 1000 : value
  hash.update(JSON.stringify([demo.passes, demo.forecasts, demo.harbours], thousandths))
  assert.equal(hash.digest('hex').slice(0, 16), 'f55f532423620e59')
})

const passKey = ({ mission, cycle, number }: PassRecord): string => `${mission} ${cycle} ${number}`
const WINDOW_START = Date.UTC(2026, 5, 1) / 1000

test('Satellites bring passes of four missions, each once, in order and within its bounds, of the last ten days at least.', () => {
  const missions = [...new Set(fieldOf(demo.passes, 'mission'))]
  assert.deepEqual(missions.sort(), ['sentinel-3a', 'sentinel-3b', 'sentinel-6a', 'swot'])
  assert.equal(new Set(demo.passes.map(passKey)).size, demo.passes.length)
  for (const mission of missions) {
    const passes = demo.passes.filter((pass) => pass.mission === mission)
    assert.ok(ascends(passes.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt])))
    assert.ok(passes[0].startedAt >= WINDOW_START && passes[0].startedAt < WINDOW_START + 2 * HOUR)
    assert.ok(passes.at(-1)!.endedAt <= AS_OF && passes.at(-1)!.endedAt > AS_OF - 2 * HOUR)
    for (const { bounds, startedAt, endedAt } of passes) {
      assert.ok(Number.isInteger(startedAt) && Number.isInteger(endedAt))
      const reach = { 'sentinel-6a': 66.04, swot: 77.66 }[mission] ?? 81.35
      assert.ok(Math.abs(bounds.north - reach) < 0.1 && Math.abs(bounds.south + reach) < 0.1)
      // Also where it crosses the antimeridian.
      const width = (bounds.east - bounds.west + 360) % 360
      assert.ok(width > 160 && width < 200, `${mission} ${width}`)
    }
  }
  assert.ok(demo.passes.some(({ bounds }) => bounds.west > bounds.east))
})

test('Virtual buoys have one reading a pass, of a height and nothing else, late in a northward pass if they lie north.', () => {
  assert.ok(demo.virtual.length >= 20 && demo.virtual.length <= 40)
  const given = demo.all.map((): number[] => [])
  for (const { number, startedAt, endedAt, observations } of demo.passes) {
    assert.equal(new Set(fieldOf(observations, 'buoy')).size, observations.length)
    for (const { buoy, time } of observations) {
      assert.ok(time >= startedAt && time <= endedAt)
      const isNorth = demo.records[buoy].lat > 0
      assert.equal(time > (startedAt + endedAt) / 2, (number % 2 === 1) === isNorth)
      given[buoy].push(time)
    }
  }
  for (const [handle, { record, times, codes }] of demo.all.entries()) {
    if (record.virtual !== true) {
      assert.deepEqual(given[handle], [])
      continue
    }
    assert.ok(times.length > 0 && ascends(times))
    assert.deepEqual(
      times,
      given[handle].toSorted((a, b) => a - b),
    )
    for (const name of NAMES) {
      assert.ok(codes[name].every((code) => isThere(name, code) === (name === 'significantHeight')))
    }
  }
})

type Coordinates = Readonly<{ lat: number; lng: number }>
const km = (a: Coordinates, b: Coordinates): number => kilometres(a.lat, a.lng, b.lat, b.lng)

const nearest = (place: Coordinates): ForecastRecord =>
  demo.forecasts.reduce((best, other) => (km(place, other) < km(place, best) ? other : best))

test('The forecast has points on its grid, each once and one within 30 km of every buoy, and stays until the next run.', () => {
  for (const { record } of demo.all) assert.ok(km(record, nearest(record)) < 30, record.name)
  assert.equal(new Set(demo.forecasts.map(({ lat, lng }) => `${lat} ${lng}`)).size, demo.forecasts.length)
  for (const { lat, lng } of demo.forecasts) {
    assert.ok(lat % 0.25 === 0 && lng % 0.25 === 0 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180)
  }
  assert.deepEqual(halfHourLater.forecasts, demo.forecasts)
})

test('The forecast is hourly from a day before the run to seven days after, every quantity at every hour.', () => {
  const run = Date.UTC(2026, 5, 17, 6) / 1000
  const hours = Array.from({ length: 8 * 24 + 1 }, (_, i) => run - DAY + i * HOUR)
  const limits = { Direction: [0, 359], Height: [0, 20], Period: [1.5, 27], Speed: [0, 200] }
  for (const { runAt, times, values: lists } of demo.forecasts) {
    assert.deepEqual([runAt, times], [run, hours])
    for (const name of FORECAST_NAMES) {
      const [low, high] = Object.entries(limits).find(([kind]) => name.endsWith(kind))?.[1] ?? [0, 200]
      assert.equal(lists[name]?.length, hours.length)
      const isPossible = (value: number | null): boolean => value !== null && value >= low && value <= high
      assert.ok(lists[name].every(isPossible), name)
    }
    lists.swellHeight?.forEach((swell, i) => assert.ok(swell! <= lists.waveHeight![i]!))
  }
})

test('The scale generator makes the bytes that it made when this test was written, and others with another seed.', async () => {
  const digest = async (options: string): Promise<string> => {
    const hash = createHash('sha256')
    const { records, all } = await readScale(options)
    hash.update(JSON.stringify(records))
    for (const buoy of all) hash.update(rowsOf(buoy).join('\n'))
    return hash.digest('hex').slice(0, 16)
  }
  assert.equal(await digest('buoys=8,days=31'), '0f18b60fbb7eea3f')
  assert.notEqual(await digest('buoys=8,days=31,seed=10'), '0f18b60fbb7eea3f')
})

test('The scale generator makes the buoys and the days that were asked for, half-hourly, with gaps of a few per cent.', async () => {
  const { all, rowCount } = await readScale('buoys=45,days=100')
  assert.equal(all.length, 45)
  const full = 45 * 100 * 48
  assert.ok(rowCount > full * 0.92 && rowCount < full * 0.985, `${rowCount} of ${full}`)
  for (const { times } of all) {
    assert.ok(times.every((time) => time > AS_OF - 100 * DAY && time <= AS_OF && time % STEP === 0))
  }
})

test('Scale buoys have unique identifiers, names and places on the globe, and the first are the same at any size.', async () => {
  const { records, sources } = await readScale('buoys=5000,days=1')
  assert.equal(new Set(fieldOf(records, 'identifier')).size, 5000)
  assert.equal(new Set(fieldOf(records, 'name')).size, 5000)
  assert.ok(new Set(records.map(({ lat, lng }) => `${lat} ${lng}`)).size > 4990)
  assert.deepEqual([records[0].identifier, records[4999].identifier], ['S00001', 'S05000'])
  for (const { lat, lng, source } of records) {
    assert.ok(lat >= -75 && lat <= 75 && lng >= -180 && lng <= 180)
    assert.ok(sources.some(({ name }) => name === source))
  }
  const coastal = records.filter(({ source }) => source === 'Scale Coastal').length
  assert.ok(Math.abs(coastal - 1250) < 25, `${coastal}`)
  assert.deepEqual((await readScale('buoys=60,days=1')).records, records.slice(0, 60))
})

test('Bad options of the scale generator are refused with the option and what is allowed.', () => {
  const refused = [
    'buoys=0',
    'buoys=5001',
    'buoys=',
    'buoys',
    'buoys=1e3',
    'buoys=-3',
    'buoys= 3',
    'days=7301',
  ]
  refused.push('seed=4294967296', 'boys=3', 'toString=3', 'buoys=3,', 'x'.repeat(100_000))
  for (const options of refused) {
    const option = JSON.stringify(options.split(',').at(-1)!.slice(0, 20))
    const message = `demo:scale: not ${option}; allowed are buoys from 1 to 5000, days from 1 to 7300, seed from`
    assert.throws(
      () => openDemo(`scale,${options}`),
      (error) => error instanceof BuildError && error.message.startsWith(message),
      options.slice(0, 30),
    )
  }
})

test('The scale generator needs no options.', () => {
  assert.equal(typeof openDemo('scale').read, 'function')
  assert.equal(openDemo('scale').defaultAsOf?.(AS_OF + 5), AS_OF)
})
