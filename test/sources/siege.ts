/**
 * Damaged and hostile files for every kind of source, read as an operator's builds read them: beside a source
 * in order, which has to be published each time. `node --import tsx test/sources/siege.main.ts` is the long
 * form.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import type { buildSnapshot } from '../../src/builder/run-build.ts'
import type { readManifest } from '../../src/snapshot/read-snapshot.ts'
import type { BuildReport } from '../../src/builder/build-report.ts'
import type { openKind, openSource } from '../../src/sources/kinds.ts'
import type { Source, SourceOptions } from '../../src/sources/source.ts'
import { damaged } from './damage.ts'
import { FIXTURES } from './recorder.ts'

interface Product {
  buildSnapshot: typeof buildSnapshot
  BuildReport: typeof BuildReport
  openKind: typeof openKind
  openSource: typeof openSource
  readManifest: typeof readManifest
}

/** What the sources compile to (`npm run build`), whose readers start in a third of the time. */
async function compiledProduct(): Promise<Product> {
  const modules = [
    'builder/run-build',
    'snapshot/read-snapshot',
    'builder/build-report',
    'sources/kinds',
  ].map((path) => import(new URL(`../../dist/${path}.js`, import.meta.url).href) as Promise<Partial<Product>>)
  return Object.assign({}, ...(await Promise.all(modules))) as Product
}

export interface Outcome {
  kind: string
  files: number
  builds: number
  /** Sources, of one or many files, that were refused, and why: numbers and paths are left out. */
  refused: Map<string, number>
  /** Longest time of one source, ms. */
  slowest: number
  /** Most memory of one reader, 2^20 bytes. */
  largest: number
}

type Files = { readonly [path: string]: string | Uint8Array }

/** A kind's good files by their names, in which `#` is a number of five digits. */
interface Sample {
  options?: SourceOptions
  /** They lie beside the damaged ones, undamaged. */
  beside: Files
  damaged: Files
}

const READINGS = `source,identifier,time,significant_height,period,direction
S,b,2024-03-01T00:30:00Z,0.85,5,139.5
S,b,2024-03-01T01:00:00+01:00,1.42,5.1,
S,"b",1709251200,3.21,12.4,360
`
const NDBC_ROWS = `#YY  MM DD hh mm WDIR WSPD GST  WVHT   DPD   APD MWD   PRES  ATMP  WTMP  DEWP  VIS PTDY  TIDE
#yr  mo dy hr mn degT m/s  m/s     m   sec   sec degT   hPa  degC  degC  degC  nmi  hPa    ft
2024 03 01 00 50 220  5.0  7.0   1.5     8   5.6 210 1015.0  20.1  21.3  15.0   MM -0.1    MM
2024 03 01 00 40 220  5.0  7.0    MM    MM    MM  MM 1015.0  20.1  21.3  15.0   MM   MM    MM
`
const NDBC_LIST = (ids: readonly number[]): string =>
  `<?xml version="1.0"?>\n<stations created="2024-06-13T03:25:02UTC" count="2">\n${ids
    .map((id) => `  <station id="${id}" lat="34.7" lon="-72.4" name="STATION ${id}" type="buoy"/>\n`)
    .join('')}</stations>\n`
const ERDDAP = `station_id,latitude,longitude,time,waveHs,waveTp,waveDp
,degrees_north,degrees_east,UTC,meter,second,degrees_true
071p1,34.4517,-120.7797,2024-01-01T00:28:20Z,2.3500001,13.333333,301.65625
071p1,34.4517,-120.7797,2024-01-01T00:58:20Z,1.99,NaN,360
`
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
const MARINE = {
  latitude: 43.5,
  longitude: -1.9,
  utc_offset_seconds: 3600,
  hourly_units: { time: 'iso8601', wave_height: 'm', wave_period: 's' },
  hourly: {
    time: ['2026-03-27T00:00', '2026-03-27T01:00'],
    wave_height: [1.5, 1.6],
    wave_period: [8.5, null],
  },
}
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
const HARBOUR = {
  name: 'Port',
  latitude: 47.5,
  longitude: -3,
  type: 'reference',
  source: { name: 'Agency', url: 'https://tides.example/1' },
  license: { type: 'cc-by-4.0', commercial_use: true },
  datums: { MSL: 3, LAT: 0 },
  chart_datum: 'LAT',
  harmonic_constituents: [
    { name: 'M2', amplitude: 1.5, phase: 120 },
    { name: 'S2', amplitude: 0.5, phase: 20 },
  ],
}
const JSON_MAP: SourceOptions = {
  source: 'J',
  network: 'national',
  tables: [
    {
      rows: '/rows',
      station: '/id',
      lat: '/lat',
      lng: '/lng',
      time: { at: '/time', unit: 'UTC' },
      values: { significantHeight: { at: '/hs', unit: 'm' }, period: { at: '/t', unit: 's' } },
    },
  ],
}
const JSON_ROWS = {
  rows: [
    { id: 'a', lat: 45, lng: -5, time: '2024-01-01T00:00:00Z', hs: 1.5, t: 8 },
    { id: 'a', lat: 45, lng: -5, time: '2024-01-01T01:00:00Z', hs: '2.5', t: null },
  ],
}
const CANDHIS_ANSWER = {
  success: true,
  entete: ['Date', 'H1/3 (m)', 'Hmax (m)', 'Th1/3 (s)', 'Dir. au pic (°)'],
  results: [
    ['2024-01-01 00:00:00', '1.5', '2.5', '8.1', '290'],
    ['2024-01-01 00:30:00', '999.9999', '999.9999', '8.1', ''],
  ],
}
const METEOFRANCE = `numer_sta;date;lat;lon;dd;ff;tmer;HwaHwa;PwaPwa;dwadwa;rafper
6100002;20241209040000;42.102000;4.703000;320;12.3;288.35;2.3;6;360;17.5
6200001;20241209040000;45.2;-5;mq;mq;mq;mq;mq;mq;mq
`

/** Files of altimeters have to be made: `altimetry` is one. */
export function samplesOf(altimetry: Uint8Array): { readonly [kind: string]: Sample } {
  const text = (value: unknown): string => JSON.stringify(value)
  const netcdf = (name: string): Uint8Array => readFileSync(join(FIXTURES, 'hostile', 'netcdf', `${name}.nc`))
  const ids = Array.from({ length: 1000 }, (_, i) => 10_000 + i)
  return {
    ndbc: {
      beside: { 'activestations_0.xml': NDBC_LIST(ids), 'realtime2/10000.txt': NDBC_ROWS },
      damaged: {
        'realtime2/#.txt': NDBC_ROWS,
        'stdmet/#h2024.txt': NDBC_ROWS.replace(' PTDY', ''),
        'activestations_#.xml': NDBC_LIST(ids.slice(0, 3)),
        'station_table_#.txt':
          '# STATION_ID | OWNER | TTYPE | HULL | NAME | PAYLOAD | LOCATION | TZ\n10001|N|B||A|P|30.5 N 72.1 W (30&#176;)|E||\n',
        'latest_obs/latest_obs_#.txt': NDBC_ROWS.replace('#YY  MM', '#STN LAT LON YYYY MM').replace(
          '2024 03 01 00 50',
          '10001 34.5 -72.5 2024 03 01 00 50',
        ),
      },
    },
    candhis: {
      beside: {
        'candhis_stations.csv': `ID,name,lat,lon\n${ids.map((id) => `${id},Campaign,43.4,-1.7\n`).join('')}`,
        'Candhis_10000_2024_arch.csv': 'DateHeure;H13D;TH13D\n2024-01-01 00:00:00;0.68;10.8\n',
      },
      damaged: {
        'Candhis_#_2024_arch.csv':
          'DateHeure;H13D;HMAXD;TH13D;TP;THETAP\r\n2024-01-01 00:00:00;0.68;1.18;10.8;12.19;315.63\r\n2024-01-01 00:30:00;2;3.43;12.2;999.999;360\r\n',
        'Candhis_#_2024_reel.csv':
          'Date;H1/3;Hmax;Th1/3;DirPic;TempMer\n2024-01-01 01:00:00;0.4;0.6;5.2;284;12.4\n',
        'getCampTR_#.json': text(CANDHIS_ANSWER),
        'candhis_stations_#.csv': 'ID;name;lat;lon\n10001;"A; B";43.4;-1.7\n',
      },
    },
    cmems: {
      beside: { 'plain.nc': netcdf('plain') },
      damaged: Object.fromEntries(
        [
          'plain',
          'plain',
          'external_storage',
          'external_link',
          'virtual_dataset',
          'link_in_group',
          'endless_groups',
        ].map((name, i) => [`${i}_#.nc`, netcdf(name)]),
      ),
    },
    altimetry: {
      beside: { 'global_vavh_l3_rt_s3a_20220101T000000_.nc': altimetry },
      damaged: {
        'global_vavh_l3_rt_s3a_20220101T000000_#.nc': altimetry,
        'global_vavh_l3_rt_s3b_20220101T000000_#.nc': altimetry,
      },
    },
    erddap: {
      beside: { 'good.csv': ERDDAP },
      damaged: {
        't_#.csv': ERDDAP,
        't_#.json': text(TABLE),
        't_#_info.csv': ERDDAP_INFO,
        'u_#.csvp': ERDDAP,
      },
    },
    meteofrance: {
      beside: { 'marine.20240101.csv': METEOFRANCE },
      damaged: { 'marine.100#.csv': METEOFRANCE, 'bouees.200#.csv': METEOFRANCE },
    },
    json: {
      options: JSON_MAP,
      beside: { 'good.json': text(JSON_ROWS) },
      damaged: { 'a_#.json': text(JSON_ROWS) },
    },
    csv: {
      beside: {
        'sources.csv': 'name,network\nS,national\n',
        'buoys.csv': 'source,identifier,name,lat,lng\nS,b,Buoy,45,-5\n',
        'readings/good.csv': READINGS,
      },
      damaged: {
        'readings/#.csv': READINGS,
        'forecast/#.csv':
          'lat,lng,run,time,wave_height\n43.5,-1.9,2026-03-27T00:00:00Z,2026-03-27T01:00:00Z,1.5\n',
      },
    },
    forecast: {
      beside: { 'good.json': text(MARINE), 'points.csv': 'file,lat,lng\na.json,43,-2\n' },
      damaged: {
        'a_#.json': text(MARINE),
        'b_#.json': text(COVERAGE),
        'c_#.json': text(TABLE),
        'd_#.json': text([MARINE, MARINE]),
      },
    },
    tides: { beside: { 'good.json': text(HARBOUR) }, damaged: { 't_#.json': text(HARBOUR) } },
  }
}

const repeated = (text: string, times: number): Buffer => Buffer.from(text.repeat(times))

/** A file of a kind that nobody would send but to do harm, beginning as `good` does. */
function hostile(good: Uint8Array): fc.Arbitrary<Uint8Array> {
  const times = fc.integer({ min: 1, max: 200_000 })
  const whole = Buffer.from(good)
  return fc.oneof(
    fc.uint8Array({ maxLength: 20_000, size: 'max' }),
    fc
      .constantFrom('', '\ufeff', '\0', '\n'.repeat(500_000), '9'.repeat(1_000_000))
      .map((text) => Buffer.from(text)),
    fc
      .tuple(
        fc.constantFrom(
          '[',
          '{"a":',
          '<a>',
          '[{},',
          '{},',
          '"',
          ',',
          ';',
          '|',
          ' ',
          '<a b="',
          '&x;',
          '\n,',
          '-',
        ),
        times,
      )
      .map(([text, n]) => repeated(text, n)),
    fc
      .tuple(fc.constantFrom('[', '{"a":', '<a>', ',', ';', '"'), times, fc.nat({ max: good.length }))
      .map(([text, n, at]) => Buffer.concat([whole.subarray(0, at), repeated(text, n), whole.subarray(at)])),
    fc.integer({ min: 1, max: 2000 }).map((n) => Buffer.concat(Array.from({ length: n }, () => whole))),
    fc.nat({ max: 60 }).map((bytes) => gzipSync(whole).subarray(0, bytes)),
    fc
      .constantFrom('\0', '0', '[', 'a,b\n')
      .map((text) => gzipSync(repeated(text, 12_000_000 / text.length), { level: 1 })),
    fc.constant(Buffer.from(whole.toString('latin1'), 'utf16le')),
  )
}

/** Files that are damaged, one in eight of them on purpose. */
const anyFile = (good: Uint8Array): fc.Arbitrary<Uint8Array> =>
  fc.oneof({ weight: 7, arbitrary: damaged(good) }, { weight: 1, arbitrary: hostile(good) })

export interface SiegeOptions {
  kinds: readonly string[]
  /** Files of each kind. */
  files: number
  /** Files of one source. */
  batch: number
  seed: number
  folder: string
  samples: { readonly [kind: string]: Sample }
  log?: (line: string) => void
}

/** Reads damaged files of every kind. @throws AssertionError when the source in order is not published */
export async function besiege(options: SiegeOptions): Promise<Outcome[]> {
  const product = await compiledProduct()
  const outcomes: Outcome[] = []
  for (const kind of options.kinds) {
    const outcome: Outcome = { kind, files: 0, builds: 0, refused: new Map(), slowest: 0, largest: 0 }
    for (let at = 0; at < options.files; at += options.batch) {
      const count = Math.min(options.batch, options.files - at)
      const files = damagedFiles(options.samples[kind], count, options.seed + at)
      outcome.files += count
      // One file may hide the others of its source: what was refused is read again in parts, down to single
      // files.
      for (let lists = [files]; lists.length > 0;) {
        const refused = await build(product, kind, lists, options, outcome)
        lists = lists
          .filter((list, i) => refused[i] !== null && list.length > 1)
          .flatMap((list) => parts(list, 10))
      }
    }
    outcomes.push(outcome)
    options.log?.(lineOf(outcome))
  }
  return outcomes
}

function lineOf({ kind, files, builds, refused, slowest, largest }: Outcome): string {
  const reasons = [...refused].sort(([, a], [, b]) => b - a).map(([reason, n]) => `${n} × ${reason}`)
  const count = [...refused.values()].reduce((sum, n) => sum + n, 0)
  return `${kind}: ${files} files, ${builds} builds, ${count} sources refused, slowest ${Math.round(slowest)} ms, largest ${Math.round(largest)} MiB${reasons.map((reason) => `\n    ${reason}`).join('')}`
}

function parts<T>(list: readonly T[], count: number): T[][] {
  const length = Math.ceil(list.length / count)
  return Array.from({ length: Math.ceil(list.length / length) }, (_, i) =>
    list.slice(i * length, (i + 1) * length),
  )
}

type DamagedFile = readonly [path: string, bytes: Uint8Array]

function damagedFiles({ damaged: good }: Sample, count: number, seed: number): DamagedFile[] {
  const templates = Object.entries(good)
  return Array.from({ length: count }, (_, i): DamagedFile => {
    const [template, content] = templates[i % templates.length]
    const [bytes] = fc.sample(anyFile(Buffer.from(content)), { numRuns: 1, seed: seed + i })
    return [template.replace('#', String(10_000 + i)), bytes]
  })
}

/**
 * Builds once from a source for each list of files and one in order; says of each why it was refused, or
 * null.
 */
async function build(
  { buildSnapshot, BuildReport, openKind, openSource, readManifest }: Product,
  kind: string,
  lists: readonly DamagedFile[][],
  { folder, samples }: SiegeOptions,
  outcome: Outcome,
): Promise<(string | null)[]> {
  const sample = samples[kind]
  rmSync(folder, { recursive: true, force: true })
  const sources = lists.map((list, i): Source => {
    const path = join(folder, String(i))
    for (const [name, content] of [...Object.entries(sample.beside), ...list]) {
      mkdirSync(dirname(join(path, name)), { recursive: true })
      writeFileSync(join(path, name), content)
    }
    const source = openSource(kind, path, sample.options, { seconds: 60, megabytes: 1024 })
    return { ...source, ...terms(`hostile ${i}`), read: (...of) => timed(() => source.read(...of), outcome) }
  })
  const out = join(folder, 'out')
  const report = new BuildReport({ maxBadShare: 1, write: () => {}, terminal: false, clock: Date.now })
  await buildSnapshot({
    sources: [...sources, { ...openKind('csv', join(FIXTURES, 'small')), ...terms('in order') }],
    out,
    asOf: null,
    now: 1_800_000_000,
    report,
  })
  outcome.builds++
  const manifest = await readManifest(out)
  assert.ok((manifest?.parts.find((part) => part.kind === 'catalog')?.rows ?? 0) >= 10)
  const document = report.document()
  assert.equal(document.sources.find(({ name }) => name === 'in order')?.refused, null)
  const refused = lists.map(
    (_, i) => document.sources.find(({ name }) => name === `hostile ${i}`)?.refused ?? null,
  )
  for (const reason of refused) {
    if (reason === null) continue
    const known = reason.replaceAll(/\/\S*/g, '…').replaceAll(/\d+/g, 'N').slice(0, 120)
    outcome.refused.set(known, (outcome.refused.get(known) ?? 0) + 1)
  }
  return refused
}

const terms = (name: string): Pick<Source, 'terms'> => ({ terms: { name, info: {}, accepts: () => true } })

/** Notes how long a source takes and, on Linux, how much memory its reader has had at most. */
async function timed(read: () => Promise<void>, outcome: Outcome): Promise<void> {
  const began = performance.now()
  const watch = setInterval(() => {
    outcome.largest = Math.max(outcome.largest, ...readersOf(process.pid).map(peakOf))
  }, 20)
  try {
    await read()
  } finally {
    clearInterval(watch)
    outcome.slowest = Math.max(outcome.slowest, performance.now() - began)
  }
}

/** Readers that the process `parent` runs now. */
export function readersOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [, state, ppid] = / ([A-Z]) (\d+) /.exec(systemFile(pid, 'stat')) ?? []
      return state !== 'Z' && Number(ppid) === parent && /reader\.[jt]s/.test(systemFile(pid, 'cmdline'))
    })
}

/** 2^20 bytes. */
function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(systemFile(pid, 'status'))?.[1] ?? 0) / 1024
}

/** A file of a process, empty when that is gone. */
function systemFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
