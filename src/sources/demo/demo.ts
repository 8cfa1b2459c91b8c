/**
 * `--source demo`: real buoys with a made-up sea (`demo-sea.ts`), passes, a forecast, harbours and spots. A
 * later `--as-of` moves the window and changes nothing inside it. Names, positions and identifiers are facts
 * of the public station lists. `harbours.json` has constituents of the Neaps tide database
 * (https://github.com/openwatersio/tide-database) 0.10.20260924, not for navigation. Left out are
 * constituents below 1 mm (2 mm RMS at most) and TICON-4's 3N2 (at most 3 mm), for its frequency is in doubt.
 * TICON-4's M1, 2MK5 and 2MO5 are turned to the phases of other publishers.
 */
import { RowBatch } from '../../sea/row-batch.ts'
import type { BuoyRecord, HarbourRecord, SourceInfo, SpotRecord } from '../../sea/records.ts'
import { parseDate } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import type { OpenSource, Sink, Source, SourceContext } from '../source.ts'
import { forecastsAround } from './demo-forecast.ts'
import harbours from './harbours.json' with { type: 'json' }
import { sendPasses } from './demo-passes.ts'
import { fillRows, type Instrument, type Mooring, type Span } from './demo-rows.ts'
import { openScale } from './demo-scale.ts'
import { keyOf, lastHalfHour, Sea, STEP, type Climate } from './demo-sea.ts'
import data from './stations.json' with { type: 'json' }

interface Station {
  readonly source: string
  readonly identifier: string
  readonly name: string
  readonly lat: number
  readonly lng: number
  readonly country?: string
  readonly climate: string
  readonly exposure: number
  readonly direction: number
  readonly instrument?: Partial<Instrument>
  readonly history?: boolean
  readonly isMute?: boolean
  /** Hours before `--as-of` at which it stopped reporting. */
  readonly silentHours?: number
  readonly outage?: { readonly from: string; readonly days: number }
  /** The buoy always reports: documents and pictures show it. */
  readonly isGapless?: boolean
}

const { networks, climates, stations, spots } = data as unknown as {
  networks: { [name: string]: SourceInfo & { instrument: Instrument } }
  climates: { [name: string]: Climate }
  stations: Station[]
  spots: SpotRecord[]
}

const SEED = 1
const DAY = 86_400
const DAY_STEPS = DAY / STEP

/** Half-hourly readings reach back at least this long, as NDBC's do in real time. */
const RECENT_DAYS = 45

/** Whole years of readings before the year of `--as-of`: ten complete seasons, and one more. */
const HISTORY_YEARS = 11

const MOST_ROWS = (HISTORY_YEARS + 1) * 366 * 24

/** Half-hours from one reading to the next. */
const HOURLY = 2
const TWELVE_HOURLY = 24

/** Earlier years leave no room for the history, and later ones do not fit 32 bits. */
const FIRST_YEAR = 1970 + HISTORY_YEARS
const LAST_YEAR = 2105

/**
 * Opens `demo` (argument '') or the scale generator (argument `scale,…`, see `openScale`). The demonstration
 * has about forty buoys: half-hourly for 45 days, before that hourly (two buoys) or twelve-hourly for eleven
 * years, so that a first start is short. Windows begin with a month, so that a build half an hour later leaves
 * closed months as they are.
 * @throws BuildError for another argument
 */
export const openDemo: OpenSource = (argument) => {
  if (argument === 'scale' || argument.startsWith('scale,')) return openScale(argument.slice('scale,'.length))
  if (argument !== '') throw new BuildError('--source demo takes nothing, or scale,buoys=…,years=… or days=…')
  return demo
}

const demo: Source = {
  isMadeUp: true,
  defaultAsOf: lastHalfHour,
  async read(sink: Sink, context: SourceContext): Promise<void> {
    const asOf = context.asOf ?? lastHalfHour(context.now)
    const year = new Date(asOf * 1000).getUTCFullYear()
    if (!(year >= FIRST_YEAR && year <= LAST_YEAR)) {
      throw new BuildError(
        `the demonstration has no sea for that --as-of, only for ${FIRST_YEAR} to ${LAST_YEAR}`,
      )
    }
    const file = context.report.file('demo')
    const batch = new RowBatch(MOST_ROWS)
    for (const { instrument: _, ...source } of Object.values(networks)) sink.source(source)
    const moorings = stations.map((station) => ({
      ...mooringOf(station),
      station,
      buoy: sink.buoy(recordOf(station)),
    }))
    const virtual = moorings.filter(({ station }) => isVirtual(station))
    for (const mooring of moorings) {
      if (isVirtual(mooring.station)) continue
      const sea = new Sea(mooring, SEED)
      for (const span of spansOf(mooring.station, asOf)) {
        fillRows(batch, mooring, sea, span)
        if (batch.length > 0) sink.rows(mooring.buoy, batch)
        file.rows(batch.length)
      }
    }
    sendPasses(sink, file, virtual, asOf, SEED)
    for (const forecast of forecastsAround(moorings, asOf, SEED)) sink.forecast(forecast)
    for (const harbour of demoHarbours()) sink.harbour(harbour)
    for (const spot of spots) sink.spot(spot)
    file.end()
  },
}

const isVirtual = ({ source }: Station): boolean => source === 'altimetry'

function recordOf(station: Station): BuoyRecord {
  const { source, identifier, name, lat, lng, country } = station
  return {
    source: networks[source].name,
    identifier,
    name,
    lat,
    lng,
    ...(country !== undefined && { country }),
    ...(isVirtual(station) && { virtual: true }),
  }
}

function mooringOf({ source, climate, instrument, ...station }: Station): Mooring {
  return {
    ...station,
    // Networks that list one mooring have one sea and one instrument in it.
    key: keyOf(SEED, `${station.lat} ${station.lng}`),
    climate: climates[climate],
    instrument: { ...networks[source].instrument, ...instrument },
  }
}

function spansOf({ history, isMute, silentHours = 0, outage }: Station, asOf: number): Span[] {
  if (isMute === true) return []
  const end = Math.floor(asOf / STEP) + 1 - silentHours * 2
  const recent = new Date((asOf - RECENT_DAYS * DAY) * 1000)
  const recentFrom = Date.UTC(recent.getUTCFullYear(), recent.getUTCMonth(), 1) / 1000 / STEP
  const first = Date.UTC(new Date(asOf * 1000).getUTCFullYear() - HISTORY_YEARS, 0, 1) / 1000 / STEP
  const from = outage === undefined ? 0 : parseDate(outage.from)! / STEP
  const hole = outage === undefined ? {} : { outage: { from, to: from + outage.days * DAY_STEPS } }
  return [
    { from: first, to: Math.min(recentFrom, end), every: history === true ? HOURLY : TWELVE_HOURLY, ...hole },
    { from: recentFrom, to: end, every: 1, ...hole },
  ]
}

function demoHarbours(): HarbourRecord[] {
  return harbours.map(({ constituents, ...harbour }) => ({
    ...harbour,
    constituents: Object.entries(constituents).map(([name, [amplitude, phase]]) => ({
      name,
      amplitude,
      phase,
    })),
  }))
}
