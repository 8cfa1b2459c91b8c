/** The buoys of the world that are there for a reason, by reason. */
import { DAY, emptyRow, every, fullRow, MINUTE, sparse, type Plan } from './plan.ts'

const ndbc = { source: 'NDBC', country: 'US', timezone: 'America/New_York', pattern: sparse }
const candhis = { source: 'Candhis', country: 'FR', timezone: 'Europe/Paris', pattern: sparse }
const meteo = { source: 'Météo-France', country: 'FR', timezone: 'Europe/Paris', pattern: sparse }
const odd = { source: 'İSKI Deniz, Ağı & Søn', country: 'TR', timezone: 'Europe/Istanbul', pattern: sparse }
const point = { source: 'Altimetry', country: null, timezone: 'Etc/UTC', pattern: sparse, virtual: true }

/** The edges of the map and its zero lines. */
const ON_EDGES: readonly Plan[] = [
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
]

/** Ties: three at one place, one of them in another network, and two mirrored about the equator. */
const TIED: readonly Plan[] = [
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
]

/** Names with letters, characters and words that go wrong easily. */
const ODD_NAMES: readonly Plan[] = [
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
]

/** Names that clash, one with the slug that the next clash would take. */
const CLASHING_NAMES: readonly Plan[] = [
  { ...ndbc, identifier: 'TW1', name: 'Twin', lat: 31, lng: -75 },
  { ...ndbc, identifier: 'TW2', name: 'Twin 2', lat: 31, lng: -75.1 },
  { ...ndbc, identifier: 'TW3', name: 'Twin', lat: 31, lng: -75.2 },
  { ...ndbc, identifier: 'TW4', name: 'twin', lat: 31, lng: -75.3 },
  { ...ndbc, identifier: 'TW5', name: 'Twin-2', lat: 31, lng: -75.4 },
]

/** Readings: none, wind only, old, and the day's edge from both sides. */
const ODD_TIMES: readonly Plan[] = [
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
]

/** Values at their limits. */
const ODD_VALUES: readonly Plan[] = [
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
]

/** Years of history, in zones with and without daylight saving. */
const LONG_HISTORIES: readonly Plan[] = [
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
]

/** Sea points fed by satellites: in lists, search and map, never nearest. */
const SEA_POINTS: readonly Plan[] = [
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
