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
  COLUMNS,
  DAY,
  every,
  fullRow,
  MINUTE,
  NO_SWELL,
  NO_WEATHER,
  NO_WIND,
  SPECIAL_PLANS,
  type Every,
  type Plan,
  type Station,
  type WorldRow,
} from './plans.ts'

export { COLUMNS, type Column, type Measures, type WorldRow } from './plans.ts'

interface WorldSource {
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
  /** By time. */
  spectra?: WorldSpectrum[]
}

/** Hz, m²/Hz, degrees; null where a band has no direction. */
export interface WorldSpectrum {
  time: number
  frequency: readonly number[]
  bandwidth: readonly number[]
  density: number[]
  direction: (number | null)[]
  r1: (number | null)[]
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
  /** Mean level, m. */
  datum_offset: number
  amplitude: number
  phase: number
  credit: string
}

/** Half an orbit of a satellite. */
export interface Pass extends Box {
  /** Its slug. */
  mission: string
  cycle: number
  number: number
  /** Epoch seconds. */
  started: number
  ended: number
  /** One may be there twice. */
  observations: { buoy: WorldBuoy; time: number }[]
}

/** Degrees. */
export interface Box {
  south: number
  west: number
  north: number
  east: number
}

export interface World {
  /** Epoch seconds of the newest reading. */
  asOf: number
  sources: WorldSource[]
  buoys: WorldBuoy[]
  forecasts: ForecastPoint[]
  spots: Spot[]
  harbours: Harbour[]
  passes: Pass[]
}

const SOURCES = [
  ['NDBC', 'national', 'NOAA National Data Buoy Center', 'public domain'],
  ['Candhis', 'coastal', 'Cerema', 'Licence Ouverte 2.0'],
  ['Météo-France', 'national', 'Météo-France', 'Licence Ouverte 2.0'],
  ['İSKI Deniz, Ağı & Søn', 'coastal', 'made up, with "quotes", and commas', ''],
  ['Altimetry', 'satellite', 'made up', ''],
].map(([name, network, credit, licence]) => ({ name, network, credit, licence }) as WorldSource)

const REGIONS = [
  { lat: 44.5, lng: -2.5, spread: 2.5, country: 'FR', timezone: 'Europe/Paris', source: 'Candhis' },
  { lat: 36, lng: -123, spread: 3, country: 'US', timezone: 'America/Los_Angeles', source: 'NDBC' },
  { lat: 21, lng: -158, spread: 2, country: 'US', timezone: 'Pacific/Honolulu', source: 'NDBC' },
  { lat: -34, lng: 151.7, spread: 2, country: 'AU', timezone: 'Australia/Sydney', source: 'Météo-France' },
  { lat: -12, lng: 48.5, spread: 1, country: 'YT', timezone: 'Indian/Mayotte', source: 'Météo-France' },
  { lat: 52, lng: -10.5, spread: 1.5, country: 'IE', timezone: 'Europe/Dublin', source: 'Météo-France' },
]

const WORDS = 'Bank Cap Pointe Bay Baie Île North Récif Deep Grand Port Anse'.split(' ')

function ordinaryPlans(chance: Chance, count: number): Plan[] {
  return Array.from({ length: count }, (_, index) => {
    const region = REGIONS[index % REGIONS.length]
    const around = (centre: number) => Number((centre + (chance.next() * 2 - 1) * region.spread).toFixed(3))
    return {
      source: region.source,
      identifier: `G${String(index).padStart(3, '0')}`,
      // Few words, so that names repeat and slugs clash.
      name: `${chance.pick(WORDS)} ${chance.pick(WORDS)}`,
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
  const chance = new Chance(seed)
  const asOf = Date.UTC(2026, 2, 27, 9) / 1000
  const plans = [...SPECIAL_PLANS, ...ordinaryPlans(chance, ordinary)]
  const buoys = plans.map(({ pattern, virtual = false, adjust, extra, ...station }): WorldBuoy => {
    const rows = pattern === null ? [] : rowsOf(station.source, pattern, asOf, chance)
    for (const [index, row] of rows.entries()) adjust?.(row, index)
    return { ...station, virtual, rows: [...rows, ...(extra?.(asOf) ?? [])] }
  })
  for (const buoy of buoys) {
    if (WITH_SPECTRA.has(buoy.name)) buoy.spectra = spectraOf(asOf, new Chance(seed + buoy.name.length))
  }
  return {
    asOf,
    sources: SOURCES,
    buoys,
    ...seaAround(buoys, asOf, new Chance(seed + 1)),
    passes: passesOver(buoys, asOf, new Chance(seed + 2)),
  }
}

const HOUR = 3600

/** Of the network NDBC. */
const WITH_SPECTRA = new Set(['East Hatteras', 'Cabrillo Point'])
const SETS = [
  // The first band ends below those that sums take, the second reaches them.
  { frequency: [0.02, 0.03, 0.05, 0.0775, 0.1, 0.16], bandwidth: [0.02, 0.005, 0.015, 0.025, 0.03, 0.07] },
  { frequency: [0.1, 0.2], bandwidth: [0.1, 0.12] },
]

function spectraOf(asOf: number, chance: Chance): WorldSpectrum[] {
  let time = asOf - 12 * DAY
  return Array.from({ length: 190 }, () => {
    time += 600 + chance.below(8800)
    const bands = SETS[Number(chance.percent(10))]
    const most = chance.below(bands.frequency.length)
    const density = bands.frequency.map((_, i) => {
      const hundredths = chance.below(chance.percent(20) ? 2 : 900)
      return (hundredths + (i === most ? 100 : 0)) / 100
    })
    const r1 = density.map(() => (chance.percent(15) ? null : chance.below(101) / 100))
    const direction = r1.map((share) => (share === null ? null : chance.below(36_000) / 100))
    return { time, ...bands, density, direction, r1 }
  })
}

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
    const turns = Number(east > 180) - Number(east < -180)
    return {
      // Folded back at a pole: many things at one point would be equally near to everything.
      lat: Number((Math.abs(north) > 90 ? Math.sign(north) * 180 - north : north).toFixed(3)),
      lng: Number((east - 360 * turns).toFixed(3)),
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
      datum_offset: between(-1, 3, 2),
      amplitude: between(0.2, 4, 2),
      phase: between(0, 359, 1),
      credit: `Made up, ${i % 2 === 0 ? 'CC0' : 'licence “x”'}`,
    })),
  }
}

/** Missions that have passes; others have none. */
const FLYING = ['sentinel-3a', 'sentinel-3b', 'swot', 'cryosat-2']

/**
 * Passes over the virtual buoys but the last two: some in one second, some at the edge of the active window.
 */
function passesOver(buoys: readonly WorldBuoy[], asOf: number, chance: Chance): Pass[] {
  const seen = buoys.filter(({ virtual }) => virtual).slice(0, -2)
  const edges = [DAY, DAY + 1, 0].map((ago) => ({ started: asOf - ago - 10, ended: asOf - ago + 10, of: 1 }))
  const others = Array.from({ length: 150 }, (_, i) => {
    const started = asOf - 1200 - (i < 60 ? chance.below(30) * HOUR : chance.below(40 * DAY))
    return { started, ended: started + 600 + chance.below(600), of: chance.below(5) }
  })
  return [...others, ...edges].map(({ started, ended, of }, i) => ({
    mission: chance.pick(FLYING),
    cycle: 81,
    number: i + 1,
    started,
    ended,
    south: -chance.below(80) - 0.5,
    west: Number((chance.below(360) - 179.123456).toFixed(6)),
    north: chance.below(80),
    east: chance.below(360) - 180,
    observations: Array.from({ length: of }, () => {
      // Many see a buoy in one second.
      const time = of === 1 ? (started + ended) / 2 : started + chance.below(2) * 600
      return { buoy: chance.pick(seen), time: Math.min(Math.floor(time), asOf) }
    }),
  }))
}

/** Nothing but buoys. */
export const NO_SEA = { forecasts: [], spots: [], harbours: [], passes: [] }

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

function rowsOf(source: string, pattern: Every, asOf: number, chance: Chance): WorldRow[] {
  const { seconds, days, newestAgo } = pattern
  const steps = Math.floor((days * DAY) / seconds)
  const times = Array.from({ length: steps + 1 }, (_, i) => asOf - newestAgo - (steps - i) * seconds)
  const isWavesOnly = source !== 'NDBC' && source !== 'Météo-France'
  return (
    times
      // Gaps, but never the newest: it decides who is active.
      .filter((_, i) => i === steps || chance.next() > 0.03)
      .map((time) => ({
        ...rollRow(time, chance),
        ...(isWavesOnly && NO_WIND),
        ...(source === 'Candhis' && { ...NO_SWELL, ...NO_WEATHER }),
      }))
  )
}

function rollRow(time: number, chance: Chance): WorldRow {
  const random = (): number => chance.next()
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
    ...rollWeather(new Chance(time + Math.round(height * 100))),
  }
}

function rollWeather(chance: Chance): typeof NO_WEATHER {
  if (chance.percent(30)) return NO_WEATHER
  const number = (least: number, most: number, digits: number): number | null =>
    chance.percent(15) ? null : Number((least + chance.next() * (most - least)).toFixed(digits))
  return {
    airTemperature: number(-30, 40, 1),
    dewPoint: number(-40, 30, 2),
    pressure: number(851, 1089, 1),
    humidity: number(2, 105, 0),
    visibility: number(0, 99, 2),
  }
}

/** Dice of their own, so that a row has the same other values with or without them. */
function rollSwell(chance: Chance): typeof NO_SWELL {
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

const cell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

type Cell = string | number | boolean | null

/** The members of the records that the header names; null and undefined are empty. */
function table(header: string, records: readonly object[]): string {
  const names = header.split(',')
  const lines = records.map((record) =>
    names.map((name) => cell(String((record as { [name: string]: Cell | undefined })[name] ?? ''))).join(),
  )
  return [header, ...lines, ''].join('\n')
}

const iso = (epoch: number) => new Date(epoch * 1000).toISOString().slice(0, 19)

/** The three spellings of a time that the folder may use, one after the other. */
function timeText(time: number, index: number): string {
  if (index % 3 === 0) return `${iso(time)}Z`
  return index % 3 === 1 ? String(time) : `${iso(time + 2 * HOUR)}+02:00`
}

/** Writes the spectra of the world, and the configuration that builds it with them from the `csv:` folder. */
export function writeWithSpectra(world: World, folder: string): string {
  const csv = join(folder, 'csv')
  writeCsv(world, csv)
  const json = join(folder, 'json')
  mkdirSync(json)
  const stations = world.buoys.filter(({ spectra }) => spectra !== undefined)
  for (const { identifier, spectra } of stations)
    writeFileSync(join(json, `${identifier}.json`), JSON.stringify(spectra))
  const names = ['frequency', 'bandwidth', 'density', 'direction', 'r1']
  const table = {
    time: { at: '/time', unit: 'seconds since 1970-01-01' },
    values: {},
    spectra: Object.fromEntries(names.map((name) => [name, `/${name}`])),
  }
  const options = {
    source: 'NDBC',
    network: 'national',
    stations: stations.map(({ identifier, name, lat, lng }) => ({ identifier, name, lat, lng })),
    tables: [table],
  }
  const sources = [
    { name: 'World', kind: 'csv', folder: csv },
    { name: 'Spectra', kind: 'json', folder: json, options },
  ]
  const file = join(folder, 'world.json')
  writeFileSync(file, JSON.stringify({ sources }))
  return file
}

/**
 * Writes the world as a `csv:` source folder, the readings in two files with their columns in different
 * orders.
 */
export function writeCsv(world: World, folder: string): void {
  for (const name of ['readings', 'forecast']) mkdirSync(join(folder, name), { recursive: true })
  const write = (name: string, header: string, records: readonly object[]) =>
    writeFileSync(join(folder, name), table(header, records))
  const { sources, buoys, forecasts, spots, harbours, passes } = world
  write('sources.csv', 'name,network,credit,licence', sources)
  write('buoys.csv', 'source,identifier,name,lat,lng,country,timezone,virtual', buoys)
  const columns = ['source', 'identifier', 'time', ...Object.keys(COLUMNS)]
  const names = Object.entries(COLUMNS)
  for (const [half, header] of [columns, columns.toReversed()].entries()) {
    const readings = buoys
      .filter((_, i) => i % 2 === half)
      .flatMap(({ source, identifier, rows }) =>
        rows.map((row, i) => ({
          source,
          identifier,
          time: timeText(row.time, i),
          ...Object.fromEntries(names.map(([column, measure]) => [column, row[measure]])),
        })),
      )
    write(join('readings', `${half}.csv`), header.join(), readings)
  }
  if (passes.length > 0) {
    const ofPasses = passes.map((pass, i) => ({
      ...pass,
      started_at: `${iso(pass.started)}Z`,
      ended_at: timeText(pass.ended, i),
    }))
    write('passes.csv', 'mission,cycle,number,started_at,ended_at,south,west,north,east', ofPasses)
    const seen = ofPasses.flatMap(({ observations, ...pass }) =>
      observations.map(({ buoy: { source, identifier }, time }, i) => ({
        ...pass,
        source,
        identifier,
        time: timeText(time, i),
      })),
    )
    write('pass_observations.csv', 'mission,cycle,number,source,identifier,time', seen)
  }
  if (forecasts.length === 0) return
  write(
    join('forecast', 'points.csv'),
    `lat,lng,run,model,time,${QUANTITY_NAMES.join()}`,
    forecasts.flatMap(({ rows, ...point }) => rows.map((row) => ({ ...point, ...row }))),
  )
  write('spots.csv', 'id,name,lat,lng', spots)
  write('harbours.csv', 'identifier,name,lat,lng,datum_offset,credit', harbours)
  write(
    'constituents.csv',
    'harbour,constituent,amplitude,phase',
    harbours.map((harbour) => ({ ...harbour, harbour: harbour.identifier, constituent: 'S2' })),
  )
}
