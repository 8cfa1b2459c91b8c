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
  SPECIAL_PLANS,
  type Pattern,
  type Plan,
  type Station,
} from './plans.ts'

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
  /** Of readings, where `rows` are not all. */
  count?: number
  /** In the order in which they are written: the later of two rows at one time wins. */
  rows: WorldRow[]
}

export interface Place {
  lat: number
  lng: number
}

/** The columns of a forecast table, and the members of answers that have their values. */
export const QUANTITIES = {
  wave_height: 'waves_height',
  wave_period: 'waves_period',
  wave_direction: 'waves_direction',
  wind_speed: 'wind_speed',
  wind_direction: 'wind_direction',
  swell_height: 'swell_height',
  swell_period: 'swell_period',
  swell_direction: 'swell_direction',
} as const
export type Quantity = keyof typeof QUANTITIES
const QUANTITY_NAMES = Object.keys(QUANTITIES) as Quantity[]

export interface ForecastPoint extends Place {
  /** Epoch seconds. */
  run: number
  /** Empty where the file does not say it. */
  model: string
  /** By time, epoch seconds, in units of the contract. */
  rows: ({ time: number } & { [name in Quantity]: number | null })[]
}

export interface Spot extends Place {
  id: number
  name: string
}

/** A harbour with the solar half-day tide alone: no node moves it, so its height is a cosine of the clock. */
export interface Harbour extends Place {
  identifier: string
  name: string
  level: number
  amplitude: number
  phase: number
  credit: string
}

export interface World {
  /** Epoch seconds of the newest reading. */
  asOf: number
  sources: WorldSource[]
  buoys: WorldBuoy[]
  forecasts: ForecastPoint[]
  spots: Spot[]
  harbours: Harbour[]
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
  return { asOf, sources: SOURCES, buoys, ...seaAround(buoys, asOf, new Chance(seed + 1)) }
}

const HOUR = 3600

/** Forecast points, spots and harbours beside buoys. */
function seaAround(
  buoys: readonly WorldBuoy[],
  asOf: number,
  chance: Chance,
): Pick<World, 'forecasts' | 'spots' | 'harbours'> {
  const between = (least: number, most: number, digits: number): number =>
    Number((least + chance.next() * (most - least)).toFixed(digits))
  const beside = ({ lat, lng }: Place, degrees: number): Place => {
    const [north, east] = [lat, lng].map((from) => from + between(-degrees, degrees, 3))
    return {
      // Folded back at a pole: many things at one point would be equally near to everything.
      lat: Number((Math.abs(north) > 90 ? Math.sign(north) * 180 - north : north).toFixed(3)),
      lng: Number((east > 180 ? east - 360 : east < -180 ? east + 360 : east).toFixed(3)),
    }
  }
  const direction = (): number => (chance.percent(20) ? chance.below(4) * 90 : between(0, 359.99, 2))
  const forecastAt = (place: Place, i: number): ForecastPoint => {
    // Some know the wind alone, and some have gaps: of values, and of more hours than may be bridged.
    const isOfWaves = !chance.percent(15)
    const hasGaps = chance.percent(40)
    const maybe = (value: number): number | null => (hasGaps && chance.percent(15) ? null : value)
    const wave = (value: number): number | null => (isOfWaves ? maybe(value) : null)
    let time = Math.floor(asOf / HOUR - chance.below(100)) * HOUR
    const rows = Array.from({ length: 1 + chance.below(150) }, () => {
      time += hasGaps ? (chance.percent(90) ? 1 + chance.below(3) : 5 + chance.below(4)) * HOUR : HOUR
      return {
        time,
        wave_height: wave(between(0, 9, 3)),
        wave_period: wave(between(0, 18, 2)),
        wave_direction: wave(direction()),
        wind_speed: maybe(between(0, 90, 2)),
        wind_direction: maybe(direction()),
        swell_height: wave(between(0, 6, 3)),
        swell_period: wave(between(0, 20, 3)),
        swell_direction: wave(direction()),
      }
    })
    const model = ['', 'Spectral, 0.08°', 'Model “B”'][i % 3]
    return { ...place, run: asOf - chance.below(48) * HOUR, model, rows }
  }
  const places = [
    ...chance.some(buoys, 35).map((buoy) => beside(buoy, 0.06)),
    ...chance.some(buoys, 25).map((buoy) => beside(buoy, 0.5)),
  ]
  return {
    forecasts: places.map(forecastAt),
    spots: chance
      .some(buoys, 6)
      .map((buoy, i) => ({ id: 7 + i * 1000, name: `Spot ${i}, “reef”`, ...beside(buoy, 0.3) })),
    harbours: chance.some(buoys, 20).map((buoy, i) => ({
      identifier: `h${i}`,
      name: `Port ${i} "Sud"`,
      ...beside(buoy, 1),
      level: between(-1, 3, 2),
      amplitude: between(0.2, 4, 2),
      phase: between(0, 359, 1),
      credit: `Made up, ${i % 2 === 0 ? 'CC0' : 'licence “x”'}`,
    })),
  }
}

/** Nothing but buoys. */
export const NO_SEA = { forecasts: [], spots: [], harbours: [] }

/** Three buoys of one network, hourly for two days: enough where the data itself does not matter. */
export function smallWorld(): World {
  const asOf = Date.UTC(2026, 2, 27, 9) / 1000
  const hours = Array.from({ length: 49 }, (_, index) => asOf - (48 - index) * 3600)
  const names = ['Alpha', 'Bravo', 'Charlie']
  return {
    asOf,
    sources: SOURCES.slice(0, 1),
    ...NO_SEA,
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
const line = (cells: (string | number | boolean | null)[]) =>
  cells.map((value) => (value === null ? '' : cell(String(value)))).join(',')

/** The three spellings of a time that the folder may use, one after the other. */
function timeText(time: number, index: number): string {
  const iso = (epoch: number) => new Date(epoch * 1000).toISOString().slice(0, 19)
  if (index % 3 === 0) return `${iso(time)}Z`
  return index % 3 === 1 ? String(time) : `${iso(time + 2 * 3600)}+02:00`
}

/** Writes the world as a `csv:` source folder, the readings in two files with their columns in different orders. */
export function writeCsv(world: World, folder: string): void {
  for (const name of ['readings', 'forecast']) mkdirSync(join(folder, name), { recursive: true })
  type Cells = (string | number | boolean | null)[]
  const write = (name: string, header: string, rows: Cells[]) =>
    writeFileSync(join(folder, name), `${[header, ...rows.map(line)].join('\n')}\n`)
  const { sources, buoys, forecasts, spots, harbours } = world
  write(
    'sources.csv',
    'name,network,credit,licence',
    sources.map(({ name, network, credit, licence }) => [name, network, credit, licence]),
  )
  write(
    'buoys.csv',
    'source,identifier,name,lat,lng,country,timezone,virtual',
    buoys.map(({ source, identifier, name, lat, lng, country, timezone, virtual }) => [
      source,
      identifier,
      name,
      lat,
      lng,
      country,
      timezone,
      virtual,
    ]),
  )
  const names = ['source', 'identifier', 'time', ...Object.keys(COLUMNS)]
  const rowsOf = (some: readonly WorldBuoy[]): Cells[] =>
    some.flatMap(({ source, identifier, rows }) =>
      rows.map((row, i) => [
        source,
        identifier,
        timeText(row.time, i),
        ...Object.values(COLUMNS).map((measure) => row[measure]),
      ]),
    )
  const [straight, turned] = [0, 1].map((half) => rowsOf(buoys.filter((_, i) => i % 2 === half)))
  write(join('readings', 'a.csv'), names.join(), straight)
  write(
    join('readings', 'b.csv'),
    names.toReversed().join(),
    turned.map((cells) => cells.toReversed()),
  )
  if (forecasts.length === 0) return
  write(
    join('forecast', 'points.csv'),
    `lat,lng,run,model,time,${QUANTITY_NAMES.join()}`,
    forecasts.flatMap(({ lat, lng, run, model, rows }) =>
      rows.map((row) => [lat, lng, run, model, row.time, ...QUANTITY_NAMES.map((name) => row[name])]),
    ),
  )
  write(
    'spots.csv',
    'id,name,lat,lng',
    spots.map(({ id, name, lat, lng }) => [id, name, lat, lng]),
  )
  write(
    'harbours.csv',
    'identifier,name,lat,lng,datum_offset,credit',
    harbours.map(({ identifier, name, lat, lng, level, credit }) => [
      identifier,
      name,
      lat,
      lng,
      level,
      credit,
    ]),
  )
  write(
    'constituents.csv',
    'harbour,constituent,amplitude,phase',
    harbours.map(({ identifier, amplitude, phase }) => [identifier, 'S2', amplitude, phase]),
  )
}
