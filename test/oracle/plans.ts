/** The buoys of the world that are there for a reason, by reason, and what a buoy is made of. */
/** The measures by their columns. */
export const COLUMNS = {
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
  air_temperature: 'airTemperature',
  dew_point: 'dewPoint',
  pressure: 'pressure',
  humidity: 'humidity',
  visibility: 'visibility',
} as const
export type Column = keyof typeof COLUMNS
type Measure = (typeof COLUMNS)[Column]

/** The measured quantities of a row, in units of the contract; `null` is "not measured". */
export type Measures = { [measure in Measure]: number | null }

export interface WorldRow extends Measures {
  /** Epoch seconds, UTC. */
  time: number
}

export const DAY = 86_400
export const MINUTE = 60

/** How the rows of a buoy are laid out in time, counted back from the world's time. */
export interface Every {
  seconds: number
  days: number
  newestAgo: number
}

export const every = (seconds: number, days: number, newestAgo = 0): Every => ({ seconds, days, newestAgo })
/** Every three hours for two months. */
const sparse = every(180 * MINUTE, 60)

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
  /** Null without rows. */
  pattern: Every | null
  virtual?: boolean
  /** Overrides what the dice say, row by row (index counted from the oldest). */
  adjust?: (row: WorldRow, index: number) => void
  /** Rows written after the others. */
  extra?: (asOf: number) => WorldRow[]
}

const without = <M extends keyof Measures>(...names: readonly M[]) =>
  Object.fromEntries(names.map((name) => [name, null])) as { [measure in M]: number | null }

export const NO_WIND = without('windSpeed', 'windDirection', 'gustSpeed')
export const NO_SWELL = without(
  'swellHeight',
  'swellPeriod',
  'swellDirection',
  'windWaveHeight',
  'windWavePeriod',
  'windWaveDirection',
)

export const NO_WEATHER = without('airTemperature', 'dewPoint', 'pressure', 'humidity', 'visibility')

export const emptyRow = (time: number): WorldRow => ({ time, ...without(...Object.values(COLUMNS)) })

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
    airTemperature: -1.25,
    dewPoint: -3.4,
    pressure: 987.6,
    humidity: 100.5,
    visibility: 2.96,
  }
}

const ndbc = { source: 'NDBC', country: 'US', timezone: 'America/New_York', pattern: sparse }
const candhis = { source: 'Candhis', country: 'FR', timezone: 'Europe/Paris', pattern: sparse }
const meteo = { source: 'Météo-France', country: 'FR', timezone: 'Europe/Paris', pattern: sparse }
const odd = { source: 'İSKI Deniz, Ağı & Søn', country: 'TR', timezone: 'Europe/Istanbul', pattern: sparse }
const point = { source: 'Altimetry', country: null, timezone: 'Etc/UTC', pattern: sparse, virtual: true }

const plan = (
  of: Omit<Plan, 'identifier' | 'name' | 'lat' | 'lng'>,
  identifier: string,
  name: string,
  lat: number,
  lng: number,
  more: Partial<Plan> = {},
): Plan => ({ ...of, identifier, name, lat, lng, ...more })

/** The edges of the map and its zero lines. */
const ON_EDGES: readonly Plan[] = [
  // Poles: every longitude is the same point there.
  plan(ndbc, 'NP000', 'North Pole', 90, 0, { country: null, timezone: 'Etc/UTC' }),
  plan(ndbc, 'NP120', 'North Pole', 90, 120, { country: null, timezone: 'Etc/UTC' }),
  plan(ndbc, 'SP', 'South Pole', -90, -45.5, { country: 'AQ', timezone: 'Etc/UTC' }),
  plan(ndbc, 'NP89', 'Nearly the Pole', 89.9, -179.9, { country: null, timezone: 'Etc/UTC' }),
  // The antimeridian from both sides, and on it with both signs.
  plan(ndbc, 'AM+180', 'Antimeridian', -17, 180, { country: 'FJ', timezone: 'Pacific/Fiji' }),
  plan(ndbc, 'AM-180', 'Antimeridian', -17, -180, { country: 'FJ', timezone: 'Pacific/Fiji' }),
  plan(ndbc, 'AMW', 'Taveuni East', -16.8, -179.95, { country: 'FJ', timezone: 'Pacific/Fiji' }),
  plan(ndbc, 'AME', 'Taveuni West', -16.8, 179.95, { country: 'FJ', timezone: 'Pacific/Fiji' }),
  plan(ndbc, 'ADAK', 'Aleutian Side', 51.9, -176.6, { timezone: 'America/Adak' }),
  // The origin and both zero lines.
  plan(ndbc, 'NULL', 'Null Island', 0, 0, { country: null, timezone: 'Etc/UTC' }),
  plan(ndbc, 'EQ', 'Equator', 0, -29.3, { country: 'BR', timezone: 'America/Noronha' }),
]

/** Ties: three at one place, one of them in another network, and two mirrored about the equator. */
const TIED: readonly Plan[] = [
  plan(candhis, '06403', 'Saint-Jean-de-Luz', 43.408, -1.682, { pattern: every(30 * MINUTE, 60) }),
  plan(meteo, '06403', 'Saint-Jean-de-Luz', 43.408, -1.682),
  plan(candhis, '06403B', 'SAINT JEAN DE LUZ', 43.408, -1.682),
  plan(ndbc, 'MIRN', 'Mirror', 7.25, -140, { country: null, timezone: 'Etc/GMT+9' }),
  plan(ndbc, 'MIRS', 'mirror', -7.25, -140, { country: 'PF', timezone: 'Pacific/Tahiti' }),
]

/** Names with letters, characters and words that go wrong easily. */
const ODD_NAMES: readonly Plan[] = [
  // Letters that fold, letters that do not, and letters whose lower case is two characters.
  plan(candhis, '02911', 'Les Pierres Noires', 48.29, -4.968),
  plan(candhis, '02B04', 'La Révellata', 42.57, 8.65),
  plan(candhis, '02b04', 'la revellata', 42.571, 8.651),
  plan(candhis, 'É-12', 'ÉLÉPHANT (îlot)', 47.31, -3.3),
  plan(odd, 'ist-1', 'İstanbul Boğazı', 41.2, 29.1),
  plan(odd, 'ist-2', 'ISTANBUL BOGAZI', 41.21, 29.11),
  plan(odd, 'ø7', 'Øresund Straße', 55.7, 12.7, { country: 'DK', timezone: 'Europe/Copenhagen' }),
  plan(odd, 'ñ', 'El Niño', 43.4, -3.1, { country: 'ES', timezone: 'Europe/Madrid' }),
  plan(odd, 'åland', 'Ålands hav', 60.1, 19.2, { country: 'AX', timezone: 'Europe/Mariehamn' }),
  // A combining accent that is spelled out: equal to the composed name after folding.
  plan(odd, 'decomposed', 'Cafe\u0301 Bank', 36.1, -5.4, { country: 'GI', timezone: 'Europe/Gibraltar' }),
  plan(odd, 'composed', 'Café Bank', 36.1, -5.4, { country: 'GI', timezone: 'Europe/Gibraltar' }),
  // Characters that a writer of CSV, JSON or HTML may trip over.
  plan(odd, "q'1,2", 'The "Quoted", Buoy', 36.5, 28.2),
  plan(odd, 'b\\1', 'C:\\new\\table', 36.6, 28.3),
  plan(odd, 'emoji', '🌊 Wave 🏄‍♀️ Point', 36.7, 28.4),
  plan(odd, '<b>', '<script>alert(1)</script>', 36.8, 28.5),
  plan(odd, 'ls', 'Zero\u200BWidth\u00ADEnd', 36.9, 28.6),
  plan(odd, 'pct', '100 % + 50 & more = 150?', 37, 28.7),
  // Names without a letter of the slug alphabet.
  plan(odd, 'gr', 'Αιγαίο', 37.5, 25.2, { country: 'GR', timezone: 'Europe/Athens' }),
  plan(odd, 'jp', '東京湾', 35.3, 139.7, { country: 'JP', timezone: 'Asia/Tokyo' }),
  plan(odd, 'dash', '---', 37.6, 25.3, { country: 'GR', timezone: 'Europe/Athens' }),
  // Names that are operations, and names that are numbers.
  plan(ndbc, 'OP1', 'Search', 30, -75),
  plan(ndbc, 'OP2', 'search', 30.1, -75),
  plan(ndbc, 'OP3', 'Map', 30.2, -75),
  plan(ndbc, 'OP4', 'Nearest!', 30.3, -75),
  plan(ndbc, 'OP5', 'Satellites', 30.4, -75),
  plan(ndbc, 'OP6', 'Last readings', 30.5, -75),
  plan(ndbc, 'OP7', 'Satellite passes', 30.6, -75),
  plan(ndbc, 'NUM7', '7', 30.7, -75),
  plan(ndbc, '12', '41001', 30.8, -75),
  // A month of it makes a chart for which no thread has room beforehand.
  plan(ndbc, '41001', 'East Hatteras', 34.746, -72.415, { pattern: every(10 * MINUTE, 31) }),
]

/** Names that clash, one with the slug that the next clash would take. */
const CLASHING_NAMES: readonly Plan[] = [
  plan(ndbc, 'TW1', 'Twin', 31, -75),
  plan(ndbc, 'TW2', 'Twin 2', 31, -75.1),
  plan(ndbc, 'TW3', 'Twin', 31, -75.2),
  plan(ndbc, 'TW4', 'twin', 31, -75.3),
  plan(ndbc, 'TW5', 'Twin-2', 31, -75.4),
]

/** Readings: none, wind only, old, and the day's edge from both sides. */
const ODD_TIMES: readonly Plan[] = [
  plan(ndbc, 'MUTE', 'Never Spoke', 32, -75, { pattern: null }),
  plan(meteo, 'WIND', 'Wind Only', 45.23, -5, {
    pattern: every(3600, 60),
    adjust: (row) => {
      const { windSpeed, windDirection, gustSpeed } = row
      Object.assign(row, emptyRow(row.time), { windSpeed, windDirection, gustSpeed })
    },
  }),
  plan(ndbc, 'OLD', 'Silent Month', 32.2, -75, { pattern: every(3600, 30, 30 * DAY) }),
  plan(ndbc, 'EDGE', 'Edge Of Active', 32.3, -75, { pattern: every(3600, 20, DAY) }),
  plan(ndbc, 'PAST', 'Past The Edge', 32.3, -75, { pattern: every(3600, 20, DAY + 1) }),
  plan(ndbc, 'ONE', 'Single Reading', 32.5, -75, { pattern: every(3600, 0, 7201) }),
  plan(meteo, 'TAIL', 'Wind Tail', 46, -6, {
    pattern: every(3600, 30, 7200),
    // Newer than every reading of the buoy, one even than the world's time, but no readings themselves.
    extra: (asOf) =>
      [5400, 3600, 0, -1800].map((ago) =>
        Object.assign(emptyRow(asOf - ago), {
          windSpeed: 31.4,
          windDirection: 359.99,
        }),
      ),
  }),
  plan(ndbc, 'TWICE', 'Written Twice', 32.6, -75, {
    pattern: every(3600, 10),
    extra: (asOf) => [0, 3600, 36_000].map((ago) => fullRow(asOf - ago, 9.87)),
  }),
  plan(ndbc, 'SECONDS', 'Odd Seconds', 32.7, -75, { pattern: every(3607, 30, 13) }),
]

/** Values at their limits. */
const ODD_VALUES: readonly Plan[] = [
  plan(ndbc, 'ZERO', 'Flat Calm', 33, -75, {
    adjust: (row, index) => {
      row.significantHeight = 0
      if (index % 2 === 0) row.period = 0
      row.waterTemperature = index % 3 === 0 ? 0 : -1.9
      row.windSpeed = 0
      row.windDirection = 0
    },
  }),
  plan(candhis, 'LIMIT', 'Largest Of All', 47, -4, {
    adjust: (row) => {
      row.significantHeight = 25
      row.maximumHeight = 50
      row.period = 30
      row.direction = 359.99
    },
  }),
  plan(candhis, 'MILLI', 'Millimetres', 47.1, -4, {
    adjust: (row, index) => {
      row.significantHeight = (1000 + (index % 997)) / 1000
      row.period = (8000 + (index % 991)) / 1000
    },
  }),
  plan(meteo, 'ROSE', 'Compass Rose', 43.4, 7.8, {
    pattern: every(3600, 60),
    // Sector borders, and runs of opposite directions whose mean does not exist.
    adjust: (row, index) => {
      row.direction =
        [0, 11.24, 11.25, 33.75, 90, 180, 270, 348.74, 348.75, 359.99, 360, 0.01][index % 12] ?? 0
      row.windDirection = index % 2 === 0 ? 90 : 270
    },
  }),
  plan(candhis, 'BARE', 'Height Only', 47.2, -4, {
    adjust: (row) => {
      Object.assign(row, { ...emptyRow(row.time), significantHeight: row.significantHeight })
    },
  }),
  plan(ndbc, 'HALF', 'Half Without Waves', 33.2, -75, {
    pattern: every(1800, 40),
    // A row without a height is not a reading, even with a period and a direction.
    adjust: (row, index) => {
      if (index % 2 === 1) row.significantHeight = null
    },
  }),
]

/** Years of history, in zones with and without daylight saving. */
const LONG_HISTORIES: readonly Plan[] = [
  plan(meteo, '61001', 'Nice', 43.38, 7.83, {
    country: 'MC',
    timezone: 'Europe/Monaco',
    pattern: every(6 * 3600, 4100),
  }),
  plan(ndbc, '46240', 'Cabrillo Point', 36.626, -121.907, {
    timezone: 'America/Los_Angeles',
    pattern: every(6 * 3600, 4100),
  }),
  plan(candhis, '97403', 'Rivière des Galets', -20.94, 55.28, {
    country: 'RE',
    timezone: 'Indian/Reunion',
    pattern: every(12 * 3600, 5200),
  }),
  plan(ndbc, '44251', 'Nickerson Bank', 46.44, -53.39, {
    country: 'CA',
    timezone: 'America/St_Johns',
    pattern: every(3600, 800),
  }),
]

/** Sea points fed by satellites: in lists, search and map, never nearest. */
const SEA_POINTS: readonly Plan[] = [
  plan(point, 'V1', 'Point Nemo', -48.876, -123.393),
  plan(point, 'V2', 'Biscay Point', 43.408, -1.682, { country: 'FR', timezone: 'Europe/Paris' }),
  plan(point, 'V3', 'Silent Point', -48, -123, { pattern: every(3600, 5, 3 * DAY) }),
  plan(point, 'V4', 'Map', -30.5, -120.25),
  plan(point, 'V5', 'Empty Point', -31.5, -120.25, { pattern: null }),
]

export const SPECIAL_PLANS: readonly Plan[] = [
  ...ON_EDGES,
  ...TIED,
  ...ODD_NAMES,
  ...CLASHING_NAMES,
  ...ODD_TIMES,
  ...ODD_VALUES,
  ...LONG_HISTORIES,
  ...SEA_POINTS,
]
