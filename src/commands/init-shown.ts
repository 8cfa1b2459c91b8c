/** Shows a table for `init`: its first rows as they are read, and each station's place and interval. */
import { MEASURES, type MeasureName } from '../sea/columns.ts'
import { haversineKm } from '../sea/geo.ts'
import { isInland } from '../sea/inland.ts'
import type { BuoyRecord } from '../sea/records.ts'
import { NO_CODE, type RowBatch } from '../sea/row-batch.ts'
import { countryAt, countryName } from '../sea/territory.ts'
import { timestampText } from '../sea/time.ts'
import { readTowns } from '../index/places.ts'
import { readValues } from '../sources/reading/measured-values.ts'
import { type FileReport, type Report, type Sink, type Source, UNCOUNTED } from '../sources/source.ts'
import { type FoundTable, type Layout, textOf } from '../sources/tables/layout.ts'
import { counted } from '../system/text.ts'

const ROWS_SHOWN = 3
/** Characters of a cell. */
const CELL_SHOWN = 40

/** Units as people read them, by those of the measures. */
const UNITS: { readonly [unit: string]: string } = { degree: '°' }

const MOMENT = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** The first rows, the text of each cell beside what is read from it. */
export function rowsInWords({ look, table }: FoundTable, layout: Layout): string[] {
  const { time, measured } = layout
  const rows = look?.() ?? table
  const reader = time.reader()
  const codes = new Int32Array(measured.length)
  const lines: string[] = []
  while (lines.length < ROWS_SHOWN && rows.next()) {
    const text = textOf(rows, time.fields)
    const seconds = reader(text)
    if (seconds < 0 || !readValues(rows, measured, codes, UNCOUNTED)) continue
    const values = measured.flatMap(({ field, column: { name } }, i) =>
      codes[i] === NO_CODE ? [] : `${cell(rows.text(field))} is ${valueInWords(name, codes[i])}`,
    )
    lines.push(`line ${rows.row()}: ${cell(text)} is ${momentInWords(seconds)}; ${values.join(', ')}`)
  }
  return lines
}

const cell = (text: string): string => JSON.stringify(text.trim().slice(0, CELL_SHOWN))

const momentInWords = (seconds: number): string =>
  `${MOMENT.format(seconds * 1000).replace(' at ', ', ')} UTC`

function valueInWords(name: MeasureName, code: number): string {
  const { unit, scale } = MEASURES[name]
  const from = unit === 'degree' ? 'from ' : ''
  return `${name} ${from}${code / scale}${UNITS[unit] ?? ` ${unit}`}`
}

/** A town farther away says nothing of a place. */
const TOWN_REACH_KM = 150

/** "12 km from Nazaré, Portugal"; the position alone far from all land. */
function placeInWords(lat: number, lng: number): string {
  const country = countryAt(lat, lng)
  const named = country === null ? null : countryName(country)
  const near = readTowns().map((town) => ({ town, km: haversineKm(lat, lng, town.lat, town.lng) }))
  const nearest = near.reduce((best, one) => (one.km < best.km ? one : best))
  const where = named === null ? 'far from all land' : `${isInland(lat, lng) ? 'in' : 'off'} ${named}`
  const { town, km } = nearest
  if (km > TOWN_REACH_KM) return `${lat} ${lng}, ${where}`
  const land = countryName(town.country) ?? town.country
  return `${lat} ${lng}, ${Math.round(km)} km from ${town.name}, ${land}`
}

/** Counts what a source gives, without keeping its rows. */
interface TriedStation extends Pick<BuoyRecord, 'identifier' | 'lat' | 'lng'> {
  rows: number
  first: number
  last: number
  /** The usual seconds from row to row; 0 for a single row. */
  interval: number
}

interface Trial {
  stations: TriedStation[]
  /** Stations without a position. */
  placeless: string[]
  /** By file: rows that were understood, and the first fault. */
  files: Map<string, { rows: number; bad: number; fault: string }>
}

/** Reads a source as a build would. @throws BuildError as the source does */
export async function tryOut(source: Source, now: number): Promise<Trial> {
  const trial: Trial = { stations: [], placeless: [], files: new Map() }
  const report: Report = {
    maxBadShare: 0.1,
    doubt: () => undefined,
    withoutPosition: (identifiers) => void trial.placeless.push(...identifiers),
    file(path): FileReport {
      const counts = { rows: 0, bad: 0, fault: '' }
      trial.files.set(path, counts)
      return {
        rows: (count) => void (counts.rows += count),
        skipped: () => undefined,
        bad(line, reason, text, times = 1) {
          counts.fault ||= `line ${line}: ${reason}${text === undefined ? '' : `: ${cell(text)}`}`
          counts.bad += times
        },
        end: () => counts.bad <= 0.1 * (counts.bad + counts.rows),
      }
    },
  }
  const nothing = (): undefined => undefined
  const sink: Sink = {
    source: nothing,
    listed: nothing,
    buoy: ({ identifier, lat, lng }) =>
      trial.stations.push({ identifier, lat, lng, rows: 0, first: Infinity, last: -1, interval: 0 }) - 1,
    rows: (buoy, batch) => count(trial.stations[buoy], batch),
    spectra: nothing,
    pass: nothing,
    forecast: nothing,
    harbour: nothing,
    spot: nothing,
  }
  await source.read(sink, { asOf: null, now, report })
  return trial
}

function count(station: TriedStation, { time, length }: RowBatch): void {
  const times = time.subarray(0, length).toSorted()
  const steps = times.subarray(1).map((one, i) => one - times[i])
  station.rows += length
  station.first = Math.min(station.first, times[0] ?? Infinity)
  station.last = Math.max(station.last, times.at(-1) ?? -1)
  if (steps.length > 0) station.interval = steps.toSorted()[(steps.length - 1) >> 1]
}

export function stationInWords({ identifier, lat, lng, rows, first, last, interval }: TriedStation): string {
  const often = interval === 0 ? '' : `, one each ${durationInWords(interval)}`
  const span = rows === 0 ? '' : ` from ${timestampText(first)} to ${timestampText(last)}`
  return `${identifier} lies at ${placeInWords(lat, lng)}: ${counted(rows, 'row')}${span}${often}`
}

function durationInWords(seconds: number): string {
  if (seconds % 86_400 === 0) return counted(seconds / 86_400, 'day')
  if (seconds % 3600 === 0) return counted(seconds / 3600, 'hour')
  return seconds % 60 === 0 ? counted(seconds / 60, 'minute') : counted(seconds, 'second')
}
