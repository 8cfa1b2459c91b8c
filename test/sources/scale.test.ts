import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RowBatch } from '../../src/sea/columns.ts'
import type { MeasureName } from '../../src/sea/columns.ts'
import { openDemo } from '../../src/sources/demo/demo.ts'
import { openScale } from '../../src/sources/demo/scale.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { FileReport, Report } from '../../src/sources/source.ts'
import { CLIMATES } from '../../src/sources/demo/climates.ts'
import { LONGEST_OUTAGE, fillRows } from '../../src/sources/demo/waves.ts'
import { siteKey } from '../../src/sources/demo/chance.ts'
import type { Climate } from '../../src/sources/demo/climates.ts'
import type { Site } from '../../src/sources/demo/waves.ts'
import { RecordingSink } from './recording_sink.ts'

const AS_OF = Date.UTC(2026, 5, 17, 9, 30) / 1000
const HALF_HOUR = 1800
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

/**
 * One batch as it came: which buoy, and a copy of its rows as text, so that two are equal when their rows
 * are.
 */
interface Delivery {
  buoy: number
  times: number[]
  rows: string[]
}

class Collector extends RecordingSink {
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
const report: Report = { file: () => silent, warn: () => {}, withoutPosition: () => {} }

async function readScale(options: string, asOf = AS_OF): Promise<Collector> {
  const collector = new Collector()
  await openDemo(`scale,${options}`).read(collector, { asOf, now: 0, report })
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
    for (const time of times) assert.ok(time > AS_OF - 100 * DAY && time <= AS_OF && time % HALF_HOUR === 0)
  })

  void it('counts years by the calendar', async () => {
    const { deliveries } = await readScale('buoys=1,years=3')
    const times = deliveries.flatMap((delivery) => delivery.times)
    const start = Date.UTC(2023, 5, 17, 9, 30) / 1000
    assert.ok(times[0] > start && times[0] < start + 2 * DAY)
    assert.deepEqual(openScale('years=3').months(AS_OF).length, 37)
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
    assert.equal(hash.digest('hex').slice(0, 16), '1957281dac81f4f8')
  })

  void it('moves its window with --as-of and changes nothing inside it', async () => {
    const before = await readScale('buoys=4,days=30')
    const after = await readScale('buoys=4,days=30', AS_OF + HALF_HOUR)
    for (let buoy = 0; buoy < 4; buoy++) {
      const common = (rows: string[]): string[] =>
        rows.filter(
          (row) => Number.parseInt(row) > AS_OF + HALF_HOUR - 30 * DAY && Number.parseInt(row) <= AS_OF,
        )
      assert.deepEqual(common(after.rowsOf(buoy)), common(before.rowsOf(buoy)))
    }
  })

  void it('goes on in the middle: a month alone is the month of a whole run', async () => {
    const whole = await readScale('buoys=6,days=120')
    const scale = openScale('buoys=6,days=120')
    const resumed = new Collector()
    const handles = scale.announce(resumed)
    const months = scale.months(AS_OF)
    for (const month of months.slice(2)) scale.readMonth(month, AS_OF, resumed, handles, silent)
    assert.equal(months.length, 5)
    assert.deepEqual(resumed.records, whole.records)
    const rest = whole.deliveries.slice(2 * 6)
    assert.deepEqual(resumed.deliveries, rest)
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
    const collector = new Collector()
    await openScale('buoys=2,days=40').read(collector, { asOf: AS_OF, now: 0, report: counting })
    assert.deepEqual(
      said.map(([path]) => path),
      ['scale 2026-05', 'scale 2026-06'],
    )
    const made = collector.deliveries.reduce((sum, { times }) => sum + times.length, 0)
    assert.equal(said[0][1] + said[1][1], made)
  })

  void it('has unique identifiers, names and places on the globe, and the same first buoys at any size', () => {
    const collector = new Collector()
    openScale('buoys=5000').announce(collector)
    const { records, sources } = collector
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
    const few = new Collector()
    openScale('buoys=60').announce(few)
    assert.deepEqual(few.records, records.slice(0, 60))
  })

  void it('keeps a coast together: neighbours along it are a few kilometres apart', () => {
    const { records } = (() => {
      const collector = new Collector()
      openScale('buoys=1200').announce(collector)
      return collector
    })()
    for (let n = 37; n < records.length; n++) {
      const [a, b] = [records[n - 37], records[n]]
      const east = (((b.lng - a.lng + 540) % 360) - 180) * Math.cos((a.lat * Math.PI) / 180)
      const kilometres = Math.hypot(b.lat - a.lat, east) * 111.2
      assert.ok(kilometres > 1 && kilometres < 13, `${b.name} ${kilometres}`)
    }
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
    assert.deepEqual(openScale('').options, { buoys: 1200, span: { days: 90 }, seed: 1 })
    assert.deepEqual(openScale('years=10,buoys=500').options, { buoys: 500, span: { years: 10 }, seed: 1 })
    assert.equal(typeof openDemo('scale').read, 'function')
    assert.equal(openScale('').defaultAsOf(AS_OF + 5), AS_OF)
  })

  void it('refuses a time that its window does not fit before', async () => {
    await assert.rejects(readScale('buoys=1,days=1', 5), BuildError)
    await assert.rejects(readScale('buoys=1,days=1', 2 ** 32), BuildError)
  })
})

/** A sea without seasons: what is left is the law itself. */
const FLAT: Climate = {
  height: Array.from({ length: 12 }, () => 1),
  peakPeriod: Array.from({ length: 12 }, () => 12),
  water: { mean: 15, swing: 0, hemisphere: 'north' },
  wind: { speed: 7, from: 270 },
}

function siteOf(identifier: string, climate: Climate, exposure = 1, longestOutage = 0): Site {
  return {
    key: siteKey(5, identifier),
    climate,
    exposure,
    direction: 300,
    lng: 0,
    instrument: {
      heightStep: 0.01,
      periodStep: 0.1,
      periods: 'both',
      direction: true,
      water: true,
      wind: true,
      maximum: { median: 1.64, spread: 0.0958 },
    },
    longestOutage,
  }
}

const monthStart = (year: number, month: number): number => Date.UTC(year, month, 1) / 1000 / HALF_HOUR

/** Calls `use` with each month's batch of a site. */
function eachMonth(
  site: Site,
  years: [number, number],
  stride: 1 | 2,
  use: (batch: RowBatch, month: number) => void,
): void {
  const batch = new RowBatch()
  for (let year = years[0]; year < years[1]; year++) {
    for (let month = 0; month < 12; month++) {
      fillRows(batch, site, monthStart(year, month), monthStart(year, month + 1), stride)
      use(batch, month)
    }
  }
}

/**
 * Correlation of `series` with itself `lag` places later, over the places where both are known; the mean is
 * 0.
 */
function autocorrelation(all: Float64Array[], lag: number): number {
  let product = 0
  let square = 0
  for (const series of all) {
    for (let i = lag; i < series.length; i++) {
      if (Number.isNaN(series[i]) || Number.isNaN(series[i - lag])) continue
      product += series[i] * series[i - lag]
      square += (series[i] ** 2 + series[i - lag] ** 2) / 2
    }
  }
  return product / square
}

void describe('the law of the made-up sea', () => {
  void it('gives the logarithm of heights the autocorrelation of two weather scales, 30 h and 250 h', () => {
    const first = monthStart(2016, 0)
    const series = Array.from({ length: 24 }, (_, n) => {
      const heights = new Float64Array(monthStart(2020, 0) - first).fill(NaN)
      eachMonth(siteOf(`A${n}`, FLAT, 3), [2016, 2020], 1, ({ length, time, columns }) => {
        for (let row = 0; row < length; row++) {
          heights[time[row] / HALF_HOUR - first] = Math.log(columns.significantHeight[row] / 1000 / 3)
        }
      })
      return heights
    })
    // Measured off Saint-Jean-de-Luz (Candhis 06403) over ten years.
    const measured: [number, number][] = [
      [0.5, 0.993],
      [6, 0.94],
      [12, 0.88],
      [24, 0.76],
      [48, 0.65],
    ]
    for (const [hours, wanted] of measured) {
      const found = autocorrelation(series, hours * 2)
      assert.ok(Math.abs(found - wanted) < 0.03, `${hours} h: ${found.toFixed(3)} instead of ${wanted}`)
      const exact = 0.3 * Math.exp(-hours / 30) + 0.7 * Math.exp(-hours / 250)
      assert.ok(Math.abs(found - exact) < 0.03, `${hours} h: ${found.toFixed(3)} instead of ${exact}`)
    }
    let square = 0
    let count = 0
    for (const heights of series) {
      for (const value of heights) {
        if (Number.isNaN(value)) continue
        square += value * value
        count++
      }
    }
    assert.ok(Math.abs(Math.sqrt(square / count) - 0.5) < 0.03, `${Math.sqrt(square / count)}`)
  })

  void it('gives the monthly medians that were measured', () => {
    const measured: [Climate, number[], number[] | null][] = [
      [
        CLIMATES.biscay,
        [1.7, 2.22, 1.69, 0.99, 0.98, 0.95, 0.8, 0.84, 1.02, 1.23, 1.7, 1.74],
        [12.7, 13.2, 12.6, 11.2, 9.9, 9.2, 8.7, 8.9, 10.3, 11, 12.2, 12.8],
      ],
      [CLIMATES.californian, [1.09, 1.04, 1.01, 1, 0.88, 0.83, 0.66, 0.58, 0.74, 0.89, 0.99, 1.05], null],
    ]
    const median = (sorted: number[]): number => sorted.sort((a, b) => a - b)[sorted.length >> 1]
    for (const [climate, heights, peaks] of measured) {
      const byMonth = Array.from({ length: 12 }, () => ({ heights: [] as number[], peaks: [] as number[] }))
      for (let n = 0; n < 20; n++) {
        eachMonth(siteOf(`M${n}`, climate), [2014, 2025], 2, ({ length, columns }, month) => {
          for (let row = 0; row < length; row += 12) {
            byMonth[month].heights.push(columns.significantHeight[row] / 1000)
            byMonth[month].peaks.push(columns.peakPeriod[row] / 1000)
          }
        })
      }
      for (const [month, found] of byMonth.entries()) {
        const ratio = median(found.heights) / heights[month]
        assert.ok(Math.abs(ratio - 1) < 0.15, `month ${month + 1}: height ${ratio}`)
        if (peaks === null) continue
        const seconds = median(found.peaks) / peaks[month]
        assert.ok(Math.abs(seconds - 1) < 0.15, `month ${month + 1}: period ${seconds}`)
      }
    }
  })

  void it('gives one significant period for the median 1.11 of the peak period', () => {
    const ratios: number[] = []
    eachMonth(siteOf('R', CLIMATES.biscay), [2014, 2024], 2, ({ length, columns }) => {
      for (let row = 0; row < length; row++) ratios.push(columns.peakPeriod[row] / columns.period[row])
    })
    ratios.sort((a, b) => a - b)
    assert.ok(Math.abs(ratios[ratios.length >> 1] - 1.11) < 0.03)
    assert.ok(ratios[0] > 0.9)
  })

  void it('spreads directions by 25 degrees around their mean, over north where need be', () => {
    let north = 0
    let east = 0
    let square = 0
    let count = 0
    let pastNorth = 0
    for (let n = 0; n < 6; n++) {
      eachMonth(siteOf(`D${n}`, FLAT), [2020, 2022], 2, ({ length, columns }) => {
        for (let row = 0; row < length; row++) {
          const degrees = columns.direction[row] / 100
          if (degrees < 90) pastNorth++
          const off = ((degrees - 300 + 540) % 360) - 180
          square += off * off
          north += Math.cos((degrees * Math.PI) / 180)
          east += Math.sin((degrees * Math.PI) / 180)
          count++
        }
      })
    }
    const mean = ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
    assert.ok(Math.abs(mean - 300) < 2.5, `${mean}`)
    assert.ok(Math.abs(Math.sqrt(square / count) - 25) < 1.5)
    assert.ok(pastNorth > 0)
  })

  void it('blows hardest in the afternoon of the place, mostly from where it usually comes', () => {
    const byHour = Array.from({ length: 24 }, () => ({ sum: 0, count: 0 }))
    let west = 0
    let rows = 0
    for (let n = 0; n < 6; n++) {
      eachMonth(siteOf(`W${n}`, FLAT), [2020, 2022], 2, ({ length, time, columns }) => {
        for (let row = 0; row < length; row++) {
          const hour = byHour[(time[row] / 3600) % 24]
          hour.sum += columns.windSpeed[row] / 100
          hour.count++
          const from = columns.windDirection[row] / 100
          if (from > 180) west++
          rows++
        }
      })
    }
    const means = byHour.map(({ sum, count }) => sum / count)
    assert.equal(means.indexOf(Math.max(...means)), 15)
    const mean = means.reduce((sum, value) => sum + value, 0) / 24
    // 7 m/s is 25.2 km/h.
    assert.ok(mean > 22 && mean < 30, `${mean}`)
    assert.ok(west / rows > 0.7)
  })

  void it('loses two single samples in a hundred', () => {
    let rows = 0
    eachMonth(siteOf('G', FLAT), [2010, 2020], 1, ({ length }) => {
      rows += length
    })
    const share = 1 - rows / (monthStart(2020, 0) - monthStart(2010, 0))
    assert.ok(Math.abs(share - 0.02) < 0.002, `${share}`)
  })

  void it('has outages now and then: a median of two hours, one in a hundred longer than ten days', () => {
    // Holes of one sample are mostly lost samples, not outages; 0.37 of the outages are within an hour.
    const holes: number[] = []
    let rows = 0
    const buoys = 30
    for (let n = 0; n < buoys; n++) {
      let last = 0
      eachMonth(siteOf(`O${n}`, FLAT, 1, LONGEST_OUTAGE), [2010, 2020], 1, ({ length, time }) => {
        rows += length
        for (let row = 0; row < length; row++) {
          const hours = (time[row] - last) / 3600 - 0.5
          if (last > 0 && hours > 1) holes.push(hours)
          last = time[row]
        }
      })
    }
    const perYear = holes.length / buoys / 10
    // Saint-Jean-de-Luz had 66 holes of over an hour in ten years.
    assert.ok(perYear > 5 && perYear < 10, `${perYear} a year`)
    const long = holes.filter((hours) => hours > 240).length / (perYear * buoys * 10)
    assert.ok(long > 0.005 && long < 0.03, `${long} over ten days`)
    assert.ok(Math.max(...holes) < 70 * 24)
    const absent = 1 - rows / buoys / (monthStart(2020, 0) - monthStart(2010, 0))
    assert.ok(absent > 0.03 && absent < 0.05, `${absent} absent`)
    // Of a lognormal with median 2 h and one in a hundred over 240 h, what is over 1 h has its median at 5.5
    // h.
    const median = holes.sort((a, b) => a - b)[holes.length >> 1]
    assert.ok(median > 4.5 && median < 6.5, `median ${median} h of the holes over an hour`)
  })

  void it('makes the same row whatever part of the month, and whatever cadence, is asked for', () => {
    const rowText = (batch: RowBatch, row: number): string =>
      [batch.time[row], ...NAMES.map((name) => batch.columns[name][row])].join(' ')
    fc.assert(
      fc.property(
        fc.string({ maxLength: 8 }),
        fc.integer({ min: 0, max: 130 * 12 }),
        fc.nat(1500),
        fc.nat(1500),
        fc.constantFrom<1 | 2>(1, 2),
        (identifier, months, skip, count, stride) => {
          const site = siteOf(identifier, CLIMATES.celtic, 1, LONGEST_OUTAGE)
          const start = monthStart(1975, months)
          const end = monthStart(1975, months + 1)
          const whole = new RowBatch()
          fillRows(whole, site, start, end, 1)
          const expected = new Map<number, string>()
          const from = Math.min(start + skip - (skip % stride), end)
          const to = Math.min(from + count, end)
          for (let row = 0; row < whole.length; row++) {
            const step = whole.time[row] / HALF_HOUR
            if (step >= from && step < to && (step - from) % stride === 0) {
              expected.set(step, rowText(whole, row))
            }
          }
          const part = new RowBatch()
          fillRows(part, site, from, to, stride)
          assert.deepEqual(
            Array.from({ length: part.length }, (_, row) => rowText(part, row)),
            [...expected.values()],
          )
        },
      ),
      { numRuns: 60, seed: 3 },
    )
  })

  void it('refuses to cross from one month into the next', () => {
    const batch = new RowBatch()
    const site = siteOf('X', FLAT)
    assert.throws(() => fillRows(batch, site, monthStart(2020, 0), monthStart(2020, 1) + 1, 1), RangeError)
    assert.throws(() => fillRows(batch, site, monthStart(2020, 0) + 1, monthStart(2020, 1), 2), RangeError)
    fillRows(batch, site, monthStart(2020, 0), monthStart(2020, 0), 1)
    assert.equal(batch.length, 0)
  })
})
