/**
 * A small made-up world of buoys, full of cases that go wrong easily, and the plain `csv:` source folder that
 * holds it.
 *
 * The same seed gives the same world. Nothing here knows the product: the world is what a person would write
 * down about it.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Chance } from '../chance.ts'
import {
  DAY,
  emptyRow,
  every,
  fullRow,
  MINUTE,
  NO_SWELL,
  type Pattern,
  type Plan,
  type Station,
} from './plan.ts'
import { SPECIAL_PLANS } from './special-buoys.ts'

/** The measured quantities of a row, in units of the contract; `null` is "not measured". */
export interface Measures extends Swell {
  significantHeight: number | null
  maximumHeight: number | null
  period: number | null
  peakPeriod: number | null
  direction: number | null
  waterTemperature: number | null
  windSpeed: number | null
  windDirection: number | null
  gustSpeed: number | null
}

/** Of the swell and of the wind sea apart. */
export interface Swell {
  swellHeight: number | null
  swellPeriod: number | null
  swellDirection: number | null
  windWaveHeight: number | null
  windWavePeriod: number | null
  windWaveDirection: number | null
}

export interface WorldRow extends Measures {
  /** Epoch seconds, UTC. */
  time: number
}

export interface WorldSource {
  name: string
  network: 'national' | 'coastal' | 'satellite'
  credit: string
  licence: string
}

export interface WorldBuoy extends Station {
  virtual: boolean
  /** In the order in which they are written: the later of two rows at one time wins. */
  rows: WorldRow[]
}

/** A forecast for a full hour, in units of the contract. */
export interface ForecastHour {
  /** Epoch seconds. */
  time: number
  wave_height: number | null
  wave_period: number
  wave_direction: number
  wind_speed: number
  wind_direction: number
}

export interface WorldForecast {
  lat: number
  lng: number
  /** One after the other, without a gap. */
  hours: ForecastHour[]
}

export interface World {
  /** Epoch seconds of the newest reading. */
  asOf: number
  sources: WorldSource[]
  buoys: WorldBuoy[]
  forecasts: WorldForecast[]
}

/** Uniform numbers in [0, 1) from a seed. */
export function randomNumbers(seed: number): () => number {
  const chance = new Chance(seed)
  return () => chance.next()
}

const SOURCES: WorldSource[] = [
  { name: 'NDBC', network: 'national', credit: 'NOAA National Data Buoy Center', licence: 'public domain' },
  { name: 'Candhis', network: 'coastal', credit: 'Cerema', licence: 'Licence Ouverte 2.0' },
  { name: 'Météo-France', network: 'national', credit: 'Météo-France', licence: 'Licence Ouverte 2.0' },
  {
    name: 'İSKI Deniz, Ağı & Søn',
    network: 'coastal',
    credit: 'made up, with "quotes", and commas',
    licence: '',
  },
  { name: 'Altimetry', network: 'satellite', credit: 'made up', licence: '' },
]

const REGIONS = [
  { lat: 44.5, lng: -2.5, spread: 2.5, country: 'FR', timezone: 'Europe/Paris', source: 'Candhis' },
  { lat: 36, lng: -123, spread: 3, country: 'US', timezone: 'America/Los_Angeles', source: 'NDBC' },
  { lat: 21, lng: -158, spread: 2, country: 'US', timezone: 'Pacific/Honolulu', source: 'NDBC' },
  { lat: -34, lng: 151.7, spread: 2, country: 'AU', timezone: 'Australia/Sydney', source: 'Météo-France' },
  { lat: -12, lng: 48.5, spread: 1, country: 'YT', timezone: 'Indian/Mayotte', source: 'Météo-France' },
  { lat: 52, lng: -10.5, spread: 1.5, country: 'IE', timezone: 'Europe/Dublin', source: 'Météo-France' },
]

const WORDS = [
  'Bank',
  'Cap',
  'Pointe',
  'Bay',
  'Baie',
  'Île',
  'North',
  'Récif',
  'Deep',
  'Grand',
  'Port',
  'Anse',
]

function ordinaryPlans(random: () => number, count: number): Plan[] {
  const word = () => WORDS[Math.floor(random() * WORDS.length)] ?? 'Bank'
  return Array.from({ length: count }, (_, index) => {
    const region = REGIONS[index % REGIONS.length]
    const around = (centre: number) => Number((centre + (random() * 2 - 1) * region.spread).toFixed(3))
    return {
      source: region.source,
      identifier: `G${String(index).padStart(3, '0')}`,
      // Few words, so that names repeat and slugs clash.
      name: `${word()} ${word()}`,
      lat: around(region.lat),
      lng: around(region.lng),
      country: region.country,
      timezone: region.timezone,
      pattern: every((index % 4 === 0 ? 60 : 180) * MINUTE, 60, index % 7 === 6 ? 2 * DAY : index * 97),
    }
  })
}

/** A world of some 120 buoys, the same for a seed. Its newest reading is at 2026-03-27T09:00:00Z. */
export function makeWorld(seed: number, ordinary = 46): World {
  const random = randomNumbers(seed)
  const asOf = Date.UTC(2026, 2, 27, 9) / 1000
  const plans = [...SPECIAL_PLANS, ...ordinaryPlans(random, ordinary)]
  const buoys = plans.map(({ pattern, virtual = false, adjust, extra, ...station }): WorldBuoy => {
    const rows = rowsOf(station.source, pattern, asOf, random)
    for (const [index, row] of rows.entries()) adjust?.(row, index)
    return { ...station, virtual, rows: [...rows, ...(extra?.(asOf) ?? [])] }
  })
  return { asOf, sources: SOURCES, buoys, forecasts: forecastsFor(buoys, asOf, new Chance(seed + 1)) }
}

const HOUR = 3600

/** Near each third buoy a point of hourly forecasts, which begins and ends when it likes; some know the wind alone. */
function forecastsFor(buoys: readonly WorldBuoy[], asOf: number, chance: Chance): WorldForecast[] {
  const upTo = (most: number, digits: number): number => Number((chance.next() * most).toFixed(digits))
  const points = new Map<string, WorldForecast>()
  for (const { lat, lng } of chance.some(buoys, 35)) {
    const point = { lat: Number((lat - Math.sign(lat) * 0.05).toFixed(3)), lng }
    const isOfWaves = !chance.percent(15)
    const first = Math.floor(asOf / HOUR) * HOUR - chance.below(100) * HOUR
    const hours = Array.from({ length: 1 + chance.below(150) }, (_, i) => ({
      time: first + i * HOUR,
      wave_height: isOfWaves ? upTo(9, 2) : null,
      wave_period: upTo(18, 1),
      wave_direction: chance.below(360),
      wind_speed: upTo(90, 1),
      wind_direction: chance.below(360),
    }))
    points.set(`${point.lat} ${point.lng}`, { ...point, hours })
  }
  return [...points.values()]
}

/** Three buoys of one network, hourly for two days: enough where the data itself does not matter. */
export function smallWorld(): World {
  const asOf = Date.UTC(2026, 2, 27, 9) / 1000
  const hours = Array.from({ length: 49 }, (_, index) => asOf - (48 - index) * 3600)
  const names = ['Alpha', 'Bravo', 'Charlie']
  return {
    asOf,
    sources: SOURCES.slice(0, 1),
    forecasts: [],
    buoys: names.map((name, index) => ({
      source: 'NDBC',
      identifier: `S${index}`,
      name,
      lat: 30 + index,
      lng: -75,
      country: 'US',
      timezone: 'America/New_York',
      virtual: false,
      rows: hours.map((time) => fullRow(time, 1 + index)),
    })),
  }
}

function rowsOf(source: string, pattern: Pattern, asOf: number, random: () => number): WorldRow[] {
  const times: number[] = []
  if (pattern.kind === 'at') times.push(...pattern.ago.map((ago) => asOf - ago))
  if (pattern.kind === 'every' || pattern.kind === 'wind only') {
    const newest = asOf - (pattern.kind === 'every' ? pattern.newestAgo : 0)
    const steps = Math.floor((pattern.days * DAY) / pattern.seconds)
    for (let step = steps; step >= 0; step--) {
      // Gaps, but never the newest: it decides who is active.
      if (step === 0 || random() > 0.03) times.push(newest - step * pattern.seconds)
    }
  }
  const wavesOnly = source !== 'NDBC' && source !== 'Météo-France'
  return times.map((time) => {
    const row = rollRow(time, random)
    if (pattern.kind === 'wind only') {
      return Object.assign(emptyRow(time), {
        windSpeed: row.windSpeed,
        windDirection: row.windDirection,
        gustSpeed: row.gustSpeed,
      })
    }
    return wavesOnly
      ? Object.assign(row, {
          windSpeed: null,
          windDirection: null,
          gustSpeed: null,
          ...(source === 'Candhis' && NO_SWELL),
        })
      : row
  })
}

function rollRow(time: number, random: () => number): WorldRow {
  const upTo = (limit: number, digits: number) => Number((random() * limit).toFixed(digits))
  const maybe = (share: number, value: number): number | null => (random() < share ? value : null)
  const height = upTo(6, random() < 0.5 ? 1 : 2)
  const period = upTo(18, random() < 0.5 ? 0 : 1)
  const peak = random() < 0.5 ? period : upTo(20, 2)
  return {
    time,
    significantHeight: height,
    maximumHeight: maybe(0.6, Number((height * 1.6).toFixed(2))),
    period: maybe(0.9, period),
    peakPeriod: maybe(0.8, peak),
    direction: maybe(0.9, random() < 0.1 ? 0 : upTo(359, random() < 0.6 ? 0 : 2)),
    waterTemperature: maybe(0.85, Number((upTo(32, 2) - 2).toFixed(2))),
    windSpeed: maybe(0.8, upTo(120, 1)),
    windDirection: maybe(0.8, upTo(359, 0)),
    gustSpeed: maybe(0.5, upTo(150, 1)),
    ...rollSwell(new Chance(time + Math.round(height * 1000))),
  }
}

/** Dice of their own, so that a row has the same other values with or without them. */
function rollSwell(chance: Chance): Swell {
  if (chance.percent(30)) return NO_SWELL
  const number = (most: number, digits: number): number | null =>
    chance.percent(15) ? null : Number((chance.next() * most).toFixed(digits))
  return {
    swellHeight: number(5, 1),
    swellPeriod: number(20, 1),
    swellDirection: chance.percent(10) ? 360 : number(359.9, 1),
    windWaveHeight: number(3, 2),
    windWavePeriod: number(9, 1),
    windWaveDirection: number(359, 0),
  }
}

/** The measures by their columns. */
export const COLUMNS: { [column: string]: keyof Measures } = {
  significant_height: 'significantHeight',
  maximum_height: 'maximumHeight',
  period: 'period',
  peak_period: 'peakPeriod',
  direction: 'direction',
  water_temperature: 'waterTemperature',
  wind_speed: 'windSpeed',
  wind_direction: 'windDirection',
  gust_speed: 'gustSpeed',
  swell_height: 'swellHeight',
  swell_period: 'swellPeriod',
  swell_direction: 'swellDirection',
  wind_wave_height: 'windWaveHeight',
  wind_wave_period: 'windWavePeriod',
  wind_wave_direction: 'windWaveDirection',
}

const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const line = (cells: (string | number | null)[]) =>
  cells.map((value) => (value === null ? '' : cell(String(value)))).join(',')

/** The three spellings of a time that the folder may use, one after the other. */
function timeText(time: number, index: number): string {
  const iso = (epoch: number) => new Date(epoch * 1000).toISOString().slice(0, 19)
  if (index % 3 === 0) return `${iso(time)}Z`
  return index % 3 === 1 ? String(time) : `${iso(time + 2 * 3600)}+02:00`
}

/**
 * Writes the world as a `csv:` source folder: `sources.csv`, `buoys.csv`, two files of readings with their columns in
 * different orders, and one of forecasts.
 */
export function writeCsv(world: World, folder: string): void {
  for (const name of ['readings', 'forecast']) mkdirSync(join(folder, name), { recursive: true })
  const write = (name: string, lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
  write('sources.csv', [
    'name,network,credit,licence',
    ...world.sources.map((source) => line([source.name, source.network, source.credit, source.licence])),
  ])
  write('buoys.csv', [
    'source,identifier,name,lat,lng,country,timezone,virtual',
    ...world.buoys.map((buoy) =>
      line([
        buoy.source,
        buoy.identifier,
        buoy.name,
        buoy.lat,
        buoy.lng,
        buoy.country,
        buoy.timezone,
        String(buoy.virtual),
      ]),
    ),
  ])
  const names = ['source', 'identifier', 'time', ...Object.keys(COLUMNS)]
  const straight = [names.join()]
  const turned = [names.toReversed().join()]
  for (const [position, buoy] of world.buoys.entries()) {
    for (const [index, row] of buoy.rows.entries()) {
      const measures = Object.values(COLUMNS).map((measure) => row[measure])
      const cells = [buoy.source, buoy.identifier, timeText(row.time, index), ...measures]
      if (position % 2 === 0) straight.push(line(cells))
      else turned.push(line(cells.reverse()))
    }
  }
  if (world.forecasts.length > 0) {
    const quantities = [
      'wave_height',
      'wave_period',
      'wave_direction',
      'wind_speed',
      'wind_direction',
    ] as const
    write(join('forecast', 'points.csv'), [
      `lat,lng,run,time,${quantities.join()}`,
      ...world.forecasts.flatMap(({ lat, lng, hours }) =>
        hours.map((hour) =>
          line([lat, lng, hours[0].time, hour.time, ...quantities.map((name) => hour[name])]),
        ),
      ),
    ])
  }
  write(join('readings', 'a.csv'), straight)
  write(join('readings', 'b.csv'), turned)
}
