/**
 * Altimetry files into passes and readings of virtual buoys: made-up tracks in files that the tests write.
 */
import assert from 'node:assert/strict'
import { readFileSync, rmSync, truncateSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { File } from 'h5wasm/node'
import { openAltimetry } from '../../src/sources/altimetry.ts'
import { type Files, folderOf, gives, record } from './recorder.ts'
import { EPOCH_2000, flags, type Point, type Shape, writeL3, writeNetcdf } from './netcdf_file.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const seconds = (text: string) => Date.parse(text) / 1000

/** Sentinel-3A crosses the equator in the middle of pass 517 of cycle 81, up, and in pass 518, down. */
const HALF_ORBIT = (27 * 86_400) / 770
const CROSSING = seconds('2016-06-28T21:57:26Z') + ((81 - 6) * 770 + 516) * HALF_ORBIT
const START = Math.round(CROSSING)

/**
 * What a folder gives: of rows `BUOY SECONDS HEIGHT`, of understood lines those of the NetCDF files alone.
 */
async function read(folder: string) {
  const recording = await record(openAltimetry, folder)
  const { forecasts, harbours, spots, skipped, doubts, bad, understood } = recording
  assert.deepEqual([forecasts, harbours, spots, bad], [[], [], [], []])
  const rows = [...recording.rows].flatMap(([key, list]) =>
    list.map(({ time, significantHeight, ...more }) => {
      assert.deepEqual(more, {})
      return `${key.replace(/\/0$/, '')} ${seconds(time)} ${significantHeight}`
    }),
  )
  const sum = (counts: Iterable<number>): number => [...counts].reduce((all, count) => all + count, 0)
  const files = [...understood].filter(([name]) => name.endsWith('.nc')).map(([, count]) => count)
  const counts = [sum(files), sum(skipped.values()), doubts.map((text) => text.replace(`${folder}/`, ''))]
  return { ...recording, rows, counts }
}

const L3_NAME = 'global_vavh_l3_rt_s3a_20220201T000000_20220201T030000_20220627T133409.nc'
const LIST = 'virtual_buoys.csv'
const listed = (...buoys: string[]): Files => ({ [LIST]: `identifier,name,lat,lng\n${buoys.join('\n')}\n` })
const ALPHA = listed('A,Alpha,0,10')

/**
 * Points one second apart along a meridian, upward or downward, at 6.7 km a second, around its crossing of
 * the equator.
 */
function meridian(lng: number, crossing: number, from: number, to: number, up = true, height = 2): Point[] {
  const start = Math.round(crossing)
  return Array.from({ length: to - from }, (_, i) => {
    const second = from + i
    return { time: start + second, lat: second * (up ? 0.06 : -0.06), lng, height }
  })
}

test('A pass that two files cut in half is one pass.', async (t) => {
  const folder = await folderOf(t, listed('A,Alpha,0,-20', 'B,Bravo,10,150'))
  const points = [
    ...meridian(-20, CROSSING, -1000, 900),
    ...meridian(150.000007, CROSSING + HALF_ORBIT, -1100, 800, false),
  ]
  // As this longitude: times a million it falls below a whole number in floating point.
  points[1900].lat = 66.000002
  const whole = join(folder, L3_NAME)
  writeL3(whole, points)
  const { passes, rows, counts } = await read(folder)
  assert.deepEqual(fieldsOf(passes, 'mission', 'cycle', 'number', 'startedAt', 'endedAt'), [
    ['sentinel-3a', 81, 517, points[0].time, points[1899].time],
    ['sentinel-3a', 81, 518, points[1900].time, points[3799].time],
  ])
  assert.deepEqual(fieldOf(passes, 'bounds'), [
    { south: -60, west: -20, north: 53.94, east: -20 },
    { south: -47.94, west: 150.000007, north: 66.000002, east: 150.000007 },
  ])
  assert.deepEqual(counts, [3800, 0, []])
  rmSync(whole)
  for (const cut of [1, 995, 1000, 1001, 1899, 1900, 1901, 3000]) {
    // Names that sort against the order of time, too.
    writeL3(join(folder, 'b_first.nc'), points.slice(0, cut))
    writeL3(join(folder, 'a_second.nc'), points.slice(cut))
    const result = await read(folder)
    assert.deepEqual([result.passes, result.rows], [passes, rows])
  }
})

test('A reading is the median of the points in reach, at the time of the nearest one.', async (t) => {
  const names = ['A,Alpha,0,10', 'B,Bravo,5,10', 'C,Charlie,10,10', 'D,Delta,-5,10']
  const folder = await folderOf(t, listed(...names))
  const at = (second: number, lat: number, height: number | null): Point => ({
    time: START + second,
    lat,
    lng: 10,
    height,
  })
  writeL3(join(folder, L3_NAME), [
    // 25 km are 0.2248 degrees: two of three are in reach of Delta.
    at(-80, -5.2, 1),
    at(-79, -5, 1),
    at(-78, -4.77, 1),
    // Alpha: outside, four inside, one of them invalid, outside.
    at(-3, -0.23, 9),
    at(-2, -0.224, 1.5),
    at(-1, -0.1, null),
    at(1, 0.05, 3.25),
    at(2, 0.22, 1.111),
    at(3, 0.226, 9),
    // Bravo: an even number, whose middle is rounded to the millimetre.
    at(80, 4.9, 1),
    at(81, 4.95, 2.002),
    at(82, 5.01, 2.005),
    at(83, 5.1, 7),
    // Charlie: two are too few.
    at(160, 10, 2),
    at(161, 10.05, 2),
  ])
  const { rows, passes, buoys, counts } = await read(folder)
  assert.deepEqual(rows, [`A ${START + 1} 1.5`, `B ${START + 82} 2.004`])
  assert.deepEqual(fieldOf(passes, 'observations'), [
    [
      { buoy: 0, time: START + 1 },
      { buoy: 1, time: START + 82 },
    ],
  ])
  // All that the operator listed are known, in the operator's words.
  const known = buoys.map(({ identifier, name, lat, lng }) => [identifier, name, lat, lng].join())
  assert.deepEqual(known, names)
  const about = buoys.every(({ source, virtual }) => source === 'Satellite altimetry' && virtual === true)
  assert.deepEqual([about, counts[1]], [true, 1])
})

test('Without a list, virtual buoys are the points of the grid that passes reach.', async (t) => {
  const folder = await folderOf(t, {})
  writeL3(join(folder, L3_NAME), [
    ...meridian(-12.1, CROSSING, 720, 770),
    ...meridian(-12.1, CROSSING, 790, 805),
    ...meridian(178, CROSSING + HALF_ORBIT, -10, 10, false),
  ])
  const { sources, rows, passes } = await gives(t, openAltimetry, folder, {
    buoys: ['V+4400-01200 Virtual 44.00N 12.00W 44 -12', 'V+4800-01200 Virtual 48.00N 12.00W 48 -12'],
    doubts: ['passes give no virtual buoy a reading × 1: Sentinel-3A'],
  })
  assert.equal(rows.size, 2)
  assert.deepEqual(
    passes.map(({ observations }) => observations.length),
    [2, 0],
  )
  assert.deepEqual(fieldsOf(sources, 'name', 'network'), [['Satellite altimetry', 'satellite']])
})

test('Over the antimeridian and near a pole, buoys are found and boxes are small.', async (t) => {
  const folder = await folderOf(t, listed('E,East,0,180', 'W,West,12,-179.9', 'P,Pole,-89.95,17'))
  const slanted = Array.from({ length: 401 }, (_, i) => ({
    time: START - 200 + i,
    lat: (i - 200) * 0.06,
    lng: i <= 200 ? 180 - (200 - i) * 0.02 : -180 + (i - 200) * 0.0005,
    height: 1,
  }))
  const polar = [0, 120, 240].map((lng, i) => ({ time: START - 1400 + i, lat: -89.9, lng, height: 3 }))
  writeL3(join(folder, L3_NAME), [...polar, ...slanted])
  const { rows, passes } = await read(folder)
  assert.match(rows.join('; '), new RegExp(`^P \\d+ 3; E ${START} 1; W \\d+ 1$`))
  assert.equal(passes.length, 1)
  writeL3(join(folder, L3_NAME), slanted)
  assert.deepEqual((await read(folder)).passes[0].bounds, { south: -12, west: 176, north: 12, east: -179.9 })
})

test('A box is the smallest that holds the track.', async (t) => {
  const folder = await folderOf(t, {})
  const degree = fc.integer({ min: -180, max: 179 })
  await fc.assert(
    fc.asyncProperty(fc.array(degree, { minLength: 1, maxLength: 6 }), async (degrees) => {
      const points = degrees.map((lng, i) => ({ time: START + i, lat: i, lng, height: 1 }))
      writeL3(join(folder, L3_NAME), points)
      const [{ bounds }] = (await read(folder)).passes
      const { west, east, south, north } = bounds
      assert.deepEqual([south, north], [0, degrees.length - 1])
      const turned = (from: number, to: number) => (((to - from) % 360) + 360) % 360
      for (const lng of degrees)
        assert.ok(turned(west, lng) <= turned(west, east), `${lng} in ${west}…${east}`)
      // No arc that begins at one of the points is smaller.
      const best = Math.min(...degrees.map((from) => Math.max(...degrees.map((to) => turned(from, to)))))
      assert.equal(turned(west, east), best)
      assert.ok(west >= -180 && west <= 180 && east >= -180 && east <= 180)
    }),
    { numRuns: 60 },
  )
})

test('Of two files with the same seconds the one with the later name counts.', async (t) => {
  const folder = await folderOf(t, ALPHA)
  const name = (created: string) => join(folder, L3_NAME.replace('20220627T133409', created))
  writeL3(name('20220627T133409'), meridian(10, CROSSING, -50, 50, true, 1))
  writeL3(name('20220628T133409'), meridian(10, CROSSING, -30, 60, true, 2))
  const { rows, passes, counts } = await read(folder)
  assert.deepEqual(
    passes.map(({ startedAt, endedAt }) => endedAt - startedAt),
    [109],
  )
  assert.deepEqual([rows, counts[0]], [[`A ${START} 2`], 190])
})

test('Scale, offset and fill value are those of the file, and impossible values are left out.', async (t) => {
  const folder = await folderOf(t, ALPHA)
  const points = meridian(10, CROSSING, -3, 5, true, 4.5)
  ;[-0.5, 25.5, null].forEach((height, i) => Object.assign(points[i], { height }))
  Object.assign(points[7], { lat: 95 })
  writeL3(join(folder, L3_NAME), points, { heightScale: 0.5, heightOffset: -1 })
  const { rows, counts } = await read(folder)
  assert.deepEqual([rows, counts], [[`A ${START} 4.5`], [4, 4, []]])
})

/** The heights that a pass over Alpha gives. */
async function heightsOf(folder: string, shape: Shape, height: number, flag?: ReturnType<typeof flags>) {
  writeL3(join(folder, L3_NAME), meridian(10, CROSSING, -10, 11, true, height), shape, flag && [flag])
  const { rows, counts } = await read(folder)
  return [rows.map((row) => Number(row.split(' ')[2])), ...counts.slice(1)]
}

test('Heights are read in their unit and by their flags; one without a unit is a doubt, and a file of two missions is refused', async (t) => {
  const folder = await folderOf(t, ALPHA)
  assert.deepEqual(await heightsOf(folder, { heightUnits: 'cm' }, 20), [[0.2], 0, []])
  assert.deepEqual(await heightsOf(folder, { heightUnits: 'feet' }, 6.6), [[2.012], 0, []])
  const doubt = `grave: heights without a unit are taken for metres × 1: ${L3_NAME}: VAVH`
  assert.deepEqual(await heightsOf(folder, { heightUnits: '' }, 20), [[20], 0, [doubt]])
  const bad = Array.from({ length: 21 }, () => 1)
  const words = { flag_values: Int8Array.of(0, 1), flag_meanings: 'good bad' }
  for (const flag of [flags('quality_flag', bad, words), flags('validation_flag', bad)])
    assert.deepEqual((await heightsOf(folder, {}, 2, flag)).slice(0, 2), [[], 21])
  await assert.rejects(heightsOf(folder, { heightUnits: 'fathom' }, 2), /heights are in an unknown unit/)
  await assert.rejects(heightsOf(folder, { platform: 'Jason-3' }, 2), /another mission in its name/)
})

const BROKEN: [name: string, shape: Shape, reason: RegExp][] = [
  ['b1.nc', { without: 'VAVH' }, /lacks one of time, latitude, longitude, VAVH/],
  ['b2.nc', { without: 'time' }, /lacks one of/],
  ['b3.nc', { shortened: 'latitude' }, /differ in length/],
  ['b4.nc', { units: 'days since 1950-01-01' }, /none of its times is between 1970/],
  ['b5.nc', { units: 'seconds since 2000-13-01 00:00:00' }, /unknown unit/],
  ['b6.nc', { platform: 'HY-2B' }, /a mission without numbered passes/],
  ['b7.nc', { platform: null }, /a mission without numbered passes/],
]

test('A file that is broken in any way is named and left out, and the others are read.', async (t) => {
  const folder = await folderOf(t, { ...ALPHA, 'c1.nc': '', 'c2.nc': 'CDF\u0001 is the older format' })
  writeL3(join(folder, 'good.nc'), meridian(10, CROSSING, -100, 100))
  const { passes, rows } = await read(folder)
  assert.equal(passes.length, 1)
  const elsewhere = meridian(10, CROSSING + 4 * HALF_ORBIT, -100, 100)
  for (const [name, shape] of BROKEN) writeL3(join(folder, name), elsewhere, shape)
  const others = ['latitude', 'longitude', 'VAVH'].map((name) => ({ name, data: Int32Array.of(1) }))
  const sentinel = { platform: 'Sentinel-3A' }
  writeNetcdf(join(folder, 'b8.nc'), sentinel, [{ name: 'time', data: BigInt64Array.of(1n) }, ...others])
  const square = new File(join(folder, 'b9.nc'), 'w')
  square.create_attribute('platform', sentinel.platform)
  square.create_dataset({ name: 'time', data: Float64Array.of(1, 2, 3, 4), shape: [2, 2] })
  for (const { name } of others) square.create_group(name)
  square.close()
  for (const [name, share] of [
    ['c3.nc', 0.3],
    ['c4.nc', 0.9],
    ['c5.nc', 0.999],
  ] as const) {
    writeL3(join(folder, name), elsewhere)
    truncateSync(join(folder, name), Math.floor(readFileSync(join(folder, name)).length * share))
  }
  const result = await read(folder)
  assert.deepEqual([result.passes, result.rows, result.counts[0]], [passes, rows, 200])
  assert.deepEqual(result.ended, [LIST, 'good.nc'])
  const left = result.examples.map((example) => basename(example).slice(0, 5))
  const broken = BROKEN.map(([name]) => name)
  assert.deepEqual(left, [...broken, 'b8.nc', 'b9.nc', 'c1.nc', 'c2.nc', 'c3.nc', 'c4.nc', 'c5.nc'])
  for (const [i, [, , reason]] of BROKEN.entries()) assert.match(result.examples[i], reason)
  assert.match(result.examples[BROKEN.length], /time holds no numbers/)
})

test('Boxes of CFOSAT are numbered by the cycle in their file, and the nearest one within 35 km is a reading.', async (t) => {
  const begin = seconds('2022-02-22T10:10:04Z')
  const times = Array.from({ length: 12 }, (_, i) => begin + 130 * 2850.54 + 200 + i * 11)
  const fill = 9.969209968386869e36
  const filled = (name: string, value: (i: number) => number, units = '') => ({
    name,
    data: Float32Array.from(times, (_, i) => value(i)),
    attributes: { _FillValue: Float32Array.of(fill), units },
  })
  const variables = [
    {
      name: 'time_nadir_l2',
      data: Float64Array.from(times, (time) => time - EPOCH_2000),
      attributes: { units: 'seconds since 2000-01-01 00:00:00.0' },
    },
    filled('lat_nadir_l2', (i) => (i === 0 ? fill : 30 + i * 0.625)),
    filled('lon_nadir_l2', () => -40),
    filled('nadir_swh_box', (i) => 2 + i / 10, 'm'),
    flags('flag_valid_swh_box', [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, -127]),
  ]
  const of = async (cycle: string | null) => {
    const folder = await folderOf(t, {})
    const about = { platform: 'CFOSAT', ...(cycle !== null && { cycle }) }
    writeNetcdf(join(folder, 'CFO_OP05_SWI_L2PBOX_F_20220226T173014.nc'), about, variables)
    return read(folder)
  }
  const { passes, counts, rows } = await of('094_2022-02-22T10:10:04Z_2022-03-07T10:08:36Z')
  // The fourth box lies at 31.875 N, the eleventh at 36.25 N; no other is as near to a point of the grid.
  const [fourth, eleventh] = [times[3], times[10]].map(Math.round)
  assert.deepEqual(rows, [`V+3200-04000 ${fourth} 2.3`, `V+3600-04000 ${eleventh} 3`])
  assert.deepEqual(fieldsOf(passes, 'mission', 'cycle', 'number', 'bounds'), [
    ['cfosat', 94, 131, { south: 30.625, west: -40, north: 36.25, east: -40 }],
  ])
  const observed = passes[0].observations.map(({ buoy, time }) => [buoy, time])
  assert.deepEqual(
    [observed, counts],
    [
      [
        [0, fourth],
        [1, eleventh],
      ],
      [9, 3, []],
    ],
  )
  for (const cycle of [null, '94', '094_2022-03-07T10:08:36Z_2022-02-22T10:10:04Z', 'x'.repeat(100)]) {
    const other = await of(cycle)
    const doubt = 'points without the number of their pass are left out × 9: CFOSAT'
    assert.deepEqual([other.passes, other.counts[2]], [[], [doubt]])
  }
})

test('Passes that run against the direction of their number are reported.', async (t) => {
  const folder = await folderOf(t, {})
  writeL3(join(folder, L3_NAME), [
    ...meridian(10, CROSSING, -100, 100, false),
    ...meridian(170, CROSSING + HALF_ORBIT, -100, 100, false),
  ])
  const { passes } = await gives(t, openAltimetry, folder, {
    doubts: [
      // Ten degrees east and 170 degrees east, no point of the grid is near.
      'passes give no virtual buoy a reading × 2: Sentinel-3A',
      /^passes run against the direction of their number × 1: Sentinel-3A/,
    ],
  })
  assert.equal(passes.length, 2)
})
