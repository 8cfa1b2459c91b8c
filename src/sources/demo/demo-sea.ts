/**
 * The made-up sea: waves, wind and water from place and time alone, by fields of noise that are smooth over
 * the globe and in time, so neighbours agree. Hashes are integers, and what goes through `exp` or `atan2` is
 * rounded, so platforms that differ in the last bit agree.
 */

/** Seconds between two grid times; a step is epoch seconds / STEP. */
export const STEP = 1800
const STEPS_A_DAY = 48

export const lastHalfHour = (now: number): number => Math.floor(now / STEP) * STEP

export interface Climate {
  /** Medians of the significant height in m and of the peak period in s, in January and in July. */
  readonly height: readonly [january: number, july: number]
  readonly period: readonly [january: number, july: number]
  /** °C, at the end of February and of August. */
  readonly water: readonly [february: number, august: number]
  /** Mean wind in m/s, and where it mostly comes from, degrees. */
  readonly wind: number
  readonly windFrom: number
}

interface Position {
  readonly lat: number
  readonly lng: number
}

export interface Place extends Position {
  readonly climate: Climate
  /** Factor on the climate's heights: below 1 in shelter. */
  readonly exposure: number
  /** Where waves mostly come from, degrees. */
  readonly direction: number
}

/** 32-bit mixing by two rounds of multiply and shift, with the constants published as "lowbias32". */
export function mix(value: number): number {
  let x = value ^ (value >>> 16)
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = Math.imul(x, 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

/** A uniform number in [0, 1) of (key, index). */
export function uniform(key: number, index: number): number {
  return mix(key ^ Math.imul(index, 0x9e3779b1)) / 0x100000000
}

/** A nearly normal number of (key, index), within ±3.45: the sum of four random bytes, with unit variance. */
export function gaussian(key: number, index: number): number {
  const bits = mix(key ^ Math.imul(index, 0x9e3779b1))
  const sum = (bits & 255) + ((bits >>> 8) & 255) + ((bits >>> 16) & 255) + (bits >>> 24)
  return (sum - 510) * BYTE_SUM_SCALE
}

// The variance of one uniform byte is (256² − 1) / 12.
const BYTE_SUM_SCALE = 1 / Math.sqrt((4 * (256 * 256 - 1)) / 12)

/** The key of a name, for gaps and for an instrument's noise. */
export function keyOf(seed: number, name: string): number {
  let key = mix(seed)
  for (let i = 0; i < name.length; i++) key = mix(key ^ name.charCodeAt(i))
  return key
}

/** Noise over the globe and time: drawn at the corners of its cells, interpolated between. */
interface Field {
  readonly salt: number
  /** Degrees of a cell; divides 360. */
  readonly cell: number
  readonly hours: number
}

const FIELDS = {
  /** Weather of days, and the slower succession of weather. */
  weather: { salt: mix(1), cell: 12, hours: 40 },
  spells: { salt: mix(2), cell: 24, hours: 240 },
  period: { salt: mix(3), cell: 12, hours: 60 },
  turn: { salt: mix(4), cell: 12, hours: 60 },
  swell: { salt: mix(5), cell: 24, hours: 96 },
  warmth: { salt: mix(6), cell: 24, hours: 240 },
  windEast: { salt: mix(7), cell: 12, hours: 30 },
  windNorth: { salt: mix(8), cell: 12, hours: 30 },
} as const satisfies { readonly [name: string]: Field }

const smooth = (share: number): number => share * share * (3 - 2 * share)

class Noise {
  readonly #steps: number
  readonly #corners: readonly { readonly key: number; readonly weight: number }[]
  /** The cell of time that was asked for last, and the values where it begins and ends. */
  #cell = NaN
  #begin = 0
  #end = 0

  constructor({ salt, cell, hours }: Field, seed: number, { lat, lng }: Position) {
    this.#steps = hours * 2
    const [x, y] = [(lng + 180) / cell, (lat + 90) / cell]
    const [column, row] = [Math.floor(x), Math.floor(y)]
    const [east, north] = [smooth(x - column), smooth(y - row)]
    const corners = [
      { column, row, weight: (1 - east) * (1 - north) },
      { column: column + 1, row, weight: east * (1 - north) },
      { column, row: row + 1, weight: (1 - east) * north },
      { column: column + 1, row: row + 1, weight: east * north },
    ]
    const length = Math.sqrt(corners.reduce((sum, { weight }) => sum + weight * weight, 0))
    this.#corners = corners.map((corner) => ({
      key: mix(mix(salt ^ seed) ^ (corner.row * 360 + (corner.column % (360 / cell)))),
      weight: corner.weight / length,
    }))
  }

  at(step: number): number {
    const cell = Math.floor(step / this.#steps)
    if (cell !== this.#cell) {
      this.#begin = this.#drawn(cell)
      this.#end = this.#drawn(cell + 1)
      this.#cell = cell
    }
    const share = smooth(step / this.#steps - cell)
    const rest = 1 - share
    return (rest * this.#begin + share * this.#end) / Math.sqrt(rest * rest + share * share)
  }

  #drawn(cell: number): number {
    return this.#corners.reduce((sum, { key, weight }) => sum + weight * gaussian(key, cell), 0)
  }
}

export interface SeaState {
  /** Significant height, m. */
  height: number
  period: number
  /** Degrees that waves come from, any whole turn. */
  direction: number
  /** Share of the swell in the energy of the waves, 0 to 1, its period in s, and where it comes from. */
  swellShare: number
  swellPeriod: number
  swellDirection: number
  /** °C. */
  water: number
  /** m/s, and degrees that it comes from. */
  windSpeed: number
  windDirection: number
}

const SHARE_OF_WEATHER = Math.sqrt(0.3)
const SHARE_OF_SPELLS = Math.sqrt(0.7)
const HEIGHT_SPREAD = 0.5
/** Spreads above the median where heights grow more slowly: a median of 4 m would else give 40 m. */
const STORM = 2
const STORM_GROWTH = 0.4
/** m; keeps maximum heights, at most 2.3 times as high, below the 50 m that a snapshot takes. */
const HIGHEST_SEA = 20
/** s. */
const LONGEST_PERIOD = 22
/** Seconds per √metre: no sea in deep water passes a steepness 2πH/(gT²) of 0.06. */
const SHORTEST_PERIOD = Math.sqrt((2 * Math.PI) / (9.80665 * 0.06))
/** m/s; above it winds grow more slowly. */
const GALE = 22
const GALE_GROWTH = 0.35
const RADIANS = Math.PI / 180

const YEAR_STEPS = 365.2425 * STEPS_A_DAY
/** Season from −1 to 1 through the year, highest `day` days after New Year. */
const season = (step: number, day: number): number =>
  Math.cos(2 * Math.PI * ((step - day * STEPS_A_DAY) / YEAR_STEPS))
const between = (first: number, second: number, share: number): number =>
  (first + second + (first - second) * share) / 2

/** The sea at one place; another `seed` is another sea. */
export class Sea {
  readonly #place: Place
  readonly #noise: { readonly [name in keyof typeof FIELDS]: Noise }
  readonly #logJanuary: number
  readonly #logJuly: number
  readonly #steadyEast: number
  readonly #steadyNorth: number

  constructor(place: Place, seed: number) {
    const { height, windFrom } = place.climate
    this.#place = place
    this.#logJanuary = Math.log(height[0] * place.exposure)
    this.#logJuly = Math.log(height[1] * place.exposure)
    this.#steadyEast = 0.6 * Math.sin(windFrom * RADIANS)
    this.#steadyNorth = 0.6 * Math.cos(windFrom * RADIANS)
    this.#noise = Object.fromEntries(
      Object.entries(FIELDS).map(([name, field]) => [name, new Noise(field, mix(seed), place)]),
    ) as { [name in keyof typeof FIELDS]: Noise }
  }

  at(step: number): SeaState {
    const { climate, direction, lng } = this.#place
    const noise = this.#noise
    const winter = season(step, 15)
    // Off Saint-Jean-de-Luz three tenths of the variance are weather of days.
    const free = SHARE_OF_WEATHER * noise.weather.at(step) + SHARE_OF_SPELLS * noise.spells.at(step)
    const weather = free > STORM ? STORM + STORM_GROWTH * (free - STORM) : free
    const median = between(this.#logJanuary, this.#logJuly, winter)
    const height = Math.min(Math.exp(median + HEIGHT_SPREAD * weather), HIGHEST_SEA)
    const usual = between(climate.period[0], climate.period[1], winter)
    const wanted = usual * (1 + 0.15 * noise.period.at(step)) + 0.7 * weather
    const period = Math.min(Math.max(wanted, SHORTEST_PERIOD * Math.sqrt(height), 2), LONGEST_PERIOD)
    const turn = noise.turn.at(step)
    const east = this.#steadyEast + 0.65 * noise.windEast.at(step)
    const north = this.#steadyNorth + 0.65 * noise.windNorth.at(step)
    const strength = climate.wind * breezeAt(step, lng) * Math.max(1 + 0.35 * weather, 0.3)
    const speed = strength * Math.sqrt(east * east + north * north)
    return {
      height,
      period,
      direction: direction + 25 * turn,
      swellShare: Math.min(Math.max(0.65 + 0.15 * noise.swell.at(step) - 0.12 * weather, 0.1), 0.95),
      swellPeriod: Math.min(1.1 * period, LONGEST_PERIOD),
      swellDirection: direction + 15 * turn,
      water: between(climate.water[0], climate.water[1], season(step, 58)) + 0.7 * noise.warmth.at(step),
      windSpeed: speed > GALE ? GALE + GALE_GROWTH * (speed - GALE) : speed,
      windDirection: Math.atan2(east, north) / RADIANS,
    }
  }
}

/** Winds are strongest in the afternoon, at three by the sun. */
const BREEZE = Array.from(
  { length: STEPS_A_DAY },
  (_, i) => 1 + 0.15 * Math.cos((2 * Math.PI * (i - 30)) / STEPS_A_DAY),
)

const breezeAt = (step: number, lng: number): number =>
  BREEZE[(step + Math.round((lng / 360) * STEPS_A_DAY) + STEPS_A_DAY) % STEPS_A_DAY]
