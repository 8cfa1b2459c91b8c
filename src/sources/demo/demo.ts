/**
 * `--source demo`: real buoys with a made-up sea, for a first look and for tests that need a whole data set.
 * Around them the rest of what the service answers: satellite passes with virtual buoys, a forecast of the
 * same sea, harbours with their real tides, and spots.
 *
 * Names, positions, networks and identifiers are facts of the public station lists; every reading follows the
 * law of `sea.ts`: one sea for all. A reading depends on buoy and time alone: a later `--as-of` moves the
 * window and changes nothing inside it.
 */
import { parseDate } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import type { BuoyRecord } from '../../sea/records.ts'
import { CLIMATES } from './climates.ts'
import { INSTRUMENTS, SOURCES, SPOTS, type Station, STATIONS, VIRTUAL_STATIONS } from './stations.ts'
import type { OpenSource, Sink, Source, SourceContext } from '../source.ts'
import { RowBatch } from '../../sea/columns.ts'
import { fillBuoyRows, type DemoBuoy } from './buoys.ts'
import { STEP } from './waves.ts'
import { demoHarbours } from './harbours.ts'
import { forecastsAround } from './forecast.ts'
import { openScale } from './scale.ts'
import { sendPasses } from './passes.ts'
import { siteKey } from './chance.ts'

const SEED = 1
const DAY = 86_400 / STEP

/** Half-hourly readings reach back at least this long: the longest period that NDBC keeps in real time. */
const RECENT_DAYS = 45

/** Whole years of readings before the year of `--as-of`: ten complete seasons, and one more. */
const HISTORY_YEARS = 11

/** Half-hours. */
const HOURLY = 2
const SIX_HOURLY = 12

/**
 * Random outages stay below a day, so that the same buoys are active whenever the demonstration starts. The
 * long outages are in the table, on purpose.
 */
const LONGEST_RANDOM_OUTAGE = 20 * (3600 / STEP)

/**
 * Years that `--as-of` may lie in: earlier ones leave no room for the history, and later ones do not fit 32
 * bits.
 */
const FIRST_YEAR = 1970 + HISTORY_YEARS

const LAST_YEAR = 2105

/**
 * Opens `demo` (argument '') or the scale generator (argument `scale,…`, see `openScale`).
 *
 * The demonstration holds about forty buoys: half-hourly from the first of the month in which the 45th day
 * before `--as-of` lies, and before that from 1 January eleven years earlier, hourly for five of them and
 * six-hourly for the others. Windows begin on those marks so that a build half an hour later leaves the
 * closed months as they are. There are passes and readings of virtual buoys from when the satellites flew
 * (2016), a forecast at most 20 km from every buoy, a dozen harbours and ten spots.
 *
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
    const batch = new RowBatch()
    for (const source of Object.values(SOURCES)) sink.source(source)
    const places = STATIONS.map((station) => {
      const [buoy, place] = [sink.buoy(recordOf(station)), placeOf(station)]
      for (const { from, to, every } of spansOf(station, asOf)) {
        fillBuoyRows(batch, place, from, to, every)
        if (batch.length > 0) sink.rows(buoy, batch)
        file.rows(batch.length)
      }
      return place
    })
    const virtual = VIRTUAL_STATIONS.map((station) => ({
      ...placeOf(station),
      buoy: sink.buoy(recordOf(station)),
    }))
    sendPasses(sink, file, virtual, asOf)
    for (const forecast of forecastsAround([...places, ...virtual], asOf)) sink.forecast(forecast)
    for (const harbour of demoHarbours()) sink.harbour(harbour)
    for (const spot of SPOTS) sink.spot(spot)
    file.end()
  },
}

function lastHalfHour(now: number): number {
  return Math.floor(now / STEP) * STEP
}

function recordOf({ source, identifier, name, lat, lng, country }: Station): BuoyRecord {
  return {
    source: SOURCES[source].name,
    identifier,
    name,
    lat,
    lng,
    ...(country !== undefined && { country }),
    ...(source === 'altimetry' && { virtual: true }),
  }
}

function placeOf(station: Station): DemoBuoy {
  return {
    key: siteKey(SEED, station.identifier),
    climate: CLIMATES[station.climate],
    exposure: station.exposure,
    direction: station.direction,
    lat: station.lat,
    lng: station.lng,
    instrument: { ...INSTRUMENTS[station.source], ...station.instrument },
    longestOutage: LONGEST_RANDOM_OUTAGE,
  }
}

interface Span {
  /** Half-hours since the epoch; `to` is exclusive. */
  from: number
  to: number
  /** Half-hours from one reading to the next. */
  every: number
}

/** The months of a station's window, ascending, cut at its outage on fixed dates. */
function spansOf(station: Station, asOf: number): Span[] {
  const end = Math.floor(asOf / STEP) + 1 - (station.silentDays ?? 0) * DAY
  const recent = new Date((asOf - RECENT_DAYS * 86_400) * 1000)
  const recentMonth = recent.getUTCFullYear() * 12 + recent.getUTCMonth()
  const firstMonth = (new Date(asOf * 1000).getUTCFullYear() - HISTORY_YEARS) * 12
  const before = station.history === true ? HOURLY : SIX_HOURLY
  const outage = station.outage === undefined ? Infinity : parseDate(station.outage[0])! / STEP
  const outageEnd = outage + (station.outage?.[1] ?? 0) * DAY

  const spans: Span[] = []
  for (let month = firstMonth; monthStart(month) < end; month++) {
    const from = monthStart(month)
    const to = Math.min(monthStart(month + 1), end)
    const every = month < recentMonth ? before : 1
    const until: Span = { from, to: Math.min(to, outage), every }
    const after: Span = { from: Math.max(from, outageEnd), to, every }
    if (outage >= to || outageEnd <= from) spans.push({ from, to, every })
    else spans.push(...[until, after].filter((span) => span.from < span.to))
  }
  return spans
}

/** First half-hour of a UTC month, counted year × 12 + month from 0. */
function monthStart(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12, 1) / 1000 / STEP
}
