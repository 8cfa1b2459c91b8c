/**
 * The made-up sea: waves, wind and water of a place at a time. All places of one climate have the same weather,
 * which travels east, so neighbours agree. Hashes are integers, and what goes through `exp` is rounded later, so
 * platforms that differ in the last bit agree.
 */
import type { MeasureName } from '../../sea/columns.ts'
import { DAY, HOUR } from '../../sea/time.ts'
import data from './stations.json' with { type: 'json' }

/** Seconds between two readings of a buoy. */
export const STEP = HOUR / 2

/**
 * Medians of the significant height in m and of the peak period in s, in January and in July; the water in °C
 * at the end of February and of August; the median wind in km/h, and where it mostly comes from in degrees.
 */
const CLIMATES: { readonly [name: string]: typeof data.climates.biscay } = data.climates

export interface Place {
  lat: number
  lng: number
  readonly climate: string
  /** Factor on the climate's heights: below 1 in shelter. */
  readonly exposure: number
  /** Where waves mostly come from, degrees. */
  readonly direction: number
}

/** 32-bit mixing by two rounds of multiply and shift, with the constants published as "lowbias32". */
function mix(value: number): number {
  let x = value ^ (value >>> 16)
  x = Math.imul(x, 0x7feb352d)
  x ^= x >>> 15
  x = Math.imul(x, 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

export function keyOf(seed: number, name: string): number {
  let key = mix(seed)
  for (let i = 0; i < name.length; i++) key = mix(key ^ name.charCodeAt(i))
  return key
}

/** A uniform number in [−1, 1) of (key, index). */
export function draw(key: number, index: number): number {
  return mix(key ^ Math.imul(index, 0x9e3779b1)) / 0x80000000 - 1
}

/** Noise from −√3 to √3 with a variance of about one: drawn at whole numbers, smooth between. */
export function smoothNoise(key: number, at: number): number {
  const cell = Math.floor(at)
  const share = at - cell
  const begin = draw(key, cell)
  return Math.sqrt(3) * (begin + (draw(key, cell + 1) - begin) * share * share * (3 - 2 * share))
}

/** Between what is usual at the year's two ends; it is most like the first `day` days after New Year. */
function seasonal([first, second]: number[], time: number, day: number): number {
  const share = Math.cos((2 * Math.PI * (time / DAY - day)) / 365.2425)
  return (first + second + (first - second) * share) / 2
}

const wholeDegrees = (degrees: number): number => (Math.round(degrees) + 360) % 360

/** Every measure, in its unit, of the sea at a place as a function of epoch seconds; another `seed` is another sea. */
export function seaAt(place: Place, seed: number): (time: number) => { [name in MeasureName]: number } {
  const climate = CLIMATES[place.climate]
  const key = keyOf(seed, place.climate)
  return (time) => {
    // Weather takes two hours for a degree to the east, at some 40 km/h.
    const local = time - place.lng * 2 * HOUR
    const spell = smoothNoise(key, local / (10 * DAY))
    const weather = 0.8 * spell + 0.6 * smoothNoise(key + 1, local / (40 * HOUR))
    const breeze = smoothNoise(key + 2, local / (30 * HOUR))
    const gusts = smoothNoise(key + 3, local / HOUR)
    // The highest sea is 3.8 times the median, below 20 m everywhere.
    const height = seasonal(climate.height, time, 15) * place.exposure * Math.exp(0.55 * weather)
    const period = seasonal(climate.period, time, 15) * Math.exp(0.12 * weather)
    const direction = wholeDegrees(place.direction + 25 * smoothNoise(key + 4, local / (60 * HOUR)))
    // The height is the root of the energy, of which this share is swell.
    const swellShare = 0.65 - 0.12 * weather
    const windWaveHeight = height * Math.sqrt(1 - swellShare)
    const windSpeed = climate.wind * Math.exp(0.3 * weather + 0.2 * breeze)
    const windDirection = wholeDegrees(climate.windFrom + 50 * breeze)
    return {
      significantHeight: height,
      maximumHeight: height * (1.6 + 0.15 * gusts),
      // Peak over significant period: the median of measurements is 1.11.
      period: period / 1.11,
      peakPeriod: period,
      direction,
      waterTemperature: seasonal(climate.water, time, 58) - 0.7 * spell,
      windSpeed,
      windDirection,
      gustSpeed: windSpeed * (1.27 + 0.06 * gusts),
      swellHeight: height * Math.sqrt(swellShare),
      swellPeriod: period,
      swellDirection: direction,
      windWaveHeight,
      // A steepness 2πH/(gT²) of 0.04.
      windWavePeriod: Math.max(4 * Math.sqrt(windWaveHeight), 2),
      windWaveDirection: windDirection,
    }
  }
}
