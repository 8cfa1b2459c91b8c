/**
 * Our own plain format, for anybody with a database of buoys: a folder of CSV tables in the contract's units.
 * `docs/sources-csv.md` documents it for operators.
 *
 *     sources.csv            name,network,credit,licence
 *     buoys.csv              source,identifier,name,lat,lng,country,timezone,virtual
 *     readings/*.csv         source,identifier,time,significant_height,…
 *     forecast/*.csv         lat,lng,run,time,wave_height,…
 *     spots.csv              id,name,lat,lng
 *     passes.csv             mission,cycle,number,started_at,ended_at,south,west,north,east
 *     pass_observations.csv  mission,cycle,number,source,identifier,time
 *     harbours.csv           identifier,name,lat,lng,datum_offset,credit
 *     constituents.csv       harbour,constituent,amplitude,phase
 *
 * The header names the columns, in any order; optional ones may be left out. Quoting is that of RFC 4180.
 */
import { basename, join } from 'node:path'
import {
  BUOY_COLUMNS,
  buoyOf,
  constituentLineOf,
  REQUIRED_OF_BUOY,
  SOURCE_COLUMNS,
  CONSTITUENT_COLUMNS,
  HARBOUR_COLUMNS,
  harbourOf,
  OBSERVATION_COLUMNS,
  PASS_COLUMNS,
  passKey,
  passOf,
  sourceOf,
  SPOT_COLUMNS,
  spotOf,
} from './csv-records.ts'
import type { HarbourRecord, PassRecord } from '../../sea/records.ts'
import type { FileReport, OpenSource, Report, Sink, SourceContext } from '../source.ts'
import { endList, type ReadLine, readTable } from '../reading/text-table.ts'
import { cleanName, MOST_OF_CREDIT } from '../reading/fields.ts'
import { listFolder, listSource, readText, doubtIgnored, takeDoubts } from '../reading/source-files.ts'
import {
  type ForecastPoints,
  forecastOf,
  gatherForecasts,
  type Handles,
  secondsOf,
  sendReadings,
} from './csv-rows.ts'

export const openCsv: OpenSource = (folder) => ({
  isControlled: true,
  read: (sink, context) => readCsv(folder, sink, context),
})

async function readCsv(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { files } = await listSource('csv', folder)
  const tables: Tables = {
    folder,
    has: (name) => files.includes(name),
    read(name, columns, required, take) {
      const path = join(folder, name)
      return readTable(path, report.file(path), columns, required, take)
    },
  }
  const handles = await readNetworks(tables, sink, report)
  await readBuoys(tables, handles, sink)
  const send = (bytes: Buffer, file: FileReport, path: string): void =>
    sendReadings(bytes, file, handles, sink, takeDoubts(report, path))
  if ((await eachCsv(join(folder, 'readings'), report, send)) === 0)
    report.doubt({ what: 'there are no readings', examples: [folder] })
  const points: ForecastPoints = new Map()
  await eachCsv(join(folder, 'forecast'), report, (bytes, file, path) => {
    gatherForecasts(bytes, file, points)
    endList(path, file)
  })
  for (const point of points.values()) sink.forecast(forecastOf(point))
  for (const pass of await readPasses(tables, handles)) sink.pass(pass)
  await readSpots(tables, sink)
  for (const harbour of await readHarbours(tables)) {
    if (harbour.constituents.some(({ amplitude }) => amplitude > 0)) sink.harbour(harbour)
    else report.doubt({ what: 'a harbour without a tide is left out', examples: [harbour.identifier] })
  }
}

interface Tables {
  folder: string
  has(name: string): boolean
  /** @throws BuildError when the table is missing or its header lacks a required column */
  read(name: string, columns: readonly string[], required: readonly string[], take: ReadLine): Promise<void>
}

const CUT_CREDIT = `a credit or licence is longer than ${MOST_OF_CREDIT} characters and is cut at a word`

async function readNetworks(tables: Tables, sink: Sink, report: Report): Promise<Handles> {
  const handles: Handles = new Map()
  await tables.read('sources.csv', SOURCE_COLUMNS, ['name', 'network'], (cell) => {
    const info = sourceOf(cell)
    if (typeof info === 'string') return info
    if (handles.has(info.name)) return 'a source with this name is listed above'
    const isCut = [cell('credit'), cell('licence')].some((text) => text.length > MOST_OF_CREDIT)
    if (isCut) report.doubt({ what: CUT_CREDIT, examples: [info.name], isGrave: true })
    handles.set(info.name, new Map())
    sink.source(info)
    return null
  })
  return handles
}

async function readBuoys(tables: Tables, handles: Handles, sink: Sink): Promise<void> {
  const zones = new Set<string>()
  await tables.read('buoys.csv', BUOY_COLUMNS, BUOY_COLUMNS.slice(0, REQUIRED_OF_BUOY), (cell) => {
    const record = buoyOf(cell, zones)
    if (typeof record === 'string') return record
    const ofSource = handles.get(record.source)
    if (ofSource === undefined) return 'this source is not in sources.csv'
    if (ofSource.has(record.identifier)) return 'a buoy with this source and identifier is listed above'
    ofSource.set(record.identifier, sink.buoy(record))
    return null
  })
}

/** Hands over the bytes of every table in a folder, which may be missing; returns how many files it has. */
async function eachCsv(
  folder: string,
  report: Report,
  take: (bytes: Buffer, file: FileReport, path: string) => void,
): Promise<number> {
  const { files: names, folders } = (await listFolder(folder)) ?? { files: [], folders: [] }
  const tables = names.filter((name) => /\.csv(\.gz)?$/i.test(name))
  const others = [...names.filter((name) => !tables.includes(name)), ...folders]
  doubtIgnored(
    report,
    others.map((name) => join(basename(folder), name)),
  )
  for (const name of tables) {
    const path = join(folder, name)
    const file = report.file(path)
    take(await readText(path, file), file, path)
  }
  return tables.length
}

async function readPasses(tables: Tables, handles: Handles): Promise<Iterable<PassRecord>> {
  const passes = new Map<string, PassRecord>()
  if (!tables.has('passes.csv')) return []
  await tables.read('passes.csv', PASS_COLUMNS, PASS_COLUMNS, (cell) => {
    const pass = passOf(cell)
    if (typeof pass === 'string') return pass
    if (passes.has(passKey(cell))) return 'a pass with this mission, cycle and number is listed above'
    passes.set(passKey(cell), pass)
    return null
  })
  if (!tables.has('pass_observations.csv')) return passes.values()
  await tables.read('pass_observations.csv', OBSERVATION_COLUMNS, OBSERVATION_COLUMNS, (cell) => {
    const pass = passes.get(passKey(cell))
    if (pass === undefined) return 'this mission, cycle and number are not in passes.csv'
    const buoy = handles.get(cleanName(cell('source')))?.get(cell('identifier'))
    if (buoy === undefined) return 'this source and identifier are not in buoys.csv'
    const time = secondsOf(cell('time'))
    if (time < pass.startedAt || time > pass.endedAt) return 'time is not within the pass'
    pass.observations.push({ buoy, time })
    return null
  })
  return passes.values()
}

async function readSpots(tables: Tables, sink: Sink): Promise<void> {
  if (!tables.has('spots.csv')) return
  const ids = new Set<number>()
  await tables.read('spots.csv', SPOT_COLUMNS, SPOT_COLUMNS, (cell) => {
    const spot = spotOf(cell)
    if (typeof spot === 'string') return spot
    if (ids.has(spot.id)) return 'a spot with this id is listed above'
    ids.add(spot.id)
    sink.spot(spot)
    return null
  })
}

async function readHarbours(tables: Tables): Promise<Iterable<HarbourRecord>> {
  const harbours = new Map<string, HarbourRecord>()
  if (!tables.has('harbours.csv')) return []
  await tables.read('harbours.csv', HARBOUR_COLUMNS, HARBOUR_COLUMNS, (cell) => {
    const harbour = harbourOf(cell)
    if (typeof harbour === 'string') return harbour
    if (harbours.has(harbour.identifier)) return 'a harbour with this identifier is listed above'
    harbours.set(harbour.identifier, harbour)
    return null
  })
  await tables.read('constituents.csv', CONSTITUENT_COLUMNS, CONSTITUENT_COLUMNS, (cell) => {
    const constituents = harbours.get(cell('harbour'))?.constituents
    if (constituents === undefined) return 'this harbour is not in harbours.csv'
    const constituent = constituentLineOf(cell)
    if (typeof constituent === 'string') return constituent
    if (constituents.some(({ name }) => name === constituent.name)) return 'this constituent is listed above'
    constituents.push(constituent)
    return null
  })
  return harbours.values()
}
