/**
 * The law of the made-up sea: readings that are a pure function of (seed, buoy, time).
 *
 * Every quantity is a stationary Ornstein–Uhlenbeck path on the grid of absolute half-hours, built by
 * bisection: knots twelve time constants apart are independent draws, and each midpoint is drawn from its
 * exact law given its two neighbours. So any month can be made without the months before it, costs one draw
 * per sample, and is the same whatever window, cadence or `--as-of` asked for it.
 *
 * Random draws are integer hashes and paths are built with +, × and table values in a fixed order. What goes
 * through `exp`, `sqrt` or `atan2` is rounded to the source's resolution at once, so one platform's last bit
 * does not show.
 */
import type { Climate } from './climates.ts'
import { MEASURE_NAMES, MEASURES, type RowBatch } from '../../sea/columns.ts'
import { gaussian, mix, randomBits, uniform } from './chance.ts'

/** Seconds between two grid times; a step number is epoch seconds / STEP. */
export const STEP = 1800

export const STEPS_A_DAY = 48

/** The half-hours of a month of 31 days: the most that `fillRows` makes at once. */
export const STEPS_A_MONTH = 31 * STEPS_A_DAY

/** Spread of the logarithm of the significant height around its seasonal median. */
const LOG_HEIGHT_SPREAD = 0.5

/** Share of that variance in weather (τ 30 h); the rest is the slower succession of weather (τ 250 h). */
const FAST_SHARE = 0.3

/**
 * Above this logarithm (two spreads) storms grow more slowly than by the normal law, which would give seas of
 * 40 m where the median is 4 m.
 */
const STORM = 1

/** m; keeps maximum heights, at most 2.3 times as high, below the 50 m that a snapshot takes. */
const HIGHEST_SEA = 20

const DIRECTION_SPREAD = 25
const WATER_SPREAD = 0.8

/** A sea state does not pass this deep-water steepness 2πH/(gT²), as seconds per √metre. */
export const SHORTEST_PERIOD = Math.sqrt((2 * Math.PI) / (9.80665 * 0.06))

/** What a network's buoys publish, and how finely. */
export interface Instrument {
  /** Metres; of maximum heights too. */
  readonly heightStep: 0.1 | 0.01
  /** Seconds. */
  readonly periodStep: 1 | 0.1
  /**
   * `peak`: one period, the peak one; `both`: significant and peak; `significant`: no peak period; `none`.
   */
  readonly periods: 'peak' | 'both' | 'significant' | 'none'
  /** Median and logarithmic spread of maximum / significant height, where the network publishes a maximum. */
  readonly maximum?: { readonly median: number; readonly spread: number }
  readonly direction: boolean
  readonly water: boolean
  readonly wind: boolean
  /** Heights on full hours only; the half-hours between carry wind and temperature alone. */
  readonly wavesHourly?: boolean
}

export interface Site {
  /** From `siteKey`: equal keys are the same sea, gaps included. */
  readonly key: number
  readonly climate: Climate
  /** Factor on the climate's heights: below 1 in shelter. */
  readonly exposure: number
  /** Mean direction that waves come from, degrees. */
  readonly direction: number
  /** Degrees; sets the hour of the sea breeze. */
  readonly lng: number
  readonly instrument: Instrument
  /** Longest random outage, half-hours. */
  readonly longestOutage: number
  /** The sea itself: no row is missing. */
  readonly gapless?: true
}

/** A stationary path with mean 0, variance 1 and correlation e^(−lag/τ). */
export interface Path {
  readonly salt: number
  /** Half-hours between independent knots, a power of two. */
  readonly span: number
  /** Per level of bisection, widest first: weight of the two neighbours, and spread of the fresh draw. */
  readonly weight: Float64Array
  readonly spread: Float64Array
}

/** Makes the path with time constant `hours`; paths of one buoy with different salts are independent. */
export function path(hours: number, salt: number): Path {
  const tau = (hours * 3600) / STEP
  // Beyond 12 τ the correlation is below 1e-5: knots can be drawn independently.
  const levels = Math.ceil(Math.log2(12 * tau))
  const weight = new Float64Array(levels)
  const spread = new Float64Array(levels)
  for (let level = 0; level < levels; level++) {
    const r = Math.exp(-(2 ** (levels - 1 - level)) / tau)
    weight[level] = r / (1 + r * r)
    spread[level] = Math.sqrt((1 - r * r) / (1 + r * r))
  }
  return { salt: mix(salt), span: 2 ** levels, weight, spread }
}

const FAST_WAVES = path(30, 1)
const SLOW_WAVES = path(250, 2)
const PERIOD = path(20, 3)
const PERIOD_RATIO = path(20, 4)
const DIRECTION = path(20, 5)
const WATER = path(120, 6)
const WIND_EAST = path(24, 7)
const WIND_NORTH = path(24, 8)
const SALT_MAXIMUM = mix(9)
const SALT_GUST = mix(10)
const SALT_MISSING = mix(11)
const SALT_OUTAGE = mix(12)
const SALT_OUTAGE_START = mix(13)
const SALT_OUTAGE_LENGTH = mix(14)
const knots = new Float64Array(SLOW_WAVES.span + 1)

/**
 * Writes the path of `key` at steps from … to−1 into `out` (out[0] is step `from`), every `stride` steps: a
 * power of two that divides `from`.
 */
export function fillPath(
  path: Path,
  key: number,
  from: number,
  to: number,
  stride: number,
  out: Float64Array,
): void {
  const { span, weight, spread } = path
  const seed = mix(key ^ path.salt)
  for (let start = Math.floor(from / span) * span; start < to; start += span) {
    const low = Math.max(from - start, 0)
    const high = Math.min(to - start, span)
    knots[0] = gaussian(seed, start)
    knots[span] = gaussian(seed, start + span)
    let level = 0
    for (let half = span >> 1; half >= stride; half >>= 1) {
      const w = weight[level]
      const s = spread[level]
      const gap = half << 1
      // Only the intervals that meet low … high−1.
      for (let mid = low - (low % gap) + half; mid - half < high; mid += gap) {
        knots[mid] = w * (knots[mid - half] + knots[mid + half]) + s * gaussian(seed, start + mid)
      }
      level++
    }
    for (let i = low; i < high; i += stride) out[start - from + i] = knots[i]
  }
}

/**
 * Writes the logarithm of the significant height's ratio to its seasonal median; arguments as in `fillPath`.
 */
function fillLogHeight(key: number, from: number, to: number, stride: 1 | 2, out: Float64Array): void {
  fillPath(FAST_WAVES, key, from, to, stride, out)
  fillPath(SLOW_WAVES, key, from, to, stride, slow)
  for (let i = 0; i < to - from; i += stride) {
    const free = FAST_SCALE * out[i] + SLOW_SCALE * slow[i]
    out[i] = free > STORM ? STORM + 0.4 * (free - STORM) : free
  }
}

const FAST_SCALE = LOG_HEIGHT_SPREAD * Math.sqrt(FAST_SHARE)
const SLOW_SCALE = LOG_HEIGHT_SPREAD * Math.sqrt(1 - FAST_SHARE)

/** A climate day by day: constant within a day, which changes a height by less than one per cent. */
export interface Season {
  readonly logHeight: Float64Array
  readonly peakPeriod: Float64Array
  readonly water: Float64Array
  /** Mean speed, m/s: windier in the months with higher waves. */
  readonly wind: Float64Array
}

const seasons = new Map<Climate, Season>()

export function seasonOf(climate: Climate): Season {
  const known = seasons.get(climate)
  if (known !== undefined) return known
  const logHeights = climate.height.map((height) => Math.log(height))
  const meanLogHeight = logHeights.reduce((sum, value) => sum + value, 0) / 12
  const warmest = climate.water.hemisphere === 'north' ? 237 : 55
  const season: Season = {
    logHeight: new Float64Array(366),
    peakPeriod: new Float64Array(366),
    water: new Float64Array(366),
    wind: new Float64Array(366),
  }
  for (let day = 0; day < 366; day++) {
    // Straight lines from mid-month to mid-month.
    const month = ((day + 0.5) / 366) * 12 - 0.5
    const before = (Math.floor(month) + 12) % 12
    const after = (before + 1) % 12
    const share = month - Math.floor(month)
    const logHeight = logHeights[before] * (1 - share) + logHeights[after] * share
    season.logHeight[day] = logHeight
    season.peakPeriod[day] = climate.peakPeriod[before] * (1 - share) + climate.peakPeriod[after] * share
    season.water[day] =
      climate.water.mean + climate.water.swing * Math.cos((2 * Math.PI * (day - warmest)) / 365.25)
    season.wind[day] = climate.wind.speed * Math.exp(0.5 * (logHeight - meanLogHeight))
  }
  seasons.set(climate, season)
  return season
}

/** Sea breeze over the 48 half-hours of the local solar day: strongest at 15 h. */
const breeze = Float64Array.from(
  { length: STEPS_A_DAY },
  (_, step) => 1 + 0.15 * Math.cos((2 * Math.PI * (step - 30)) / STEPS_A_DAY),
)

/** Factor on the wind at a step and a longitude. */
export function breezeAt(step: number, lng: number): number {
  return breeze[(step + Math.round((lng / 360) * STEPS_A_DAY) + STEPS_A_DAY) % STEPS_A_DAY]
}

const MISSING_SHARE = 0.02

/** One outage at most begins in each stretch of this many half-hours (ten days), with this chance. */
const OUTAGE_STRETCH = 480

const OUTAGE_CHANCE = 0.3
const OUTAGE_MEDIAN = 4

// One outage in a hundred is longer than ten days: the 99th percentile of `gaussian` is 2.253.
const OUTAGE_LOG_SPREAD = Math.log(480 / OUTAGE_MEDIAN) / 2.253

/** The longest outage the law makes, half-hours: sixty days. */
export const LONGEST_OUTAGE = 60 * STEPS_A_DAY

/**
 * Marks the steps from … to−1 that a buoy did not report with 1 in `absent`, the others with 0: 2 % single
 * samples, and outages with a median of two hours.
 */
export function fillAbsent(
  key: number,
  longestOutage: number,
  from: number,
  to: number,
  absent: Uint8Array,
): void {
  const missing = mix(key ^ SALT_MISSING)
  const limit = MISSING_SHARE * 0x100000000
  for (let step = from; step < to; step++) absent[step - from] = randomBits(missing, step) < limit ? 1 : 0

  const first = Math.floor((from - longestOutage) / OUTAGE_STRETCH)
  for (let stretch = first; stretch * OUTAGE_STRETCH < to; stretch++) {
    if (uniform(key ^ SALT_OUTAGE, stretch) >= OUTAGE_CHANCE) continue
    const start = Math.floor((stretch + uniform(key ^ SALT_OUTAGE_START, stretch)) * OUTAGE_STRETCH)
    const length = OUTAGE_MEDIAN * Math.exp(OUTAGE_LOG_SPREAD * gaussian(key ^ SALT_OUTAGE_LENGTH, stretch))
    const end = start + Math.min(Math.ceil(length), longestOutage)
    if (end > from && start < to) absent.fill(1, Math.max(start - from, 0), Math.min(end, to) - from)
  }
}

const anomaly = new Float64Array(STEPS_A_MONTH)
const slow = new Float64Array(STEPS_A_MONTH)
const period = new Float64Array(STEPS_A_MONTH)
const ratio = new Float64Array(STEPS_A_MONTH)
const turn = new Float64Array(STEPS_A_MONTH)
const warmth = new Float64Array(STEPS_A_MONTH)
const east = new Float64Array(STEPS_A_MONTH)
const north = new Float64Array(STEPS_A_MONTH)
const absent = new Uint8Array(STEPS_A_MONTH)

/**
 * Replaces `batch` with a buoy's rows of steps from … to−1: every `stride` half-hours, ascending, without the
 * rows in the buoy's gaps.
 * @throws RangeError when the steps do not lie in one UTC month, or `from` is not a multiple of `stride`
 */
export function fillRows(batch: RowBatch, site: Site, from: number, to: number, stride: 1 | 2): void {
  batch.clear()
  if (to <= from) return
  const begin = new Date(from * STEP * 1000)
  const monthEnd = Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1, 1) / 1000 / STEP
  if (to > monthEnd || from % stride !== 0) throw new RangeError('steps outside one month')

  const { key, instrument } = site
  if (site.gapless === true) absent.fill(0, 0, to - from)
  else fillAbsent(key, site.longestOutage, from, to, absent)
  fillLogHeight(key, from, to, stride, anomaly)
  if (instrument.periods !== 'none') fillPath(PERIOD, key, from, to, stride, period)
  if (instrument.periods === 'both') fillPath(PERIOD_RATIO, key, from, to, stride, ratio)
  if (instrument.direction) fillPath(DIRECTION, key, from, to, stride, turn)
  if (instrument.water) fillPath(WATER, key, from, to, stride, warmth)
  if (instrument.wind) {
    fillPath(WIND_EAST, key, from, to, stride, east)
    fillPath(WIND_NORTH, key, from, to, stride, north)
  }

  const rows = Math.ceil((to - from) / stride)
  for (const name of MEASURE_NAMES) batch.columns[name].fill(MEASURES[name].missing, 0, rows)
  const time = batch.time
  let row = 0
  for (let i = 0; i < to - from; i += stride) {
    if (absent[i] === 0) time[row++] = (from + i) * STEP
  }
  batch.length = row

  const newYear = Date.UTC(begin.getUTCFullYear(), 0, 1) / 1000 / STEP
  const stretch: Stretch = { from, to, stride, newYear, season: seasonOf(site.climate) }
  fillWaves(batch, site, stretch)
  if (instrument.water) fillWater(batch, stretch)
  if (instrument.wind) fillWind(batch, site, stretch)
}

/** The steps from … to−1, every `stride` half-hours, of the year that begins with the step `newYear`. */
interface Stretch {
  readonly from: number
  readonly to: number
  readonly stride: number
  readonly newYear: number
  readonly season: Season
}

/** Codes are per thousandth for heights and periods, per hundredth for the rest (`columns.ts`). */
function fillWaves(
  batch: RowBatch,
  { instrument, key, direction, exposure }: Site,
  { from, to, stride, newYear, season }: Stretch,
): void {
  const { significantHeight, maximumHeight, peakPeriod } = batch.columns
  const significantPeriod = batch.columns.period
  const directions = batch.columns.direction
  const heightCodes = Math.round(instrument.heightStep * 1000)
  const periodCodes = Math.round(instrument.periodStep * 1000)
  const heightsPerMetre = 1000 / heightCodes
  const periodsPerSecond = 1000 / periodCodes
  const { periods, maximum } = instrument
  const maximumSeed = mix(key ^ SALT_MAXIMUM)
  const logExposure = Math.log(exposure)
  const hourly = instrument.wavesHourly === true

  let row = -1
  for (let i = 0; i < to - from; i += stride) {
    if (absent[i] !== 0) continue
    row++
    const step = from + i
    if (hourly && (step & 1) === 1) continue
    const day = ((step - newYear) / STEPS_A_DAY) | 0
    const logHeight = season.logHeight[day] + logExposure + anomaly[i]
    const height = Math.min(Math.exp(logHeight), HIGHEST_SEA)
    significantHeight[row] = Math.round(height * heightsPerMetre) * heightCodes
    if (maximum !== undefined) {
      const highest = height * maximum.median * Math.exp(maximum.spread * gaussian(maximumSeed, step))
      maximumHeight[row] = Math.round(highest * heightsPerMetre) * heightCodes
    }
    if (periods !== 'none') {
      // The spread follows the period: 2.1 s on an ocean coast, under 1 s in a closed sea.
      const usual = season.peakPeriod[day]
      const wanted = usual + 1.5 * anomaly[i] + 0.17 * usual * period[i]
      const peak = Math.min(Math.max(wanted, SHORTEST_PERIOD * Math.sqrt(height), 2), 22)
      const peakCode = Math.round(peak * periodsPerSecond) * periodCodes
      if (periods === 'both') {
        // Peak over significant period: measured median 1.11, one in twenty below 0.96.
        const significant = peak / Math.max(1.11 * Math.exp(0.13 * ratio[i]), 0.95)
        significantPeriod[row] = Math.round(significant * periodsPerSecond) * periodCodes
      } else {
        significantPeriod[row] = peakCode
      }
      if (periods !== 'significant') peakPeriod[row] = peakCode
    }
    if (instrument.direction) {
      directions[row] = wholeDegrees(direction + DIRECTION_SPREAD * turn[i]) * 100
    }
  }
}

function fillWater(batch: RowBatch, { from, to, stride, newYear, season }: Stretch): void {
  const water = batch.columns.waterTemperature
  let row = 0
  for (let i = 0; i < to - from; i += stride) {
    if (absent[i] !== 0) continue
    const day = ((from + i - newYear) / STEPS_A_DAY) | 0
    // Sea water freezes at −1.9 °C.
    const warm = Math.max(season.water[day] + WATER_SPREAD * warmth[i], -1.8)
    water[row++] = Math.round(warm * 10) * 10
  }
}

function fillWind(batch: RowBatch, site: Site, { from, to, stride, newYear, season }: Stretch): void {
  const { windSpeed, windDirection, gustSpeed } = batch.columns
  const gustSeed = mix(site.key ^ SALT_GUST)
  const prevailing = (site.climate.wind.from * Math.PI) / 180
  // A steady part from the prevailing direction and a varying one; together the mean speed is that of the
  // climate.
  const steadyEast = 0.6 * Math.sin(prevailing)
  const steadyNorth = 0.6 * Math.cos(prevailing)
  const solarShift = Math.round((site.lng / 360) * STEPS_A_DAY) + STEPS_A_DAY

  let row = 0
  for (let i = 0; i < to - from; i += stride) {
    if (absent[i] !== 0) continue
    const step = from + i
    const day = ((step - newYear) / STEPS_A_DAY) | 0
    const towardsEast = steadyEast + 0.72 * east[i]
    const towardsNorth = steadyNorth + 0.72 * north[i]
    const speed =
      season.wind[day] *
      breeze[(step + solarShift) % STEPS_A_DAY] *
      Math.sqrt(towardsEast * towardsEast + towardsNorth * towardsNorth)
    // Anemometers give tenths of a metre per second: 0.36 km/h.
    windSpeed[row] = Math.round(speed * 10) * 36
    gustSpeed[row] = Math.round(speed * (1.27 + 0.06 * gaussian(gustSeed, step)) * 10) * 36
    windDirection[row] = wholeDegrees((Math.atan2(towardsEast, towardsNorth) * 180) / Math.PI) * 100
    row++
  }
}

/** Rounded and brought to 0 … 359. */
export function wholeDegrees(degrees: number): number {
  return (Math.round(degrees) + 720) % 360
}
