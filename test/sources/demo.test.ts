import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { MeasureName, RowBatch } from '../../src/columns.ts'
import { openDemo } from '../../src/sources/demo.ts'
import { BuildError } from '../../src/sources/source.ts'
import type { BuoyRecord, Report, Sink, SourceInfo } from '../../src/sources/source.ts'

const AS_OF = Date.UTC(2026, 5, 17, 9, 30) / 1000
const HOUR = 3600
const DAY = 86_400

const NAMES: readonly MeasureName[] = [
  'significantHeight',
  'maximumHeight',
  'period',
  'peakPeriod',
  'direction',
  'waterTemperature',
  'windSpeed',
  'windDirection',
  'gustSpeed',
]

/** Codes of "not measured" and codes per unit, as a snapshot's format has them. */
const missingCode = (name: MeasureName): number => (name === 'waterTemperature' ? -32768 : 65535)
const perUnit = (name: MeasureName): number =>
  ['significantHeight', 'maximumHeight', 'period', 'peakPeriod'].includes(name) ? 1000 : 100

interface Collected {
  record: BuoyRecord
  times: number[]
  codes: { [name in MeasureName]: number[] }
}

class Collector implements Sink {
  sources: SourceInfo[] = []
  buoys: Collected[] = []

  source(info: SourceInfo): void {
    this.sources.push(info)
  }

  buoy(record: BuoyRecord): number {
    const codes = Object.fromEntries(NAMES.map((name) => [name, [] as number[]]))
    return this.buoys.push({ record, times: [], codes: codes as Collected['codes'] }) - 1
  }

  rows(buoy: number, batch: RowBatch): void {
    const { times, codes } = this.buoys[buoy]
    for (let row = 0; row < batch.length; row++) {
      times.push(batch.time[row])
      for (const name of NAMES) codes[name].push(batch.columns[name][row])
    }
  }

  find(identifier: string): Collected {
    const found = this.buoys.find(({ record }) => record.identifier === identifier)
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
}

async function readDemo(asOf: number | null, now = AS_OF): Promise<Collector> {
  const collector = new Collector()
  await openDemo('').read(collector, { asOf, now, report: new RowCount() })
  return collector
}

const newest = (buoy: Collected): number => buoy.times.at(-1) ?? -Infinity
const measured = (buoy: Collected, name: MeasureName): number =>
  buoy.codes[name].filter((code) => code !== missingCode(name)).length
const values = (buoy: Collected, name: MeasureName): number[] =>
  buoy.codes[name].filter((code) => code !== missingCode(name)).map((code) => code / perUnit(name))

const demo = await readDemo(AS_OF)

void describe('the demo source', () => {
  void it('takes the last half hour as its time', () => {
    assert.equal(openDemo('').defaultAsOf?.(AS_OF + 1799), AS_OF)
    assert.equal(openDemo('').defaultAsOf?.(AS_OF), AS_OF)
  })

  void it('uses the clock only where --as-of is not given', async () => {
    const fromClock = await readDemo(null, AS_OF + 900)
    assert.deepEqual(fromClock.buoys, demo.buoys)
    const given = await readDemo(AS_OF, AS_OF + 40 * DAY)
    assert.deepEqual(given.buoys, demo.buoys)
  })

  void it('keeps every older reading when it is built half an hour later', async () => {
    const later = await readDemo(AS_OF + HOUR / 2)
    for (const [i, { times, codes, record }] of demo.buoys.entries()) {
      const next = later.buoys[i]
      assert.deepEqual(next.record, record)
      assert.ok(next.times.length - times.length <= 1, record.name)
      assert.deepEqual(next.times.slice(0, times.length), times)
      for (const name of NAMES) assert.deepEqual(next.codes[name].slice(0, times.length), codes[name])
    }
  })

  void it('only drops whole months and thins them to hours when the window moves on', async () => {
    const later = await readDemo(AS_OF + 30 * DAY)
    const moved = Date.UTC(2026, 5, 1) / 1000
    for (const [i, { times, codes, record }] of demo.buoys.entries()) {
      const next = later.buoys[i]
      const history = times[0] < AS_OF - 300 * DAY
      const rowAt = new Map(next.times.map((time, row) => [time, row]))
      for (const [row, time] of times.entries()) {
        if (time < moved && !(history && time % HOUR === 0)) continue
        const other = rowAt.get(time)
        assert.ok(other !== undefined, `${record.name} lost its reading of ${time}`)
        for (const name of NAMES) assert.equal(next.codes[name][other], codes[name][row])
      }
    }
  })

  void it('holds about forty buoys with unique identifiers in six networks', () => {
    assert.ok(demo.buoys.length >= 40 && demo.buoys.length <= 45)
    const ids = demo.buoys.map(({ record }) => `${record.source}/${record.identifier}`)
    assert.equal(new Set(ids).size, ids.length)
    const networks = new Map(demo.sources.map(({ name, network }) => [name, network]))
    assert.equal(networks.get('Candhis'), 'coastal')
    assert.equal(networks.get('Météo-France'), 'national')
    assert.equal(networks.size, 6)
    for (const { record } of demo.buoys) {
      assert.ok(networks.has(record.source))
      assert.match(record.country ?? '', /^[A-Z]{2}$/)
      assert.ok(Math.abs(record.lat) <= 90 && Math.abs(record.lng) <= 180)
    }
    for (const { credit } of demo.sources) assert.match(credit ?? '', /made up, not measured/)
  })

  void it('tells the report how many rows there were', async () => {
    const report = new RowCount()
    await openDemo('').read(new Collector(), { asOf: AS_OF, now: 0, report })
    assert.equal(
      report.rows,
      demo.buoys.reduce((sum, { times }) => sum + times.length, 0),
    )
    assert.ok(report.rows > 450_000 && report.rows < 750_000)
  })

  void it('has forty-five half-hourly days for every buoy that reports, without a gap of a day', () => {
    for (const { record, times } of demo.buoys) {
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

  void it('ascends in time, on half-hours, up to --as-of and not beyond', () => {
    for (const { times } of demo.buoys) {
      for (const [i, time] of times.entries()) {
        assert.ok(time % 1800 === 0 && time <= AS_OF)
        assert.ok(i === 0 || time > times[i - 1])
      }
    }
    assert.ok(demo.buoys.some((buoy) => newest(buoy) === AS_OF))
  })

  void it('has eleven hourly years for at least four buoys, two of them with wind', () => {
    const start = Date.UTC(2015, 0, 1) / 1000
    const long = demo.buoys.filter(({ times }) => times.length > 11 * 8766 * 0.93)
    assert.deepEqual(
      long.map(({ record }) => record.identifier),
      ['46042', '46240', '06403', '61001', '62001'],
    )
    for (const { times } of long) {
      assert.ok(times[0] - start < DAY)
      const old = times.filter((time) => time < AS_OF - 80 * DAY)
      assert.ok(old.every((time) => time % HOUR === 0))
    }
    assert.ok(long.filter((buoy) => measured(buoy, 'windSpeed') > 90_000).length >= 2)
  })

  void it('leaves a long hole in the history of some buoys on fixed dates', () => {
    const from = Date.UTC(2020, 2, 2) / 1000
    const to = from + 50 * DAY
    const { times } = demo.find('06403')
    assert.ok(times.every((time) => time < from || time >= to))
    assert.ok(times.some((time) => time >= from - DAY && time < from))
    assert.ok(times.some((time) => time >= to && time < to + DAY))
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

  void it('has rows with wind and no waves at one buoy, on every half-hour that is no full hour', () => {
    const { times, codes } = demo.find('41002')
    for (const [row, time] of times.entries()) {
      assert.equal(codes.significantHeight[row] === 65535, time % HOUR !== 0)
      assert.equal(codes.period[row] === 65535, time % HOUR !== 0)
      assert.equal(codes.direction[row] === 65535, time % HOUR !== 0)
      assert.notEqual(codes.windSpeed[row], 65535)
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

  void it('rounds like the source', () => {
    const stepOf = (identifier: string, name: MeasureName, step: number): void => {
      for (const code of demo.find(identifier).codes[name]) {
        if (code !== missingCode(name)) assert.equal(code % step, 0, `${identifier} ${name} ${code}`)
      }
    }
    stepOf('46042', 'significantHeight', 100)
    stepOf('46042', 'period', 1000)
    stepOf('46042', 'waterTemperature', 10)
    stepOf('46042', 'direction', 100)
    // A tenth of a metre per second.
    stepOf('46042', 'windSpeed', 36)
    stepOf('06403', 'significantHeight', 10)
    stepOf('06403', 'period', 100)
  })

  void it('stays inside physical limits', () => {
    const limits: { [name in MeasureName]: [number, number] } = {
      significantHeight: [0.1, 20],
      maximumHeight: [0.1, 46],
      period: [1.8, 24],
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
        for (const value of values(buoy, name)) {
          assert.ok(value >= low && value <= high, `${buoy.record.name} ${name} ${value}`)
        }
      }
    }
  })

  void it('makes no wave steeper, no maximum lower and no gust weaker than it can be', () => {
    for (const { codes, times, record } of demo.buoys) {
      for (let row = 0; row < times.length; row++) {
        const height = codes.significantHeight[row] / 1000
        if (codes.maximumHeight[row] !== 65535) {
          const ratio = codes.maximumHeight[row] / 1000 / height
          assert.ok(ratio >= 1 && ratio <= 2.6, `${record.name} ${ratio}`)
        }
        if (codes.peakPeriod[row] !== 65535) {
          const period = codes.peakPeriod[row] / 1000
          // 0.06 by the law; rounding a short period to whole seconds adds to it.
          assert.ok(
            (2 * Math.PI * height) / (9.81 * period * period) < 0.1,
            `${record.name} ${height} ${period}`,
          )
        }
        if (codes.windSpeed[row] !== 65535) assert.ok(codes.gustSpeed[row] >= codes.windSpeed[row])
      }
    }
  })

  void it('gives Candhis a maximum of 1.64 times the height in the median, 1.43 to 1.96 for nine in ten', () => {
    const { codes } = demo.find('06403')
    const ratios = codes.maximumHeight.map((code, row) => code / codes.significantHeight[row])
    ratios.sort((a, b) => a - b)
    const at = (share: number): number => ratios[Math.floor(share * ratios.length)]
    assert.ok(Math.abs(at(0.5) - 1.64) < 0.02)
    assert.ok(Math.abs(at(0.05) - 1.4) < 0.05)
    assert.ok(Math.abs(at(0.95) - 1.93) < 0.05)
  })

  void it('is warmest in late summer on both sides of the equator', async () => {
    const meanWater = (collector: Collector, identifier: string): number => {
      const water = values(collector.find(identifier), 'waterTemperature')
      return water.reduce((sum, value) => sum + value, 0) / water.length
    }
    const march = await readDemo(Date.UTC(2026, 2, 1) / 1000)
    const september = await readDemo(Date.UTC(2026, 8, 1) / 1000)
    assert.ok(meanWater(march, '97403') > meanWater(september, '97403') + 2)
    assert.ok(meanWater(september, '44013') > meanWater(march, '44013') + 8)
  })

  void it('refuses another argument and a time it has no sea for', async () => {
    assert.throws(() => openDemo('scal'), BuildError)
    assert.throws(() => openDemo('scaled,buoys=3'), BuildError)
    await assert.rejects(readDemo(0), BuildError)
    await assert.rejects(readDemo(Date.UTC(2200, 0, 1) / 1000), BuildError)
    await assert.rejects(readDemo(NaN), BuildError)
  })
})
