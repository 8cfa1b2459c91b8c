/** NetCDF files that are a little different from those of the service: read right, or with a doubt, or refused. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { openAltimetry } from '../../src/sources/altimetry/altimetry.ts'
import { openCmems } from '../../src/sources/cmems.ts'
import { EPOCH_2000, type Shape, writeL3 } from './altimetry_sample.ts'
import { writeNetcdf, type Variable } from './netcdf_file.ts'
import { folderOf, record, recordSource, rowLines } from './recorder.ts'

/** Days since 1950 of four hours from 2024-01-01. */
const DAYS = Float64Array.from([0, 1, 2, 3], (hour) => 27_028 + hour / 24)
const HS = 'sea_surface_wave_significant_height'

type Attributes = NonNullable<Variable['attributes']>

const variable = (name: string, values: ArrayLike<number>, attributes: Attributes = {}): Variable => ({
  name,
  data: Float32Array.from(values),
  attributes,
})
const heights = variable('VHM0', [1, 2, 3, 4], { units: 'm', standard_name: HS })
const time = (attributes: Attributes = {}): Variable => ({
  name: 'TIME',
  data: DAYS,
  attributes: { units: 'days since 1950-01-01T00:00:00Z', ...attributes },
})

interface Mooring {
  code?: string
  lat?: ArrayLike<number>
  lng?: ArrayLike<number>
  times?: Variable
  attributes?: Attributes
}

/** Writes four hours of a mooring; `variables` come after time and position. */
function write(path: string, variables: readonly Variable[], mooring: Mooring = {}): void {
  const { code = '62001', lat = [50, 50, 50, 50], lng = [-10, -10, -10, -10], times = time() } = mooring
  const place = (name: string, values: ArrayLike<number>): Variable => ({
    name,
    data: Float64Array.from(values),
    ...(values.length === 1 && { levels: 0 }),
  })
  writeNetcdf(path, { platform_code: code, ...mooring.attributes }, [
    times,
    place('LATITUDE', lat),
    place('LONGITUDE', lng),
    ...variables,
  ])
}

/** What one file gives: its hours as lines without their times, its doubts and its position. */
async function read(t: TestContext, variables: readonly Variable[], mooring?: Mooring, columns = {}) {
  const folder = await folderOf(t, {})
  write(join(folder, 'a.nc'), variables, mooring)
  const { rows, buoys, doubts, skipped } = await recordSource(openCmems(folder, { columns }))
  const lines = rowLines([...rows.values()].flat()).map((line) => line.slice(11).replace(/:00:00Z/, ''))
  return {
    lines,
    doubts,
    skipped: Object.fromEntries(skipped),
    buoys: buoys.map(({ lat, lng }) => [lat, lng]),
  }
}

/** The reason for which a file is refused. */
async function refusal(t: TestContext, variables: readonly Variable[], mooring?: Mooring): Promise<string> {
  const result = await read(t, variables, mooring).catch((error: Error) => error)
  assert.ok(result instanceof Error)
  return result.message.replace(/^.*a\.nc: /, '')
}

const WAVES = ['00 1 - - - - - - - -', '01 2 - - - - - - - -', '02 3 - - - - - - - -', '03 4 - - - - - - - -']

test('A code that stands for none names no platform, and the next one does', async (t) => {
  for (const code of ['UNKNOWN', 'Unknown', 'N/A', 'n/a', 'None', '1', ' ', '0000', '99999', '---']) {
    assert.equal(
      await refusal(t, [heights], { code }),
      'does not name its platform in platform_code, wmo_platform_code, site_code',
    )
    const folder = await folderOf(t, {})
    write(join(folder, 'a.nc'), [heights], { code, attributes: { site_code: 'CAPE' } })
    assert.deepEqual([...(await record(openCmems, folder)).rows.keys()], ['CAPE/0'])
  }
})

test('Two places under one code are no platform, and other values at the same times are counted', async (t) => {
  const folder = await folderOf(t, {})
  const again = variable('VHM0', [1, 2, 3.5, 4.5], { units: 'm' })
  write(join(folder, 'a.nc'), [heights], { attributes: { date_update: '2024-01-02' } })
  write(join(folder, 'b.nc'), [again], { attributes: { date_update: '2024-01-03' } })
  const same = await record(openCmems, folder)
  assert.deepEqual(same.doubts, [
    'times come again with another wave height, and the later one counts × 2: b.nc: 62001',
  ])
  write(join(folder, 'b.nc'), [again], { lat: [43, 43, 43, 43], lng: [5, 5, 5, 5] })
  const apart = await record(openCmems, folder)
  assert.equal(apart.rows.size, 0)
  assert.match(apart.doubts[0], /^grave: one identifier stands for several stations.* at 50 -10.* at 43 5/)
})

test('A mooring is where most of its good fixes are, and 0 0 is no fix', async (t) => {
  const cases: [lat: number[], lng: number[], doubt: RegExp][] = [
    [[50, 50, 50, -50], [-10, -10, -10, -10], /cannot have moved to do not count × 1/],
    [[50, 50, 50, 50], [-10, -10, -10, 10], /cannot have moved to do not count × 1/],
    [[50, 50, 50, 0], [-10, -10, -10, 0], /0 0 does not count × 1/],
  ]
  for (const [lat, lng, doubt] of cases) {
    const { buoys, doubts } = await read(t, [heights], { lat, lng })
    assert.deepEqual(buoys, [[50, -10]])
    assert.equal(doubts.length, 1)
    assert.match(doubts[0], doubt)
  }
})

test('A position may be a single value, and has to be in degrees', async (t) => {
  const { buoys, lines } = await read(t, [heights], { lat: [50], lng: [-10] })
  assert.deepEqual([buoys, lines], [[[50, -10]], WAVES])
  const checked = await read(t, [heights, flags('POSITION_QC', [1, 1, 4, 1])], { lat: [50], lng: [-10] })
  assert.deepEqual([checked.buoys, checked.lines], [[[50, -10]], WAVES])
  const folder = await folderOf(t, {})
  const place = (name: string): Variable => ({
    name,
    data: Float64Array.of(0.5),
    attributes: { units: 'radian' },
  })
  writeNetcdf(join(folder, 'a.nc'), { platform_code: 'CAPE' }, [
    time(),
    place('LATITUDE'),
    place('LONGITUDE'),
    heights,
  ])
  await assert.rejects(record(openCmems, folder), /LATITUDE is not in degrees/)
})

test('A known name beats a standard name that contradicts it, and the operator beats both', async (t) => {
  const contradicted = (what: string) =>
    `grave: a variable's attributes contradict its known name, which counts × 1: a.nc: ${what}`
  const highest = variable('VHM0', [1, 2, 3, 4], {
    units: 'm',
    standard_name: 'sea_surface_wave_maximum_height',
  })
  const wrong = await read(t, [highest])
  assert.deepEqual(wrong.lines, WAVES)
  assert.deepEqual(wrong.doubts, [contradicted('VHM0 with sea_surface_wave_maximum_height')])

  const air = variable('TEMP', [30, 30, 30, 30], { units: 'degrees_C', standard_name: 'air_temperature' })
  const named = await read(t, [heights, air])
  assert.equal(named.lines[0], '00 1 - - - - 30 - - -')
  assert.deepEqual(named.doubts, [contradicted('TEMP with air_temperature')])
  const told = await read(t, [heights, air], {}, { TEMP: 'none' })
  assert.deepEqual([told.lines, told.doubts], [WAVES, []])

  const raw = variable('HS_RAW', [9, 9, 9, 9], { units: 'm', standard_name: HS })
  const checked = variable('HS_QCED', [1, 2, 3, 4], { units: 'm', standard_name: HS })
  const twice = await read(t, [raw, checked])
  assert.deepEqual(twice.doubts, [
    'grave: two variables have one standard name, and the first comes first × 1: a.nc: HS_RAW after HS_QCED',
  ])
  const chosen = await read(t, [raw, checked], {}, { HS_RAW: 'significantHeight' })
  assert.deepEqual([chosen.lines[3], chosen.doubts], ['03 9 - - - - - - - -', []])
})

test('Directions from magnetic north are a doubt', async (t) => {
  const compass = variable('VMDR', [90, 90, 90, 90], { units: 'degree', reference_datum: 'magnetic north' })
  const { lines, doubts } = await read(t, [heights, compass])
  assert.equal(lines[0], '00 1 - - - 90 - - - -')
  assert.match(doubts.join(), /^grave: directions from magnetic north are taken as from true north × 4/)
})

test('One good value of the preferred variable hides no other row', async (t) => {
  const { lines, doubts } = await read(t, [
    heights,
    variable('VAVH', [1.1, NaN, NaN, NaN], { units: 'm' }),
    variable('VAVT', [9, NaN, NaN, NaN], { units: 's' }),
    variable('VTPK', [10, 11, 12, 13], { units: 's' }),
    variable('VPED', [200, NaN, NaN, NaN], { units: 'degree' }),
    variable('VMDR', [210, 211, 212, 213], { units: 'degree' }),
  ])
  assert.deepEqual(lines, [
    '00 1.1 - 9 10 200 - - - -',
    '01 2 - 11 11 211 - - - -',
    '02 3 - 12 12 212 - - - -',
    '03 4 - 13 13 213 - - - -',
  ])
  assert.deepEqual(doubts, [
    'rows without a good value of the first variable take the next one × 9: a.nc: VHM0 besides VAVH, a.nc: VTPK besides VAVT, a.nc: VMDR besides VPED',
  ])
})

test('Directions where waves go to are turned and counted, unless a known name says where they come from', async (t) => {
  const words: Attributes[] = [
    { standard_name: 'sea_surface_wave_to_direction' },
    { long_name: 'Mean wave direction to which waves travel' },
    { long_name: 'Direction towards which waves travel' },
  ]
  for (const attributes of words) {
    const column = (name: string) => variable(name, [90, 90, 90, 90], { units: 'degree', ...attributes })
    const option = { WAVE_DIR: 'direction' }
    const { lines, doubts } = await read(t, [heights, column('WAVE_DIR')], {}, option)
    assert.equal(lines[0], '00 1 - - - 270 - - - -')
    assert.deepEqual(doubts, [
      'directions where waves or wind go to are turned by half a circle × 4: a.nc: WAVE_DIR',
    ])
    const meant = await read(t, [heights, column('VPED')], {}, { VPED: 'direction' })
    assert.equal(meant.lines[0], '00 1 - - - 270 - - - -')
    const named = await read(t, [heights, column('VPED')])
    assert.equal(named.lines[0], '00 1 - - - 90 - - - -')
    assert.match(
      named.doubts.join(),
      /^grave: a variable's attributes contradict its known name.*: VPED with/,
    )
  }
})

const flags = (name: string, values: number[], attributes: Attributes = {}): Variable => ({
  name,
  data: Int8Array.from(values),
  attributes,
})
const numbered = (values: number[], meanings: string): Attributes => ({
  flag_values: Int8Array.from(values),
  flag_meanings: meanings,
})

test('Flags are found by any usual name, and their own words say which are good', async (t) => {
  const words = numbered([0, 1], 'good bad')
  for (const name of ['VHM0_QC', 'VHM0_quality_control', 'VHM0_qc', 'VHM0_flag']) {
    const { lines, doubts } = await read(t, [heights, flags(name, [0, 0, 1, 0], words)])
    assert.deepEqual([lines, doubts], [WAVES.filter((_, i) => i !== 2), []])
  }
  const named = { ...heights, attributes: { ...heights.attributes, ancillary_variables: 'x HS_flag' } }
  const meanings = numbered([1, 2, 3, 4], 'Good_data Probably_good_data bad_correctable Bad_data')
  const { lines } = await read(t, [named, flags('HS_flag', [1, 2, 3, 4], meanings)])
  assert.deepEqual(lines, WAVES.slice(0, 2))
  const masks: Attributes = { flag_masks: Int8Array.of(1, 2), flag_meanings: 'interpolated on_land' }
  const masked = await read(t, [heights, flags('VHM0_qc', [0, 1, 2, 3], masks)])
  assert.deepEqual(masked.lines, WAVES.slice(0, 2))
})

test('Flags without words are read by the known numbers with a doubt, and unchecked values are counted', async (t) => {
  const numbers = await read(t, [heights, flags('VHM0_quality_control', [1, 1, 4, 9])])
  assert.deepEqual(numbers.lines, WAVES.slice(0, 2))
  assert.deepEqual(numbers.skipped, {
    'a value that its quality flag does not call good': 2,
    'a row without a value': 2,
  })
  assert.deepEqual(numbers.doubts, [
    'grave: flags of an unknown convention are read as those of OceanSITES × 1: a.nc: VHM0_quality_control',
  ])
  const fewer = await read(t, [heights, flags('VHM0_qc', [1, 1, 4, 9], numbered([1, 4], 'good'))])
  assert.deepEqual(fewer.lines, WAVES.slice(0, 2))
  assert.match(fewer.doubts.join(), /unknown convention/)
  const words = numbered([1, 2, 3, 4], 'good not_evaluated questionable bad')
  const unchecked = await read(t, [heights, flags('VHM0_quality_control', [2, 2, 4, 3], words)])
  assert.deepEqual(unchecked.lines, WAVES.slice(0, 2))
  assert.deepEqual(unchecked.doubts, [
    'values that nobody has checked, by their flags, are taken × 2: a.nc: VHM0_quality_control',
  ])
})

test('Flags of text are read by their own words, the words of flag_meanings, or the known numbers', async (t) => {
  const flagged = async (data: string[], more: Partial<Variable> = {}): Promise<unknown> => {
    const flags = { name: 'VHM0_QC', data, ...more }
    const { lines, doubts } = await read(t, [heights, flags])
    return [lines.map((line) => line.slice(3, 4)).join(''), doubts]
  }
  assert.deepEqual(await flagged(['good', 'bad', 'Probably_good', 'bad data']), ['13', []])
  assert.deepEqual(await flagged(['1', '4', '2', '9']), ['13', []])
  const words = { flag_values: 'G B', flag_meanings: 'bad good' }
  assert.deepEqual(await flagged(['G', 'B', 'B', 'X'], { attributes: words }), ['23', []])
  // Two characters a row make one text.
  assert.deepEqual(await flagged(Array.from('okNOokNO'), { levels: 2 }), ['13', []])
  const other = { name: 'VHM0_flag', data: ['1', '4', '1', '1'] }
  const { doubts } = await read(t, [heights, other])
  assert.match(doubts.join(), /^grave: flags of an unknown convention .* × 1: a\.nc: VHM0_flag$/)
  for (const [data, why] of [
    [['1', '1', '1'], 'another length than VHM0'],
    [Array<string>(4).fill('a'.repeat(101)), 'too much text'],
  ] as const) {
    assert.match(await refusal(t, [heights, { name: 'VHM0_QC', data: [...data] }]), new RegExp(`${why}$`))
  }
})

test('Of flags with words no value with a bad one is ever served, in whatever order and numbers', async (t) => {
  const word = fc.constantFrom(
    'good',
    'bad',
    'probably_good_data',
    'suspect',
    'missing_value',
    'pass',
    'fail',
  )
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 0, max: 99 }), { minLength: 4, maxLength: 4 }),
      fc.array(word, { minLength: 4, maxLength: 4 }),
      async (values, words) => {
        const all = [heights, flags('VHM0_QC', values, numbered(values, words.join(' ')))]
        const { lines } = await read(t, all)
        assert.deepEqual(
          lines,
          WAVES.filter((_, i) => /^(?:good|probably_good_data|pass)$/.test(words[i])),
        )
      },
    ),
    { numRuns: 30 },
  )
})

/** Water of 4, 9 and 14 °C at three levels. */
const profile: Variable = {
  name: 'TEMP',
  data: Float32Array.from([4, 9, 14, 4, 9, 14, 4, 9, 14, 4, 9, 14]),
  levels: 3,
  attributes: { units: 'degrees_C', standard_name: 'sea_water_temperature' },
}

test('Depths are found under any usual name, with their unit and sense, and air pressure is none', async (t) => {
  const water = async (...depths: Variable[]) => {
    const { lines, doubts } = await read(t, [heights, profile, ...depths])
    return [lines[0].split(' ')[6], ...doubts]
  }
  assert.deepEqual(await water(variable('DEPTH', [500, 100, 1])), ['14'])
  assert.deepEqual(await water(variable('DEPH', [-40, -60, -80], { positive: 'up' })), ['-'])
  assert.deepEqual(await water(variable('DEPH', [-1, -60, -80], { positive: 'up' })), ['4'])
  assert.deepEqual(await water(variable('DEPH', [30, 60, 90], { units: 'ft' })), ['4'])
  assert.deepEqual(await water(variable('PRES', [30, 2, 90], { units: 'dbar' })), ['9'])
  assert.deepEqual(
    await water(variable('PRES', [1013, 1013, 1013], { units: 'hPa', standard_name: 'air_pressure' })),
    ['4', 'a depth or pressure of another kind than in the sea is not used × 1: a.nc: PRES in hPa'],
  )
})

test('A table whose rows are not its times is refused, also where both have one length', async (t) => {
  const levels: Variable = { name: 'LEVEL', data: Float32Array.of(0, 5, 10, 15) }
  const square = (scales: string[]): Variable => ({
    name: 'VHM0',
    data: Float32Array.from([1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24, 5, 6, 7, 8]),
    levels: 4,
    scales,
    attributes: { units: 'm' },
  })
  const right = await read(t, [levels, square(['TIME', 'LEVEL'])])
  assert.equal(right.lines[0], WAVES[0])
  assert.equal(await refusal(t, [levels, square(['LEVEL', 'TIME'])]), 'the rows of VHM0 are not its times')
})

test('Missing values are marked by numbers of any type, text or lists, and the valid range counts', async (t) => {
  const wind = async (attributes: Attributes) => {
    const values = variable('WSPD', [10, 99.9, 98, 12], { units: 'm s-1', ...attributes })
    const { lines, skipped } = await read(t, [heights, values])
    return [...lines.map((line) => line.split(' ')[7]), skipped]
  }
  assert.deepEqual(await wind({}), ['36', '359.64', '352.8', '43.2', {}])
  assert.deepEqual(await wind({ missing_value: Float64Array.of(99.9, 98) }), ['36', '-', '-', '43.2', {}])
  assert.deepEqual(await wind({ missing_value: '99.9, 98' }), ['36', '-', '-', '43.2', {}])
  assert.deepEqual(await wind({ _FillValue: Float32Array.of(98), missing_value: '99.9' }), [
    '36',
    '-',
    '-',
    '43.2',
    {},
  ])
  const outside = { 'a value outside the valid range that its file gives': 2 }
  assert.deepEqual(await wind({ valid_max: Float32Array.of(60) }), ['36', '-', '-', '43.2', outside])
  assert.deepEqual(await wind({ valid_range: Float64Array.of(0, 60) }), ['36', '-', '-', '43.2', outside])
})

test('A valid range is one of stored integers, or of values if it is of floats; unsigned bytes have no sign', async (t) => {
  const packed = (data: Int16Array | Int8Array, scale: number, attributes: Attributes): Variable => ({
    name: 'VHM0',
    data,
    attributes: { units: 'm', scale_factor: Float32Array.of(scale), ...attributes },
  })
  const stored = Int16Array.from([1000, 2000, 3000, 4000])
  const limits: Attributes[] = [{ valid_max: Int16Array.of(2000) }, { valid_max: Float32Array.of(2) }]
  for (const attributes of limits) {
    const { lines } = await read(t, [packed(stored, 0.001, attributes)])
    assert.deepEqual(lines, WAVES.slice(0, 2))
  }
  const bytes = packed(Int8Array.from([10, 20, -56, -1]), 0.1, {
    _Unsigned: 'true',
    _FillValue: Int8Array.of(-1),
  })
  const { lines } = await read(t, [bytes])
  assert.deepEqual(lines, [...WAVES.slice(0, 2), '02 20 - - - - - - - -'])
})

test('Times of another calendar, zone or scale are refused or doubted, and so are coarse ones', async (t) => {
  for (const calendar of ['noleap', '360_day', 'julian', 'tai'])
    assert.match(await refusal(t, [heights], { times: time({ calendar }) }), /another calendar/)
  for (const attributes of [{ time_zone: 'UTC+10' }, { long_name: 'local time' }])
    assert.equal(await refusal(t, [heights], { times: time(attributes) }), 'its times are not in UTC')
  for (const attributes of [{ calendar: 'gregorian' }, { calendar: 'Standard', time_zone: 'UTC' }]) {
    const { lines, doubts } = await read(t, [heights], { times: time(attributes) })
    assert.deepEqual([lines, doubts], [WAVES, []])
  }
  const atomic = await read(t, [heights], { times: time({ long_name: 'time (sec. since 2000-01-01) TAI' }) })
  assert.match(atomic.doubts.join(), /^grave: times are said to be TAI/)
  const coarse = await read(t, [heights], { times: { ...time(), data: Float32Array.from(DAYS) } })
  assert.deepEqual(coarse.doubts, [
    'grave: times are 32-bit floats, too coarse for their unit × 1: a.nc: TIME up to 84 s early or late',
  ])
})

const L3 = 'global_vavh_l3_rt_s3a_20220201T000000_20220201T030000_20220627T133409.nc'

/** Heights that a pass near 40 N 40 W gives, and the doubts about its file. */
async function altimetry(t: TestContext, shape: Shape, height = 20, extra: Variable[] = []) {
  const folder = await folderOf(t, {})
  const points = Array.from({ length: 21 }, (_, i) => ({
    time: EPOCH_2000 + 697_000_000 + i,
    lat: 40.6 - i * 0.06,
    lng: -40,
    height,
  }))
  writeL3(join(folder, L3), points, shape, extra)
  const { rows, doubts, skipped } = await record(openAltimetry, folder)
  return [[...rows.values()].flat().map((row) => row.significantHeight), doubts, [...skipped.values()]]
}

test('Heights of altimeters are read in their unit, and one without a unit is a doubt', async (t) => {
  assert.deepEqual(await altimetry(t, { heightUnits: 'm' }), [[20], [], []])
  assert.deepEqual(await altimetry(t, { heightUnits: 'cm' }), [[0.2], [], []])
  assert.deepEqual(await altimetry(t, { heightUnits: 'feet' }, 6.6), [[2.012], [], []])
  const [, doubts] = await altimetry(t, { heightUnits: '' })
  assert.deepEqual(doubts, [`grave: heights without a unit are taken for metres × 1: ${L3}: VAVH`])
  await assert.rejects(altimetry(t, { heightUnits: 'fathom' }), /heights are in an unknown unit/)
})

test('Flags of altimeters count, and a file of two missions is refused', async (t) => {
  const bad = Array.from({ length: 21 }, () => 1)
  const flagged = [flags('quality_flag', bad, numbered([0, 1], 'good bad'))]
  assert.deepEqual(await altimetry(t, {}, 2, flagged), [[], [], [21]])
  assert.deepEqual(await altimetry(t, {}, 2, [flags('validation_flag', bad)]), [[], [], [21]])
  await assert.rejects(altimetry(t, { platform: 'Jason-3' }), /another mission in its name/)
})
