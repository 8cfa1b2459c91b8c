/**
 * The law of the demonstration's sea: one sea for all places. Storms move over the oceans (`storms.ts`);
 * their swell comes to each coast when it has travelled there, their wind turns as they pass, and what places
 * have in common beside them changes slowly from one place to the next. Heights and periods keep the medians
 * of the coast's climate.
 *
 * All of it is a pure function of (seed, place, time): any month is the same whatever window asks for it. A
 * month of a place costs a pass over the trains of swell that reach it; nothing is allocated per row.
 */
import type { Climate } from './climates.ts'
import { gaussian, mix } from './chance.ts'
import { addWind, basinsAt, forEachSwell, stormsBetween, type Swell, type Window } from './storms.ts'
import {
  breezeAt,
  fillPath,
  path,
  seasonOf,
  SHORTEST_PERIOD,
  STEP,
  STEPS_A_DAY,
  STEPS_A_MONTH,
} from './waves.ts'

export interface Place {
  /** From `siteKey`: what the place has for itself. */
  readonly key: number
  readonly lat: number
  readonly lng: number
  readonly climate: Climate
  /** Factor on the climate's heights: below 1 in shelter. */
  readonly exposure: number
  /** Mean direction that waves come from, degrees. */
  readonly direction: number
}

const column = (): Float64Array => new Float64Array(STEPS_A_MONTH)

/** The sea at a place, step by step from the first one asked for. One object serves all. */
export interface SeaState {
  /** Significant height, m. */
  readonly height: Float64Array
  /** Peak period, s. */
  readonly period: Float64Array
  /** Degrees that waves come from, any whole turn. */
  readonly direction: Float64Array
  /**
   * Share of the swell in the energy of the waves, 0 … 1, its period in s, and where it comes from, degrees.
   */
  readonly swellShare: Float64Array
  readonly swellPeriod: Float64Array
  readonly swellDirection: Float64Array
  /** °C. */
  readonly water: Float64Array
  /** m/s, and degrees that it comes from. */
  readonly windSpeed: Float64Array
  readonly windDirection: Float64Array
}

export const SEA: SeaState = {
  height: column(),
  period: column(),
  direction: column(),
  swellShare: column(),
  swellPeriod: column(),
  swellDirection: column(),
  water: column(),
  windSpeed: column(),
  windDirection: column(),
}

/** What is common to neighbours lies on a grid of so many degrees; between its points it is interpolated. */
const CELL = 12
const CELLS_AROUND = 360 / CELL
const WIND_EAST = path(30, 21)
const WIND_NORTH = path(30, 22)
const WARMTH = path(120, 23)
const SALT_CELL = mix(24)
const SALT_NOISE = mix(25)

/**
 * Spread of the logarithm of the significant height around its seasonal median, and of single samples of it.
 */
const LOG_HEIGHT_SPREAD = 0.5
const SAMPLE_SPREAD = 0.03
/**
 * Two spreads above the median storms grow more slowly: else they would be of 40 m where the median is 4 m.
 */
const STORM = 1
const STORM_GROWTH = 0.4
/** m; keeps maximum heights, at most 2.3 times as high, below the 50 m that a snapshot takes. */
const HIGHEST_SEA = 20
/** s. */
const LONGEST_PERIOD = 22
/** What is always there of old swell, as share of the mean energy. */
const CALM = 0.12
/** Share of the local wind's waves in the mean energy: on an ocean, and in a closed sea. */
const WIND_SEA = { ocean: 0.15, closed: 0.6 } as const
/** Seas of storms with shorter waves are closed: m/s do there what swell does elsewhere. */
const CLOSED_PERIOD = 10
/** By so much the direction at a coast follows that of the open sea; the bottom turns the rest. */
const FOLLOWING = 0.55
/** m/s; above it winds grow more slowly. */
const GALE = 22
const GALE_GROWTH = 0.35
const WATER_SPREAD = 0.7
/** °C that a storm's mixing takes away, for each spread of the height's logarithm. */
const MIXING = 0.15
const RADIANS = Math.PI / 180

/** Sums over the trains of swell at a place, and the wind there. */
const energy = column()
const energyPeriod = column()
const fromEast = column()
const fromNorth = column()
const windEast = column()
const windNorth = column()
const scratch = column()

/** What a place's sums are measured against, so that its heights have the climate's medians and spread. */
interface Norm {
  readonly meanEnergy: number
  readonly meanPeriod: number
  readonly logMean: number
  readonly logSpread: number
}

const norms = new Map<string, Norm>()

/** A year that is never asked for as such: its months, every eight hours, give a place's norm. */
const NORM_YEAR = 2014
const NORM_STRIDE = 16

function normOf(place: Place): Norm {
  const name = `${place.key} ${place.lat} ${place.lng} ${place.direction}`
  const known = norms.get(name)
  if (known !== undefined) return known
  const energies: number[] = []
  const winds: number[] = []
  let [sum, periods] = [0, 0]
  for (let month = 0; month < 12; month++) {
    const from = Date.UTC(NORM_YEAR, month, 1) / 1000 / STEP
    const to = Date.UTC(NORM_YEAR, month + 1, 1) / 1000 / STEP
    sumUp(place, from, to, NORM_STRIDE)
    for (let i = 0; i < to - from; i += NORM_STRIDE) {
      energies.push(energy[i])
      winds.push(windPower(windEast[i], windNorth[i], place.climate.wind.speed))
      sum += energy[i]
      periods += energyPeriod[i]
    }
  }
  const meanEnergy = sum / energies.length
  const logs = energies.map((each, i) => Math.log(total(each / meanEnergy, winds[i], windShareOf(place))))
  const logMean = logs.reduce((all, each) => all + each, 0) / logs.length
  const variance = logs.reduce((all, each) => all + (each - logMean) ** 2, 0) / logs.length
  const norm = { meanEnergy, meanPeriod: periods / sum, logMean, logSpread: Math.sqrt(variance) }
  norms.set(name, norm)
  return norm
}

const windShareOf = ({ lat, lng }: Place): number =>
  basinsAt(lat, lng)[0].periods[1] < CLOSED_PERIOD ? WIND_SEA.closed : WIND_SEA.ocean

/** The energy of swell, wind sea and calm, in means of the swell's. */
function total(swell: number, wind: number, windShare: number): number {
  return (1 - windShare) * swell + windShare * wind + CALM
}

/** What the wind adds to the waves, as power of its ratio to the climate's mean. */
function windPower(east: number, north: number, meanSpeed: number): number {
  const squared = (east * east + north * north) / (meanSpeed * meanSpeed)
  return squared * Math.sqrt(squared)
}

/** Fills the sums of steps from … to−1, every `stride`. */
function sumUp(place: Place, from: number, to: number, stride: number): void {
  const { lat, lng, direction: facing } = place
  const length = to - from
  for (const sums of [energy, energyPeriod, fromEast, fromNorth]) sums.fill(0, 0, length)
  fillBackground(place, from, to, stride)
  const window = { from, to, stride }
  const facingPlace = { lat, lng, facing }
  const add = (swell: Swell): void => addSwell(swell, window)
  for (const basin of basinsAt(lat, lng)) {
    for (const storm of stormsBetween(basin, from, to)) {
      forEachSwell(basin, storm, facingPlace, window, add)
      if (storm.death > from) addWind(basin, storm, place, window, windEast, windNorth)
    }
  }
}

/** Adds a train: a smooth hump whose long waves come first. */
function addSwell(
  { arrival, halfLength, energy: peak, period, direction }: Swell,
  { from, to, stride }: Window,
): void {
  const begin = Math.max(0, Math.ceil((arrival - halfLength - from) / stride) * stride)
  const end = Math.min(to - from, arrival + halfLength - from)
  const east = Math.sin(direction * RADIANS)
  const north = Math.cos(direction * RADIANS)
  for (let i = begin; i < end; i += stride) {
    const u = (from + i - arrival) / halfLength
    const bell = 1 - u * u
    const share = peak * bell * bell
    energy[i] += share
    energyPeriod[i] += share * period * (1 - 0.12 * u)
    fromEast[i] += share * east
    fromNorth[i] += share * north
  }
}

/** The wind without storms: the climate's, and what neighbours have in common beside it. */
function fillBackground(place: Place, from: number, to: number, stride: number): void {
  const { speed, from: prevailing } = place.climate.wind
  fillCommon(WIND_EAST, place, from, to, stride, windEast)
  fillCommon(WIND_NORTH, place, from, to, stride, windNorth)
  const steadyEast = 0.55 * Math.sin(prevailing * RADIANS)
  const steadyNorth = 0.55 * Math.cos(prevailing * RADIANS)
  for (let i = 0; i < to - from; i += stride) {
    windEast[i] = speed * (steadyEast + 0.5 * windEast[i])
    windNorth[i] = speed * (steadyNorth + 0.5 * windNorth[i])
  }
}

/** A path of unit variance that is nearly the same at neighbouring places. */
function fillCommon(
  of: ReturnType<typeof path>,
  { lat, lng }: Place,
  from: number,
  to: number,
  stride: number,
  out: Float64Array,
): void {
  const [y, x] = [(lat + 90) / CELL, (lng + 180) / CELL]
  const [row, col] = [Math.floor(y), Math.floor(x)]
  out.fill(0, 0, to - from)
  let squares = 0
  for (const [down, up] of [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ]) {
    const weight = Math.abs(1 - down - (y - row)) * Math.abs(1 - up - (x - col))
    squares += weight * weight
    const cell = (row + down) * CELLS_AROUND + ((col + up) % CELLS_AROUND)
    fillPath(of, mix(SALT_CELL ^ cell), from, to, powerOfTwoIn(stride), scratch)
    for (let i = 0; i < to - from; i += stride) out[i] += weight * scratch[i]
  }
  const scale = 1 / Math.sqrt(squares)
  for (let i = 0; i < to - from; i += stride) out[i] *= scale
}

/** The largest power of two that divides a number. */
export const powerOfTwoIn = (value: number): number => value & -value

/**
 * Fills `SEA` with a place's sea at steps from … to−1: `SEA.height[0]` is that of `from`, and with a `stride`
 * only every so many steps are filled. The steps lie in one UTC month, and `stride` divides `from`.
 */
export function fillSea(place: Place, from: number, to: number, stride: number): void {
  const norm = normOf(place)
  const { key, climate, exposure, direction } = place
  sumUp(place, from, to, stride)
  fillCommon(WARMTH, place, from, to, stride, SEA.water)
  const season = seasonOf(climate)
  const newYear = Date.UTC(new Date(from * STEP * 1000).getUTCFullYear(), 0, 1) / 1000 / STEP
  const windShare = windShareOf(place)
  const logExposure = Math.log(exposure)
  const noise = mix(key ^ SALT_NOISE)
  for (let i = 0; i < to - from; i += stride) {
    const step = from + i
    const day = ((step - newYear) / STEPS_A_DAY) | 0
    const swell = (1 - windShare) * (energy[i] / norm.meanEnergy)
    const wind = windShare * windPower(windEast[i], windNorth[i], climate.wind.speed)
    const sum = swell + wind + CALM
    const spreads = (Math.log(sum) - norm.logMean) / norm.logSpread
    const free = LOG_HEIGHT_SPREAD * spreads
    const anomaly = free > STORM ? STORM + STORM_GROWTH * (free - STORM) : free
    const sampled = SAMPLE_SPREAD * gaussian(noise, step)
    const height = Math.min(Math.exp(season.logHeight[day] + logExposure + anomaly + sampled), HIGHEST_SEA)
    SEA.height[i] = height
    fillSwell(i, direction, swell, wind, sum)
    fillPeriod(i, season.peakPeriod[day], norm.meanPeriod, swell, wind, height)
    SEA.water[i] = season.water[day] + WATER_SPREAD * SEA.water[i] - MIXING * Math.max(spreads, 0)
    fillWind(i, season.wind[day] / climate.wind.speed, breezeAt(step, place.lng))
  }
}

/** Where swell, wind sea and all waves come from. What lies on a coast has turned towards it. */
function fillSwell(i: number, facing: number, swell: number, wind: number, sum: number): void {
  const length = energy[i] > 0 ? 1 / energy[i] : 0
  const turned = (east: number, north: number): number => {
    if (east === 0 && north === 0) return facing
    const from = Math.atan2(east, north) / RADIANS
    const off = ((((from - facing) % 360) + 540) % 360) - 180
    return facing + FOLLOWING * off
  }
  const windLength = Math.sqrt(windEast[i] ** 2 + windNorth[i] ** 2) || 1
  SEA.swellShare[i] = (swell + CALM) / sum
  SEA.swellDirection[i] = turned(fromEast[i], fromNorth[i])
  // Where nothing arrives, what is left of the old swell comes as it mostly does.
  const calmEast = CALM * Math.sin(facing * RADIANS)
  const calmNorth = CALM * Math.cos(facing * RADIANS)
  SEA.direction[i] = turned(
    swell * fromEast[i] * length + (wind * windEast[i]) / windLength + calmEast,
    swell * fromNorth[i] * length + (wind * windNorth[i]) / windLength + calmNorth,
  )
}

/** Periods as the climate has them in the mean: longer with swell from far, shorter with wind sea. */
function fillPeriod(
  i: number,
  usual: number,
  mean: number,
  swell: number,
  wind: number,
  height: number,
): void {
  const ratio = energy[i] > 0 ? energyPeriod[i] / energy[i] / mean : 0.85
  const swellPeriod = usual * (1.04 * Math.min(Math.max(ratio, 0.6), 1.6))
  const windPeriod = usual * 0.62
  const peak = (swell * swellPeriod + wind * windPeriod + CALM * usual * 0.9) / (swell + wind + CALM)
  SEA.swellPeriod[i] = Math.min(swellPeriod, LONGEST_PERIOD)
  SEA.period[i] = Math.min(Math.max(peak, SHORTEST_PERIOD * Math.sqrt(height), 2), LONGEST_PERIOD)
}

function fillWind(i: number, season: number, breeze: number): void {
  const factor = season * breeze
  const speed = factor * Math.sqrt(windEast[i] ** 2 + windNorth[i] ** 2)
  SEA.windSpeed[i] = speed > GALE ? GALE + GALE_GROWTH * (speed - GALE) : speed
  SEA.windDirection[i] = Math.atan2(windEast[i], windNorth[i]) / RADIANS
}
