/**
 * A small made-up world of buoys, full of cases that go wrong easily, and the plain `csv:` source folder that
 * holds it.
 *
 * The same seed gives the same world. Nothing here knows the product: the world is what a person would write
 * down about it.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** The nine measured quantities of a row, in units of the contract; `null` is "not measured". */
export interface Measures {
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

export interface WorldBuoy {
  source: string
  identifier: string
  name: string
  lat: number
  lng: number
  /** ISO 3166-1 alpha-2; null in the middle of an ocean. */
  country: string | null
  timezone: string
  virtual: boolean
  /** In the order in which they are written: the later of two rows at one time wins. */
  rows: WorldRow[]
}

export interface World {
  /** Epoch seconds of the newest reading. */
  asOf: number
  sources: WorldSource[]
  buoys: WorldBuoy[]
}

const DAY = 86_400
const MINUTE = 60

/**
 * A small fast generator of uniform numbers in [0, 1) (mulberry32), so that worlds do not depend on
 * Math.random.
 */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How the rows of a buoy are laid out in time, counted back from the world's time. */
type Pattern =
  | { kind: 'none' }
  | { kind: 'every'; seconds: number; days: number; newestAgo: number }
  | { kind: 'wind only'; seconds: number; days: number }
  | { kind: 'at'; ago: number[] }

const every = (seconds: number, days: number, newestAgo = 0): Pattern => ({
  kind: 'every',
  seconds,
  days,
  newestAgo,
})
const sparse = every(180 * MINUTE, 60)

interface Plan {
  source: string
  identifier: string
  name: string
  lat: number
  lng: number
  country: string | null
  timezone: string
  pattern: Pattern
  virtual?: boolean
  /** Overrides what the dice say, row by row (index counted from the oldest). */
  adjust?: (row: WorldRow, index: number) => void
  /** Rows written after the others. */
  extra?: (asOf: number) => WorldRow[]
}

const emptyRow = (time: number): WorldRow => ({
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
})

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

const ndbc = { source: 'NDBC', country: 'US', timezone: 'America/New_York', pattern: sparse }
const candhis = { source: 'Candhis', country: 'FR', timezone: 'Europe/Paris', pattern: sparse }
const meteo = { source: 'Météo-France', country: 'FR', timezone: 'Europe/Paris', pattern: sparse }
const odd = { source: 'İSKI Deniz, Ağı & Søn', country: 'TR', timezone: 'Europe/Istanbul', pattern: sparse }
const point = { source: 'Altimetry', country: null, timezone: 'Etc/UTC', pattern: sparse, virtual: true }

/** The buoys that are there for a reason, each with the reason in its row. */
function specialPlans(): Plan[] {
  return [
    // Poles: every longitude is the same point there.
    { ...ndbc, identifier: 'NP000', name: 'North Pole', lat: 90, lng: 0, country: null, timezone: 'Etc/UTC' },
    {
      ...ndbc,
      identifier: 'NP120',
      name: 'North Pole',
      lat: 90,
      lng: 120,
      country: null,
      timezone: 'Etc/UTC',
    },
    {
      ...ndbc,
      identifier: 'SP',
      name: 'South Pole',
      lat: -90,
      lng: -45.5,
      country: 'AQ',
      timezone: 'Etc/UTC',
    },
    {
      ...ndbc,
      identifier: 'NP89',
      name: 'Nearly the Pole',
      lat: 89.9,
      lng: -179.9,
      country: null,
      timezone: 'Etc/UTC',
    },
    // The antimeridian from both sides, and on it with both signs.
    {
      ...ndbc,
      identifier: 'AM+180',
      name: 'Antimeridian',
      lat: -17,
      lng: 180,
      country: 'FJ',
      timezone: 'Pacific/Fiji',
    },
    {
      ...ndbc,
      identifier: 'AM-180',
      name: 'Antimeridian',
      lat: -17,
      lng: -180,
      country: 'FJ',
      timezone: 'Pacific/Fiji',
    },
    {
      ...ndbc,
      identifier: 'AMW',
      name: 'Taveuni East',
      lat: -16.8,
      lng: -179.95,
      country: 'FJ',
      timezone: 'Pacific/Fiji',
    },
    {
      ...ndbc,
      identifier: 'AME',
      name: 'Taveuni West',
      lat: -16.8,
      lng: 179.95,
      country: 'FJ',
      timezone: 'Pacific/Fiji',
    },
    { ...ndbc, identifier: 'ADAK', name: 'Aleutian Side', lat: 51.9, lng: -176.6, timezone: 'America/Adak' },
    // The origin and both zero lines.
    { ...ndbc, identifier: 'NULL', name: 'Null Island', lat: 0, lng: 0, country: null, timezone: 'Etc/UTC' },
    {
      ...ndbc,
      identifier: 'EQ',
      name: 'Equator',
      lat: 0,
      lng: -29.3,
      country: 'BR',
      timezone: 'America/Noronha',
    },
    // Ties: three at one place, one of them in another network, and two mirrored about the equator.
    {
      ...candhis,
      identifier: '06403',
      name: 'Saint-Jean-de-Luz',
      lat: 43.408,
      lng: -1.682,
      pattern: every(30 * MINUTE, 60),
    },
    { ...meteo, identifier: '06403', name: 'Saint-Jean-de-Luz', lat: 43.408, lng: -1.682 },
    { ...candhis, identifier: '06403B', name: 'SAINT JEAN DE LUZ', lat: 43.408, lng: -1.682 },
    {
      ...ndbc,
      identifier: 'MIRN',
      name: 'Mirror',
      lat: 7.25,
      lng: -140,
      country: null,
      timezone: 'Etc/GMT+9',
    },
    {
      ...ndbc,
      identifier: 'MIRS',
      name: 'mirror',
      lat: -7.25,
      lng: -140,
      country: 'PF',
      timezone: 'Pacific/Tahiti',
    },
    // Letters that fold, letters that do not, and letters whose lower case is two characters.
    { ...candhis, identifier: '02911', name: 'Les Pierres Noires', lat: 48.29, lng: -4.968 },
    { ...candhis, identifier: '02B04', name: 'La Révellata', lat: 42.57, lng: 8.65 },
    { ...candhis, identifier: '02b04', name: 'la revellata', lat: 42.571, lng: 8.651 },
    { ...candhis, identifier: 'É-12', name: 'ÉLÉPHANT (îlot)', lat: 47.31, lng: -3.3 },
    { ...odd, identifier: 'ist-1', name: 'İstanbul Boğazı', lat: 41.2, lng: 29.1 },
    { ...odd, identifier: 'ist-2', name: 'ISTANBUL BOGAZI', lat: 41.21, lng: 29.11 },
    {
      ...odd,
      identifier: 'ø7',
      name: 'Øresund Straße',
      lat: 55.7,
      lng: 12.7,
      country: 'DK',
      timezone: 'Europe/Copenhagen',
    },
    {
      ...odd,
      identifier: 'ñ',
      name: 'El Niño',
      lat: 43.4,
      lng: -3.1,
      country: 'ES',
      timezone: 'Europe/Madrid',
    },
    {
      ...odd,
      identifier: 'åland',
      name: 'Ålands hav',
      lat: 60.1,
      lng: 19.2,
      country: 'AX',
      timezone: 'Europe/Mariehamn',
    },
    // A combining accent that is spelled out: equal to the composed name after folding.
    {
      ...odd,
      identifier: 'decomposed',
      name: 'Cafe\u0301 Bank',
      lat: 36.1,
      lng: -5.4,
      country: 'GI',
      timezone: 'Europe/Gibraltar',
    },
    {
      ...odd,
      identifier: 'composed',
      name: 'Café Bank',
      lat: 36.1,
      lng: -5.4,
      country: 'GI',
      timezone: 'Europe/Gibraltar',
    },
    // Characters that a writer of CSV, JSON or HTML may trip over.
    { ...odd, identifier: "q'1,2", name: 'The "Quoted", Buoy', lat: 36.5, lng: 28.2 },
    { ...odd, identifier: 'b\\1', name: 'C:\\new\\table', lat: 36.6, lng: 28.3 },
    { ...odd, identifier: 'emoji', name: '🌊 Wave 🏄‍♀️ Point', lat: 36.7, lng: 28.4 },
    { ...odd, identifier: '<b>', name: '<script>alert(1)</script>', lat: 36.8, lng: 28.5 },
    { ...odd, identifier: 'ls', name: 'Zero\u200BWidth\u00ADEnd', lat: 36.9, lng: 28.6 },
    { ...odd, identifier: 'pct', name: '100 % + 50 & more = 150?', lat: 37, lng: 28.7 },
    // Names without a letter of the slug alphabet.
    {
      ...odd,
      identifier: 'gr',
      name: 'Αιγαίο',
      lat: 37.5,
      lng: 25.2,
      country: 'GR',
      timezone: 'Europe/Athens',
    },
    {
      ...odd,
      identifier: 'jp',
      name: '東京湾',
      lat: 35.3,
      lng: 139.7,
      country: 'JP',
      timezone: 'Asia/Tokyo',
    },
    {
      ...odd,
      identifier: 'dash',
      name: '---',
      lat: 37.6,
      lng: 25.3,
      country: 'GR',
      timezone: 'Europe/Athens',
    },
    // Names that are operations, and names that are numbers.
    { ...ndbc, identifier: 'OP1', name: 'Search', lat: 30, lng: -75 },
    { ...ndbc, identifier: 'OP2', name: 'search', lat: 30.1, lng: -75 },
    { ...ndbc, identifier: 'OP3', name: 'Map', lat: 30.2, lng: -75 },
    { ...ndbc, identifier: 'OP4', name: 'Nearest!', lat: 30.3, lng: -75 },
    { ...ndbc, identifier: 'OP5', name: 'Satellites', lat: 30.4, lng: -75 },
    { ...ndbc, identifier: 'OP6', name: 'Last readings', lat: 30.5, lng: -75 },
    { ...ndbc, identifier: 'OP7', name: 'Satellite passes', lat: 30.6, lng: -75 },
    { ...ndbc, identifier: 'NUM7', name: '7', lat: 30.7, lng: -75 },
    { ...ndbc, identifier: '12', name: '41001', lat: 30.8, lng: -75 },
    {
      ...ndbc,
      identifier: '41001',
      name: 'East Hatteras',
      lat: 34.746,
      lng: -72.415,
      pattern: every(30 * MINUTE, 60),
    },
    // Names that clash, one with the slug that the next clash would take.
    { ...ndbc, identifier: 'TW1', name: 'Twin', lat: 31, lng: -75 },
    { ...ndbc, identifier: 'TW2', name: 'Twin 2', lat: 31, lng: -75.1 },
    { ...ndbc, identifier: 'TW3', name: 'Twin', lat: 31, lng: -75.2 },
    { ...ndbc, identifier: 'TW4', name: 'twin', lat: 31, lng: -75.3 },
    { ...ndbc, identifier: 'TW5', name: 'Twin-2', lat: 31, lng: -75.4 },
    // Readings: none, wind only, old, and the day's edge from both sides.
    { ...ndbc, identifier: 'MUTE', name: 'Never Spoke', lat: 32, lng: -75, pattern: { kind: 'none' } },
    {
      ...meteo,
      identifier: 'WIND',
      name: 'Wind Only',
      lat: 45.23,
      lng: -5,
      pattern: { kind: 'wind only', seconds: 3600, days: 60 },
    },
    {
      ...ndbc,
      identifier: 'OLD',
      name: 'Silent Month',
      lat: 32.2,
      lng: -75,
      pattern: every(3600, 30, 30 * DAY),
    },
    {
      ...ndbc,
      identifier: 'EDGE',
      name: 'Edge Of Active',
      lat: 32.3,
      lng: -75,
      pattern: every(3600, 20, DAY),
    },
    {
      ...ndbc,
      identifier: 'PAST',
      name: 'Past The Edge',
      lat: 32.3,
      lng: -75,
      pattern: every(3600, 20, DAY + 1),
    },
    {
      ...ndbc,
      identifier: 'ONE',
      name: 'Single Reading',
      lat: 32.5,
      lng: -75,
      pattern: { kind: 'at', ago: [7201] },
    },
    {
      ...meteo,
      identifier: 'TAIL',
      name: 'Wind Tail',
      lat: 46,
      lng: -6,
      pattern: every(3600, 30, 7200),
      // Newer than every reading of the buoy, one even than the world's time, but no readings themselves.
      extra: (asOf) =>
        [5400, 3600, 0, -1800].map((ago) =>
          Object.assign(emptyRow(asOf - ago), {
            windSpeed: 31.4,
            windDirection: 359.99,
          }),
        ),
    },
    {
      ...ndbc,
      identifier: 'TWICE',
      name: 'Written Twice',
      lat: 32.6,
      lng: -75,
      pattern: every(3600, 10),
      extra: (asOf) => [0, 3600, 36_000].map((ago) => fullRow(asOf - ago, 9.87)),
    },
    {
      ...ndbc,
      identifier: 'SECONDS',
      name: 'Odd Seconds',
      lat: 32.7,
      lng: -75,
      pattern: every(3607, 30, 13),
    },
    // Values at their limits.
    {
      ...ndbc,
      identifier: 'ZERO',
      name: 'Flat Calm',
      lat: 33,
      lng: -75,
      adjust: (row, index) => {
        row.significantHeight = 0
        if (index % 2 === 0) row.period = 0
        row.waterTemperature = index % 3 === 0 ? 0 : -1.9
        row.windSpeed = 0
        row.windDirection = 0
      },
    },
    {
      ...candhis,
      identifier: 'LIMIT',
      name: 'Largest Of All',
      lat: 47,
      lng: -4,
      adjust: (row) => {
        row.significantHeight = 25
        row.maximumHeight = 50
        row.period = 30
        row.direction = 359.99
      },
    },
    {
      ...candhis,
      identifier: 'MILLI',
      name: 'Millimetres',
      lat: 47.1,
      lng: -4,
      adjust: (row, index) => {
        row.significantHeight = (1000 + (index % 997)) / 1000
        row.period = (8000 + (index % 991)) / 1000
      },
    },
    {
      ...meteo,
      identifier: 'ROSE',
      name: 'Compass Rose',
      lat: 43.4,
      lng: 7.8,
      pattern: every(3600, 60),
      // Sector borders, and runs of opposite directions whose mean does not exist.
      adjust: (row, index) => {
        row.direction =
          [0, 11.24, 11.25, 33.75, 90, 180, 270, 348.74, 348.75, 359.99, 360, 0.01][index % 12] ?? 0
        row.windDirection = index % 2 === 0 ? 90 : 270
      },
    },
    {
      ...candhis,
      identifier: 'BARE',
      name: 'Height Only',
      lat: 47.2,
      lng: -4,
      adjust: (row) => {
        Object.assign(row, { ...emptyRow(row.time), significantHeight: row.significantHeight })
      },
    },
    {
      ...ndbc,
      identifier: 'HALF',
      name: 'Half Without Waves',
      lat: 33.2,
      lng: -75,
      pattern: every(1800, 40),
      // A row without a height is not a reading, even with a period and a direction.
      adjust: (row, index) => {
        if (index % 2 === 1) row.significantHeight = null
      },
    },
    // Years of history, in zones with and without daylight saving.
    {
      ...meteo,
      identifier: '61001',
      name: 'Nice',
      lat: 43.38,
      lng: 7.83,
      country: 'MC',
      timezone: 'Europe/Monaco',
      pattern: every(6 * 3600, 4100),
    },
    {
      ...ndbc,
      identifier: '46240',
      name: 'Cabrillo Point',
      lat: 36.626,
      lng: -121.907,
      timezone: 'America/Los_Angeles',
      pattern: every(6 * 3600, 4100),
    },
    {
      ...candhis,
      identifier: '97403',
      name: 'Rivière des Galets',
      lat: -20.94,
      lng: 55.28,
      country: 'RE',
      timezone: 'Indian/Reunion',
      pattern: every(12 * 3600, 5200),
    },
    {
      ...ndbc,
      identifier: '44251',
      name: 'Nickerson Bank',
      lat: 46.44,
      lng: -53.39,
      country: 'CA',
      timezone: 'America/St_Johns',
      pattern: every(3600, 800),
    },
    // Sea points fed by satellites: in lists, search and map, never nearest.
    { ...point, identifier: 'V1', name: 'Point Nemo', lat: -48.876, lng: -123.393 },
    {
      ...point,
      identifier: 'V2',
      name: 'Biscay Point',
      lat: 43.408,
      lng: -1.682,
      country: 'FR',
      timezone: 'Europe/Paris',
    },
    {
      ...point,
      identifier: 'V3',
      name: 'Silent Point',
      lat: -48,
      lng: -123,
      pattern: every(3600, 5, 3 * DAY),
    },
    { ...point, identifier: 'V4', name: 'Map', lat: -30.5, lng: -120.25 },
    { ...point, identifier: 'V5', name: 'Empty Point', lat: -31.5, lng: -120.25, pattern: { kind: 'none' } },
  ]
}

function fullRow(time: number, height: number): WorldRow {
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
  }
}

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

/**
 * A world of about 120 buoys, the same for the same seed. Its newest reading is at 2026-03-27T09:00:00Z,
 * exactly.
 */
export function makeWorld(seed: number, ordinary = 46): World {
  const random = randomNumbers(seed)
  const asOf = Date.UTC(2026, 2, 27, 9) / 1000
  const plans = [...specialPlans(), ...ordinaryPlans(random, ordinary)]
  const buoys = plans.map((plan): WorldBuoy => {
    const rows = rowsOf(plan, asOf, random)
    for (const [index, row] of rows.entries()) plan.adjust?.(row, index)
    return {
      source: plan.source,
      identifier: plan.identifier,
      name: plan.name,
      lat: plan.lat,
      lng: plan.lng,
      country: plan.country,
      timezone: plan.timezone,
      virtual: plan.virtual ?? false,
      rows: [...rows, ...(plan.extra?.(asOf) ?? [])],
    }
  })
  return { asOf, sources: SOURCES, buoys }
}

/**
 * Three buoys of one network with a reading an hour for two days: enough where the data itself does not
 * matter.
 */
export function smallWorld(): World {
  const asOf = Date.UTC(2026, 2, 27, 9) / 1000
  const hours = Array.from({ length: 49 }, (_, index) => asOf - (48 - index) * 3600)
  const names = ['Alpha', 'Bravo', 'Charlie']
  return {
    asOf,
    sources: SOURCES.slice(0, 1),
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

function rowsOf(plan: Plan, asOf: number, random: () => number): WorldRow[] {
  const { pattern } = plan
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
  const wavesOnly = plan.source !== 'NDBC' && plan.source !== 'Météo-France'
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
  }
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
 * Writes the world as a `csv:` source folder: `sources.csv`, `buoys.csv`, and two files of readings with
 * their columns in different orders.
 */
export function writeCsv(world: World, folder: string): void {
  mkdirSync(join(folder, 'readings'), { recursive: true })
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
  const straight = [
    'source,identifier,time,significant_height,maximum_height,period,peak_period,direction,water_temperature,wind_speed,wind_direction,gust_speed',
  ]
  const turned = [
    'gust_speed,wind_direction,wind_speed,water_temperature,direction,peak_period,period,maximum_height,significant_height,time,identifier,source',
  ]
  for (const [position, buoy] of world.buoys.entries()) {
    for (const [index, row] of buoy.rows.entries()) {
      const cells = [
        buoy.source,
        buoy.identifier,
        timeText(row.time, index),
        row.significantHeight,
        row.maximumHeight,
        row.period,
        row.peakPeriod,
        row.direction,
        row.waterTemperature,
        row.windSpeed,
        row.windDirection,
        row.gustSpeed,
      ]
      if (position % 2 === 0) straight.push(line(cells))
      else turned.push(line(cells.reverse()))
    }
  }
  write(join('readings', 'a.csv'), straight)
  write(join('readings', 'b.csv'), turned)
}
