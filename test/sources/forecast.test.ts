/** The forecast adapter: three kinds of answers of public services, gathered by point. */
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { openForecast } from '../../src/sources/forecast/forecast-source.ts'
import type { ForecastRecord } from '../../src/sea/records.ts'
import { type Files, folderOf, record, recordSource } from './recorder.ts'
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

const read = async (t: TestContext, files: Files) => record(openForecast, await folderOf(t, files))

/** What one answer gives: the first forecast's values at its first two times, doubts, and what is skipped. */
async function valuesOf(t: TestContext, answer: object) {
  const { forecasts, doubts, skipped } = await read(t, { 'a.json': answer })
  const values = rounded(forecasts).map(({ values: all }) =>
    Object.fromEntries(Object.entries(all).map(([name, list]) => [name, list.slice(0, 2)])),
  )
  return { values: values[0], doubts, skipped: Object.fromEntries(skipped), model: forecasts[0]?.model }
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

/** Two hours of Open-Meteo, or as many as its lists are long. */
const hourly = (lists: { [label: string]: unknown[] }, units: { [label: string]: string } = {}) => ({
  latitude: 45,
  longitude: -20,
  hourly_units: units,
  hourly: {
    time: Object.values(lists)[0].map((_, hour) => `2026-03-27T0${hour}:00`),
    ...lists,
  },
})

test('Open-Meteo marine JSON is read with its local times brought to UTC, unless they are Unix times.', async (t) => {
  const folder = await folderOf(t, { 'biscay.json': MARINE })
  const { forecasts, doubts, understood, skipped } = await record(openForecast, folder)
  assert.deepEqual([doubts, [...skipped], [...understood]], [[], [], [['biscay.json', 3]]])
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
  const unix = { ...MARINE, hourly: { time: [RUN, RUN + HOUR], wave_height: [1, 2] } }
  assert.deepEqual((await read(t, { a: unix })).forecasts[0].times, [RUN, RUN + HOUR])
})

test('An answer for many places gives a point each, and a place on land none.', async (t) => {
  const dry = { time: MARINE.hourly.time, wave_height: [null, null, null] }
  const land = { ...MARINE, latitude: 45, longitude: 5, hourly: dry }
  const { forecasts, understood } = await read(t, {
    'many.json.gz': gzipSync(JSON.stringify([MARINE, land])),
  })
  assert.deepEqual(fieldOf(forecasts, 'lat'), [43.541664])
  assert.deepEqual([...understood], [['many.json.gz', 6]])
})

test('Wind comes out in km/h whatever its unit, and heights in metres.', async (t) => {
  for (const [unit, windSpeed] of [
    ['km/h', 10],
    ['m/s', 36],
    ['kn', 18.52],
    ['mp/h', 16.09],
    ['mph', 16.09],
    ['', 10],
  ] as const) {
    const lists = { wind_speed_10m: [10], wind_direction_10m: [270], wave_height: [10] }
    const { values } = await valuesOf(t, hourly(lists, { wind_speed_10m: unit, wave_height: 'ft' }))
    assert.deepEqual(values, { waveHeight: [3.05], windSpeed: [windSpeed], windDirection: [270] }, unit)
  }
  const strange = hourly({ wind_speed_10m: [10], wave_height: [1] }, { wind_speed_10m: 'bft' })
  const { values, skipped } = await valuesOf(t, strange)
  assert.deepEqual([values, skipped], [{ waveHeight: [1] }, { 'windSpeed in an unknown unit': 1 }])
})

test('Values beyond their limits are left out and counted.', async (t) => {
  const lists = { wave_height: [-999, 25.1, 2, 9.96e36], wave_direction: [-999, -10, 370, 10] }
  const { forecasts, skipped } = await read(t, { a: hourly(lists) })
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
  const { forecasts } = await read(t, {
    'marine.json': MARINE,
    'weather.json': [weather(43.6, 30), weather(43.7, 60), weather(45, 90)],
  })
  assert.deepEqual(fieldOf(forecasts, 'lat'), [43.541664, 43.7, 45])
  // Three-hourly wind lies on the hours of the waves; nothing lies between two opposite directions.
  const [{ times, values }] = rounded(forecasts)
  const hours = times.map((time) => (time - RUN) / HOUR)
  assert.deepEqual(hours, [-3, -1, 0, 1, 3])
  assert.deepEqual(values, {
    waveHeight: [null, 1.5, 1.62, null, null],
    wavePeriod: [null, 8.55, 8.6, 8.65, null],
    waveDirection: [null, 359, 0, 0, null],
    swellHeight: [null, 1.1, 1.2, 1.3, null],
    windSpeed: [30, 32, 33, 34, 36],
    windDirection: [350, 3.36, 10, null, 190],
  })
})

const EARLY = ['2026-03-27T06:00:00', '2026-03-27T07:00:00Z']
const PLACE = { x: { values: [290.5] }, y: { values: [43.5] } }

/** Two hours at one place, as EDR services answer: `range` may be of any column. */
const coverage = (
  range: object,
  about: { label?: string; symbol?: string | object; domain?: object } = {},
) => {
  const { label = 'hs', symbol = 'm', domain = {} } = about
  return {
    type: 'Coverage',
    domain: {
      type: 'Domain',
      axes: { t: { values: EARLY }, forecast_reference_time: { values: ['2026-03-27T00:00:00'] }, ...PLACE },
      ...domain,
    },
    parameters: { [label]: { unit: { symbol } } },
    ranges: { [label]: { type: 'NdArray', axisNames: ['t'], shape: [2], values: [0.5, 0.6], ...range } },
  }
}

test('CoverageJSON of one quantity a file is gathered into one point, with the run that it names.', async (t) => {
  const { forecasts, doubts } = await read(t, {
    'dir.covjson': coverage({ values: [181, null] }, { label: 'dir', symbol: { value: 'deg' } }),
    'hs.covjson': coverage({ axisNames: ['forecast_reference_time', 't'], shape: [1, 2] }),
  })
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
  const nowhere = coverage({ axisNames: undefined }, { domain: { axes: { t: { values: EARLY } } } })
  const { forecasts, doubts, bad } = await read(t, {
    'a.covjson': nowhere,
    'b.covjson': nowhere,
    'points.csv': 'file,lat,lng\r\na.covjson,43.25,-67.5\r\nc.covjson,91,0\r\n\r\n',
  })
  const found = forecasts.map(({ lat, lng, values }) => [lat, lng, values.waveHeight])
  assert.deepEqual(found, [[43.25, -67.5, [0.5, 0.6]]])
  assert.match(doubts.join('\n'), /^.*b\.covjson.*does not say where it is.*$/)
  assert.deepEqual(bad, ['points.csv:3 lat is not a number from -90 to 90'])
})

/** A table of ERDDAP; `columns` come after time and place. */
const griddap = (columns: { [name: string]: string }, rows: unknown[][], time = 'UTC') => ({
  table: {
    columnNames: ['time', 'latitude', 'longitude', ...Object.keys(columns)],
    columnUnits: [time, 'degrees_north', 'degrees_east', ...Object.values(columns)],
    rows,
  },
})

test('ERDDAP wind as eastward and northward parts becomes speed and the direction it comes from.', async (t) => {
  const at = (hour: string, lng: number, ...wind: (number | null)[]) => [
    `2026-03-27T${hour}:00:00Z`,
    43.5,
    lng,
    ...wind,
  ]
  const rows = [
    // Blowing to the east, to the south, to the north-east, and a calm.
    at('00', 290.5, 10, 0),
    at('03', 290.5, 0, -5),
    at('06', 290.5, 3, 3),
    at('09', 290.5, 0, 0),
    at('12', 290.5, null, 1),
    at('00', 291, 1, 0),
  ]
  const { forecasts } = await read(t, { 'wind.json': griddap({ ugrd10m: 'm s-1', vgrd10m: 'm s-1' }, rows) })
  const [first, second] = rounded(forecasts)
  assert.deepEqual([first.lng, first.runAt, second.lng, second.times], [-69.5, RUN, -69, [RUN]])
  assert.deepEqual(first.values, {
    windSpeed: [36, 18, 15.27, 0, null],
    windDirection: [270, 0, 225, null, null],
  })
})

test('Of two runs the newest counts, and files of one run complete each other.', async (t) => {
  const table = (...heights: [hour: number, height: number | null][]) =>
    griddap(
      { Thgt: 'm' },
      heights.map(([hour, height]) => [new Date((RUN + hour * HOUR) * 1000).toISOString(), 10, 20, height]),
    )
  const { forecasts } = await read(t, {
    '1.json': table([0, 1], [1, null]),
    '2.json': table([-6, 9], [0, 9], [6, 9], [12, 9]),
    '3.json': table([0, 5], [1, 2], [2, 3]),
  })
  const times = [RUN, RUN + HOUR, RUN + 2 * HOUR]
  const values = { waveHeight: [1, 2, 3] }
  assert.deepEqual(forecasts, [{ lat: 10, lng: 20, runAt: RUN, times, values }])
})

const marine = (change: object) => ({ ...MARINE, ...change })
const inDomain = (domain: object) => coverage({}, { domain: { axes: {}, ...domain } })
const along = (num: number) =>
  inDomain({ axes: { t: { values: EARLY }, ...PLACE, x: { start: 0, stop: 1, num } } })

const BROKEN: { readonly [name: string]: [content: string | object, reason: RegExp] } = {
  'cut.json': [JSON.stringify(MARINE).slice(0, -20), /not JSON, or cut off/],
  'cut.json.gz': [gzipSync(JSON.stringify(MARINE)).subarray(0, 100), /not JSON, or cut off/],
  'readme.txt': ['Forecasts of March', /not JSON/],
  'error.json': ['{"error":true,"reason":"Daily limit"}', /not a forecast of Open-Meteo by the hour/],
  'current.json': [marine({ hourly: undefined, current: { wave_height: 2 } }), /by the hour/],
  'path.json': [inDomain({ axes: { composite: { values: [] } } }), /a composite axis/],
  'projected.json': [
    inDomain({ referencing: [{ system: { type: 'ProjectedCRS' } }] }),
    /not latitudes and longitudes/,
  ],
  'calendar.json': [inDomain({ referencing: [{ system: { calendar: '360_day' } }] }), /another calendar/],
  'number.json': ['42', /not a forecast of Open-Meteo/],
  'times.json': [marine({ hourly: { time: ['2026-03-27'] } }), /not in whole seconds/],
  'none.json': [marine({ hourly: { time: [] } }), /no times/],
  'back.json': [marine({ hourly: { time: [RUN, RUN] } }), /do not ascend/],
  'early.json': [marine({ hourly: { time: [-1] } }), /from 1970/],
  'short.json': [marine({ hourly: { time: [RUN], wave_height: [] } }), /not have one value for each time/],
  'word.json': [marine({ hourly: { time: [RUN], wave_height: ['1'] } }), /not a number/],
  'place.json': [marine({ latitude: 91 }), /not on the globe/],
  'zone.json': [marine({ utc_offset_seconds: 86_401 }), /not an offset/],
  'second.json': [[MARINE, { hourly: 1 }], /hourly is not an object/],
  'row.json': [griddap({ hs: 'm' }, [['2026-03-27T00:00:00Z', 1, 2]]), /another number of fields/],
  'column.json': [{ table: { columnNames: ['time', 'hs'], rows: [] } }, /no column latitude/],
  'shape.json': [coverage({ values: [1, 2, 3] }), /another number of values/],
  'axes.json': [coverage({}, { domain: { axes: 1 } }), /axes is not an object/],
  'most.json': [along(100_000), /does not run along axis x/],
  'more.json': [along(100_001), /impossible number of values/],
  'runs.json': [
    coverage({ axisNames: ['forecast_reference_time', 't'], shape: [2, 2], values: [1, 2, 3, 4] }),
    /more than one run or level/,
  ],
}

test('A file that is broken or of something else is reported and skipped whole; an empty folder gets a remark.', async (t) => {
  const files = Object.fromEntries(Object.entries(BROKEN).map(([name, [content]]) => [name, content]))
  const { forecasts, examples, ended } = await read(t, { ...files, 'whole.json': MARINE })
  assert.equal(forecasts.length, 1)
  assert.deepEqual(ended, ['whole.json'])
  assert.equal(examples.length, Object.keys(BROKEN).length)
  for (const [name, [, reason]] of Object.entries(BROKEN)) {
    const warning = examples.find((text) => text.includes(`/${name}: `))
    assert.ok(warning !== undefined && reason.test(warning), `${name}: ${warning}`)
  }
  assert.match((await read(t, { '.hidden': 'x' })).doubts[0], /there is no forecast/)
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

interface Told {
  unit?: string
  id?: string
  values: number[]
}

/** A coverage at one place and two times; `more` are further axes and members of the domain. */
function told(columns: { [label: string]: Told }, axes: object = PLACE, more = {}) {
  const each = <Value>(make: (column: Told) => Value) =>
    Object.fromEntries(Object.entries(columns).map(([label, column]) => [label, make(column)]))
  return {
    type: 'Coverage',
    domain: { axes: { t: { values: EARLY }, ...axes }, ...more },
    parameters: each(({ unit, id }) => ({ observedProperty: { id }, unit: { symbol: unit } })),
    ranges: each(({ values }) => ({ axisNames: ['t'], shape: [2], values })),
  }
}

test('Of several models the first counts, gaps are filled by the next, and a doubt names them.', async (t) => {
  const lists = {
    wave_height_best_match: [1, null],
    wave_height_ecmwf_wam025: [1.5, 1.7],
    wind_speed_10m_best_match: [20, 21],
    wind_speed_100m: [99, 99],
    wave_period_max: [99, 99],
  }
  const units = {
    wave_height_best_match: 'm',
    wave_height_ecmwf_wam025: 'm',
    wind_speed_10m_best_match: 'km/h',
  }
  const { values, doubts, model } = await valuesOf(t, hourly(lists, units))
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

const SWH = { unit: 'm', values: [2, 2] }

test('Names of ECMWF are known, and its rain is no wave period.', async (t) => {
  const columns = {
    swh: SWH,
    tp: { unit: 'm', values: [5, 7] },
    mwp: { unit: 's', values: [8, 8] },
    pp1d: { unit: 's', values: [10, 10] },
    mwd: { unit: 'degrees', values: [270, 270] },
    '10u': { unit: 'm s-1', values: [5, 5] },
    '10v': { unit: 'm s-1', values: [0, 0] },
  }
  const axes = { latitude: { values: [50] }, longitude: { values: [350] }, levelist: { values: [0] } }
  assert.deepEqual((await valuesOf(t, told(columns, axes))).values, {
    waveHeight: [2, 2],
    wavePeriod: [10, 10],
    waveDirection: [270, 270],
    windSpeed: [18, 18],
    windDirection: [270, 270],
  })
  const rain = await valuesOf(t, told({ swh: SWH, tp: { values: [5, 7] } }))
  assert.deepEqual(
    [rain.values, rain.skipped],
    [{ waveHeight: [2, 2] }, { 'wavePeriod in an unknown unit': 1 }],
  )
})

test('Wind of another level than that of the sea is left out with a doubt.', async (t) => {
  const at = (level: number, more = {}, east = 'ugrd', north = 'vgrd') => {
    const wind = (value: number) => ({ unit: 'm/s', values: [value, value] })
    const columns = { swh: SWH, [east]: wind(30), [north]: wind(0) }
    return valuesOf(t, told(columns, { ...PLACE, z: { values: [level] } }, more))
  }
  const high = await at(250)
  assert.deepEqual(high.values, { waveHeight: [2, 2] })
  assert.deepEqual(high.doubts, [
    'wind at another level than 10 m above the sea is left out × 1: a.json: z 250',
  ])
  const pressure = await at(10, { referencing: [{ coordinates: ['z'], system: { id: 'isobaric hPa' } }] })
  assert.deepEqual(pressure.values, { waveHeight: [2, 2] })
  assert.deepEqual((await at(10)).values.windSpeed, [108, 108])
  assert.deepEqual((await at(250, {}, 'ugrd10m', 'vgrd10m')).values.windSpeed, [108, 108])
  const row = ['2026-03-27T00:00:00Z', 50, -10, 9000, 2, 30]
  const table = griddap({ altitude: 'm', hs: 'm', wind_speed: 'm/s' }, [row])
  assert.deepEqual((await valuesOf(t, table)).values, { waveHeight: [2] })
})

test('Directions where waves go to are turned by their names or words, and counted.', async (t) => {
  for (const [label, id] of [
    ['wdir_to', 'http://vocab.nerc.ac.uk/standard_name/sea_surface_wave_to_direction'],
    ['dir', 'peak wave direction towards'],
  ]) {
    const column = { unit: 'degree', id, values: [90, 90] }
    const { values, doubts } = await valuesOf(t, told({ [label]: column }))
    assert.deepEqual(values, { waveDirection: [270, 270] })
    assert.match(doubts[0], /^directions where waves or wind go to are turned by half a circle × 2/)
    const known = await valuesOf(t, told({ mwd: column }))
    assert.deepEqual(known.values, { waveDirection: [90, 90] })
    assert.match(known.doubts[0], /^grave: a variable's attributes contradict its known name/)
  }
})

test('A unit that is missing is a doubt, and a place on land, with zeros alone, has no forecast.', async (t) => {
  const { values, doubts } = await valuesOf(t, hourly({ wave_height: [6.6, 6.6] }))
  assert.deepEqual(values, { waveHeight: [6.6, 6.6] })
  assert.match(
    doubts.join(),
    /^values without a unit are taken in the service's usual one × 2: a.json: wave_height$/,
  )
  const units = { wave_height: 'm', wave_period: 's', wave_direction: '°' }
  const zeros = { wave_height: [0, 0], wave_period: [0, 0], wave_direction: [0, 0] }
  const land = await valuesOf(t, hourly(zeros, units))
  assert.equal(land.values, undefined)
  assert.equal(land.doubts[0], 'a place where no wave has any height is left out × 1: a.json: 45 -20')
  const calm = await valuesOf(t, hourly({ ...zeros, wave_height: [0, 0.1] }, units))
  assert.deepEqual(calm.values, { waveHeight: [0, 0.1], waveDirection: [0, 0] })
})

test('Tables of ERDDAP may count their times, and NaN is a missing value.', async (t) => {
  const rows = [
    [RUN, 50, 350, 'NaN', 9],
    [RUN + HOUR, 50, 350, 2, 9],
  ]
  const table = griddap({ htsgwsfc: 'm', perpwsfc: 's' }, rows, 'seconds since 1970-01-01T00:00:00Z')
  assert.deepEqual((await valuesOf(t, table)).values, { waveHeight: [null, 2], wavePeriod: [9, 9] })
})
