/** What a buoy of the world is made of: what a person would say of it, and how its rows lie in time. */
import type { Swell, WorldRow } from './world.ts'

export const DAY = 86_400
export const MINUTE = 60

/** How the rows of a buoy are laid out in time, counted back from the world's time. */
export type Pattern =
  | { kind: 'none' }
  | { kind: 'every'; seconds: number; days: number; newestAgo: number }
  | { kind: 'wind only'; seconds: number; days: number }
  | { kind: 'at'; ago: number[] }

export const every = (seconds: number, days: number, newestAgo = 0): Pattern => ({
  kind: 'every',
  seconds,
  days,
  newestAgo,
})
/** Every three hours for two months. */
export const sparse = every(180 * MINUTE, 60)

/** What is known of a buoy without its rows. */
export interface Station {
  source: string
  identifier: string
  name: string
  lat: number
  lng: number
  /** ISO 3166-1 alpha-2; null in the middle of an ocean. */
  country: string | null
  timezone: string
}

export interface Plan extends Station {
  pattern: Pattern
  virtual?: boolean
  /** Overrides what the dice say, row by row (index counted from the oldest). */
  adjust?: (row: WorldRow, index: number) => void
  /** Rows written after the others. */
  extra?: (asOf: number) => WorldRow[]
}

export const NO_SWELL: Swell = {
  swellHeight: null,
  swellPeriod: null,
  swellDirection: null,
  windWaveHeight: null,
  windWavePeriod: null,
  windWaveDirection: null,
}

export const emptyRow = (time: number): WorldRow => ({
  time,
  significantHeight: null,
  maximumHeight: null,
  period: null,
  peakPeriod: null,
  direction: null,
  waterTemperature: null,
  windSpeed: null,
  windDirection: null,
  gustSpeed: null,
  ...NO_SWELL,
})

/** A row with all measures, of which only the height matters. */
export function fullRow(time: number, height: number): WorldRow {
  return {
    time,
    significantHeight: height,
    maximumHeight: 15.5,
    period: 11.5,
    peakPeriod: 12.25,
    direction: 271.5,
    waterTemperature: 11.1,
    windSpeed: 44.4,
    windDirection: 280,
    gustSpeed: 60.1,
    swellHeight: 1.25,
    swellPeriod: 14.2,
    swellDirection: 292.5,
    windWaveHeight: 0.4,
    windWavePeriod: 4.1,
    windWaveDirection: 22.5,
  }
}
