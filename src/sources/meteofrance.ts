/**
 * Météo-France's marine observations, a file a day: `marine.20241209.csv` or `bouees.20241209.csv`. `period`
 * is PwaPwa, the period of measured waves; temperatures are in kelvin, speeds in m/s, times UTC, `mq` is
 * missing.
 */
import { join } from 'node:path'
import type { MeasureName } from '../sea/columns.ts'
import { type RowHead, Stations, UNCOUNTED, WaitingRows } from './reading/stations.ts'
import { type FileReport, type OpenSource, type Sink, type SourceContext } from './source.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { eachRow, knownColumn, type TakeRow } from './reading/measured-values.ts'
import { isoTime, timeReader } from './reading/times.ts'
import { listOnly, readText, takeDoubts } from './reading/source-files.ts'
import { openText } from './reading/text-table.ts'

const SOURCE = 'Météo-France'

const DATA_FILE = /^(?:marine|bouees)\.\d{8}\.csv(?:\.gz)?$/i

/** Measure, name of its column, and the unit that the network's description gives, where it is not the contract's. */
const COLUMNS: readonly (readonly [MeasureName, string, string?])[] = [
  ['significantHeight', 'HwaHwa'],
  ['period', 'PwaPwa'],
  ['direction', 'dwadwa'],
  ['waterTemperature', 'tmer', 'K'],
  ['windSpeed', 'ff', 'm/s'],
  ['windDirection', 'dd'],
  ['gustSpeed', 'rafper', 'm/s'],
]

const NAMES: { readonly [identifier: string]: Partial<BuoyRecord> } = {
  '61001': { name: "Côte d'Azur" },
  '61002': { name: 'Golfe du Lion' },
  '62001': { name: 'Gascogne' },
  '62163': { name: 'Bretagne' },
}

export const openMeteofrance: OpenSource = (folder) => ({
  read: (sink, context) => readMeteofrance(folder, sink, context),
})

async function readMeteofrance(folder: string, sink: Sink, { report }: SourceContext): Promise<void> {
  const form = { wanted: DATA_FILE, called: 'marine.YYYYMMDD.csv' }
  const files = await listOnly('meteofrance', folder, report, form)
  const stations = new Stations()
  for (const name of files) {
    const path = join(folder, name)
    report.reads?.(path)
    readRows(await readText(path, UNCOUNTED), UNCOUNTED, ({ identifier, time, lat, lng }) =>
      stations.see(identifier, time, lat, lng, ''),
    )
  }
  sink.source({ name: SOURCE, network: 'national', credit: 'Météo-France', licence: 'Licence Ouverte 2.0' })
  const handles = stations.announce(sink, SOURCE, report, new Map(Object.entries(NAMES)))
  for (const name of files) {
    const path = join(folder, name)
    const file = report.file(path)
    const waiting = new WaitingRows(sink, takeDoubts(report, path))
    readRows(await readText(path, file), file, ({ identifier, time }, names, codes) => {
      const handle = handles.get(identifier)
      if (handle !== undefined) waiting.add(handle, time, names, codes)
    })
    waiting.end(file.end())
  }
}

const HEAD_COLUMNS = ['numer_sta', 'date', 'lat', 'lon']

function readRows(bytes: Buffer, file: FileReport, take: TakeRow<RowHead>): void {
  const table = openText(bytes, file)
  if (table === null) return
  const { labels } = table
  const [stationColumn, dateColumn, latColumn, lonColumn] = HEAD_COLUMNS.map((label) => labels.indexOf(label))
  if ([...HEAD_COLUMNS, 'HwaHwa'].some((label) => !labels.includes(label))) {
    file.bad(1, 'the header lacks numer_sta, date, lat, lon or HwaHwa')
    return
  }
  const measured = COLUMNS.filter(([, label]) => labels.includes(label)).map(([name, label, unit]) =>
    knownColumn(name, labels.indexOf(label), label, { unit }),
  )
  const headOf = (): RowHead | null => {
    const station = table.text(stationColumn)
    const time = momentOf(table.text(dateColumn))
    const [lat, lng] = [latColumn, lonColumn].map((column) => table.number(column) ?? Infinity)
    const isPlaced = !(Math.abs(lat) > 90) && !(lng < -180 || lng > 360)
    if (!/^[0-9A-Za-z]{1,12}$/.test(station) || time < 0 || !isPlaced) {
      file.bad(table.row(), 'no valid station, date or position', table.lineText())
      return null
    }
    const identifier = anchoredBuoy(station)
    if (identifier !== null) return { identifier, time, lat, lng }
    file.skipped('a ship or a drifting buoy')
    file.rows(1)
    return null
  }
  eachRow(table, measured, file, headOf, take)
}

/**
 * The five digits of an anchored buoy, else null. A WMO number of seven digits has two zeros after the area:
 * 4100300 is 41300. Ships have letters, and drifting buoys add 500 to the number after the area.
 */
function anchoredBuoy(station: string): string | null {
  if (!/^(?:\d{5}|\d{7})$/.test(station) || Number(station.slice(-3)) >= 500) return null
  return station.length === 7 && station.slice(2, 4) === '00'
    ? station.slice(0, 2) + station.slice(4)
    : station
}

const stamp = timeReader('YYYYMMDDHHmmss')!
/** Epoch seconds of a stamp or a time in ISO 8601, both UTC, or −1. */
const momentOf = (text: string): number => (/^\d{14}$/.test(text) ? stamp(text) : isoTime(text))
