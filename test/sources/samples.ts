/** Good files of every kind of source, for tests that damage them: documented examples and other forms. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceOptions } from '../../src/sources/source.ts'
import { altimetrySample } from './netcdf_file.ts'
import { exampleOf } from './examples.ts'
import { FIXTURES } from './recorder.ts'

type Files = { readonly [path: string]: string | Uint8Array }

/** A kind's good files by their names, in which `#` is a number of five digits. */
interface Sample {
  options?: SourceOptions | undefined
  /** Files that the damaged ones need next to them. */
  sound: Files
  damaged: Files
}

/** The files of a kind's example by their names. */
const filesOf = (kind: string): { [file: string]: string } =>
  Object.fromEntries(exampleOf(kind).files.map(({ file, text }) => [file, text]))

const json = (value: unknown): string => JSON.stringify(value)
const netcdf = (name: string): Uint8Array => readFileSync(join(FIXTURES, 'hostile', 'netcdf', `${name}.nc`))

/** Stations whose files may be named by a number. */
const IDS = Array.from({ length: 1000 }, (_, i) => String(10_000 + i))

/** A list of stations with each of `ids` in the place of the one that it has. */
const listed = (list: string, id: string, ids = IDS): string =>
  list
    .split(/(?<=\n)/)
    .flatMap((line) => (line.includes(id) ? ids.map((other) => line.replace(id, other)) : [line]))
    .join('')

const NDBC = filesOf('ndbc')
const NDBC_ROWS = NDBC['realtime2/41001.txt']
const CANDHIS = filesOf('candhis')
const CANDHIS_ANSWER = {
  success: true,
  entete: ['Date', 'H1/3 (m)', 'Hmax (m)', 'Th1/3 (s)', 'Dir. au pic (°)'],
  results: [
    ['2024-01-01 00:00:00', '1.5', '2.5', '8.1', '290'],
    ['2024-01-01 00:30:00', '999.9999', '999.9999', '8.1', ''],
  ],
}
const [METEOFRANCE] = Object.values(filesOf('meteofrance'))
const [ERDDAP] = Object.values(filesOf('erddap'))
const ERDDAP_INFO = `Row Type,Variable Name,Attribute Name,Data Type,Value
attribute,NC_GLOBAL,institution,String,Somebody
attribute,waveHs,standard_name,String,sea_surface_wave_significant_height
attribute,waveHs,_FillValue,float,-999.0
`
const TABLE = {
  table: {
    columnNames: ['time', 'latitude', 'longitude', 'station_id', 'waveHs', 'waveTp'],
    columnUnits: ['UTC', 'degrees_north', 'degrees_east', null, 'm', 's'],
    rows: [
      ['2024-01-01T00:00:00Z', 34.45, -120.78, '071p1', 1.5, 8.5],
      ['2024-01-01T01:00:00Z', 34.45, -120.78, '071p1', 1.6, null],
    ],
  },
}
const [JSON_ROWS] = Object.values(filesOf('json'))
const CSV = filesOf('csv')
const [MARINE] = Object.values(filesOf('forecast'))
const COVERAGE = {
  type: 'Coverage',
  domain: {
    axes: {
      x: { values: [-2] },
      y: { start: 43, stop: 44, num: 2 },
      t: { values: ['2026-03-27T00:00:00Z'] },
    },
  },
  parameters: {
    wave_height: { unit: { symbol: 'm' }, observedProperty: { id: 'sea_surface_wave_significant_height' } },
  },
  ranges: {
    wave_height: { type: 'NdArray', axisNames: ['t', 'y', 'x'], shape: [1, 2, 1], values: [1.5, 2] },
  },
}
const [HARBOUR] = Object.values(filesOf('tides'))
const ALTIMETRY = altimetrySample()
const NETCDF = ['external_storage', 'external_link', 'virtual_dataset', 'link_in_group', 'endless_groups']

export const SAMPLES: { readonly [kind: string]: Sample } = {
  ndbc: {
    sound: {
      'activestations_0.xml': listed(NDBC['activestations.xml'], '41001'),
      'realtime2/10000.txt': NDBC_ROWS,
    },
    damaged: {
      'realtime2/#.txt': NDBC_ROWS,
      'stdmet/#h2024.txt': NDBC_ROWS.replace(' PTDY', ''),
      'activestations_#.xml': listed(NDBC['activestations.xml'], '41001', IDS.slice(0, 3)),
      'station_table_#.txt':
        '# STATION_ID | OWNER | TTYPE | HULL | NAME | PAYLOAD | LOCATION | TZ\n10001|N|B||A|P|30.5 N 72.1 W (30&#176;)|E||\n',
      'latest_obs/latest_obs_#.txt': NDBC_ROWS.replace('#YY  MM', '#STN LAT LON YYYY MM').replace(
        '2024 03 01 00 50',
        '10001 34.5 -72.5 2024 03 01 00 50',
      ),
    },
  },
  candhis: {
    sound: {
      'candhis_stations.csv': listed(CANDHIS['candhis_stations.csv'], '06403'),
      'Candhis_10000_2024_arch.csv': 'DateHeure;H13D;TH13D\n2024-01-01 00:00:00;0.68;10.8\n',
    },
    damaged: {
      'Candhis_#_2024_arch.csv':
        'DateHeure;H13D;HMAXD;TH13D;TP;THETAP\r\n2024-01-01 00:00:00;0.68;1.18;10.8;12.19;315.63\r\n2024-01-01 00:30:00;2;3.43;12.2;999.999;360\r\n',
      'Candhis_#_2024_reel.csv': CANDHIS['Candhis_06403_2024_reel.csv'],
      'getCampTR_#.json': json(CANDHIS_ANSWER),
      'candhis_stations_#.csv': 'ID;name;lat;lon\n10001;"A; B";43.4;-1.7\n',
    },
  },
  cmems: {
    sound: { 'plain.nc': netcdf('plain') },
    damaged: Object.fromEntries(['plain', 'plain', ...NETCDF].map((name, i) => [`${i}_#.nc`, netcdf(name)])),
  },
  altimetry: {
    sound: { 'global_vavh_l3_rt_s3a_20220101T000000_.nc': ALTIMETRY },
    damaged: {
      'global_vavh_l3_rt_s3a_20220101T000000_#.nc': ALTIMETRY,
      'global_vavh_l3_rt_s3b_20220101T000000_#.nc': ALTIMETRY,
    },
  },
  erddap: {
    options: exampleOf('erddap').entry.options,
    sound: { 'good.csv': ERDDAP },
    damaged: { 't_#.csv': ERDDAP, 't_#.json': json(TABLE), 't_#_info.csv': ERDDAP_INFO, 'u_#.csvp': ERDDAP },
  },
  meteofrance: {
    sound: { 'marine.20240101.csv': METEOFRANCE },
    damaged: { 'marine.100#.csv': METEOFRANCE, 'bouees.200#.csv': METEOFRANCE },
  },
  table: {
    options: exampleOf('table').entry.options,
    sound: filesOf('table'),
    damaged: { '#.csv': Object.values(filesOf('table'))[0], '#.txt': ERDDAP },
  },
  json: {
    options: exampleOf('json').entry.options,
    sound: { 'buoy_good.json': JSON_ROWS },
    damaged: { 'buoy_#.json': JSON_ROWS },
  },
  csv: {
    sound: CSV,
    damaged: {
      'readings/#.csv': CSV['readings/2024-03.csv'],
      'forecast/#.csv':
        'lat,lng,run,time,wave_height\n43.5,-1.9,2026-03-27T00:00:00Z,2026-03-27T01:00:00Z,1.5\n',
    },
  },
  forecast: {
    sound: { 'good.json': MARINE, 'points.csv': 'file,lat,lng\na.json,43,-2\n' },
    damaged: {
      'a_#.json': MARINE,
      'b_#.json': json(COVERAGE),
      'c_#.json': json(TABLE),
      'd_#.json': `[${MARINE},${MARINE}]`,
    },
  },
  tides: { sound: { 'good.json': HARBOUR }, damaged: { 't_#.json': HARBOUR } },
}
