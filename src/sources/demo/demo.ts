/**
 * `--source demo`: real buoys with a made-up sea (`demo-sea.ts`), passes, a forecast, harbours and spots. A
 * later `--as-of` moves the window and changes nothing inside it. Names, positions and identifiers are facts
 * of the public station lists. `harbours.json` has constituents of the Neaps tide database
 * (https://github.com/openwatersio/tide-database) 0.10.20260924, not for navigation. Left out are
 * constituents below 1 mm (2 mm RMS at most) and TICON-4's 3N2 (at most 3 mm), for its frequency is in doubt.
 * TICON-4's M1, 2MK5 and 2MO5 are turned to the phases of other publishers.
 */
import type { BuoyRecord, SourceInfo } from '../../sea/records.ts'
import { DAY, HOUR, monthOf, monthStart } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import type { OpenSource, Sink } from '../source.ts'
import { forecastsAround } from './demo-forecast.ts'
import { passesBetween } from './demo-passes.ts'
import { sendRows, timesBetween, type Fleet, type Mooring } from './demo-rows.ts'
import { scaleFleet, scaleOptions } from './demo-scale.ts'
import { keyOf, STEP } from './demo-sea.ts'
import harbours from './harbours.json' with { type: 'json' }
import data from './stations.json' with { type: 'json' }

interface Station extends Omit<Mooring, 'buoy' | 'lat' | 'lng' | 'key' | 'times'> {
  readonly record: BuoyRecord
  /** It is hourly before the last weeks. */
  readonly history?: boolean
  /** Hours before `--as-of` at which it stopped reporting; more than its history if it never did. */
  readonly silentHours?: number
}

const SEED = 1
/** Half-hourly readings reach back at least this long, as NDBC's do in real time. */
const RECENT = 45 * DAY
/** Passes reach back at least this long: the ten-day orbits pass every point once in that time. */
const PASSES = 10 * DAY
/** Whole years of readings before the year of `--as-of`: ten complete seasons, and one more. */
const HISTORY_YEARS = 11
/** Twenty years begin after 1970, and a week ahead fits 32 bits. */
const [FIRST, END] = [1991, 2106].map((year) => Date.UTC(year, 0) / 1000)
const lastHalfHour = (now: number): number => Math.floor(now / STEP) * STEP

/**
 * Opens the demonstration (argument '') or the scale generator (`scale,…`, see `demo-scale.ts`).
 * @throws BuildError for another argument
 */
export const openDemo: OpenSource = (argument) => {
  const [kind, ...options] = argument.split(',')
  if (kind !== 'scale' && argument !== '') {
    throw new BuildError('--source demo takes nothing, or scale,buoys=…,days=…,seed=…')
  }
  const scale = kind === 'scale' ? scaleOptions(options) : null
  return {
    isMadeUp: true,
    defaultAsOf: lastHalfHour,
    async read(sink, { asOf: given, now, report }) {
      const asOf = given ?? lastHalfHour(now)
      if (!(asOf >= FIRST && asOf < END)) throw new BuildError('the demo needs an --as-of from 1991 to 2105')
      const file = report.file('demo')
      const fleet = scale === null ? demoFleet(sink, asOf) : scaleFleet(sink, scale, asOf)
      await sendRows(sink, file, fleet, asOf)
      file.end()
    },
  }
}

/**
 * Sends everything but rows. Windows begin with a month, so that a build half an hour later leaves closed months
 * as they are.
 */
function demoFleet(sink: Sink, asOf: number): Fleet {
  for (const network of data.networks) sink.source(network as SourceInfo)
  const stations = (data.stations as Station[]).map(({ record, ...station }) => {
    const { lat, lng, virtual } = record
    return { ...station, lat, lng, virtual, buoy: sink.buoy(record) }
  })
  const virtual = stations.filter((station) => station.virtual)
  const passes = [...passesBetween(startOfMonth(asOf - PASSES), asOf, virtual)]
  const observations = passes.flatMap((pass) => pass.observations).toSorted((a, b) => a.time - b.time)
  for (const pass of passes) sink.pass(pass)
  for (const forecast of forecastsAround(stations, asOf, SEED)) sink.forecast(forecast)
  for (const harbour of harbours) sink.harbour(harbour)
  for (const spot of data.spots) sink.spot(spot)

  const from = Date.UTC(new Date(asOf * 1000).getUTCFullYear() - HISTORY_YEARS, 0, 1) / 1000
  const recent = startOfMonth(asOf - RECENT)
  const moorings = stations.map((station): Mooring => {
    const { buoy, lat, lng, history, silentHours = 0 } = station
    const passTimes = observations.filter((one) => one.buoy === buoy).map(({ time }) => time)
    return {
      ...station,
      // Networks that list one mooring have one sea and one instrument in it.
      key: keyOf(SEED, `${lat} ${lng}`),
      times(begin, end) {
        if (station.virtual) return passTimes.filter((time) => time >= begin && time < end)
        const every = begin >= recent ? STEP : history ? HOUR : 12 * HOUR
        return timesBetween(begin, Math.min(end, asOf + 1 - silentHours * HOUR), every)
      },
    }
  })
  return { moorings, seed: SEED, from, swellFrom: recent }
}

const startOfMonth = (time: number): number => monthStart(monthOf(time))
