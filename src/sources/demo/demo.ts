/**
 * `--source demo`: real buoys with a made-up sea (`demo-sea.ts`), passes, a forecast, harbours and spots. A
 * later `--as-of` moves the window and changes nothing inside it. Names, positions and identifiers are facts
 * of the public station lists. `harbours.json` has constituents of the Neaps tide database
 * (https://github.com/openwatersio/tide-database) 0.10.20260924, not for navigation. Left out are
 * constituents below 1 mm (2 mm RMS at most) and TICON-4's 3N2 (at most 3 mm), for its frequency is in doubt.
 * TICON-4's M1, 2MK5 and 2MO5 are turned to the phases of other publishers.
 */
import { FORECAST_MEASURES, FORECAST_NAMES, type MeasureName } from '../../sea/columns.ts'
import { haversineKm, wrapLongitude } from '../../sea/geo.ts'
import type { BuoyRecord, ForecastRecord, PassRecord, SourceInfo } from '../../sea/records.ts'
import { DAY, HOUR, monthOf, monthStart } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import type { OpenSource, Sink } from '../source.ts'
import {
  draw,
  type Fleet,
  keyOf,
  type Mooring,
  type Place,
  seaAt,
  sendRows,
  smoothNoise,
  STEP,
  timesBetween,
} from './demo-sea.ts'
import harbours from './harbours.json' with { type: 'json' }
import { sendSpectra } from './demo-spectra.ts'
import data from './stations.json' with { type: 'json' }
import { missionOfSlug, passAt } from '../../sea/missions.ts'

interface Station extends Omit<Mooring, 'buoy' | 'lat' | 'lng' | 'key' | 'times'> {
  readonly record: BuoyRecord
  /**
   * Whole years before that of `--as-of`, more than usual: hourly in the last ones of them, three-hourly
   * before.
   */
  readonly history?: number
  /** Hours before `--as-of` at which it stopped reporting; more than its history if it never did. */
  readonly silentHours?: number
}

const SEED = 1
/** Half-hourly readings reach back at least this long, as NDBC's do in real time. */
const RECENT = 45 * DAY
/** Passes reach back at least this long: the ten-day orbits pass every point once in that time. */
const PASSES = 10 * DAY
/**
 * Whole years of readings before the year of `--as-of`: of one buoy enough for return levels, of some ten
 * complete seasons and one more, by the hour, and of most fewer.
 */
const LONGEST_YEARS = 20
const HOURLY_YEARS = 11
const USUAL_YEARS = 3
/** Twenty years begin after 1970, and a week ahead fits 32 bits. */
const [FIRST, END] = [1991, 2106].map((year) => Date.UTC(year, 0) / 1000)
const lastHalfHour = (now: number): number => Math.floor(now / STEP) * STEP

/**
 * Opens the demonstration (argument ''), or as many buoys for as long as a bench wants (`scale,…`).
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
      if (scale === null) sendSpectra(sink, file, fleet.moorings, fleet.seed, asOf)
      file.end()
    },
  }
}

/**
 * Sends everything but rows. Windows begin with a month, so that a build half an hour later leaves closed
 * months as they are.
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

  const year = new Date(asOf * 1000).getUTCFullYear()
  const yearsAgo = (years: number): number => Date.UTC(year - years, 0, 1) / 1000
  const hourlyFrom = yearsAgo(HOURLY_YEARS)
  const recent = startOfMonth(asOf - RECENT)
  const everyOf = (history: number | undefined, begin: number): number => {
    if (begin >= recent) return STEP
    if (history === undefined) return 12 * HOUR
    return begin >= hourlyFrom ? HOUR : 3 * HOUR
  }
  const moorings = stations.map((station): Mooring => {
    const { buoy, lat, lng, history, silentHours = 0 } = station
    const stationFrom = yearsAgo(history ?? USUAL_YEARS)
    const passTimes = observations.filter((one) => one.buoy === buoy).map(({ time }) => time)
    return {
      ...station,
      // Networks that list one mooring have one sea and one instrument in it.
      key: keyOf(SEED, `${lat} ${lng}`),
      times(begin, end) {
        if (station.virtual) return passTimes.filter((time) => time >= begin && time < end)
        if (begin < stationFrom) return []
        return timesBetween(begin, Math.min(end, asOf + 1 - silentHours * HOUR), everyOf(history, begin))
      },
    }
  })
  return { moorings, seed: SEED, from: yearsAgo(LONGEST_YEARS), swellFrom: recent }
}

const startOfMonth = (time: number): number => monthStart(monthOf(time))

/** Degrees: a grid point is at most 20 km from its buoy. */
const GRID = 0.25
const RUN_EVERY = 6 * HOUR

/**
 * The made-up sea to come on a model's grid, less exact the farther ahead: hourly from a day before `asOf`
 * (epoch seconds) to seven days ahead, one for each grid point.
 */
function forecastsAround(places: readonly Place[], asOf: number, seed: number): ForecastRecord[] {
  const runAt = Math.floor(asOf / RUN_EVERY) * RUN_EVERY
  const times = timesBetween(runAt - DAY, runAt + 7 * DAY + 1, HOUR)
  const onGrid = (degrees: number): number => Math.round(degrees / GRID) * GRID
  const points = places.map((place) => ({ ...place, lat: onGrid(place.lat), lng: onGrid(place.lng) }))
  const byName = new Map(points.map((point) => [`${point.lat} ${point.lng}`, point]))
  return Array.from(byName, ([name, point]) => {
    const key = keyOf(runAt, name)
    const states = times.map(seaAt(point, seed))
    const errors = times.map((time) => {
      // Error of the height's logarithm: at the run, and more with each day ahead.
      const spread = 0.03 + (0.02 * Math.max(time - runAt, 0)) / DAY
      return Math.exp(spread * smoothNoise(key, time / (DAY / 2)))
    })
    const lists = FORECAST_NAMES.map((name) => {
      const quantity = name in states[0] ? (name as MeasureName) : FORECAST_MEASURES[name]
      const exact = states.map((state, i) => state[quantity] * (name.endsWith('Height') ? errors[i] : 1))
      return [name, exact.map((value) => Math.round(value * 100) / 100)]
    })
    const { lat, lng } = point
    return { lat, lng, runAt, model: 'Demo model', times, values: Object.fromEntries(lists) }
  })
}

/** A pass gives a virtual buoy a reading if it crosses the buoy's latitude within this distance. */
const REACH_KM = 25
const RADIANS = Math.PI / 180

/**
 * Passes mission by mission, ascending, that begin after `from` and end at or before `to` (epoch seconds).
 */
function* passesBetween(
  from: number,
  to: number,
  buoys: readonly { buoy: number; lat: number; lng: number }[],
): Generator<PassRecord> {
  // Degrees of inclination, turns of the earth under the orbit in a cycle, and degrees east of the crossing
  // of the equator that the mission's numbers count from.
  for (const [slug, orbit] of Object.entries(data.orbits)) {
    const { phases } = missionOfSlug(slug)!
    const [{ from: begin, equator, days, passes }] = phases
    // A pass is half a turn of the satellite, from one turning point of the latitude to the next.
    const seconds = (days * DAY) / passes
    const speed = Math.PI / seconds
    const earthSpeed = (360 * orbit.turns) / (days * DAY)
    const [sin, cos] = [Math.sin(orbit.inclination * RADIANS), Math.cos(orbit.inclination * RADIANS)]
    const north = Math.round((Math.asin(sin) / RADIANS) * 1e4) / 1e4
    for (let n = Math.ceil((Math.max(from, begin) - equator) / seconds + 0.5); ; n++) {
      const crossing = equator + n * seconds
      const startedAt = Math.floor(crossing - seconds / 2) + 1
      const endedAt = Math.floor(crossing + seconds / 2)
      if (endedAt > to) break
      const numbered = passAt(phases, crossing)!
      const lngAt = (time: number): number => {
        const angle = speed * (time - crossing)
        const along = Math.atan2(cos * Math.sin(angle), Math.cos(angle)) / RADIANS
        return wrapLongitude(orbit.equatorLng + n * 180 + along - earthSpeed * (time - equator))
      }
      const observations = buoys.flatMap(({ buoy, lat, lng }) => {
        const angle = Math.asin(Math.sin(lat * RADIANS) / sin)
        const time = Math.round(crossing + (numbered.number % 2 === 1 ? angle : -angle) / speed)
        // The time is NaN where the orbit does not go so far from the equator.
        return haversineKm(lat, lng, lat, lngAt(time)) <= REACH_KM ? [{ buoy, time }] : []
      })
      const ends = [startedAt, endedAt].map((time) => Math.round(lngAt(time) * 1e4) / 1e4)
      // A track never reverses in longitude; an inclination above 90 degrees goes west.
      const [west, east] = cos > 0 ? ends : ends.toReversed()
      const bounds = { south: -north, west, north, east }
      yield { mission: slug, ...numbered, startedAt, endedAt, bounds, observations }
    }
  }
}

const RANGES = { buoys: [1, 5000], days: [1, 7300], seed: [0, 0xffffffff] }
type ScaleOptions = { [name in keyof typeof RANGES]: number }

/**
 * The options that follow `demo:scale,`, for instance `buoys=500,days=3653`. The defaults are about the size
 * of the real world.
 * @throws BuildError naming an option that is unknown or out of range, and what is allowed
 */
function scaleOptions(given: readonly string[]): ScaleOptions {
  const options: ScaleOptions = { buoys: 1200, days: 90, seed: 1 }
  for (const option of given) {
    const [, name, digits] = /^(buoys|days|seed)=([0-9]{1,10})$/.exec(option) ?? []
    const [min, max] = RANGES[name as keyof ScaleOptions] ?? [NaN, NaN]
    const value = Number(digits)
    if (!(value >= min && value <= max)) {
      const allowed = 'buoys from 1 to 5000, days from 1 to 7300, seed from 0 to 4294967295'
      throw new BuildError(`demo:scale: not ${JSON.stringify(option.slice(0, 20))}; allowed are ${allowed}`)
    }
    options[name as keyof ScaleOptions] = value
  }
  return options
}

/** Announces the buoys; their window ends at `asOf`, epoch seconds. */
function scaleFleet(sink: Sink, options: ScaleOptions, asOf: number): Fleet {
  const { buoys, days, seed } = options
  for (const network of data.scale.networks as SourceInfo[]) sink.source(network)
  const from = asOf - days * DAY + 1
  const moorings = Array.from({ length: buoys }, (_, n) => scaleMooring(sink, n, seed))
  return { moorings, seed, from, swellFrom: from }
}

/** Buoy n is at coast n mod 37; the first n buoys do not depend on how many are asked for. */
function scaleMooring(sink: Sink, n: number, seed: number): Mooring {
  const { name, country, climate, direction, ...coast } = data.coasts[n % data.coasts.length]
  const ordinal = Math.floor(n / data.coasts.length)
  const identifier = `S${String(n + 1).padStart(5, '0')}`
  const key = keyOf(seed, identifier)
  // Within four degrees of the coast's place.
  const near = (degrees: number, index: number): number =>
    Math.round((degrees + 4 * draw(key, index)) * 10_000) / 10_000
  const position = { lat: near(coast.lat, 1), lng: wrapLongitude(near(coast.lng, 2)) }
  // Of four buoys one is coastal, one measures as most sources do, and two are like NDBC's.
  const { source, instrument } = data.scale.kinds[(ordinal + (n % data.coasts.length)) % 4]
  return {
    ...position,
    climate,
    exposure: 0.9 + 0.3 * draw(key, 3),
    direction,
    instrument,
    key,
    buoy: sink.buoy({ source, identifier, name: `${name} ${ordinal + 1}`, ...position, country }),
    times: (begin, end) => timesBetween(begin, end, STEP),
  }
}
