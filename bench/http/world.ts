/**
 * The data of the HTTP bench: built by the revision that is measured, and read again from its sources, past
 * the product's own files, for drawing requests, for the oracle and for the peers.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { MEASURE_NAMES, MEASURES } from '../../src/sea/columns.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import type { RowBatch } from '../../src/sea/row-batch.ts'
import { countryAt, timezoneAt } from '../../src/sea/territory.ts'
import type { Source, SourceContext } from '../../src/sources/source.ts'
import { knownBuoys, type Known } from '../../test/oracle/oracle.ts'
import { NO_SEA, type World, type WorldRow } from '../../test/oracle/world.ts'

export const BENCH_DATA = fileURLToPath(new URL('../data', import.meta.url))

export const SCALES = {
  /** The size of the real world's networks: 5 million readings. */
  demo: 'scale,buoys=1200,days=90',
  /** Ten years of many buoys: 87 million readings, 1.9 GB. */
  big: 'scale,buoys=520,days=3652',
  /** Thirteen seasons of few buoys: 9 million readings. */
  long: 'scale,buoys=40,days=4748',
  /** A look whether the bench runs. */
  tiny: 'scale,buoys=60,days=40',
} as const
export type Scale = keyof typeof SCALES

/** Compiled modules of a revision of the product. */
export interface Revision {
  /** Short hash of its commit; empty for this tree. */
  name: string
  folder: string
}

/** A fixed end of the data, so that it never depends on the day it was built. */
export const AS_OF = Date.UTC(2026, 10, 1) / 1000
/** Buoys of which the oracle knows every row, as objects; of all others it knows the newest. */
const CHECKED_BUOYS = 10
/** Readings of the others, of which the map's decimals are made. */
const NEWEST = 48

const sourcesOf = (scale: Scale): string[] => ['demo', `demo:${SCALES[scale]}`]

/**
 * Builds a snapshot of each time in turn into one folder, where that is not done.
 * @returns the folder
 */
export function snapshotsOf(revision: Revision, scale: Scale, times: readonly number[] = [AS_OF]): string {
  const folder = join(
    BENCH_DATA,
    [scale, revision.name, times.length].filter((word) => word !== '').join('-'),
  )
  if (revision.name === '') rmSync(folder, { recursive: true, force: true })
  if (existsSync(folder)) return folder
  for (const time of times) {
    const sources = sourcesOf(scale).flatMap((source) => ['--source', source])
    const asOf = ['--as-of', new Date(time * 1000).toISOString(), '--keep', '20']
    const { status, stderr } = spawnSync(
      process.execPath,
      [join(revision.folder, 'cli.js'), 'build', ...sources, ...asOf, '--out', folder],
      { encoding: 'utf8' },
    )
    if (status === 0) continue
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`no snapshot: ${stderr}`)
  }
  return folder
}

export interface BenchWorld {
  world: World
  buoys: Known[]
  /** Ids of the buoys of which the oracle knows every row. */
  checked: Set<number>
  /** Times of readings of the checked buoys, and of some of all others. */
  times: Map<number, number[]>
}

interface Gathering {
  record: BuoyRecord
  count: number
  /** The newest readings are among them, in any order. */
  newest: WorldRow[]
  times: number[]
  rows: WorldRow[] | null
}

/** Every so many readings one is remembered by its time. */
const TIMES_EVERY = 40

/** Reads the sources as a revision makes them. `onRow` is given every reading of a buoy, by its handle. */
export async function readWorld(
  revision: Revision,
  scale: Scale,
  onRow?: (buoy: BuoyRecord, row: WorldRow) => void,
): Promise<BenchWorld> {
  const { openSource } = (await import(pathToFileURL(join(revision.folder, 'sources', 'kinds.js')).href)) as {
    openSource: (kind: string, path: string) => Source
  }
  const sources: World['sources'] = []
  const gatherings: Gathering[] = []
  const ignore = (): void => {}
  for (const text of sourcesOf(scale)) {
    const [kind, path = ''] = text.split(':')
    const first = gatherings.length
    await openSource(kind, path).read(
      {
        source: ({ name, network }) => void sources.push({ name, network, credit: '', licence: '' }),
        buoy: (record) => {
          const rows = gatherings.length - first < CHECKED_BUOYS ? [] : null
          return gatherings.push({ record, count: 0, newest: [], times: [], rows }) - 1
        },
        rows: (handle, batch) => gather(gatherings[handle], batch, onRow),
        spectra: ignore,
        listed: ignore,
        pass: ignore,
        forecast: ignore,
        harbour: ignore,
        spot: ignore,
      },
      { asOf: AS_OF, now: AS_OF, report: silent },
    )
  }
  return worldOf(sources, gatherings)
}

/**
 * What was read once without a fault is read again in silence: a report of which every member takes anything.
 */
const silent: SourceContext['report'] = new Proxy((() => silent) as unknown as SourceContext['report'], {
  get: () => silent,
})

function gather(into: Gathering, batch: RowBatch, onRow?: (buoy: BuoyRecord, row: WorldRow) => void): void {
  for (let i = 0; i < batch.length; i++) {
    const time = batch.time[i]
    if (time > AS_OF) continue
    into.rows?.push(rowAt(batch, i))
    if (batch.columns.significantHeight[i] === MEASURES.significantHeight.missing) continue
    if (into.rows !== null || into.count % TIMES_EVERY === 0) into.times.push(time)
    into.count++
    const row = rowAt(batch, i)
    onRow?.(into.record, row)
    if (into.rows !== null) continue
    into.newest.push(row)
    if (into.newest.length >= 4 * NEWEST) into.newest = newestOf(into.newest)
  }
}

const newestOf = (rows: readonly WorldRow[]): WorldRow[] =>
  rows.toSorted((a, b) => a.time - b.time).slice(-NEWEST)

function rowAt({ time, columns }: RowBatch, index: number): WorldRow {
  const values = MEASURE_NAMES.map((name) => {
    const { missing, scale } = MEASURES[name]
    // A revision before this one may have fewer measures.
    const stored = (columns as Partial<RowBatch['columns']>)[name]?.[index] ?? missing
    return [name, stored === missing ? null : stored / scale]
  })
  return { time: time[index], ...(Object.fromEntries(values) as Omit<WorldRow, 'time'>) }
}

function worldOf(sources: World['sources'], gatherings: readonly Gathering[]): BenchWorld {
  const world: World = {
    asOf: AS_OF,
    sources,
    ...NO_SEA,
    buoys: gatherings.map(({ record, count, rows, newest }) => ({
      source: record.source,
      identifier: record.identifier,
      name: record.name,
      lat: record.lat,
      lng: record.lng,
      country: record.country ?? countryAt(record.lat, record.lng),
      timezone: record.timezone ?? timezoneAt(record.lat, record.lng),
      virtual: record.virtual ?? false,
      count,
      rows: rows ?? newestOf(newest),
    })),
  }
  const buoys = knownBuoys(world)
  const ofBuoy = new Map(world.buoys.map((buoy, i) => [buoy, gatherings[i]]))
  const read = buoys.map(({ id, record }) => ({ id, ...ofBuoy.get(record)! }))
  return {
    world,
    buoys,
    checked: new Set(read.flatMap(({ id, rows }) => (rows === null ? [] : [id]))),
    times: new Map(read.map(({ id, times }) => [id, times])),
  }
}
