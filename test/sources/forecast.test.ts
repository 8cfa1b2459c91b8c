/** The forecast adapter: three kinds of answers of public services, gathered by point. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { openForecast } from '../../src/sources/forecast/forecast-source.ts'
import type { ForecastRecord } from '../../src/sea/records.ts'
import { folderOf, record, recordSource } from './recorder.ts'
import { fieldOf } from '../fields.ts'

const RUN = Date.UTC(2026, 2, 27) / 1000
const HOUR = 3600

/** Values to two decimals, so that sums of floats do not count. */
function rounded(records: readonly ForecastRecord[]) {
  return records.map(({ values, ...about }) => ({
    ...about,
    values: Object.fromEntries(
      Object.entries(values).map(([name, list]) => [
        name,
        list.map((value) => (value === null ? null : Math.round(value * 100) / 100)),
      ]),
    ),
  }))
}

const MARINE = {
  latitude: 43.541664,
  longitude: -1.958328,
  generationtime_ms: 0.1,
  utc_offset_seconds: 3600,
  timezone: 'Europe/Paris',
  hourly_units: {
    time: 'iso8601',
    wave_height: 'm',
    wave_period: 's',
    wave_direction: '°',
    swell_wave_height: 'm',
    sea_surface_temperature: '°C',
  },
  hourly: {
    time: ['2026-03-27T00:00', '2026-03-27T01:00', '2026-03-27T02:00'],
    wave_height: [1.5, 1.62, null],
    wave_period: [8.55, 8.6, 8.65],
    wave_direction: [359, 360, 0],
    swell_wave_height: [1.1, 1.2, 1.3],
    sea_surface_temperature: [13, 13, 13],
  },
}

test('Open-Meteo marine JSON is read with its local times brought to UTC.', async (t) => {
  const folder = await folderOf(t, { 'biscay.json': JSON.stringify(MARINE) })
  const { forecasts, doubts, understood, skipped } = await record(openForecast, folder)
  assert.deepEqual(doubts, [])
  assert.deepEqual([...skipped], [])
  assert.deepEqual([...understood], [['biscay.json', 3]])
  const named = openForecast(folder, { model: 'MFWAM 0.08°' })
  assert.equal((await record(() => named, folder)).forecasts[0].model, 'MFWAM 0.08°')
  assert.deepEqual(rounded(forecasts), [
    {
      lat: 43.541664,
      lng: -1.958328,
      runAt: RUN - HOUR,
      model: 'Open-Meteo',
      times: [RUN - HOUR, RUN, RUN + HOUR],
      values: {
        waveHeight: [1.5, 1.62, null],
        wavePeriod: [8.55, 8.6, 8.65],
        waveDirection: [359, 0, 0],
        swellHeight: [1.1, 1.2, 1.3],
      },
    },
  ])
})

test('Unix times of Open-Meteo are UTC whatever its offset says.', async (t) => {
  const hourly = { time: [RUN, RUN + HOUR], wave_height: [1, 2] }
  const folder = await folderOf(t, { a: JSON.stringify({ ...MARINE, hourly }) })
  const { forecasts } = await record(openForecast, folder)
  assert.deepEqual(forecasts[0].times, [RUN, RUN + HOUR])
})

test('An answer for many places gives a point each, and a place on land none.', async (t) => {
  const land = {
    ...MARINE,
    latitude: 45,
    longitude: 5,
    hourly: { time: MARINE.hourly.time, wave_height: [null, null, null] },
  }
  const folder = await folderOf(t, { 'many.json.gz': gzipSync(JSON.stringify([MARINE, land])) })
  const { forecasts, understood } = await record(openForecast, folder)
  assert.deepEqual(fieldOf(forecasts, 'lat'), [43.541664])
  assert.deepEqual([...understood], [['many.json.gz', 6]])
})

test('Wind comes out in km/h whatever its unit, and heights in metres.', async (t) => {
  const speeds: [string, number][] = [
    ['km/h', 10],
    ['m/s', 36],
    ['kn', 18.52],
    ['mp/h', 16.09],
    ['mph', 16.09],
    ['', 10],
  ]
  for (const [unit, expected] of speeds) {
    const answer = {
      ...MARINE,
      hourly_units: { wind_speed_10m: unit, wave_height: 'ft' },
      hourly: {
        time: ['2026-03-27T00:00'],
        wind_speed_10m: [10],
        wind_direction_10m: [270],
        wave_height: [10],
      },
    }
    const folder = await folderOf(t, { a: JSON.stringify(answer) })
    const [{ values }] = rounded((await record(openForecast, folder)).forecasts)
    assert.deepEqual(values, { waveHeight: [3.05], windSpeed: [expected], windDirection: [270] }, unit)
  }
  const strange = {
    ...MARINE,
    hourly_units: { wind_speed_10m: 'bft' },
    hourly: { time: ['2026-03-27T00:00'], wind_speed_10m: [10], wave_height: [1] },
  }
  const folder = await folderOf(t, { a: JSON.stringify(strange) })
  const { forecasts, skipped } = await record(openForecast, folder)
  assert.deepEqual(Object.keys(forecasts[0].values), ['waveHeight'])
  assert.deepEqual([...skipped], [['windSpeed in an unknown unit', 1]])
})

test('Values beyond their limits are left out and counted.', async (t) => {
  const hourly = {
    time: ['2026-03-27T00:00', '2026-03-27T01:00', '2026-03-27T02:00', '2026-03-27T03:00'],
    wave_height: [-999, 25.1, 2, 9.96e36],
    wave_direction: [-999, -10, 370, 10],
  }
  const folder = await folderOf(t, { a: JSON.stringify({ ...MARINE, hourly }) })
  const { forecasts, skipped } = await record(openForecast, folder)
  assert.deepEqual(forecasts[0].values, {
    waveHeight: [null, null, 2, null],
    waveDirection: [null, 350, null, 10],
  })
  assert.deepEqual(Object.fromEntries(skipped), {
    'waveHeight outside its limits': 3,
    'waveDirection outside its limits': 2,
  })
})

test('A point with waves takes the wind of the nearest weather point within 25 km.', async (t) => {
  const weather = (latitude: number, speed: number) => ({
    latitude,
    longitude: -1.958328,
    utc_offset_seconds: 0,
    hourly_units: { wind_speed_10m: 'km/h' },
    hourly: {
      time: ['2026-03-26T21:00', '2026-03-27T00:00', '2026-03-27T03:00'],
      wind_speed_10m: [speed, speed + 3, speed + 6],
      wind_direction_10m: [350, 10, 190],
    },
  })
  const folder = await folderOf(t, {
    'marine.json': JSON.stringify(MARINE),
    'weather.json': JSON.stringify([weather(43.6, 30), weather(43.7, 60), weather(45, 90)]),
  })
  const { forecasts } = await record(openForecast, folder)
  assert.deepEqual(fieldOf(forecasts, 'lat'), [43.541664, 43.7, 45])
  // Three-hourly wind lies on the hours of the waves; nothing lies between two opposite directions.
  const [{ times, values }] = rounded(forecasts)
  assert.deepEqual(
    times.map((time) => (time - RUN) / HOUR),
    [-3, -1, 0, 1, 3],
  )
  assert.deepEqual(values, {
    waveHeight: [null, 1.5, 1.62, null, null],
    wavePeriod: [null, 8.55, 8.6, 8.65, null],
    waveDirection: [null, 359, 0, 0, null],
    swellHeight: [null, 1.1, 1.2, 1.3, null],
    windSpeed: [30, 32, 33, 34, 36],
    windDirection: [350, 3.36, 10, null, 190],
  })
})

function coverage(values: (number | null)[], more: object = {}) {
  return {
    type: 'Coverage',
    domain: {
      type: 'Domain',
      axes: {
        t: { values: ['2026-03-27T06:00:00', '2026-03-27T07:00:00Z'] },
        forecast_reference_time: { values: ['2026-03-27T00:00:00'] },
        x: { values: [290.5] },
        y: { values: [43.5] },
      },
    },
    parameters: { hs: { unit: { label: { en: 'm' } } } },
    ranges: {
      hs: { type: 'NdArray', axisNames: ['forecast_reference_time', 't'], shape: [1, 2], values },
    },
    ...more,
  }
}

test('CoverageJSON of one quantity a file is gathered into one point, with the run that it names.', async (t) => {
  const direction = {
    ...coverage([]),
    parameters: { dir: { unit: { symbol: { value: 'deg' } } } },
    ranges: { dir: { axisNames: ['t'], shape: [2], values: [181, null] } },
  }
  const folder = await folderOf(t, {
    'dir.covjson': JSON.stringify(direction),
    'hs.covjson': JSON.stringify(coverage([0.5, 0.6])),
  })
  const { forecasts, doubts } = await record(openForecast, folder)
  assert.deepEqual(doubts, [])
  assert.deepEqual(forecasts, [
    {
      lat: 43.5,
      lng: -69.5,
      runAt: RUN,
      times: [RUN + 6 * HOUR, RUN + 7 * HOUR],
      values: { waveHeight: [0.5, 0.6], waveDirection: [181, null] },
    },
  ])
})

test('A coverage over a grid gives every place its own values, in any order of the axes.', async (t) => {
  const axes = {
    t: { values: ['2026-03-27T06:00Z', '2026-03-27T07:00Z'] },
    x: { start: -10, stop: 0, num: 3 },
    y: { values: [40, 41] },
  }
  const sizes: { [axis: string]: number } = { t: 2, x: 3, y: 2 }
  const ground = { t: ['t'], x: [-10, -5, 0], y: [40, 41] }
  await fc.assert(
    fc.asyncProperty(
      fc.shuffledSubarray(['t', 'x', 'y'], { minLength: 3, maxLength: 3 }),
      async (axisNames) => {
        const values: number[] = []
        // Row-major: the last axis runs fastest. The value says where it stands: t + 2x + 6y, in tenths.
        for (let a = 0; a < sizes[axisNames[0]]; a++) {
          for (let b = 0; b < sizes[axisNames[1]]; b++) {
            for (let c = 0; c < sizes[axisNames[2]]; c++) {
              const at = { [axisNames[0]]: a, [axisNames[1]]: b, [axisNames[2]]: c }
              values.push((at['t'] + 2 * at['x'] + 6 * at['y']) / 10)
            }
          }
        }
        const grid = {
          type: 'CoverageCollection',
          parameters: { swh: { unit: { symbol: 'm' } } },
          coverages: [
            {
              type: 'Coverage',
              domain: { axes },
              ranges: { swh: { axisNames, shape: axisNames.map((name) => sizes[name]), values } },
            },
          ],
        }
        const folder = await folderOf(t, { 'grid.json': JSON.stringify(grid) })
        const { forecasts } = await record(openForecast, folder)
        assert.equal(forecasts.length, 6)
        for (const { lat, lng, values: of } of forecasts) {
          const place = 2 * ground.x.indexOf(lng) + 6 * ground.y.indexOf(lat)
          assert.deepEqual(of.waveHeight, [place / 10, (place + 1) / 10])
        }
      },
    ),
    { numRuns: 12 },
  )
})

test('A coverage that does not say where it is takes its place from points.csv, or is skipped.', async (t) => {
  const { domain, ...rest } = coverage([1, 2])
  const { t: times } = domain.axes
  const nowhere = JSON.stringify({
    ...rest,
    domain: { axes: { t: times } },
    ranges: { hs: { values: [1, 2] } },
  })
  const folder = await folderOf(t, {
    'a.covjson': nowhere,
    'b.covjson': nowhere,
    'points.csv': 'file,lat,lng\r\na.covjson,43.25,-67.5\r\nc.covjson,91,0\r\n\r\n',
  })
  const { forecasts, doubts, bad } = await record(openForecast, folder)
  assert.deepEqual(
    forecasts.map(({ lat, lng, values }) => [lat, lng, values.waveHeight]),
    [[43.25, -67.5, [1, 2]]],
  )
  assert.equal(doubts.length, 1)
  assert.match(doubts[0], /b\.covjson.*does not say where it is/)
  assert.deepEqual(bad, ['points.csv:3 not a file name, a latitude and a longitude'])
})

function griddap(columns: string[], units: string[], rows: unknown[][]): string {
  return JSON.stringify({ table: { columnNames: columns, columnUnits: units, rows } })
}

test('ERDDAP wind as eastward and northward parts becomes speed and the direction it comes from.', async (t) => {
  const rows = [
    // Blowing to the east, to the south, to the north-east, and a calm.
    ['2026-03-27T00:00:00Z', 43.5, 290.5, 10, 0],
    ['2026-03-27T03:00:00Z', 43.5, 290.5, 0, -5],
    ['2026-03-27T06:00:00Z', 43.5, 290.5, 3, 3],
    ['2026-03-27T09:00:00Z', 43.5, 290.5, 0, 0],
    ['2026-03-27T12:00:00Z', 43.5, 290.5, null, 1],
    ['2026-03-27T00:00:00Z', 43.5, 291, 1, 0],
  ]
  const columns = ['time', 'latitude', 'longitude', 'ugrd10m', 'vgrd10m']
  const units = ['UTC', 'degrees_north', 'degrees_east', 'm s-1', 'm s-1']
  const folder = await folderOf(t, { 'wind.json': griddap(columns, units, rows) })
  const [first, second] = rounded((await record(openForecast, folder)).forecasts)
  assert.equal(first.lng, -69.5)
  assert.equal(first.runAt, RUN)
  assert.deepEqual(first.values, {
    windSpeed: [36, 18, 15.27, 0, null],
    windDirection: [270, 0, 225, null, null],
  })
  assert.deepEqual([second.lng, second.times], [-69, [RUN]])
})

test('Of two runs the newest counts, and files of one run complete each other.', async (t) => {
  const columns = ['time', 'latitude', 'longitude', 'Thgt']
  const units = ['UTC', '', '', 'm']
  const row = (hour: number, height: number | null) => [
    new Date((RUN + hour * HOUR) * 1000).toISOString(),
    10,
    20,
    height,
  ]
  const older = griddap(columns, units, [row(-6, 9), row(0, 9), row(6, 9), row(12, 9)])
  const newer = griddap(columns, units, [row(0, 1), row(1, null)])
  const newerStill = griddap(columns, units, [row(0, 5), row(1, 2), row(2, 3)])
  const folder = await folderOf(t, { '1.json': newer, '2.json': older, '3.json': newerStill })
  const { forecasts } = await record(openForecast, folder)
  assert.deepEqual(forecasts, [
    {
      lat: 10,
      lng: 20,
      runAt: RUN,
      times: [RUN, RUN + HOUR, RUN + 2 * HOUR],
      values: { waveHeight: [1, 2, 3] },
    },
  ])
})

test('A file that is broken or of something else is reported and skipped whole.', async (t) => {
  const marine = (change: object) => JSON.stringify({ ...MARINE, ...change })
  const table = (rows: unknown[][]) =>
    griddap(['time', 'latitude', 'longitude', 'hs'], ['UTC', '', '', 'm'], rows)
  const broken: { readonly [name: string]: [content: string | Uint8Array, reason: RegExp] } = {
    'cut.json': [JSON.stringify(MARINE).slice(0, -20), /not JSON, or cut off/],
    'cut.json.gz': [gzipSync(JSON.stringify(MARINE)).subarray(0, 100), /not JSON, or cut off/],
    'readme.txt': ['Forecasts of March', /not JSON/],
    'error.json': ['{"error":true,"reason":"Daily limit"}', /an error of the service/],
    'current.json': [marine({ hourly: undefined, current: { wave_height: 2 } }), /without hourly values/],
    'path.json': [
      JSON.stringify(coverage([], { domain: { axes: { composite: { values: [] } } } })),
      /a composite axis/,
    ],
    'projected.json': [
      JSON.stringify(
        coverage([], { domain: { axes: {}, referencing: [{ system: { type: 'ProjectedCRS' } }] } }),
      ),
      /not latitudes and longitudes/,
    ],
    'calendar.json': [
      JSON.stringify(
        coverage([], { domain: { axes: {}, referencing: [{ system: { calendar: '360_day' } }] } }),
      ),
      /another calendar/,
    ],
    'number.json': ['42', /neither Open-Meteo/],
    'times.json': [marine({ hourly: { time: ['2026-03-27'] } }), /not ISO 8601/],
    'none.json': [marine({ hourly: { time: [] } }), /no times/],
    'back.json': [marine({ hourly: { time: [RUN, RUN] } }), /do not ascend/],
    'early.json': [marine({ hourly: { time: [-1] } }), /before 1970/],
    'short.json': [marine({ hourly: { time: [RUN], wave_height: [] } }), /not have one value for each time/],
    'word.json': [marine({ hourly: { time: [RUN], wave_height: ['1'] } }), /not a number/],
    'place.json': [marine({ latitude: 91 }), /not on the globe/],
    'zone.json': [marine({ utc_offset_seconds: 1e9 }), /not an offset/],
    'second.json': [JSON.stringify([MARINE, { hourly: 1 }]), /hourly is not an object/],
    'row.json': [table([['2026-03-27T00:00:00Z', 1, 2]]), /another number of fields/],
    'column.json': [griddap(['time', 'hs'], [], []), /no column latitude/],
    'shape.json': [JSON.stringify(coverage([1, 2, 3])), /another number of values/],
    'axes.json': [JSON.stringify(coverage([1, 2], { domain: {} })), /axes is not an object/],
    'runs.json': [
      JSON.stringify(
        coverage([], {
          ranges: {
            hs: { axisNames: ['forecast_reference_time', 't'], shape: [2, 2], values: [1, 2, 3, 4] },
          },
        }),
      ),
      /more than one run or level/,
    ],
  }
  const files = Object.fromEntries(Object.entries(broken).map(([name, [content]]) => [name, content]))
  const folder = await folderOf(t, { ...files, 'whole.json': JSON.stringify(MARINE) })
  const { forecasts, examples, ended } = await record(openForecast, folder)
  assert.equal(forecasts.length, 1)
  assert.deepEqual(ended, ['whole.json'])
  assert.equal(examples.length, Object.keys(broken).length)
  for (const [name, [, reason]] of Object.entries(broken)) {
    const warning = examples.find((text) => text.includes(`/${name}: `))
    assert.ok(warning !== undefined && reason.test(warning), `${name}: ${warning}`)
  }
})

test('Any JSON is either understood or skipped with a reason.', async (t) => {
  const key = fc.constantFrom(...'hourly time table rows type domain axes latitude ranges'.split(' '))
  const value = fc.letrec((tie) => ({
    any: fc.oneof(
      { depthSize: 'medium' },
      fc.constantFrom(null, 1, 'Coverage', 'CoverageCollection', '2026-03-27T00:00'),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(key, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  await fc.assert(
    fc.asyncProperty(value, async (any) => {
      const folder = await folderOf(t, { a: JSON.stringify(any) })
      const said = await record(openForecast, folder).then(
        ({ forecasts, doubts }) => {
          assert.deepEqual(forecasts, [])
          return doubts.join()
        },
        (error: unknown) => String(error),
      )
      assert.match(said, /has no forecast|BuildError: forecast: no file could be read; /)
    }),
    { numRuns: 200 },
  )
})

test('An empty folder gets a remark.', async (t) => {
  const { doubts } = await record(openForecast, await folderOf(t, { '.hidden': 'x' }))
  assert.match(doubts[0], /there is no forecast/)
})

const REAL = join(import.meta.dirname, '..', '..', '..', 'shared', 'data', 'forecast')

test(
  'The real WAVEWATCH III and GFS answers of one run give one point with waves and wind.',
  { skip: existsSync(REAL) ? false : 'the shared sample data is not beside this checkout' },
  async (t) => {
    const names = [
      'ww3_gom_20231228_hs.covjson',
      'ww3_gom_20231228_dir.covjson',
      'ww3_gom_20231228_t01.covjson',
      'gfs_20231228_ugrd10m_griddap.json',
      'gfs_20231228_vgrd10m_griddap.json',
      'gfs_20231228_tmp2m_griddap.json',
    ]
    const folder = await folderOf(t, {})
    for (const name of names) await copyFile(join(REAL, name), join(folder, name))
    const places = names.slice(0, 3).map((name) => `${name},43.49,-69.42\n`)
    await writeFile(join(folder, 'points.csv'), `file,lat,lng\n${places.join('')}`)
    const { forecasts, doubts, skipped } = await record(openForecast, folder)
    assert.deepEqual(doubts, [])
    assert.deepEqual([...skipped], [['no wave or wind forecast', 1]])
    assert.equal(forecasts.length, 1)
    const [{ lat, lng, runAt, times, values }] = rounded(forecasts)
    assert.deepEqual([lat, lng, runAt], [43.49, -69.42, Date.UTC(2023, 11, 28) / 1000])
    // 73 hours of waves, then three-hourly wind to 5 January at noon.
    assert.equal(times.length, 73 + (8.5 * 24 - 72) / 3)
    assert.deepEqual(values['waveHeight'].slice(0, 2), [0.58, 0.57])
    assert.equal(values['waveHeight'].filter((value) => value !== null).length, 73)
    assert.deepEqual([values['wavePeriod'][0], values['waveDirection'][0]], [5.71, 136.57])
    assert.deepEqual([values['windSpeed'][0], values['windDirection'][0]], [12.45, 106.07])
    assert.ok(values['windSpeed'].every((value) => value !== null))
  },
)

/** What one answer gives: the first forecast's values at its first two times, doubts, and what is skipped. */
async function valuesOf(t: TestContext, answer: object) {
  const folder = await folderOf(t, { 'a.json': JSON.stringify(answer) })
  const { forecasts, doubts, skipped } = await record(openForecast, folder)
  const values = rounded(forecasts).map(({ values: all }) =>
    Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.slice(0, 2)])),
  )
  return { values: values[0], doubts, skipped: Object.fromEntries(skipped), model: forecasts[0]?.model }
}

const hourly = (lists: { [label: string]: unknown[] }, units: { [label: string]: string } = {}) => ({
  latitude: 45,
  longitude: -20,
  hourly_units: units,
  hourly: { time: ['2026-03-27T00:00', '2026-03-27T01:00'], ...lists },
})

interface Told {
  unit?: string
  id?: string
  values: number[]
}

/** A coverage at one place and two times; `more` are further axes and members of the domain. */
function told(
  columns: { [label: string]: Told },
  axes: object = { x: { values: [-10] }, y: { values: [50] } },
  more = {},
) {
  const each = <Value>(make: (column: Told) => Value) =>
    Object.fromEntries(Object.entries(columns).map(([label, column]) => [label, make(column)]))
  return {
    type: 'Coverage',
    domain: { axes: { t: { values: ['2026-03-27T06:00Z', '2026-03-27T07:00Z'] }, ...axes }, ...more },
    parameters: each(({ unit, id }) => ({ observedProperty: { id }, unit: { symbol: unit } })),
    ranges: each(({ values }) => ({ axisNames: ['t'], shape: [2], values })),
  }
}

test('Of several models the first counts, gaps are filled by the next, and a doubt names them.', async (t) => {
  const { values, doubts, model } = await valuesOf(
    t,
    hourly(
      {
        wave_height_best_match: [1, null],
        wave_height_ecmwf_wam025: [1.5, 1.7],
        wind_speed_10m_best_match: [20, 21],
        wind_speed_100m: [99, 99],
        wave_period_max: [99, 99],
      },
      { wave_height_best_match: 'm', wave_height_ecmwf_wam025: 'm', wind_speed_10m_best_match: 'km/h' },
    ),
  )
  assert.deepEqual(values, { waveHeight: [1, 1.7], windSpeed: [20, 21] })
  assert.equal(model, 'Open-Meteo best_match')
  assert.deepEqual(doubts, [
    'of several models the first counts, and the next ones fill its gaps × 1: a.json: best_match,ecmwf_wam025',
  ])
})

test('The option pick chooses a model of Open-Meteo or a source of Stormglass; an answer without it is left out', async (t) => {
  const units = { wave_height_best_match: 'm', wave_height_ecmwf_wam025: 'm' }
  const answer = hourly({ wave_height_best_match: [1, null], wave_height_ecmwf_wam025: [1.5, 1.7] }, units)
  const hour = (time: string, windSpeed: number) => ({
    time,
    waveHeight: { dwd: 1, sg: 1.25 },
    waveDirection: { sg: 320 },
    swellPeriod: { noaa: 9 },
    windSpeed: { icon: windSpeed },
    airTemperature: { sg: 12 },
  })
  const hours = [hour('2024-03-01T00:00:00+00:00', 5), hour('2024-03-01T01:00:00+00:00', 10)]
  const folder = await folderOf(t, {
    'a.json': JSON.stringify(answer),
    'b.json': JSON.stringify({ hours, meta: { lat: 43.2, lng: -9.5 } }),
  })
  const given = async (options: { readonly [name: string]: string }): Promise<unknown> => {
    const { forecasts, doubts } = await recordSource(openForecast(folder, options))
    return [forecasts.map(({ model, values }) => [model, values]), doubts]
  }
  const left = (file: string, pick: string, models: string): string =>
    `grave: a file is left out whole × 1: ${file}: it has no values of the model ${pick}, but of ${models}`
  assert.deepEqual(await given({ pick: 'ecmwf_wam025' }), [
    [['Open-Meteo ecmwf_wam025', { waveHeight: [1.5, 1.7] }]],
    [left('b.json', 'ecmwf_wam025', 'sg, dwd, noaa, icon')],
  ])
  assert.deepEqual(await given({ pick: 'icon', model: 'ICON' }), [
    [['ICON', { windSpeed: [18, 36] }]],
    [left('a.json', 'icon', 'best_match, ecmwf_wam025')],
  ])
  const [all, doubts] = (await given({})) as [unknown[], string[]]
  assert.deepEqual(all[0], [
    'Stormglass sg, Stormglass noaa',
    { waveHeight: [1.25, 1.25], waveDirection: [320, 320], swellPeriod: [9, 9], windSpeed: [18, 36] },
  ])
  assert.match(
    doubts.join(),
    /of several models the first counts.* × 2: a\.json: .*, b\.json: sg,dwd,noaa,icon/,
  )
})

test('Peak periods of Open-Meteo count before its mean periods, unless they are empty.', async (t) => {
  const units = { wave_period: 's', wave_peak_period: 's', wave_height: 'm', swell_wave_peak_period: 's' }
  const lists = { wave_height: [1, 1], wave_period: [6, 6], swell_wave_peak_period: [13, 13] }
  const { values, doubts } = await valuesOf(t, hourly({ ...lists, wave_peak_period: [12, 12] }, units))
  assert.deepEqual(values, { waveHeight: [1, 1], wavePeriod: [12, 12], swellPeriod: [13, 13] })
  assert.deepEqual(doubts, [])
  const empty = await valuesOf(t, hourly({ ...lists, wave_peak_period: [null, 12] }, units))
  assert.deepEqual(empty.values.wavePeriod, [6, 6])
  assert.deepEqual(empty.doubts, [
    'a column with more values counts before the first one × 1: a.json: wave_period, wave_peak_period',
  ])
})

test('Names of ECMWF are known, and its rain is no wave period.', async (t) => {
  const { values } = await valuesOf(
    t,
    told(
      {
        swh: { unit: 'm', values: [2, 2] },
        tp: { unit: 'm', values: [5, 7] },
        mwp: { unit: 's', values: [8, 8] },
        pp1d: { unit: 's', values: [10, 10] },
        mwd: { unit: 'degrees', values: [270, 270] },
        '10u': { unit: 'm s-1', values: [5, 5] },
        '10v': { unit: 'm s-1', values: [0, 0] },
      },
      { latitude: { values: [50] }, longitude: { values: [350] }, levelist: { values: [0] } },
    ),
  )
  assert.deepEqual(values, {
    waveHeight: [2, 2],
    wavePeriod: [10, 10],
    waveDirection: [270, 270],
    windSpeed: [18, 18],
    windDirection: [270, 270],
  })
  const rain = await valuesOf(t, told({ swh: { unit: 'm', values: [2, 2] }, tp: { values: [5, 7] } }))
  assert.deepEqual(rain.values, { waveHeight: [2, 2] })
  assert.deepEqual(rain.skipped, { 'wavePeriod in an unknown unit': 1 })
})

test('Wind of another level than that of the sea is left out with a doubt.', async (t) => {
  const columns = (east: string, north: string) => ({
    swh: { unit: 'm', values: [2, 2] },
    [east]: { unit: 'm/s', values: [30, 30] },
    [north]: { unit: 'm/s', values: [0, 0] },
  })
  const at = (level: number, more = {}, east = 'ugrd', north = 'vgrd') =>
    valuesOf(
      t,
      told(columns(east, north), { x: { values: [-10] }, y: { values: [50] }, z: { values: [level] } }, more),
    )
  const high = await at(250)
  assert.deepEqual(high.values, { waveHeight: [2, 2] })
  assert.deepEqual(high.doubts, [
    'wind at another level than 10 m above the sea is left out × 1: a.json: z 250',
  ])
  const pressure = await at(10, { referencing: [{ coordinates: ['z'], system: { id: 'isobaric hPa' } }] })
  assert.deepEqual(pressure.values, { waveHeight: [2, 2] })
  assert.deepEqual((await at(10)).values.windSpeed, [108, 108])
  assert.deepEqual((await at(250, {}, 'ugrd10m', 'vgrd10m')).values.windSpeed, [108, 108])
  const table = griddap(
    ['time', 'altitude', 'latitude', 'longitude', 'hs', 'wind_speed'],
    ['UTC', 'm', '', '', 'm', 'm/s'],
    [['2026-03-27T00:00:00Z', 9000, 50, -10, 2, 30]],
  )
  assert.deepEqual((await valuesOf(t, JSON.parse(table) as object)).values, { waveHeight: [2] })
})

test('Directions where waves go to are turned by their names or words, and counted.', async (t) => {
  for (const [label, id] of [
    ['wdir_to', 'http://vocab.nerc.ac.uk/standard_name/sea_surface_wave_to_direction'],
    ['dir', 'peak wave direction towards'],
  ]) {
    const { values, doubts } = await valuesOf(t, told({ [label]: { unit: 'degree', id, values: [90, 90] } }))
    assert.deepEqual(values, { waveDirection: [270, 270] })
    assert.match(doubts[0], /^directions where waves or wind go to are turned by half a circle × 2/)
    const known = await valuesOf(t, told({ mwd: { unit: 'degree', id, values: [90, 90] } }))
    assert.deepEqual(known.values, { waveDirection: [90, 90] })
    assert.match(known.doubts[0], /^grave: a variable's attributes contradict its known name/)
  }
})

test('A unit that is missing is a doubt, and a place on land, with zeros alone, has no forecast.', async (t) => {
  const { values, doubts } = await valuesOf(t, hourly({ wave_height: [6.6, 6.6] }))
  assert.deepEqual(values, { waveHeight: [6.6, 6.6] })
  assert.deepEqual(doubts, [
    "values without a unit are taken in the service's usual one × 2: a.json: wave_height",
  ])
  const units = { wave_height: 'm', wave_period: 's', wave_direction: '°' }
  const zeros = { wave_height: [0, 0], wave_period: [0, 0], wave_direction: [0, 0] }
  const land = await valuesOf(t, hourly(zeros, units))
  assert.equal(land.values, undefined)
  assert.equal(land.doubts[0], 'a place where no wave has any height is left out × 1: a.json: 45 -20')
  const calm = await valuesOf(t, hourly({ ...zeros, wave_height: [0, 0.1] }, units))
  assert.deepEqual(calm.values, { waveHeight: [0, 0.1], waveDirection: [0, 0] })
})

test('Tables of ERDDAP may count their times, and NaN is a missing value.', async (t) => {
  const table = griddap(
    ['time', 'latitude', 'longitude', 'htsgwsfc', 'perpwsfc'],
    ['seconds since 1970-01-01T00:00:00Z', '', '', 'm', 's'],
    [
      [RUN, 50, 350, 'NaN', 9],
      [RUN + HOUR, 50, 350, 2, 9],
    ],
  )
  const { values } = await valuesOf(t, JSON.parse(table) as object)
  assert.deepEqual(values, { waveHeight: [null, 2], wavePeriod: [9, 9] })
})
