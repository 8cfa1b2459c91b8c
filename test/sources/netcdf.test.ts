/**
 * NetCDF files that are a little different from those of the service, by the platforms of Copernicus: read
 * right, or with a doubt, or refused. And those that point out of themselves, of
 * `data/fixtures/hostile/netcdf`.
 */
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { openCmems } from '../../src/sources/cmems.ts'
import {
  type Attributes,
  flags,
  type Mooring,
  timesOf,
  variable,
  type Variable,
  writeNetcdf,
  writePlatform,
} from './netcdf_file.ts'
import { FIXTURES, folderOf, record, recordSource, rowLines } from './recorder.ts'

const HS = 'sea_surface_wave_significant_height'
const heights = variable('VHM0', [1, 2, 3, 4], { units: 'm', standard_name: HS })
const WAVES = [1, 2, 3, 4].map((height) => `0${height - 1} ${height} - - - - - - - -`)

/** What one file gives: its hours as lines without their times, its doubts and its position. */
async function read(t: TestContext, variables: readonly Variable[], mooring?: Mooring, columns = {}) {
  const folder = await folderOf(t, {})
  writePlatform(join(folder, 'a.nc'), variables, mooring)
  const { rows, buoys, doubts, skipped } = await recordSource(openCmems(folder, { columns }))
  return {
    lines: rowLines([...rows.values()].flat()).map((line) => line.slice(11).replace(':00:00Z', '')),
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

test('A mooring is where most of its good fixes are, or at a single one; 0 0 is no fix, and positions are in degrees', async (t) => {
  const cases: [lat: number[], lng: number[], more: Variable[], doubt?: RegExp][] = [
    [[50, 50, 50, -50], [-10, -10, -10, -10], [], /cannot have moved to do not count × 1/],
    [[50, 50, 50, 50], [-10, -10, -10, 10], [], /cannot have moved to do not count × 1/],
    [[50, 50, 50, 0], [-10, -10, -10, 0], [], /0 0 does not count × 1/],
    [[50], [-10], []],
    [[50], [-10], [flags('POSITION_QC', [1, 1, 4, 1])]],
  ]
  for (const [lat, lng, more, doubt] of cases) {
    const { buoys, doubts, lines } = await read(t, [heights, ...more], { lat, lng })
    assert.deepEqual([buoys, lines], [[[50, -10]], WAVES])
    assert.match(doubts.join(), doubt ?? /^$/)
  }
  const times = timesOf(['2024-01-01T00:00Z'], { units: 'days since 1950-01-01' })
  const place = (name: string): Variable => variable(name, [0.5], { units: 'radian' })
  const folder = await folderOf(t, {})
  const all = [times, place('LATITUDE'), place('LONGITUDE'), variable('VHM0', [1], { units: 'm' })]
  writeNetcdf(join(folder, 'a.nc'), { platform_code: 'P1' }, all)
  await assert.rejects(record(openCmems, folder), /LATITUDE is not in degrees/)
})

test('A known name beats a standard name that contradicts it, and the operator beats both', async (t) => {
  const contradicted = (what: string) =>
    `grave: a variable's attributes contradict its known name, which counts × 1: a.nc: ${what}`
  const maximum = { units: 'm', standard_name: 'sea_surface_wave_maximum_height' }
  const wrong = await read(t, [variable('VHM0', [1, 2, 3, 4], maximum)])
  assert.deepEqual(wrong.lines, WAVES)
  assert.deepEqual(wrong.doubts, [contradicted('VHM0 with sea_surface_wave_maximum_height')])

  const air = variable('TEMP', [30, 30, 30, 30], { units: 'degrees_C', standard_name: 'air_temperature' })
  const named = await read(t, [heights, air])
  assert.equal(named.lines[0], '00 1 - - - - 30 - - -')
  assert.deepEqual(named.doubts, [contradicted('TEMP with air_temperature')])
  const told = await read(t, [heights, air], {}, { TEMP: 'none' })
  assert.deepEqual([told.lines, told.doubts], [WAVES, []])

  const waves = (name: string, values: number[]) => variable(name, values, { units: 'm', standard_name: HS })
  const two = [waves('HS_RAW', [9, 9, 9, 9]), waves('HS_QCED', [1, 2, 3, 4])]
  assert.deepEqual((await read(t, two)).doubts, [
    'grave: two variables have one standard name, and the first comes first × 1: a.nc: HS_RAW after HS_QCED',
  ])
  const chosen = await read(t, two, {}, { HS_RAW: 'significantHeight' })
  assert.deepEqual([chosen.lines[3], chosen.doubts], ['03 9 - - - - - - - -', []])
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
    const given = async (name: string, columns: object) => {
      const column = variable(name, [90, 90, 90, 90], { units: 'degree', ...attributes })
      const { lines, doubts } = await read(t, [heights, column], {}, columns)
      return [lines[0].split(' ')[5], doubts.join().slice(0, 60)]
    }
    const turned = 'directions where waves or wind go to are turned by half a ci'
    assert.deepEqual(await given('WAVE_DIR', { WAVE_DIR: 'direction' }), ['270', turned])
    assert.deepEqual(await given('VPED', { VPED: 'direction' }), ['270', turned])
    const contradicted = "grave: a variable's attributes contradict its known name, wh"
    assert.deepEqual(await given('VPED', {}), ['90', contradicted])
  }
  const compass = variable('VMDR', [90, 90, 90, 90], { units: 'degree', reference_datum: 'magnetic north' })
  const { lines, doubts } = await read(t, [heights, compass])
  assert.equal(lines[0], '00 1 - - - 90 - - - -')
  assert.match(doubts.join(), /^grave: directions from magnetic north are taken as from true north × 4/)
})

const numbered = (values: number[], meanings: string): Attributes => ({
  flag_values: Int8Array.from(values),
  flag_meanings: meanings,
})

const named: Variable = {
  ...heights,
  attributes: { ...heights.attributes, ancillary_variables: 'x HS_flag' },
}
const UNKNOWN = /^grave: flags of an unknown convention are read as those of OceanSITES × 1/
const texts = (name: string, data: string[], more: Partial<Variable> = {}): Variable => ({
  name,
  data,
  ...more,
})

/** Flags, and the heights that are good by them. */
const FLAGGED: [what: string, flags: Variable, good: string, doubt?: RegExp][] = [
  ...['VHM0_QC', 'VHM0_quality_control', 'VHM0_qc', 'VHM0_flag'].map((name): [string, Variable, string] => [
    `words of ${name}`,
    flags(name, [0, 0, 1, 0], numbered([0, 1], 'good bad')),
    '124',
  ]),
  [
    'an attribute that names them',
    flags(
      'HS_flag',
      [1, 2, 3, 4],
      numbered([1, 2, 3, 4], 'Good_data Probably_good_data bad_correctable Bad_data'),
    ),
    '12',
  ],
  [
    'masks',
    flags('VHM0_qc', [0, 1, 2, 3], { flag_masks: Int8Array.of(1, 2), flag_meanings: 'interpolated on_land' }),
    '12',
  ],
  ['numbers without words', flags('VHM0_quality_control', [1, 1, 4, 9]), '12', UNKNOWN],
  ['fewer words than numbers', flags('VHM0_qc', [1, 1, 4, 9], numbered([1, 4], 'good')), '12', UNKNOWN],
  [
    'what nobody has checked',
    flags('VHM0_qc', [2, 2, 4, 3], numbered([1, 2, 3, 4], 'good not_evaluated questionable bad')),
    '12',
    /^values that nobody has checked, by their flags, are taken × 2: a.nc: VHM0_qc$/,
  ],
  ['words of text', texts('VHM0_QC', ['good', 'bad', 'Probably_good', 'bad data']), '13'],
  ['numbers as text', texts('VHM0_QC', ['1', '4', '2', '9']), '13'],
  [
    'letters with meanings',
    texts('VHM0_QC', ['G', 'B', 'B', 'X'], { attributes: { flag_values: 'G B', flag_meanings: 'bad good' } }),
    '23',
  ],
  [
    'words of a hundred bytes',
    texts(
      'VHM0_QC',
      ['good', 'bad', 'good', 'bad'].map((word) => word.padEnd(100)),
    ),
    '13',
  ],
  ['two characters a row', texts('VHM0_QC', Array.from('okNOokNO'), { levels: 2 }), '13'],
  ['numbers as text of an unusual name', texts('VHM0_flag', ['1', '4', '1', '1']), '134', UNKNOWN],
]

test('Flags are found by any usual name, and their own words, or the known numbers, say which are good', async (t) => {
  for (const [what, flag, good, doubt = /^$/] of FLAGGED) {
    const { lines, doubts, skipped } = await read(t, [named, flag])
    assert.equal(lines.map((line) => line.slice(3, 4)).join(''), good, what)
    assert.match(doubts.join(), doubt, what)
    const count = 4 - good.length
    assert.deepEqual(skipped, {
      'a value that its quality flag does not call good': count,
      'a row without a value': count,
    })
  }
  for (const [data, why] of [
    [['1', '1', '1'], 'another length than VHM0'],
    [Array<string>(4).fill('a'.repeat(101)), 'too much text'],
  ] as const) {
    assert.match(await refusal(t, [heights, texts('VHM0_QC', [...data])]), new RegExp(`${why}$`))
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
const profile = variable(
  'TEMP',
  [4, 9, 14, 4, 9, 14, 4, 9, 14, 4, 9, 14],
  { units: 'degrees_C', standard_name: 'sea_water_temperature' },
  3,
)

test('Depths are found under any usual name, with their unit and sense, and air pressure is none', async (t) => {
  const water = async (depths: Variable): Promise<string[]> => {
    const { lines, doubts } = await read(t, [heights, profile, depths])
    return [lines[0].split(' ')[6], ...doubts]
  }
  assert.deepEqual(await water(variable('DEPTH', [500, 100, 1])), ['14'])
  assert.deepEqual(await water(variable('DEPH', [-40, -60, -80], { positive: 'up' })), ['-'])
  assert.deepEqual(await water(variable('DEPH', [-1, -60, -80], { positive: 'up' })), ['4'])
  assert.deepEqual(await water(variable('DEPH', [30, 60, 90], { units: 'ft' })), ['4'])
  assert.deepEqual(await water(variable('PRES', [30, 2, 90], { units: 'dbar' })), ['9'])
  const air = { units: 'hPa', standard_name: 'air_pressure' }
  assert.deepEqual(await water(variable('PRES', [1013, 1013, 1013], air)), [
    '4',
    'a depth or pressure of another kind than in the sea is not used × 1: a.nc: PRES in hPa',
  ])
})

test('A table whose rows are not its times is refused, also where both have one length', async (t) => {
  const levels = variable('LEVEL', [0, 5, 10, 15])
  const values = [1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24, 5, 6, 7, 8]
  const square = (scales: string[]): Variable => ({ ...variable('VHM0', values, { units: 'm' }, 4), scales })
  const right = await read(t, [levels, square(['TIME', 'LEVEL'])])
  assert.equal(right.lines[0], WAVES[0])
  assert.equal(await refusal(t, [levels, square(['LEVEL', 'TIME'])]), 'the rows of VHM0 are not its times')
})

test('Missing values are marked by numbers of any type, text or lists, and the valid range counts', async (t) => {
  const outside = { 'a value outside the valid range that its file gives': 2 }
  const cases: [attributes: Attributes, wind: string, skipped?: object][] = [
    [{}, '36 359.64 352.8 43.2'],
    [{ missing_value: Float64Array.of(99.9, 98) }, '36 - - 43.2'],
    [{ missing_value: '99.9, 98' }, '36 - - 43.2'],
    [{ _FillValue: Float32Array.of(98), missing_value: '99.9' }, '36 - - 43.2'],
    [{ valid_max: Float32Array.of(60) }, '36 - - 43.2', outside],
    [{ valid_range: Float64Array.of(0, 60) }, '36 - - 43.2', outside],
  ]
  for (const [attributes, wind, left = {}] of cases) {
    const values = variable('WSPD', [10, 99.9, 98, 12], { units: 'm s-1', ...attributes })
    const { lines, skipped } = await read(t, [heights, values])
    assert.deepEqual([lines.map((line) => line.split(' ')[7]).join(' '), skipped], [wind, left])
  }
})

test('A valid range is one of stored integers, or of values if it is of floats; unsigned bytes have no sign', async (t) => {
  const packed = (data: Int16Array | Int8Array, scale: number, attributes: Attributes): Variable => ({
    name: 'VHM0',
    data,
    attributes: { units: 'm', scale_factor: Float32Array.of(scale), ...attributes },
  })
  const stored = Int16Array.from([1000, 2000, 3000, 4000])
  const fill = { _Unsigned: 'true', _FillValue: Int8Array.of(-1) }
  for (const [packing, expected] of [
    [packed(stored, 0.001, { valid_max: Int16Array.of(2000) }), WAVES.slice(0, 2)],
    [packed(stored, 0.001, { valid_max: Float32Array.of(2) }), WAVES.slice(0, 2)],
    [
      packed(stored, 0.002, { add_offset: Float64Array.of(-4) }),
      ['01 0 - - - - - - - -', '02 2 - - - - - - - -', '03 4 - - - - - - - -'],
    ],
    [packed(Int8Array.from([10, 20, -56, -1]), 0.1, fill), [...WAVES.slice(0, 2), '02 20 - - - - - - - -']],
  ] as const)
    assert.deepEqual((await read(t, [packing])).lines, expected)
})

test('Times of another calendar, zone or scale are refused or doubted, and so are coarse ones', async (t) => {
  const HOURS = WAVES.map((_, hour) => `2024-01-01T0${hour}:00Z`)
  const time = (attributes: Attributes): Mooring => ({ times: timesOf(HOURS, attributes) })
  for (const calendar of ['noleap', '360_day', 'julian', 'tai'])
    assert.match(await refusal(t, [heights], time({ calendar })), /another calendar/)
  for (const attributes of [{ time_zone: 'UTC+10' }, { long_name: 'local time' }])
    assert.equal(await refusal(t, [heights], time(attributes)), 'its times are not in UTC')
  for (const attributes of [{ calendar: 'gregorian' }, { calendar: 'Standard', time_zone: 'UTC' }]) {
    const { lines, doubts } = await read(t, [heights], time(attributes))
    assert.deepEqual([lines, doubts], [WAVES, []])
  }
  const atomic = await read(t, [heights], time({ long_name: 'time (sec. since 2000-01-01) TAI' }))
  assert.match(atomic.doubts.join(), /^grave: times are said to be TAI/)
  const exact = timesOf(HOURS)
  const coarse = { ...exact, data: Float32Array.from(exact.data as Float64Array) }
  assert.deepEqual((await read(t, [heights], { times: coarse })).doubts, [
    'grave: times are 32-bit floats, too coarse for their unit × 1: a.nc: TIME up to 84 s early or late',
  ])
})

const HOSTILE = join(FIXTURES, 'hostile', 'netcdf')

const REFUSED: { readonly [name: string]: RegExp } = {
  external_storage: /leads to another file/,
  own_storage: /leads to another file/,
  external_link: /leads to another file/,
  link_to_no_data: /leads to another file/,
  link_over_link: /leads to another file/,
  virtual_dataset: /is a virtual dataset/,
  virtual_of_itself: /is a virtual dataset/,
}

for (const [name, reason] of Object.entries(REFUSED)) {
  test(`A file with ${name.replaceAll('_', ' ')} is refused, and the others are read`, async (t) => {
    const folder = await folderOf(t, {})
    for (const file of [`${name}.nc`, 'plain.nc']) cpSync(join(HOSTILE, file), join(folder, file))
    // It lies beside it, as files of any other name may; the other place it may be looked for is here.
    const { rows, examples } = await record(openCmems, folder)
    assert.deepEqual([...rows.keys()], ['plain/0'])
    assert.deepEqual(new Set(rows.get('plain/0')?.map((row) => row.significantHeight)), new Set([2.5]))
    assert.equal(rows.get('plain/0')?.length, 24)
    const [warning, ...more] = examples.filter((text) => text.includes(`${name}.nc`))
    assert.deepEqual(more, [])
    assert.match(warning, reason)
    // Nothing that the file names: it could steer who reads the report.
    assert.doesNotMatch(warning, /environ|hostname/)
  })
}

test('A file that could not be closed is not met again in the place of the next one.', async (t) => {
  const folder = await folderOf(t, {})
  cpSync(join(HOSTILE, 'external_storage.nc'), join(folder, '1.nc'))
  cpSync(join(HOSTILE, 'plain.nc'), join(folder, '2.nc'))
  assert.equal((await record(openCmems, folder)).rows.get('plain/0')?.length, 24)
  cpSync(join(HOSTILE, 'plain.nc'), join(folder, '1.nc'))
  writeFileSync(join(folder, '2.nc'), 'no file of this kind')
  assert.equal((await record(openCmems, folder)).rows.get('plain/0')?.length, 24)
})
