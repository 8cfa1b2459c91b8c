/**
 * Our own plain format, for anybody with a database of buoys: a folder of CSV tables in the contract's units.
 * `docs/sources-csv.md` documents it for operators. Of each table the first columns are required.
 */
import { basename, join } from 'node:path'
import { constituentOf, MAX_AMPLITUDE } from '../../sea/tidal-constituents.ts'
import type { HarbourRecord, PassRecord } from '../../sea/records.ts'
import { MAX_CYCLE, MAX_PASS_NUMBER, missionOfSlug } from '../../sea/missions.ts'
import { isZone } from '../../sea/zones.ts'
import { cleanName, degreesOf, MOST_OF_CREDIT } from '../reading/fields.ts'
import {
  type Columns,
  degrees,
  endList,
  matching,
  oneOf,
  PLACE_COLUMNS,
  type ReadRecord,
  readTable,
  STATION_COLUMNS,
  Unfit,
  whole,
} from '../reading/text-table.ts'
import { doubtIgnored, listFolder, listSource, readText, takeDoubts } from '../reading/source-files.ts'
import type { FileReport, OpenSource, Report, Sink, SourceContext } from '../source.ts'
import {
  type ForecastPoints,
  forecastOf,
  gatherForecasts,
  type Handles,
  moment,
  sendReadings,
} from './csv-rows.ts'

const credit = (text: string): string => cleanName(text, MOST_OF_CREDIT)
const MISSION = {
  mission: matching((text) => missionOfSlug(text) !== undefined, 'is not the slug of a satellite mission'),
  cycle: whole(0, MAX_CYCLE),
  number: whole(1, MAX_PASS_NUMBER),
}
const NETWORKS = {
  name: (text: string) => matching((name) => /^[^"]+$/.test(name), 'is empty or has quotes')(cleanName(text)),
  network: oneOf('national', 'coastal', 'satellite'),
  credit,
  licence: credit,
}
const BUOYS = {
  source: cleanName,
  ...STATION_COLUMNS,
  country: matching((text) => /^([A-Z]{2})?$/.test(text), 'is not two capital letters'),
  timezone: matching(isKnownZone, 'is not an IANA time zone'),
  virtual: oneOf('true', 'false', '1', '0', ''),
}
const SPOTS = { id: whole(1, 0xffff_ffff), ...PLACE_COLUMNS }
const PASSES = {
  ...MISSION,
  started_at: moment,
  ended_at: moment,
  south: degrees(90),
  west: degrees(180),
  north: degrees(90),
  east: degrees(180),
}
const OBSERVATIONS = { ...MISSION, source: cleanName, identifier: String, time: moment }
/** m; chart datum lies within some metres of the sea. */
const MAX_DATUM_OFFSET = 20
const HARBOURS = {
  ...STATION_COLUMNS,
  datum_offset: degrees(MAX_DATUM_OFFSET),
  credit: (text: string) => matching((line) => line !== '', 'is empty')(credit(text)),
}
const CONSTITUENTS = {
  harbour: String,
  constituent: matching((text) => constituentOf(text) !== null, 'is not the name of a tidal constituent'),
  amplitude: (text: string) => {
    const amplitude = degreesOf(text, MAX_AMPLITUDE)
    if (!(amplitude >= 0)) throw new Unfit(`is not a number from 0 to ${MAX_AMPLITUDE}`)
    return amplitude
  },
  phase: degrees(360),
}

const zones = new Set([''])
function isKnownZone(name: string): boolean {
  return zones.has(name) || (isZone(name) && zones.add(name) === zones)
}

export const openCsv: OpenSource = (folder) => ({
  isControlled: true,
  read: (sink, context) => readCsv(folder, sink, context),
})

async function readCsv(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const { files } = await listSource('csv', folder)
  /** Reads a table. @throws BuildError when it is missing and must not be, or its header lacks a required column */
  const read = async <C extends Columns>(
    name: string,
    columns: C,
    required: number,
    take: ReadRecord<C>,
    isOptional = true,
  ): Promise<void> => {
    const path = join(folder, name)
    if (files.includes(name) || !isOptional) await readTable(path, report.file(path), columns, required, take)
  }

  const handles: Handles = new Map()
  await read(
    'sources.csv',
    NETWORKS,
    2,
    (network, cell) => {
      const { name, credit, licence } = network
      if (handles.has(name)) return 'a source with this name is listed above'
      const isCut = [cell('credit'), cell('licence')].some((text) => text.length > MOST_OF_CREDIT)
      const what = `a credit or licence is longer than ${MOST_OF_CREDIT} characters and is cut at a word`
      if (isCut) report.doubt({ what, examples: [name], isGrave: true })
      handles.set(name, new Map())
      const terms = { ...(credit !== '' && { credit }), ...(licence !== '' && { licence }) }
      sink.source({ name, network: network.network, ...terms })
      return null
    },
    false,
  )
  await read(
    'buoys.csv',
    BUOYS,
    5,
    ({ country, timezone, virtual, ...buoy }) => {
      const ofSource = handles.get(buoy.source)
      if (ofSource === undefined) return 'this source is not in sources.csv'
      if (ofSource.has(buoy.identifier)) return 'a buoy with this source and identifier is listed above'
      const record = {
        ...buoy,
        ...(country !== '' && { country }),
        ...(timezone !== '' && { timezone }),
        ...((virtual === 'true' || virtual === '1') && { virtual: true }),
      }
      ofSource.set(buoy.identifier, sink.buoy(record))
      return null
    },
    false,
  )
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

  const passes = new Map<string, PassRecord>()
  const keyOf = (pass: Pick<PassRecord, 'mission' | 'cycle' | 'number'>): string =>
    `${pass.mission} ${pass.cycle} ${pass.number}`
  await read('passes.csv', PASSES, 9, ({ mission, cycle, number, started_at, ended_at, ...bounds }) => {
    if (ended_at < started_at || bounds.south > bounds.north)
      return 'started_at and ended_at, or south and north, are not in this order'
    const key = keyOf({ mission, cycle, number })
    if (passes.has(key)) return 'a pass with this mission, cycle and number is listed above'
    passes.set(key, {
      mission,
      cycle,
      number,
      startedAt: started_at,
      endedAt: ended_at,
      bounds,
      observations: [],
    })
    return null
  })
  await read('pass_observations.csv', OBSERVATIONS, 6, ({ source, identifier, time, ...key }) => {
    const pass = passes.get(keyOf(key))
    if (pass === undefined) return 'this mission, cycle and number are not in passes.csv'
    const buoy = handles.get(source)?.get(identifier)
    if (buoy === undefined) return 'this source and identifier are not in buoys.csv'
    if (time < pass.startedAt || time > pass.endedAt) return 'time is not within the pass'
    pass.observations.push({ buoy, time })
    return null
  })
  for (const pass of passes.values()) sink.pass(pass)

  const ids = new Set<number>()
  await read('spots.csv', SPOTS, 4, (spot) => {
    if (ids.has(spot.id)) return 'a spot with this id is listed above'
    ids.add(spot.id)
    sink.spot(spot)
    return null
  })

  const harbours = new Map<string, HarbourRecord>()
  await read('harbours.csv', HARBOURS, 6, ({ datum_offset, ...harbour }) => {
    if (harbours.has(harbour.identifier)) return 'a harbour with this identifier is listed above'
    harbours.set(harbour.identifier, { ...harbour, datumOffset: datum_offset, constituents: [] })
    return null
  })
  const ofTide: ReadRecord<typeof CONSTITUENTS> = ({ harbour, constituent, amplitude, phase }) => {
    const constituents = harbours.get(harbour)?.constituents
    if (constituents === undefined) return 'this harbour is not in harbours.csv'
    const { name } = constituentOf(constituent)!
    if (constituents.some((known) => known.name === name)) return 'this constituent is listed above'
    constituents.push({ name, amplitude, phase })
    return null
  }
  await read('constituents.csv', CONSTITUENTS, 4, ofTide, !files.includes('harbours.csv'))
  for (const harbour of harbours.values()) {
    if (harbour.constituents.some(({ amplitude }) => amplitude > 0)) sink.harbour(harbour)
    else report.doubt({ what: 'a harbour without a tide is left out', examples: [harbour.identifier] })
  }
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
