/**
 * The data of the HTTP bench: the made-up fleet of the scale generator, and around it passes, virtual buoys,
 * forecast, harbours and spots of the demonstration, which the generator has none of. Built once into
 * `bench/data/`, and read again from its sources, past the product's own files, for drawing requests, for the
 * oracle and for the peers.
 */
import {
  copyFileSync,
  createWriteStream,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { MEASURE_NAMES, MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import { RowBatch, type RowColumns } from '../../src/sea/row-batch.ts'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { countryAt, timezoneAt } from '../../src/sea/territory.ts'
import { BuildReport } from '../../src/builder/build-report.ts'
import { openSource } from '../../src/sources/kinds.ts'
import type { Sink, Source, SourceContext } from '../../src/sources/source.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
} from '../../src/sea/records.ts'
import { knownBuoys } from '../../test/oracle/oracle.ts'
import type { World, WorldBuoy, WorldRow } from '../../test/oracle/world.ts'
import { mapPass } from './passes.ts'
import { BENCH_DATA, sourcesMark, type Revision } from './revisions.ts'

export const SCALES = {
  /** The size of the real world's networks: 5 million readings. */
  demo: 'scale,buoys=1200,days=90',
  /** Ten years of many buoys: 87 million readings, 1.9 GB. */
  big: 'scale,buoys=520,years=10',
  /** Thirteen seasons: 9.1 million readings of few buoys. */
  long: 'scale,buoys=40,years=13',
  /** As many buoys as in the small data, of ten days: what a swap costs without the weight of readings. */
  fleet: 'scale,buoys=1200,days=10',
  /** A look whether the bench runs. */
  tiny: 'scale,buoys=24,days=20',
} as const
export type ScaleName = keyof typeof SCALES

/** A fixed end of the data, so that it never depends on the day it was built. */
export const AS_OF = Date.UTC(2026, 10, 1) / 1000
const DAY = 86400
/**
 * Rows that the combined conditions may need: readings within 24 hours of the times asked for, which begin 20
 * hours before the end.
 */
const RECENT = 3 * DAY

export interface BenchBuoy {
  id: number
  slug: string
  record: WorldBuoy
  /** Times of its readings, ascending epoch seconds. */
  times: Uint32Array
  newest: WorldRow | null
  recent: WorldRow[]
}

/**
 * Rows of one buoy as a source gave them, one batch after the other: 22 bytes each, where an object takes ten
 * times that.
 */
export type History = HistoryPart[]
export interface HistoryPart {
  /** All of its times lie within. */
  span: Span
  time: Uint32Array
  columns: RowColumns
}

/** Epoch seconds, both included. */
export interface Span {
  from: number
  to: number
}

export interface BenchData {
  scale: ScaleName
  folder: string
  /** By id, from 1. */
  buoys: BenchBuoy[]
  sources: SourceInfo[]
  /** Their observations name buoys by id. */
  passes: PassRecord[]
  forecasts: ForecastRecord[]
  harbours: HarbourRecord[]
}

/** All of the demonstration but its physical buoys, made up once in a process. */
const surroundings: Source = {
  async read(sink, context) {
    made ??= makeSurroundings(context)
    for (const give of await made) give(sink)
  },
}

/** What it gives to a sink, in order. */
let made: Promise<readonly ((sink: Sink) => void)[]> | null = null

async function makeSurroundings(context: SourceContext): Promise<((sink: Sink) => void)[]> {
  const given: ((sink: Sink) => void)[] = []
  const virtual = new Map<number, number>()
  /** Of the virtual buoys, those that the sink gave last. */
  const handles: number[] = []
  let count = 0
  await openSource('demo', '').read(
    {
      source(info) {
        if (info.network === 'satellite') given.push((sink) => sink.source(info))
      },
      buoy(record) {
        if (record.virtual === true) {
          const ordinal = virtual.size
          virtual.set(count, ordinal)
          given.push((sink) => (handles[ordinal] = sink.buoy(record)))
        }
        return count++
      },
      rows(buoy, { length, time, columns }, feed) {
        const ordinal = virtual.get(buoy)
        if (ordinal === undefined) return
        const batch = new RowBatch(length)
        batch.length = length
        batch.time.set(time.subarray(0, length))
        for (const name of MEASURE_NAMES) batch.columns[name].set(columns[name].subarray(0, length))
        given.push((sink) => sink.rows(handles[ordinal], batch, feed))
      },
      pass(pass) {
        const seen = pass.observations.map(({ buoy, time }) => ({ ordinal: virtual.get(buoy)!, time }))
        given.push((sink) => {
          const observations = seen.map(({ ordinal, time }) => ({ buoy: handles[ordinal], time }))
          sink.pass({ ...pass, observations })
        })
      },
      forecast: (record) => void given.push((sink) => sink.forecast(record)),
      harbour: (record) => void given.push((sink) => sink.harbour(record)),
      spot: (record) => void given.push((sink) => sink.spot(record)),
    },
    context,
  )
  return given
}

const sourcesOf = (scale: ScaleName): Source[] => [openSource('demo', SCALES[scale]), surroundings]

/** What was read once without a fault is read again in silence. */
const silent = new BuildReport({ maxBadShare: 0, write: () => {}, terminal: false, clock: Date.now })

/** What builds snapshots: this tree's builder, or that of another revision. */
export interface Builder {
  /** Empty for this tree. */
  name: string
  buildSnapshot: typeof buildSnapshot
  BuildReport: typeof BuildReport
}

export const OWN_BUILDER: Builder = { name: '', buildSnapshot, BuildReport }

/** Where revisions have their builder and its report, the newest first. */
const BUILDERS = [
  ['builder/run-build.js', 'builder/build-report.js'],
  ['build/build.js', 'build/report.js'],
  ['snapshot/build.js', 'snapshot/report.js'],
]

/** The builder among the compiled modules of a revision. @throws Error where it lies in no known place */
export async function builderOf({ name, folder }: Revision): Promise<Builder> {
  const places = BUILDERS.map((files) => files.map((file) => join(folder, file)))
  const files = places.find((paths) => paths.every((path) => existsSync(path)))
  if (files === undefined) throw new Error(`revision ${name} has its builder in no known place`)
  const modules = await Promise.all(files.map((file) => import(pathToFileURL(file).href)))
  return { name: `-${name}`, ...(Object.assign({}, ...modules) as Omit<Builder, 'name'>) }
}

/** The folder of the snapshot, built when it is not there, or was built by other sources of the product. */
export async function snapshotFolder(scale: ScaleName, builder = OWN_BUILDER): Promise<string> {
  const out = join(BENCH_DATA, `http-${scale}${builder.name}`)
  await madeOnce(out, builder, () => build(out, sourcesOf(scale), builder))
  return out
}

const BUILT_BY = 'bench-built-by'

async function madeOnce(out: string, { name }: Builder, make: () => Promise<unknown>): Promise<void> {
  const mark = name === '' ? (sourcesMark() ?? '') : name
  const file = join(out, BUILT_BY)
  if (existsSync(file) && readFileSync(file, 'utf8') === mark) return
  rmSync(out, { recursive: true, force: true })
  await make()
  writeFileSync(file, mark)
}

function build(out: string, sources: Source[], builder: Builder): Promise<{ id: string }> {
  const report = new builder.BuildReport({
    maxBadShare: 0,
    write: (text) => void process.stderr.write(`${text.trimEnd()}\n`),
    terminal: false,
    clock: Date.now,
  })
  return builder.buildSnapshot({ sources, out, asOf: AS_OF, now: AS_OF, report, keep: KEPT })
}

/**
 * One more than a server holds in memory, so that none of them is there when its turn comes; two do for a
 * look.
 */
const SWAPPED: { readonly [scale in ScaleName]: number } = { demo: 4, big: 4, long: 4, fleet: 4, tiny: 2 }
const KEPT = 4
const HALF_HOUR = 1800

/** A folder whose snapshots follow upon each other by half an hour. */
export interface SwapFolder {
  folder: string
  /** Files of their manifests, oldest first. The last snapshot is the one of `snapshotFolder`. */
  manifests: readonly string[]
}

/**
 * The snapshots of the last two hours: each has another half-hour of all buoys of the fleet, so that the
 * newest whole month, the catalogue and the last rows are new parts.
 */
export async function swapFolder(scale: ScaleName, builder = OWN_BUILDER): Promise<SwapFolder> {
  const folder = join(BENCH_DATA, `http-${scale}-swap${builder.name}`)
  await madeOnce(folder, builder, async () => {
    for (let left = SWAPPED[scale] - 1; left >= 0; left--) {
      const fleet = until(openSource('demo', SCALES[scale]), AS_OF - left * HALF_HOUR)
      await build(folder, [fleet, surroundings], builder)
    }
  })
  const manifests = manifestsIn(folder)
  if (manifests.length !== SWAPPED[scale]) throw new Error(`${folder} has ${manifests.length} snapshots`)
  return { folder, manifests }
}

/** The folder of the snapshot alone, for sections in which nothing is swapped. */
export async function stillFolder(scale: ScaleName, builder = OWN_BUILDER): Promise<SwapFolder> {
  const folder = await snapshotFolder(scale, builder)
  return { folder, manifests: manifestsIn(folder) }
}

const manifestsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((file) => /^manifest-\d+-/.test(file))
    .toSorted()
    .map((file) => join(folder, file))

/** A source without its rows after a time. */
const until = (source: Source, last: number): Source => ({
  read: (sink, context) =>
    source.read(
      {
        source: (info) => sink.source(info),
        buoy: (record) => sink.buoy(record),
        pass: (pass) => sink.pass(pass),
        forecast: (record) => sink.forecast(record),
        harbour: (record) => sink.harbour(record),
        spot: (record) => sink.spot(record),
        rows(buoy, batch, feed) {
          const whole = batch.length
          // Its rows are in the order of their times.
          while (batch.length > 0 && batch.time[batch.length - 1] > last) batch.length--
          if (batch.length > 0) sink.rows(buoy, batch, feed)
          batch.length = whole
        },
      },
      context,
    ),
})

/** Publishes one of its snapshots, as a builder does. Returns its id. */
export function publish({ folder, manifests }: SwapFolder, index: number): string {
  const file = manifests[index]
  const fresh = join(folder, 'bench-manifest.new')
  copyFileSync(file, fresh)
  renameSync(fresh, join(folder, 'manifest.msgpack'))
  return /-([0-9a-f]+)\.msgpack$/.exec(file)![1]
}

/** One buoy while its rows stream by. */
interface Gathering {
  record: BuoyRecord
  times: Uint32Array
  count: number
  newest: WorldRow | null
  recent: WorldRow[]
  history: History
}

/** Reads the sources: the data, and of every buoy (by id) all of its rows, 1.9 GB in the large data. */
export async function readData(
  scale: ScaleName,
): Promise<{ data: BenchData; histories: Map<number, History> }> {
  const folder = await snapshotFolder(scale)
  const gatherings: Gathering[] = []
  const sources: SourceInfo[] = []
  const passes: PassRecord[] = []
  const forecasts: ForecastRecord[] = []
  const harbours: HarbourRecord[] = []
  const sink: Sink = {
    source: (info) => void sources.push(info),
    buoy: (record) =>
      gatherings.push({
        record,
        times: new Uint32Array(4096),
        count: 0,
        newest: null,
        recent: [],
        history: [],
      }) - 1,
    rows: (handle, batch) => gather(gatherings[handle], batch),
    pass: (pass) => void passes.push(pass),
    forecast: (record) => void forecasts.push(record),
    harbour: (record) => void harbours.push(record),
    spot: () => {},
  }
  for (const source of sourcesOf(scale)) {
    await source.read(sink, { asOf: AS_OF, now: AS_OF, report: silent })
  }
  const gathered = new Map(gatherings.map((one) => [`${one.record.source}\n${one.record.identifier}`, one]))
  const numbered = knownBuoys(worldOf(gatherings, sources))
  const idOf = new Map(numbered.map(({ id, record }) => [`${record.source}\n${record.identifier}`, id]))
  const ids = gatherings.map(({ record }) => idOf.get(`${record.source}\n${record.identifier}`)!)
  const data: BenchData = {
    scale,
    folder,
    sources,
    passes: passes.map((pass) => ({
      ...pass,
      observations: pass.observations.map(({ buoy, time }) => ({ buoy: ids[buoy], time })),
    })),
    forecasts,
    harbours,
    buoys: numbered.map(({ id, slug, record }) => {
      const { times, count, newest, recent } = gathered.get(`${record.source}\n${record.identifier}`)!
      return { id, slug, record, times: times.slice(0, count).sort(), newest, recent }
    }),
  }
  return { data, histories: new Map(gatherings.map(({ history }, handle) => [ids[handle], history])) }
}

function worldOf(gatherings: readonly Gathering[], sources: readonly SourceInfo[]): World {
  return {
    asOf: AS_OF,
    sources: sources.map(({ name, network }) => ({ name, network, credit: '', licence: '' })),
    buoys: gatherings.map(({ record, newest }) => ({
      source: record.source,
      identifier: record.identifier,
      name: record.name,
      lat: record.lat,
      lng: record.lng,
      country: record.country ?? countryAt(record.lat, record.lng),
      timezone: record.timezone ?? timezoneAt(record.lat, record.lng),
      virtual: record.virtual ?? false,
      rows: newest === null ? [] : [newest],
    })),
  }
}

function gather(into: Gathering, batch: RowBatch): void {
  const span = { from: Infinity, to: -Infinity }
  into.history.push({
    span,
    time: batch.time.slice(0, batch.length),
    columns: Object.fromEntries(
      MEASURE_NAMES.map((name) => [name, batch.columns[name].slice(0, batch.length)]),
    ) as RowColumns,
  })
  if (into.count + batch.length > into.times.length) {
    const larger = new Uint32Array(2 * (into.count + batch.length))
    larger.set(into.times)
    into.times = larger
  }
  const heights = batch.columns.significantHeight
  let newest = -1
  for (let i = 0; i < batch.length; i++) {
    const time = batch.time[i]
    span.from = Math.min(span.from, time)
    span.to = Math.max(span.to, time)
    if (time > AS_OF) continue
    if (heights[i] !== MEASURES.significantHeight.missing) {
      into.times[into.count++] = time
      if (newest === -1 || time > batch.time[newest]) newest = i
    }
    if (time >= AS_OF - RECENT) into.recent.push(rowAt(batch, i))
  }
  if (newest !== -1 && (into.newest === null || batch.time[newest] > into.newest.time)) {
    into.newest = rowAt(batch, newest)
  }
}

function rowAt({ time, columns }: Pick<RowBatch, 'time' | 'columns'>, index: number): WorldRow {
  const valueOf = (name: MeasureName): number | null => {
    const code = columns[name][index]
    return code === MEASURES[name].missing ? null : code / MEASURES[name].scale
  }
  return {
    time: time[index],
    significantHeight: valueOf('significantHeight'),
    maximumHeight: valueOf('maximumHeight'),
    period: valueOf('period'),
    peakPeriod: valueOf('peakPeriod'),
    direction: valueOf('direction'),
    waterTemperature: valueOf('waterTemperature'),
    windSpeed: valueOf('windSpeed'),
    windDirection: valueOf('windDirection'),
    gustSpeed: valueOf('gustSpeed'),
    swellHeight: valueOf('swellHeight'),
    swellPeriod: valueOf('swellPeriod'),
    swellDirection: valueOf('swellDirection'),
    windWaveHeight: valueOf('windWaveHeight'),
    windWavePeriod: valueOf('windWavePeriod'),
    windWaveDirection: valueOf('windWaveDirection'),
  }
}

/** The rows at times that lie in one of `spans`. */
export function rowsWithin(history: History, spans: readonly Span[]): WorldRow[] {
  const rows: WorldRow[] = []
  for (const part of history) {
    const near = spans.filter(({ from, to }) => from <= part.span.to && to >= part.span.from)
    if (near.length === 0) continue
    for (let i = 0; i < part.time.length; i++) {
      const time = part.time[i]
      if (near.some(({ from, to }) => time >= from && time <= to)) rows.push(rowAt(part, i))
    }
  }
  return rows
}

/** The oracle's world; `rowsOf` says which rows it knows of each buoy. */
export function worldWith(
  { sources, buoys }: BenchData,
  rowsOf: (buoy: BenchBuoy) => readonly WorldRow[],
): World {
  return {
    asOf: AS_OF,
    sources: sources.map(({ name, network }) => ({ name, network, credit: '', licence: '' })),
    buoys: buoys.map((buoy) => ({ ...buoy.record, rows: [...rowsOf(buoy)] })),
  }
}

export interface PeerFiles {
  /** JSON lines, one buoy each. */
  buoys: string
  /**
   * CSV without a head: buoy id, epoch seconds, and the contract's six measured quantities of a reading,
   * empty where missing.
   */
  readings: string
}

/** What the peers load: the same buoys and readings as plain text, written once. */
export async function peerFiles(data: BenchData): Promise<PeerFiles> {
  const files = {
    buoys: join(data.folder, 'peers-buoys.jsonl'),
    readings: join(data.folder, 'peers-readings.csv'),
  }
  if (existsSync(files.readings)) return files
  const buoys = createWriteStream(files.buoys)
  const idOf = new Map<string, number>()
  for (const { id, slug, record, newest } of data.buoys) {
    idOf.set(`${record.source}\n${record.identifier}`, id)
    const { rows: _, ...plain } = record
    const pass = record.virtual && newest !== null ? mapPass(data.passes, id, newest.time) : null
    buoys.write(`${JSON.stringify({ id, slug, ...plain, pass })}\n`)
  }
  buoys.end()
  const readings = createWriteStream(`${files.readings}.new`)
  const ids: number[] = []
  let lines = ''
  const sink: Sink = {
    source: () => {},
    buoy: (record) => ids.push(idOf.get(`${record.source}\n${record.identifier}`)!) - 1,
    rows: (handle, batch) => {
      for (let i = 0; i < batch.length; i++) {
        const row = rowAt(batch, i)
        if (row.significantHeight === null || row.time > AS_OF) continue
        const { significantHeight, maximumHeight, period, direction, waterTemperature } = row
        const values = [significantHeight, maximumHeight, period, direction, waterTemperature]
        lines += `${ids[handle]},${row.time},${values.map((value) => value ?? '').join(',')}\n`
        if (lines.length > 1e6) {
          readings.write(lines)
          lines = ''
        }
      }
    },
    pass: () => {},
    forecast: () => {},
    harbour: () => {},
    spot: () => {},
  }
  for (const source of sourcesOf(data.scale)) {
    await source.read(sink, { asOf: AS_OF, now: AS_OF, report: silent })
  }
  readings.end(lines)
  await once(readings, 'finish')
  renameSync(`${files.readings}.new`, files.readings)
  return files
}
