/** A report and a sink that record what an adapter gives, for tests of adapters. */
import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { MeasureName } from '../../src/sea/columns.ts'
import { type Spectra, type Spectrum, spectrumOf } from '../../src/sea/spectra.ts'
import type { RowBatch } from '../../src/sea/row-batch.ts'
import texts from '../../src/sources/doubts.json' with { type: 'json' }
import { type Doubt, Doubts } from '../../src/sources/doubts.ts'
import type { OpenSource, Sink, Source } from '../../src/sources/source.ts'
import type {
  BuoyRecord,
  ForecastRecord,
  HarbourRecord,
  PassRecord,
  SourceInfo,
  SpotRecord,
} from '../../src/sea/records.ts'
import { EXPECTED } from '../measures.ts'

const NAMES = Object.keys(EXPECTED) as MeasureName[]

/** A row with its measured values in units; what is missing has no key. */
export type Row = { time: string } & { [name in MeasureName]?: number }

type Records = Pick<RecordingSink, 'sources' | 'passes' | 'forecasts' | 'harbours' | 'spots'>

/** A sink that keeps every record as it came; the test that extends it decides about the rows. */
export abstract class RecordingSink implements Sink {
  sources: SourceInfo[] = []
  /** By handle. */
  records: BuoyRecord[] = []
  passes: PassRecord[] = []
  forecasts: ForecastRecord[] = []
  harbours: HarbourRecord[] = []
  spots: SpotRecord[] = []
  /** Networks, each with the stations that a list names. */
  listings: string[][] = []

  spectraOf: { buoy: number; feed: number; spectra: Spectra }[] = []

  abstract rows(buoy: number, batch: RowBatch, feed?: number): void

  source = (info: SourceInfo): void => void this.sources.push(info)
  spectra = (buoy: number, spectra: Spectra, feed = 0): void =>
    void this.spectraOf.push({ buoy, feed, spectra })
  pass = (record: PassRecord): void => void this.passes.push(record)
  forecast = (record: ForecastRecord): void => void this.forecasts.push(record)
  harbour = (record: HarbourRecord): void => void this.harbours.push(record)
  spot = (record: SpotRecord): void => void this.spots.push(record)

  listed = (source: string, identifiers: readonly string[]): void =>
    void this.listings.push([source, ...identifiers])

  buoy(record: BuoyRecord): number {
    return this.records.push(record) - 1
  }
}

/** A spectrum of a station and feed, `41001/1`. */
export interface RecordedSpectrum extends Spectrum {
  station: string
  time: string
}

export interface Recording extends Records {
  buoys: BuoyRecord[]
  /** By identifier and feed, `41001/1`, in the order in which they came. */
  rows: Map<string, Row[]>
  spectra: RecordedSpectrum[]
  /** `grave: WHAT × TIMES: EXAMPLES`, folders left out of the examples. */
  doubts: string[]
  examples: string[]
  /** Which column became what, file by file. */
  columns: string[]
  understood: Map<string, number>
  /** `FILE:LINE reason`. */
  bad: string[]
  /** The texts that are to blame, in the same order; empty where none was given. */
  badTexts: string[]
  /** By reason, with `STATION: ` before it where the rule speaks of a station. */
  skipped: Map<string, number>
  ended: string[]
}

export function record(open: OpenSource, argument: string, maxBadShare?: number): Promise<Recording> {
  return recordSource(open(argument), maxBadShare)
}

const { what: COLUMNS } = texts.columns

class Recorder extends RecordingSink {
  readonly byFeed = new Map<string, Row[]>()
  /** Rows of a feed that are kept. */
  most = Infinity

  rows(buoy: number, batch: RowBatch, feed = 0): void {
    const key = `${this.records[buoy].identifier}/${feed}`
    const rows = this.byFeed.get(key) ?? []
    this.byFeed.set(key, rows)
    for (let i = 0; i < batch.length && rows.length < this.most; i++) rows.push(rowOf(batch, i))
  }
}

/** Reads a whole source, and keeps so many rows of each buoy. */
export async function recordSource(source: Source, maxBadShare = 1, most = Infinity): Promise<Recording> {
  const sink = Object.assign(new Recorder(), { most })
  const { sources, passes, forecasts, harbours, spots } = sink
  const recording: Recording = {
    sources,
    passes,
    forecasts,
    harbours,
    spots,
    buoys: sink.records,
    rows: sink.byFeed,
    spectra: [],
    doubts: [],
    examples: [],
    columns: [],
    understood: new Map(),
    bad: [],
    badTexts: [],
    skipped: new Map(),
    ended: [],
  }
  const doubts = new Doubts()
  const report = {
    maxBadShare,
    doubt: (doubt: Doubt) => doubts.add(doubt),
    withoutPosition(identifiers: readonly string[]) {
      if (identifiers.length === 0) return
      doubts.add({ what: 'no position', times: identifiers.length, examples: identifiers })
    },
    file(path: string) {
      const name = basename(path)
      let bads = 0
      let lines = 0
      return {
        rows(count: number) {
          lines += count
          recording.understood.set(name, (recording.understood.get(name) ?? 0) + count)
        },
        skipped(reason: string, station?: string, times = 1) {
          const key = station === undefined ? reason : `${station}: ${reason}`
          recording.skipped.set(key, (recording.skipped.get(key) ?? 0) + times)
        },
        bad(line: number, reason: string, text = '', times = 1) {
          bads += times
          recording.bad.push(`${name}:${line} ${reason}${times > 1 ? ` and ${times - 1} more` : ''}`)
          recording.badTexts.push(text)
        },
        end() {
          recording.ended.push(name)
          return bads <= maxBadShare * (bads + lines)
        },
      }
    },
  }
  await source.read(sink, { asOf: null, now: 0, report })
  recording.spectra = sink.spectraOf.flatMap(({ buoy, feed, spectra }) =>
    Array.from(spectra.time, (time, i) => ({
      station: `${sink.records[buoy].identifier}/${feed}`,
      time: new Date(time * 1000).toISOString().replace('.000Z', 'Z'),
      ...spectrumOf(spectra, i),
    })),
  )
  const account = doubts.list().find(({ what }) => what === COLUMNS)
  recording.columns = (account?.examples ?? []).map((example) => example.replace(/^.*?: /, ''))
  const others = doubts.list().filter((doubt) => doubt !== account)
  recording.doubts = others.map(({ what, times, examples, isGrave }) => {
    const shown = examples.join(', ').replaceAll(/\/\S*?\/sources-\w+\/?/g, '')
    return `${isGrave === true ? 'grave: ' : ''}${what} × ${times}${shown === '' ? '' : `: ${shown}`}`
  })
  recording.examples = doubts.list().flatMap(({ examples }) => examples)
  return recording
}

const SIGNED: ReadonlySet<string> = new Set(['waterTemperature', 'airTemperature', 'dewPoint'])

function rowOf(batch: RowBatch, index: number): Row {
  const row: Row = { time: new Date(batch.time[index] * 1000).toISOString().replace('.000Z', 'Z') }
  for (const name of NAMES) {
    const code = batch.columns[name][index]
    if (code !== (SIGNED.has(name) ? -32_768 : 65_535)) row[name] = code / EXPECTED[name][0]
  }
  return row
}

/**
 * A line for each row: its time, then its values in the order of `EXPECTED`, `-` for what is missing; those
 * of swell and wind sea, and those of weather after a bar, where the row has one.
 */
export function rowLines(rows: readonly Row[] = []): string[] {
  const [common, weather] = [NAMES.indexOf('swellHeight'), NAMES.indexOf('airTemperature')]
  return rows.map((row) => {
    const textsOf = (from: number, to?: number): (string | number)[] =>
      NAMES.slice(from, to).map((name) => row[name] ?? '-')
    const [swell, air] = [textsOf(common, weather), textsOf(weather)]
    const isGiven = (texts: readonly unknown[]): boolean => texts.some((text) => text !== '-')
    return [
      row.time,
      ...textsOf(0, common),
      ...(isGiven(swell) ? swell : []),
      ...(isGiven(air) ? ['|', ...air] : []),
    ].join(' ')
  })
}

/** As `rowLines`, of all buoys: behind `BUOY/FEED`. */
export function rowTable(rows: ReadonlyMap<string, readonly Row[]>): string[] {
  return [...rows].flatMap(([key, list]) =>
    list.length === 0 ? [key] : rowLines(list).map((line) => `${key} ${line}`),
  )
}

export function placesOf(buoys: readonly BuoyRecord[]): [string, string, number, number][] {
  return buoys.map(({ identifier, name, lat, lng }) => [identifier, name, lat, lng])
}

export function identifiersOf(buoys: readonly { readonly identifier: string }[]): string[] {
  return buoys.map(({ identifier }) => identifier)
}

/** Contents by path: text, bytes, or what is written as JSON. */
export interface Files {
  readonly [path: string]: string | Uint8Array | object
}

/** A folder with the given files, removed after the test. */
export async function folderOf(t: TestContext, files: Files): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sources-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    const isWritable = typeof content === 'string' || content instanceof Uint8Array
    await writeFile(join(folder, path), isWritable ? content : JSON.stringify(content))
  }
  return folder
}

/** What a source has to give. Bad lines, skipped values and doubts that are not here may not be. */
interface Expected {
  /** `IDENTIFIER NAME LAT LNG`. */
  buoys?: string[]
  /** As `rowTable` has them. */
  rows?: string[]
  bad?: string[]
  skipped?: { readonly [reason: string]: number }
  doubts?: (string | RegExp)[]
}

/** Reads a folder of `files` and compares what it gives with all that is expected. */
export async function gives(
  t: TestContext,
  open: OpenSource,
  files: Files | string,
  { buoys, rows, bad = [], skipped = {}, doubts = [] }: Expected,
): Promise<Recording> {
  const recording = await record(open, typeof files === 'string' ? files : await folderOf(t, files))
  assert.deepEqual(recording.bad, bad)
  assert.deepEqual(Object.fromEntries(recording.skipped), skipped)
  for (const [i, said] of recording.doubts.entries()) {
    const expected = doubts[i]
    if (expected instanceof RegExp) assert.match(said, expected)
    else assert.equal(said, expected)
  }
  assert.equal(recording.doubts.length, doubts.length)
  if (buoys !== undefined)
    assert.deepEqual(
      placesOf(recording.buoys).map((place) => place.join(' ')),
      buoys,
    )
  if (rows !== undefined) assert.deepEqual(rowTable(recording.rows), rows)
  return recording
}

/** The folder of fixtures of this repository. */
export const FIXTURES = join(import.meta.dirname, '..', '..', 'data', 'fixtures')
