import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import { FORECAST_NAMES } from '../../src/sea/forecast-names.ts'
import { RowBatch } from '../../src/sea/row-batch.ts'
import { openDemo } from '../../src/sources/demo/demo.ts'
import { openScale, scaleOptions } from '../../src/sources/demo/demo-scale.ts'
import { STEP } from '../../src/sources/demo/demo-sea.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { FileReport, Report } from '../../src/sources/source.ts'
import type { BuoyRecord, ForecastRecord, PassRecord } from '../../src/sea/records.ts'
import { RecordingSink } from './recording_sink.ts'

const AS_OF = Date.UTC(2026, 5, 17, 9, 30) / 1000
const HOUR = 3600
const DAY = 86_400

const NAMES = MEASURE_NAMES
const missingCode = (name: MeasureName): number => MEASURES[name].missing
const perUnit = (name: MeasureName): number => MEASURES[name].scale

interface Collected {
  record: BuoyRecord
  times: number[]
  codes: { [name in MeasureName]: number[] }
}

class Collector extends RecordingSink {
  /** All of them by handle, virtual ones too. */
  all: Collected[] = []

  override buoy(record: BuoyRecord): number {
    const codes = Object.fromEntries(NAMES.map((name) => [name, [] as number[]]))
    this.all.push({ record, times: [], codes: codes as Collected['codes'] })
    return super.buoy(record)
  }

  /** Those that float. */
  get buoys(): Collected[] {
    return this.all.filter(({ record }) => record.virtual !== true)
  }

  get virtual(): Collected[] {
    return this.all.filter(({ record }) => record.virtual === true)
  }

  rows(buoy: number, batch: RowBatch): void {
    const { times, codes } = this.all[buoy]
    for (let row = 0; row < batch.length; row++) {
      times.push(batch.time[row])
      for (const name of NAMES) codes[name].push(batch.columns[name][row])
    }
  }

  find(identifier: string): Collected {
    const found = this.all.find(({ record }) => record.identifier === identifier)
    assert.ok(found, `no buoy ${identifier}`)
    return found
  }
}

class RowCount implements Report {
  rows = 0

  file(): ReturnType<Report['file']> {
    return {
      rows: (count) => {
        this.rows += count
      },
      skipped: () => assert.fail('nothing to skip'),
      bad: () => assert.fail('nothing is bad'),
      end: () => {},
    }
  }

  warn(): void {}

  withoutPosition(): void {}
}

async function readDemo(asOf: number | null, now = AS_OF, report = new RowCount()): Promise<Collector> {
  const collector = new Collector()
  await openDemo('').read(collector, { asOf, now, report })
  return collector
}

/** Buoys whose history is hourly; that of the others is six-hourly. */
const HOURLY = new Set(['46042', '46240', '06403', '61001', '62001'])

const newest = (buoy: Collected): number => buoy.times.at(-1) ?? -Infinity
const measured = (buoy: Collected, name: MeasureName): number =>
  buoy.codes[name].filter((code) => code !== missingCode(name)).length
const values = (buoy: Collected, name: MeasureName): number[] =>
  buoy.codes[name].filter((code) => code !== missingCode(name)).map((code) => code / perUnit(name))

// One reading of the demo takes some three seconds, so tests share what they compare with.
const report = new RowCount()
const demo = await readDemo(AS_OF, AS_OF + 40 * DAY, report)
const halfHourLater = await readDemo(null, AS_OF + HOUR / 2 + 900)
const monthLater = await readDemo(AS_OF + 30 * DAY)

void describe('the demo source', () => {
  void it('takes the last half hour as its time', () => {
    assert.equal(openDemo('').defaultAsOf?.(AS_OF + 1799), AS_OF)
    assert.equal(openDemo('').defaultAsOf?.(AS_OF), AS_OF)
  })

  void it('keeps every older reading when it is built half an hour later', () => {
    for (const [i, { times, codes, record }] of demo.buoys.entries()) {
      const next = halfHourLater.buoys[i]
      assert.deepEqual(next.record, record)
      assert.ok(next.times.length - times.length <= 1, record.name)
      assert.ok(times.every((time, row) => next.times[row] === time))
      for (const name of NAMES) assert.ok(codes[name].every((code, row) => next.codes[name][row] === code))
    }
  })

  void it('only drops whole months and thins the others when the window moves on', () => {
    const moved = Date.UTC(2026, 5, 1) / 1000
    for (const [i, { times, codes, record }] of demo.buoys.entries()) {
      const next = monthLater.buoys[i]
      const step = HOURLY.has(record.identifier) ? HOUR : 6 * HOUR
      const rowAt = new Map(next.times.map((time, row) => [time, row]))
      for (const [row, time] of times.entries()) {
        if (time < moved && time % step !== 0) continue
        const other = rowAt.get(time)
        if (other === undefined) assert.fail(`${record.name} lost its reading of ${time}`)
        const changed = NAMES.find((name) => next.codes[name][other] !== codes[name][row])
        assert.equal(changed, undefined)
      }
    }
  })

  void it('holds about forty buoys with unique identifiers in six networks, and virtual ones in a seventh', () => {
    assert.ok(demo.buoys.length >= 40 && demo.buoys.length <= 45)
    assert.equal(
      report.rows,
      demo.all.reduce((sum, { times }) => sum + times.length, 0),
    )
    const ids = demo.all.map(({ record }) => `${record.source}/${record.identifier}`)
    assert.equal(new Set(ids).size, ids.length)
    const networks = new Map(demo.sources.map(({ name, network }) => [name, network]))
    assert.equal(networks.get('Candhis'), 'coastal')
    assert.equal(networks.get('Météo-France'), 'national')
    assert.equal(networks.get('Satellite altimetry'), 'satellite')
    assert.equal(networks.size, 7)
    for (const { record } of demo.all) {
      assert.ok(networks.has(record.source))
      assert.equal(record.virtual === true, record.source === 'Satellite altimetry')
      assert.ok(Math.abs(record.lat) <= 90 && Math.abs(record.lng) <= 180)
    }
    for (const { record } of demo.buoys) assert.match(record.country ?? '', /^[A-Z]{2}$/)
    for (const { credit } of demo.sources) assert.match(credit ?? '', /made up, not measured/)
  })

  void it('has forty-five half-hourly days for every buoy that reports, without a gap of a day', () => {
    for (const { record, times } of demo.buoys) {
      const wrong = times.find(
        (time, i) => !(time % 1800 === 0 && time <= AS_OF && (i === 0 || time > times[i - 1])),
      )
      assert.equal(wrong, undefined, record.name)
      if (['05008', '51001', '44011'].includes(record.identifier)) continue
      const recent = times.filter((time) => time > AS_OF - 45 * DAY)
      assert.ok(recent.length > 0.9 * 45 * 48, `${record.name}: ${recent.length}`)
      assert.ok(AS_OF - recent[recent.length - 1] < DAY)
      for (let i = 1; i < recent.length; i++) {
        assert.equal((recent[i] - recent[i - 1]) % 1800, 0)
        assert.ok(recent[i] - recent[i - 1] < DAY)
      }
    }
  })

  void it('has eleven years for every buoy that reports, hourly for five, two of them with wind', () => {
    const start = Date.UTC(2015, 0, 1) / 1000
    for (const { times, record } of demo.buoys) {
      if (record.identifier === '05008') continue
      const step = HOURLY.has(record.identifier) ? HOUR : 6 * HOUR
      assert.ok(times[0] - start < 2 * DAY, record.name)
      const old = times.filter((time) => time < AS_OF - 80 * DAY)
      assert.ok(old.every((time) => time % step === 0))
      assert.ok(old.length > (11.2 * 365 * 0.93 * DAY) / step, record.name)
    }
    const long = demo.buoys.filter(({ record }) => HOURLY.has(record.identifier))
    assert.ok(long.filter((buoy) => measured(buoy, 'windSpeed') > 90_000).length >= 2)
  })

  void it('holds the awkward buoys that a client meets in real data', () => {
    assert.ok(demo.buoys.some(({ record }) => /[éèîô]/.test(record.name)))
    assert.ok(demo.find('02B04'))
    assert.equal(demo.find('05008').times.length, 0)
    assert.equal(newest(demo.find('51001')) <= AS_OF - 30 * DAY, true)
    assert.equal(newest(demo.find('51001')) > AS_OF - 31 * DAY, true)
    assert.equal(newest(demo.find('44011')) <= AS_OF - 2 * DAY, true)
    assert.equal(newest(demo.find('44011')) > AS_OF - 3 * DAY, true)
    assert.equal(measured(demo.find('98000'), 'direction'), 0)
    assert.equal(measured(demo.find('02B04'), 'waterTemperature'), 0)
    assert.equal(measured(demo.find('45161'), 'period'), 0)
    assert.equal(measured(demo.find('45161'), 'peakPeriod'), 0)
    assert.ok(measured(demo.find('45161'), 'significantHeight') > 2000)
    assert.ok(demo.buoys.some(({ record }) => record.lng > 179.5))
    assert.ok(demo.buoys.some(({ record }) => record.lat < 0))
    const names = demo.buoys.map(({ record }) => record.name)
    assert.ok(new Set(names).size < names.length)
    const perCountry = new Map<string, number>()
    for (const { record } of demo.buoys) {
      perCountry.set(record.country ?? '', (perCountry.get(record.country ?? '') ?? 0) + 1)
    }
    assert.ok([...perCountry.values()].filter((count) => count === 1).length >= 3)
  })

  void it('has its showpiece report to the last half hour, and one buoy that stopped five hours ago', () => {
    for (const collector of [demo, halfHourLater, monthLater]) {
      const end = Math.max(...collector.buoys.map(newest))
      const recent = collector.find('06402').times.filter((time) => time > end - 45 * DAY)
      assert.equal(recent.at(-1), end)
      assert.equal(recent.length, 45 * 48)
      const silence = end - newest(collector.find('05602'))
      assert.ok(silence >= 5 * HOUR && silence < DAY, `${silence}`)
    }
  })

  void it('gives each network what that network publishes', () => {
    for (const buoy of demo.buoys) {
      if (buoy.times.length === 0) continue
      const { source } = buoy.record
      assert.equal(measured(buoy, 'maximumHeight') > 0, ['Candhis', 'Marine Institute'].includes(source))
      if (source === 'Candhis') assert.equal(measured(buoy, 'windSpeed'), 0)
      if (source === 'Météo-France') assert.equal(measured(buoy, 'peakPeriod'), 0)
      if (source === 'NDBC') assert.deepEqual(buoy.codes.period, buoy.codes.peakPeriod)
    }
    const candhis = demo.find('06403')
    assert.notDeepEqual(candhis.codes.period, candhis.codes.peakPeriod)
  })

  void it('stays inside physical limits', () => {
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
    }
    for (const buoy of demo.buoys) {
      for (const name of NAMES) {
        const [low, high] = limits[name]
        // Asserted once: there are ten million values.
        const outside = values(buoy, name).find((value) => !(value >= low && value <= high))
        assert.equal(outside, undefined, `${buoy.record.name} ${name} ${outside}`)
      }
    }
  })

  void it('refuses another argument and a time it has no sea for', async () => {
    assert.throws(() => openDemo('scal'), BuildError)
    assert.throws(() => openDemo('scaled,buoys=3'), BuildError)
    await assert.rejects(readDemo(0), BuildError)
    await assert.rejects(readDemo(Date.UTC(2200, 0, 1) / 1000), BuildError)
    await assert.rejects(readDemo(NaN), BuildError)
  })
})

void describe('the sea of the demo source', () => {
  const heightsOf = (identifier: string, source?: string): Map<number, number> => {
    const found = demo.buoys.find(
      ({ record }) => record.identifier === identifier && (source ?? record.source) === record.source,
    )
    assert.ok(found, identifier)
    const { times, codes } = found
    return new Map(
      times.flatMap((time, row) => {
        const code = codes.significantHeight[row]
        return code === missingCode('significantHeight') ? [] : [[time, code / 1000] as const]
      }),
    )
  }

  const median = (list: readonly number[]): number =>
    list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]

  /** Correlation of the logarithms of heights at the times that both have. */
  function correlation(a: Map<number, number>, b: Map<number, number>): number {
    const pairs = [...a].flatMap(([time, height]) => {
      const other = b.get(time)
      return other === undefined ? [] : [[Math.log(height), Math.log(other)] as const]
    })
    assert.ok(pairs.length > 500)
    const mean = (side: 0 | 1): number => pairs.reduce((sum, pair) => sum + pair[side], 0) / pairs.length
    const [meanA, meanB] = [mean(0), mean(1)]
    let [both, squareA, squareB] = [0, 0, 0]
    for (const [x, y] of pairs) {
      both += (x - meanA) * (y - meanB)
      squareA += (x - meanA) ** 2
      squareB += (y - meanB) ** 2
    }
    return both / Math.sqrt(squareA * squareB)
  }

  void it('is smooth in space: neighbours agree, other oceans are apart, one mooring of two networks has one sea', () => {
    for (const [a, b] of [
      ['46026', '46214'],
      ['44025', '44097'],
      ['61001', '98000'],
      ['06402', '06403'],
    ] as const) {
      assert.ok(correlation(heightsOf(a), heightsOf(b)) > 0.8, `${a} ${b}`)
    }
    assert.ok(Math.abs(correlation(heightsOf('06402'), heightsOf('97403'))) < 0.5)
    assert.deepEqual(heightsOf('62163', 'UK Met Office'), heightsOf('62163', 'Météo-France'))
  })

  void it('is smooth in time: nine of ten half-hours change a height by less than a tenth', () => {
    for (const identifier of ['06402', '06403', 'M6', '46042']) {
      const heights = [...heightsOf(identifier)].filter(([time]) => time > AS_OF - 45 * DAY)
      const changes = heights.flatMap(([time, height], i) =>
        i > 0 && time - heights[i - 1][0] === STEP ? [Math.abs(Math.log(height / heights[i - 1][1]))] : [],
      )
      const [at] = changes.toSorted((a, b) => a - b).slice(Math.floor(changes.length * 0.9))
      assert.ok(at < 0.12, `${identifier} ${at}`)
    }
  })

  void it('has the heights of its climates, and more wind with high waves than with low ones', () => {
    const monthly = (month: number): number =>
      median(
        [...heightsOf('06403')].flatMap(([time, height]) =>
          new Date(time * 1000).getUTCMonth() === month ? [height] : [],
        ),
      )
    assert.ok(Math.abs(Math.log(monthly(0) / 1.94)) < 0.35, `${monthly(0)}`)
    assert.ok(Math.abs(Math.log(monthly(6) / 0.8)) < 0.35, `${monthly(6)}`)
    const { codes } = demo.find('M6')
    const rows = codes.significantHeight
      .map((height, row) => [height, codes.windSpeed[row]] as const)
      .toSorted(([a], [b]) => a - b)
    const tenth = Math.floor(rows.length / 10)
    const windOf = (list: typeof rows): number => median(list.map(([, wind]) => wind))
    assert.ok(windOf(rows.slice(-tenth)) > 1.5 * windOf(rows.slice(0, tenth)))
  })
})

/** Great circle in km, by the angle between two unit vectors. */
function kilometres(a: { lat: number; lng: number }, b: { lat: number; lng: number }): number {
  const vector = ({ lat, lng }: { lat: number; lng: number }): [number, number, number] => {
    const [north, east] = [(lat * Math.PI) / 180, (lng * Math.PI) / 180]
    return [Math.cos(north) * Math.cos(east), Math.cos(north) * Math.sin(east), Math.sin(north)]
  }
  const [[x, y, z], [u, v, w]] = [vector(a), vector(b)]
  return 6371 * Math.atan2(Math.hypot(y * w - z * v, z * u - x * w, x * v - y * u), x * u + y * v + z * w)
}

/** Degrees eastward from `west` to `east`, 0 to 360. */
const arc = (west: number, east: number): number => (((east - west) % 360) + 360) % 360
const passKey = ({ mission, cycle, number }: PassRecord): string => `${mission} ${cycle} ${number}`
const WINDOW_START = Date.UTC(2026, 5, 1) / 1000

void describe('the satellites of the demo source', () => {
  void it('brings passes of four missions, each once, complete, in order, of the last ten days at least', () => {
    const missions = [...new Set(demo.passes.map(({ mission }) => mission))]
    assert.deepEqual(missions.sort(), ['sentinel-3a', 'sentinel-3b', 'sentinel-6a', 'swot'])
    assert.equal(new Set(demo.passes.map(passKey)).size, demo.passes.length)
    for (const mission of missions) {
      const passes = demo.passes.filter((pass) => pass.mission === mission)
      for (const [i, { startedAt, endedAt }] of passes.entries()) {
        assert.ok(Number.isInteger(startedAt) && Number.isInteger(endedAt))
        assert.ok(startedAt >= WINDOW_START && endedAt <= AS_OF)
        // Half an orbit of 99 to 112 minutes, less the ice.
        assert.ok(endedAt - startedAt > 40 * 60 && endedAt - startedAt < 57 * 60)
        assert.ok(i === 0 || startedAt > passes[i - 1].endedAt)
      }
      assert.ok(passes[0].startedAt < WINDOW_START + 2 * HOUR)
      assert.ok(passes.at(-1)!.endedAt > AS_OF - 2 * HOUR)
    }
  })

  void it('numbers passes on without a gap, odd ones north', () => {
    const next = { 'sentinel-3a': 770, 'sentinel-3b': 770, 'sentinel-6a': 254, swot: 584 }
    for (const [mission, count] of Object.entries(next)) {
      const passes = demo.passes.filter((pass) => pass.mission === mission)
      const places = passes.map(({ cycle, number }) => cycle * count + number - 1)
      assert.deepEqual(
        places,
        places.map((_, i) => places[0] + i),
      )
      for (const { number } of passes) assert.ok(number >= 1 && number <= count)
    }
    // A virtual buoy in the north is met late in a pass that goes there, early in one that comes from there.
    let met = 0
    for (const { number, startedAt, endedAt, observations } of demo.passes) {
      for (const { buoy, time } of observations) {
        const isNorth = demo.records[buoy].lat > 0
        assert.equal(time > (startedAt + endedAt) / 2, (number % 2 === 1) === isNorth)
        met++
      }
    }
    assert.ok(met > 100)
  })

  void it('bounds a pass by less than the globe, also where it crosses the antimeridian', () => {
    let across = 0
    for (const { mission, bounds } of demo.passes) {
      const { south, west, north, east } = bounds
      const reach = mission === 'sentinel-6a' ? 66.04 : 72
      assert.ok(Math.abs(north - reach) < 0.1 && Math.abs(south + reach) < 0.1)
      assert.ok(Math.abs(west) <= 180 && Math.abs(east) <= 180)
      const width = arc(west, east)
      assert.ok(width > 60 && width < 170, `${mission} ${width}`)
      if (west > east) across++
    }
    assert.ok(across > 100 && across < demo.passes.length - 100)
  })

  void it('keeps every pass as it was when it is built later', () => {
    const known = new Map(halfHourLater.passes.map((pass) => [passKey(pass), pass]))
    for (const pass of demo.passes) assert.deepEqual(known.get(passKey(pass)), pass)
    for (const pass of halfHourLater.passes) {
      assert.equal(
        pass.endedAt <= AS_OF,
        demo.passes.some((other) => passKey(other) === passKey(pass)),
      )
    }
    for (const [i, { times, codes }] of demo.virtual.entries()) {
      const next = halfHourLater.virtual[i]
      assert.deepEqual(next.times.slice(0, times.length), times)
      assert.deepEqual(next.codes.significantHeight.slice(0, times.length), codes.significantHeight)
    }
    assert.ok(monthLater.passes.every(({ startedAt }) => startedAt >= Date.UTC(2026, 6, 1) / 1000))
  })

  void it('gives virtual buoys one reading a pass, of a height and nothing else', () => {
    assert.ok(demo.virtual.length >= 20 && demo.virtual.length <= 40)
    const given = new Map<number, number[]>()
    for (const { startedAt, endedAt, observations } of demo.passes) {
      assert.equal(new Set(observations.map(({ buoy }) => buoy)).size, observations.length)
      for (const { buoy, time } of observations) {
        assert.ok(time >= startedAt && time <= endedAt)
        given.set(buoy, [...(given.get(buoy) ?? []), time])
      }
    }
    for (const [handle, { record, times, codes }] of demo.all.entries()) {
      if (record.virtual !== true) {
        assert.equal(given.has(handle), false)
        continue
      }
      assert.deepEqual(
        times,
        given.get(handle)?.sort((a, b) => a - b),
      )
      for (let row = 1; row < times.length; row++) assert.ok(times[row] > times[row - 1])
      for (const name of NAMES) {
        for (const code of codes[name]) assert.equal(code === missingCode(name), name !== 'significantHeight')
      }
      for (const code of codes.significantHeight) assert.ok(code >= 100 && code <= 20_000 && code % 10 === 0)
    }
  })

  void it('lets some virtual buoys be fresh and others stale whatever the time', () => {
    const times = demo.virtual.flatMap((buoy) => buoy.times).sort((a, b) => a - b)
    for (let i = 1; i < times.length; i++) assert.ok(times[i] - times[i - 1] < DAY)
    for (let at = times[0] + 10 * DAY; at <= times.at(-1)!; at += DAY / 4) {
      const ages = demo.virtual.map((buoy) => at - buoy.times.findLast((time) => time <= at)!)
      assert.ok(ages.filter((age) => age <= DAY).length >= 3)
      assert.ok(ages.filter((age) => age > DAY).length >= 5)
    }
  })
})

void describe('the forecast of the demo source', () => {
  const nearest = (place: { lat: number; lng: number }): ForecastRecord =>
    demo.forecasts.reduce((best, other) =>
      kilometres(place, other) < kilometres(place, best) ? other : best,
    )

  void it('has a point within 30 km of every buoy, and each point once', () => {
    for (const { record } of demo.all) {
      assert.ok(kilometres(record, nearest(record)) < 30, record.name)
    }
    const keys = demo.forecasts.map(({ lat, lng }) => `${lat} ${lng}`)
    assert.equal(new Set(keys).size, keys.length)
    for (const { lat, lng } of demo.forecasts) {
      assert.ok(lat % 0.25 === 0 && lng % 0.25 === 0 && Math.abs(lat) <= 90 && Math.abs(lng) <= 180)
    }
  })

  void it('runs hourly from a day before the run to seven days after, every quantity at every hour', () => {
    const run = Date.UTC(2026, 5, 17, 6) / 1000
    for (const { runAt, times, values } of demo.forecasts) {
      assert.equal(runAt, run)
      assert.equal(times.length, 8 * 24 + 1)
      assert.deepEqual(
        times,
        times.map((_, i) => run - DAY + i * HOUR),
      )
      for (const name of FORECAST_NAMES) {
        const list = values[name]
        assert.equal(list?.length, times.length)
        for (const value of list ?? []) {
          assert.ok(value !== null && Number.isFinite(value) && value >= 0)
          if (name.endsWith('Direction')) assert.ok(Number.isInteger(value) && value < 360)
          else if (name.endsWith('Height'))
            assert.ok(value <= 20 && Math.abs(value * 100 - Math.round(value * 100)) < 1e-6)
          else if (name.endsWith('Period')) assert.ok(value >= 1.5 && value < 27)
          else assert.ok(value < 200)
        }
      }
      values.swellHeight?.forEach((swell, i) => assert.ok(swell! <= values.waveHeight![i]!))
    }
  })

  void it('sees the sea that the buoy will measure, better today than in a week', () => {
    const errors: [near: number[], far: number[]] = [[], []]
    for (const { record } of demo.buoys) {
      const { times, codes } = monthLater.find(record.identifier)
      const forecast = nearest(record)
      const heights = new Map(times.map((time, row) => [time, codes.significantHeight[row]]))
      forecast.times.forEach((time, i) => {
        const code = heights.get(time)
        if (code === undefined || code === missingCode('significantHeight')) return
        const error = Math.log((forecast.values.waveHeight?.[i] ?? NaN) / (code / 1000))
        if (time < forecast.runAt + DAY) errors[0].push(error)
        else if (time > forecast.runAt + 5 * DAY) errors[1].push(error)
      })
    }
    const spread = (list: number[]): number =>
      Math.sqrt(list.reduce((sum, error) => sum + error * error, 0) / list.length)
    const [near, far] = errors.map(spread)
    assert.ok(errors.every((list) => list.length > 1000))
    assert.ok(near < 0.2 && far > near && far < 0.4, `${near} ${far}`)
  })

  void it('stays the same until the next run', () => {
    assert.deepEqual(halfHourLater.forecasts, demo.forecasts)
  })
})

void describe('the harbours and spots of the demo source', () => {
  void it('has a dozen harbours with their credits, levels and constituents', () => {
    assert.ok(demo.harbours.length >= 12 && demo.harbours.length <= 16)
    assert.equal(new Set(demo.harbours.map(({ identifier }) => identifier)).size, demo.harbours.length)
    for (const { identifier, credit, lat, lng, datumOffset, constituents } of demo.harbours) {
      const [publisher] = identifier.split('/')
      const expected = {
        noaa: /^US National Oceanic and Atmospheric Administration.*public domain/,
        ticon: /^TICON-4 \(CC BY 4\.0\).*Hart-Davis.*https:\/\/doi\.org\/10\.17882\/109129, shortened/,
        kartverket: /^Kartverket.*\(CC BY 4\.0\), shortened/,
      }[publisher]
      assert.match(credit, expected ?? /^$/)
      assert.ok(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)
      const names = constituents.map(({ name }) => name)
      assert.equal(new Set(names).size, names.length)
      for (const name of ['M2', 'S2', 'N2', 'K1', 'O1', 'K2', 'P1']) assert.ok(names.includes(name))
      let sum = 0
      for (const { name, amplitude, phase } of constituents) {
        assert.match(name, /^[A-Z0-9_()]+$/)
        assert.ok(amplitude >= 0.001 && amplitude < 3, `${identifier} ${name}`)
        assert.ok(phase >= 0 && phase <= 360)
        sum += amplitude
      }
      // The mean level stands above the lowest tide, but by less than all constituents together.
      assert.ok(datumOffset > 0 && datumOffset < sum)
    }
    const semidiurnal = demo.harbours.find(({ name }) => name === 'Le Conquet')
    assert.ok(semidiurnal !== undefined && semidiurnal.constituents[0].name === 'M2')
    assert.ok(semidiurnal.constituents[0].amplitude > 1.9)
  })

  void it('has spots with the ids from 1 on, most of them near a buoy and a harbour', () => {
    assert.deepEqual(
      demo.spots.map(({ id }) => id),
      demo.spots.map((_, i) => i + 1),
    )
    assert.ok(demo.spots.length >= 8)
    const within = (list: readonly { lat: number; lng: number }[], km: number): number =>
      demo.spots.filter((spot) => list.some((place) => kilometres(spot, place) <= km)).length
    assert.equal(
      within(
        demo.buoys.map(({ record }) => record),
        50,
      ),
      demo.spots.length - 2,
    )
    assert.ok(within(demo.harbours, 100) >= demo.spots.length - 1)
    assert.ok(within(demo.forecasts, 50) < demo.spots.length)
  })
})

/**
 * One batch as it came: which buoy, and a copy of its rows as text, so that two are equal when their rows
 * are.
 */
interface Delivery {
  buoy: number
  times: number[]
  rows: string[]
}

class Deliveries extends RecordingSink {
  deliveries: Delivery[] = []

  rows(buoy: number, batch: RowBatch): void {
    const times = [...batch.time.subarray(0, batch.length)]
    const rows = times.map((time, row) => [time, ...NAMES.map((name) => batch.columns[name][row])].join(' '))
    this.deliveries.push({ buoy, times, rows })
  }

  rowsOf(buoy: number): string[] {
    return this.deliveries.filter((delivery) => delivery.buoy === buoy).flatMap(({ rows }) => rows)
  }
}

const silent: FileReport = { rows: () => {}, skipped: () => {}, bad: () => {}, end: () => {} }
const silentReport: Report = { file: () => silent, warn: () => {}, withoutPosition: () => {} }

async function readScale(options: string, asOf = AS_OF): Promise<Deliveries> {
  const collector = new Deliveries()
  await openDemo(`scale,${options}`).read(collector, { asOf, now: 0, report: silentReport })
  return collector
}

const monthOf = (time: number): string => new Date(time * 1000).toISOString().slice(0, 7)

void describe('the scale generator', () => {
  void it('makes the buoys and the days that were asked for, half-hourly, with gaps of a few per cent', async () => {
    const { records, deliveries } = await readScale('buoys=45,days=100')
    assert.equal(records.length, 45)
    const times = deliveries.flatMap((delivery) => delivery.times)
    const full = 45 * 100 * 48
    assert.ok(times.length > full * 0.92 && times.length < full * 0.985, `${times.length} of ${full}`)
    for (const time of times) assert.ok(time > AS_OF - 100 * DAY && time <= AS_OF && time % STEP === 0)
  })

  void it('counts years by the calendar', async () => {
    const { deliveries } = await readScale('buoys=1,years=3')
    const times = deliveries.flatMap((delivery) => delivery.times)
    const start = Date.UTC(2023, 5, 17, 9, 30) / 1000
    assert.ok(times[0] > start && times[0] < start + 2 * DAY)
    assert.equal(new Set(times.map(monthOf)).size, 37)
  })

  void it('hands over month by month, oldest first, each batch in one month and ascending', async () => {
    const { deliveries } = await readScale('buoys=7,days=200')
    let latest = ''
    for (const { times } of deliveries) {
      const months = new Set(times.map(monthOf))
      assert.equal(months.size, 1)
      const [month = ''] = months
      assert.ok(month >= latest)
      latest = month
      for (let i = 1; i < times.length; i++) assert.ok(times[i] > times[i - 1])
    }
    assert.equal(latest, monthOf(AS_OF))
  })

  void it('gives the same rows again, and others with another seed', async () => {
    const first = await readScale('buoys=5,days=40,seed=9')
    assert.deepEqual(await readScale('buoys=5,days=40,seed=9'), first)
    const other = await readScale('buoys=5,days=40,seed=10')
    assert.notDeepEqual(other.rowsOf(0), first.rowsOf(0))
  })

  void it('makes the bytes that it made when this test was written', async () => {
    const hash = createHash('sha256')
    const { records, deliveries } = await readScale('buoys=8,days=31')
    hash.update(JSON.stringify(records))
    for (const { rows } of deliveries) hash.update(rows.join('\n'))
    assert.equal(hash.digest('hex').slice(0, 16), 'db226d9f28313588')
  })

  void it('moves its window with --as-of and changes nothing inside it', async () => {
    const before = await readScale('buoys=4,days=30')
    const after = await readScale('buoys=4,days=30', AS_OF + STEP)
    for (let buoy = 0; buoy < 4; buoy++) {
      const common = (rows: string[]): string[] =>
        rows.filter((row) => Number.parseInt(row) > AS_OF + STEP - 30 * DAY && Number.parseInt(row) <= AS_OF)
      assert.deepEqual(common(after.rowsOf(buoy)), common(before.rowsOf(buoy)))
    }
  })

  void it('says which month it is at and how many rows it made', async () => {
    const said: [string, number][] = []
    const counting: Report = {
      file: (path) => {
        const entry: [string, number] = [path, 0]
        said.push(entry)
        return { ...silent, rows: (count) => (entry[1] += count) }
      },
      warn: () => {},
      withoutPosition: () => {},
    }
    const collector = new Deliveries()
    await openScale('buoys=2,days=40').read(collector, { asOf: AS_OF, now: 0, report: counting })
    assert.deepEqual(
      said.map(([path]) => path),
      ['scale 2026-05', 'scale 2026-06'],
    )
    const made = collector.deliveries.reduce((sum, { times }) => sum + times.length, 0)
    assert.equal(said[0][1] + said[1][1], made)
  })

  void it('has unique identifiers, names and places on the globe, and the same first buoys at any size', async () => {
    const { records, sources } = await readScale('buoys=5000,days=1')
    assert.equal(new Set(records.map(({ identifier }) => identifier)).size, 5000)
    assert.equal(new Set(records.map(({ name }) => name)).size, 5000)
    assert.ok(new Set(records.map(({ lat, lng }) => `${lat} ${lng}`)).size > 4990)
    assert.equal(records[0].identifier, 'S00001')
    assert.equal(records[4999].identifier, 'S05000')
    for (const { lat, lng, source } of records) {
      assert.ok(lat >= -75 && lat <= 75 && lng >= -180 && lng <= 180)
      assert.ok(sources.some(({ name }) => name === source))
    }
    const coastal = records.filter(({ source }) => source === 'Scale Coastal').length
    assert.ok(Math.abs(coastal - 1250) < 25, `${coastal}`)
    const few = await readScale('buoys=60,days=1')
    assert.deepEqual(few.records, records.slice(0, 60))
  })

  void it('measures everything at some buoys and waves alone at the coastal ones', async () => {
    const { records, deliveries } = await readScale('buoys=8,days=3')
    const has = (buoy: number): string =>
      NAMES.filter((_, i) =>
        deliveries.some(
          (delivery) =>
            delivery.buoy === buoy &&
            delivery.rows.some((row) => !['65535', '-32768'].includes(row.split(' ')[i + 1])),
        ),
      ).join()
    const kinds = records.map((_, buoy) => has(buoy))
    assert.ok(kinds.includes(NAMES.join()))
    for (const [buoy, { source }] of records.entries()) {
      const waves = 'significantHeight,maximumHeight,period,peakPeriod,direction'
      assert.equal(kinds[buoy] === waves, source === 'Scale Coastal')
    }
  })

  void it('refuses bad options, naming the option and what is allowed', () => {
    const refused: [string, RegExp][] = [
      ['buoys=0', /buoys must be a whole number from 1 to 5000/],
      ['buoys=5001', /buoys must be a whole number from 1 to 5000/],
      ['buoys=', /buoys must be/],
      ['buoys', /buoys must be/],
      ['buoys=1e3', /buoys must be/],
      ['buoys=-3', /buoys must be/],
      ['buoys= 3', /buoys must be/],
      ['years=21', /years must be a whole number from 1 to 20/],
      ['days=7301', /days must be a whole number from 1 to 7300/],
      ['seed=4294967296', /seed must be a whole number from 0 to 4294967295/],
      ['days=3,years=2', /exclude each other/],
      ['buoys=3,buoys=3', /given twice/],
      ['boys=3', /unknown option "boys"; allowed are buoys, years or days, and seed/],
      ['toString=3', /unknown option/],
      ['buoys=3,', /unknown option ""/],
      ['x'.repeat(100_000), /unknown option "x{20}"/],
    ]
    for (const [options, message] of refused) {
      assert.throws(
        () => openDemo(`scale,${options}`),
        (error) => error instanceof BuildError && message.test(error.message),
        options.slice(0, 30),
      )
    }
  })

  void it('takes 1,200 buoys and 90 days where nothing is said', () => {
    assert.deepEqual(scaleOptions(''), { buoys: 1200, span: { days: 90 }, seed: 1 })
    assert.deepEqual(scaleOptions('years=10,buoys=500'), { buoys: 500, span: { years: 10 }, seed: 1 })
    assert.equal(typeof openDemo('scale').read, 'function')
    assert.equal(openScale('').defaultAsOf?.(AS_OF + 5), AS_OF)
  })

  void it('refuses a time that its window does not fit before', async () => {
    await assert.rejects(readScale('buoys=1,days=1', 5), BuildError)
    await assert.rejects(readScale('buoys=1,days=1', 2 ** 32), BuildError)
  })
})
