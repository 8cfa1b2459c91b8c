/** A source that a test writes down as lists, and builds from it in this process. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { readCatalog, type Catalog } from '../../src/snapshot/catalog.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import type { Part, PartKind } from '../../src/snapshot/snapshot-format.ts'
import { temporaryFolder } from '../live.ts'
import type { MeasureName } from '../../src/sea/columns.ts'
import { RowBatch } from '../../src/sea/row-batch.ts'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import type { Manifest } from '../../src/snapshot/manifest.ts'
import { BuildReport } from '../../src/builder/build-report.ts'
import type { Source } from '../../src/sources/source.ts'
import type { BuoyRecord, SourceInfo } from '../../src/sea/records.ts'
import type { LogLine } from '../../src/system/log.ts'

/** Codes by measure; what is missing has no key. */
export type Codes = { [name in MeasureName]?: number }

export interface FakeRow extends Codes {
  /** Epoch seconds. */
  time: number
}

export interface FakeBuoy extends BuoyRecord {
  rows: FakeRow[]
}

export const NETWORKS: SourceInfo[] = [
  { name: 'North', network: 'national', credit: 'made up', licence: 'none' },
  { name: 'South', network: 'coastal' },
  { name: 'Sky', network: 'satellite' },
]

export function batchOf(rows: readonly FakeRow[]): RowBatch {
  const batch = new RowBatch(Math.max(1, rows.length))
  for (const { time, ...codes } of rows) {
    const row = batch.add(time)
    for (const [name, code] of Object.entries(codes)) batch.columns[name as MeasureName][row] = code
  }
  return batch
}

/** Gives the networks and buoys in the order of the lists, each buoy's rows in batches of `batch` rows. */
export function fakeSource(buoys: readonly FakeBuoy[], networks = NETWORKS, batch = 1000): Source {
  return {
    async read(sink) {
      for (const network of networks) sink.source(network)
      for (const { rows, ...record } of buoys) {
        const handle = sink.buoy(record)
        for (let at = 0; at < rows.length; at += batch) sink.rows(handle, batchOf(rows.slice(at, at + batch)))
      }
      await Promise.resolve()
    },
  }
}

export interface FakeBuild {
  asOf?: number | null
  now?: number
  fresh?: boolean
  allowLoss?: number
  keep?: number
  /** Rows after it are those of a clock gone wrong. */
  latest?: number
  exportTo?: string
  spectraDays?: number
  /** Takes every line of the report. */
  write?: LogLine
}

export function build(
  sources: Source[],
  out: string,
  { asOf = null, now = 0, write = () => {}, ...options }: FakeBuild = {},
): Promise<Manifest> {
  return buildSnapshot({ sources, out, asOf, now, report: silentReport(write), ...options })
}

export const northBuoy = (
  identifier: string,
  rows: FakeRow[] = [],
  more: Partial<BuoyRecord> = {},
): FakeBuoy => ({
  source: 'North',
  identifier,
  name: `Buoy ${identifier}`,
  lat: 10,
  lng: -3,
  country: 'FR',
  timezone: 'Europe/Paris',
  rows,
  ...more,
})

/** A report that nobody reads, but for what `write` takes. */
export const silentReport = (write: LogLine = () => {}): BuildReport =>
  new BuildReport({ maxBadShare: 0.1, write, clock: () => 0 })

/** How many readings a snapshot has. */
export const readingsOf = ({ parts }: Pick<Manifest, 'parts'>): number =>
  parts.reduce((sum, { kind, rows }) => (kind === 'readings' ? sum + rows : sum), 0)

/** A folder that a build may make. */
export const folderOf = (t: TestContext): string => join(temporaryFolder(t), 'out')

/** The first part of a kind of the published snapshot; null where it has none. */
export async function partOf(dir: string, kind: PartKind): Promise<Part | null> {
  const { parts } = await loadSnapshot(dir)
  const found = parts.find(({ entry }) => entry.kind === kind)
  return found === undefined ? null : decodePart(found.bytes, found.entry.file)
}

export async function catalogOf(dir: string): Promise<Catalog> {
  return readCatalog((await partOf(dir, 'catalog')) ?? assert.fail('no catalogue'), 'catalog')
}

const at = (text: string): number => Date.parse(text) / 1000

/** A few buoys of all networks over two months, with readings, weather and every column somewhere. */
export const SMALL_WORLD: FakeBuoy[] = [
  northBuoy(
    'N1',
    [
      {
        time: at('2026-02-28T23:30:00Z'),
        significantHeight: 1500,
        period: 8000,
        peakPeriod: 8000,
        direction: 0,
      },
      { time: at('2026-03-01T00:00:00Z'), significantHeight: 0, maximumHeight: 0, waterTemperature: -500 },
      { time: at('2026-03-01T00:30:00Z'), windSpeed: 3150, windDirection: 35_999, gustSpeed: 50_000 },
      {
        time: at('2026-03-27T09:00:00Z'),
        significantHeight: 25_000,
        maximumHeight: 50_000,
        period: 60_000,
        direction: 35_999,
      },
    ],
    { name: 'Alpha', lat: 45.5, lng: -3.25 },
  ),
  {
    source: 'South',
    identifier: '02B',
    name: 'Bravo',
    lat: -12,
    lng: 179.99,
    country: 'FJ',
    timezone: 'Pacific/Fiji',
    rows: [{ time: at('2026-03-02T12:00:00Z'), significantHeight: 1234, period: 7100, peakPeriod: 9900 }],
  },
  northBuoy('N0', [], { name: 'Alpha', lat: 45 }),
  {
    source: 'Sky',
    identifier: 'V1',
    name: 'Far point',
    lat: 0,
    lng: -30,
    country: 'BR',
    timezone: 'Etc/GMT+2',
    virtual: true,
    rows: [{ time: at('2026-03-26T00:00:00Z'), significantHeight: 2100 }],
  },
]

const [alpha, bravo, silent, far] = SMALL_WORLD
/** `SMALL_WORLD` an hour later: Alpha has other readings, Bravo leaves, Silent moves, Delta comes. */
export const LATER_WORLD: FakeBuoy[] = [
  {
    ...alpha,
    rows: [
      { ...alpha.rows[0], significantHeight: 1600 },
      ...alpha.rows.slice(1),
      { time: at('2026-03-27T09:30:00Z'), significantHeight: 1000 },
      {
        time: at('2026-03-27T10:00:00Z'),
        significantHeight: 1100,
        peakPeriod: 1250,
        windSpeed: 3650,
        swellPeriod: 13_100,
      },
    ],
  },
  { ...silent, lat: 44 },
  far,
  {
    ...bravo,
    identifier: 'D',
    name: 'Delta',
    rows: [{ time: at('2026-03-27T10:00:00Z'), significantHeight: 1 }],
  },
]
