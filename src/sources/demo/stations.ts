/** The buoys of the demonstration: facts of the public station lists, with a climate each. */
import { CLIMATES } from './climates.ts'
import type { Instrument } from './waves.ts'
import type { SourceInfo, SpotRecord } from '../../sea/records.ts'

export interface Station {
  readonly source: keyof typeof SOURCES
  readonly identifier: string
  readonly name: string
  readonly lat: number
  readonly lng: number
  readonly country?: string
  readonly climate: keyof typeof CLIMATES
  readonly exposure: number
  /** Mean direction that waves come from. */
  readonly direction: number
  readonly instrument?: Partial<Instrument>
  /** Hourly readings from eleven years back; those of the others are six-hourly. */
  readonly history?: true
  /** Days before `--as-of` at which the buoy fell silent; Infinity: it never reported. */
  readonly silentDays?: number
  /** A long outage on fixed dates: first day (UTC) and days. */
  readonly outage?: readonly [string, number]
}

export const SOURCES = {
  ndbc: { name: 'NDBC', network: 'national', credit: credit('NOAA National Data Buoy Center') },
  candhis: { name: 'Candhis', network: 'coastal', credit: credit('Cerema, Candhis') },
  meteoFrance: { name: 'Météo-France', network: 'national', credit: credit('Météo-France') },
  ireland: { name: 'Marine Institute', network: 'national', credit: credit('Marine Institute, Ireland') },
  norway: { name: 'MET Norway', network: 'national', credit: credit('MET Norway') },
  britain: { name: 'UK Met Office', network: 'national', credit: credit('UK Met Office') },
  altimetry: {
    name: 'Satellite altimetry',
    network: 'satellite',
    credit: 'Tracks after those of the missions. The readings are made up, not measured.',
  },
} as const satisfies { readonly [source: string]: SourceInfo }

function credit(owner: string): string {
  return `Names and positions: ${owner}. The readings are made up, not measured.`
}

/** What each network publishes of a wave, and how finely. */
export const INSTRUMENTS: { readonly [source in keyof typeof SOURCES]: Instrument } = {
  // Standard meteorological data: no maximum height, the dominant period in whole seconds.
  ndbc: { heightStep: 0.1, periodStep: 1, periods: 'peak', direction: true, water: true, wind: true },
  // H13D, HMAXD, TH13D, TP, THETAP.
  candhis: {
    heightStep: 0.01,
    periodStep: 0.1,
    periods: 'both',
    maximum: { median: 1.64, spread: 0.0958 },
    direction: true,
    water: true,
    wind: false,
  },
  meteoFrance: {
    heightStep: 0.1,
    periodStep: 1,
    periods: 'significant',
    direction: true,
    water: true,
    wind: true,
  },
  ireland: {
    heightStep: 0.01,
    periodStep: 0.1,
    periods: 'peak',
    maximum: { median: 1.56, spread: 0.112 },
    direction: true,
    water: true,
    wind: true,
  },
  norway: { heightStep: 0.1, periodStep: 0.1, periods: 'peak', direction: true, water: true, wind: true },
  // Its moorings send a zero-crossing period only, which is not a significant period, and no direction.
  britain: { heightStep: 0.1, periodStep: 0.1, periods: 'none', direction: false, water: true, wind: true },
  // Altimeters measure neither period nor direction of waves.
  altimetry: {
    heightStep: 0.01,
    periodStep: 0.1,
    periods: 'none',
    direction: false,
    water: false,
    wind: false,
  },
}

/** A CDIP waverider within NDBC: waves and temperature. */
const WAVERIDER = { wind: false }

type Row = [
  identifier: string,
  name: string,
  lat: number,
  lng: number,
  climate: keyof typeof CLIMATES,
  exposure: number,
  direction: number,
  more?: Pick<Station, 'instrument' | 'history' | 'silentDays' | 'outage'> & { country?: string },
]

const NDBC: Row[] = [
  ['41001', 'East Hatteras', 34.746, -72.415, 'carolina', 1, 130],
  // Heights on the hour, wind and temperature on the half-hour too.
  ['41002', 'South Hatteras', 31.743, -74.955, 'carolina', 0.95, 120, { instrument: { wavesHourly: true } }],
  ['41009', 'Canaveral', 28.508, -80.185, 'carolina', 0.7, 90],
  ['42001', 'Mid Gulf', 25.926, -89.662, 'mexicanGulf', 1, 120],
  ['42036', 'West Tampa', 28.5, -84.505, 'mexicanGulf', 0.8, 210],
  ['44009', 'Delaware Bay', 38.46, -74.692, 'newEngland', 1, 130],
  ['44011', 'Georges Bank', 41.088, -66.546, 'newEngland', 1.5, 170, { silentDays: 2 }],
  ['44013', 'Boston', 42.346, -70.651, 'newEngland', 0.6, 80],
  ['44025', 'Long Island', 40.258, -73.175, 'newEngland', 1, 150],
  ['44097', 'Block Island', 40.969, -71.124, 'newEngland', 1.1, 170, { instrument: WAVERIDER }],
  ['45007', 'South Michigan', 42.674, -87.026, 'michigan', 1, 10, { instrument: { direction: false } }],
  // Has sent heights and never a period.
  ['45161', 'Muskegon', 43.185, -86.352, 'michigan', 0.8, 260, { instrument: { periods: 'none' } }],
  ['46001', 'Western Gulf of Alaska', 56.296, -148.027, 'alaskan', 1, 220],
  ['46022', 'Eel River', 40.716, -124.54, 'californian', 2.3, 300],
  ['46026', 'San Francisco', 37.75, -122.838, 'californian', 1.9, 285],
  ['46042', 'Monterey', 36.785, -122.396, 'californian', 2.1, 300, { history: true }],
  ['46047', 'Tanner Bank', 32.418, -119.535, 'californian', 2.2, 290],
  ['46071', 'Western Aleutians', 51.04, 179.764, 'alaskan', 1, 230],
  ['46214', 'Point Reyes', 37.937, -123.463, 'californian', 2.2, 295, { instrument: WAVERIDER }],
  [
    '46240',
    'Cabrillo Point, Monterey Bay',
    36.626,
    -121.907,
    'californian',
    1,
    310,
    { instrument: WAVERIDER, history: true, outage: ['2021-05-10', 21] },
  ],
  ['51001', 'Northwestern Hawaii One', 24.475, -162.03, 'hawaiian', 1.05, 340, { silentDays: 30 }],
  ['51201', 'Waimea Bay', 21.671, -158.118, 'hawaiian', 0.7, 345, { instrument: WAVERIDER }],
  ['52200', 'Ipan, Guam', 13.354, 144.788, 'hawaiian', 0.75, 80, { instrument: WAVERIDER, country: 'GU' }],
]

const CANDHIS: Row[] = [
  ['02911', 'Les Pierres Noires', 48.29, -4.968, 'celtic', 0.8, 275],
  ['03302', 'Cap Ferret', 44.653, -1.447, 'biscay', 1.1, 295],
  ['05008', 'Cherbourg', 49.694, -1.621, 'celtic', 0.3, 315, { silentDays: Infinity }],
  ['05602', 'Belle-Île', 47.285, -3.285, 'biscay', 1.15, 265],
  ['06402', 'Anglet', 43.532, -1.615, 'biscay', 1.05, 300],
  [
    '06403',
    'Saint-Jean-de-Luz',
    43.408,
    -1.682,
    'biscay',
    1,
    311,
    { history: true, outage: ['2020-03-02', 50] },
  ],
  ['02B04', 'La Revellata', 42.57, 8.65, 'mediterranean', 1.1, 290, { instrument: { water: false } }],
  [
    '98000',
    'Monaco',
    43.71,
    7.43,
    'mediterranean',
    0.7,
    150,
    { instrument: { direction: false }, country: 'MC' },
  ],
  ['97403', 'Rivière des Galets', -20.94, 55.28, 'mascarene', 0.7, 230, { country: 'RE' }],
]

const METEO_FRANCE: Row[] = [
  ['61001', 'Nice', 43.4, 7.8, 'mediterranean', 1, 230, { history: true }],
  ['61002', 'Lion', 42.102, 4.703, 'mediterranean', 1.3, 330],
  ['62001', 'Gascogne', 45.23, -5, 'biscay', 1.6, 290, { history: true, outage: ['2018-11-05', 40] }],
  ['62163', 'Brittany', 47.55, -8.47, 'celtic', 1, 275],
]

const IRELAND: Row[] = [
  ['M3', 'M3 Southwest of Mizen Head', 51.216, -10.548, 'celtic', 1, 260],
  ['M5', 'M5 South East', 51.69, -6.704, 'celtic', 0.55, 210],
  ['M6', 'M6 West Coast', 53.04, -15.53, 'celtic', 1.15, 265],
]

const NORWAY: Row[] = [['Draugen', 'Draugen', 64.352, 7.779, 'norwegian', 1, 280]]

const BRITAIN: Row[] = [
  ['62107', 'Sevenstones', 50.102, -6.1, 'celtic', 0.75, 270],
  // One mooring that two services share and list: the same name and the same sea twice.
  ['62163', 'Brittany', 47.55, -8.47, 'celtic', 1, 275],
]

/**
 * Where ascending and descending tracks of the ten-day orbits cross: two readings in ten days, and now and
 * then one more.
 */
const VIRTUAL: [
  name: string,
  lat: number,
  lng: number,
  climate: Station['climate'],
  exposure: number,
  direction: number,
][] = [
  ['Iroise Sea', 48.82, -7.15, 'celtic', 0.95, 275],
  ['Bay of Biscay', 46.13, -7.04, 'biscay', 1.5, 295],
  ['West of Galicia', 44.52, -11.34, 'biscay', 1.6, 300],
  ['Azores', 39.02, -26.97, 'biscay', 1.5, 300],
  ['Madeira', 34.7, -18.42, 'biscay', 1.2, 320],
  ['Rockall', 57.49, -14.23, 'celtic', 1.1, 260],
  ['Faroe–Shetland Channel', 60.98, -5.69, 'norwegian', 1, 270],
  ['Norwegian Sea', 63.93, 3.04, 'norwegian', 1, 270],
  ['South of Iceland', 61.82, -19.98, 'celtic', 1.1, 230],
  ['Irminger Sea', 59.44, -38.22, 'celtic', 1.15, 240],
  ['Grand Banks', 44.57, -48.15, 'newEngland', 1.8, 250],
  ['Gulf Stream', 39.11, -66.59, 'newEngland', 1.5, 200],
  ['Bermuda', 29.64, -63.76, 'carolina', 1, 120],
  ['Sargasso Sea', 26.8, -51.01, 'carolina', 0.9, 60],
  ['Gulf of Mexico', 26.8, -90.69, 'mexicanGulf', 1, 120],
  ['Caribbean Sea', 13.53, -73.69, 'hawaiian', 0.9, 80],
  ['Balearic Sea', 41.1, 5.72, 'mediterranean', 1.2, 330],
  ['Ionian Sea', 36.96, 17.0, 'mediterranean', 1.1, 300],
  ['Gulf of Alaska', 54.26, -144.67, 'alaskan', 1.1, 220],
  ['Columbia', 46.13, -128.93, 'californian', 2.6, 290],
  ['California Current', 34.7, -126.14, 'californian', 2.3, 300],
  ['North of Oʻahu', 23.8, -157.3, 'hawaiian', 1.1, 340],
  ['Midway', 29.69, -177.12, 'hawaiian', 1.2, 330],
  ['Aleutians', 50.19, 178.66, 'alaskan', 1.1, 230],
  ['East of Guam', 13.58, 147.43, 'hawaiian', 0.9, 70],
  ['Kuroshio', 36.96, 150.23, 'newEngland', 1.6, 160],
  ['Tasman Sea', -36.96, 160.16, 'southernOcean', 0.9, 210],
  ['Campbell Plateau', -50.11, 171.51, 'southernOcean', 1.4, 240],
  ['Fiji', -20.49, -179.99, 'mascarene', 0.9, 150],
  ['Mascarene Islands', -20.49, 58.12, 'mascarene', 1, 220],
  ['Cape Agulhas', -37.01, 21.23, 'southernOcean', 1.2, 230],
  ['Kerguelen', -46.09, 73.69, 'southernOcean', 1.7, 260],
  ['Drake Passage', -57.53, -63.79, 'southernOcean', 1.4, 270],
  ['South Atlantic', -39.16, -19.9, 'southernOcean', 1.2, 240],
]

/** Surf spots within 50 km of a buoy, and two at the end that have none. */
export const SPOTS: readonly SpotRecord[] = [
  { id: 1, name: 'Mavericks', lat: 37.4953, lng: -122.4969 },
  { id: 2, name: 'Ocean Beach, San Francisco', lat: 37.7594, lng: -122.5107 },
  { id: 3, name: 'Steamer Lane', lat: 36.9515, lng: -122.0257 },
  { id: 4, name: 'Banzai Pipeline', lat: 21.6653, lng: -158.0533 },
  { id: 5, name: 'Hossegor, La Gravière', lat: 43.6735, lng: -1.4402 },
  { id: 6, name: 'Parlementia, Guéthary', lat: 43.4292, lng: -1.6135 },
  { id: 7, name: 'La Palue, Crozon', lat: 48.2145, lng: -4.556 },
  { id: 8, name: 'Saint-Leu', lat: -21.1655, lng: 55.2832 },
  { id: 9, name: 'Mullaghmore', lat: 54.4707, lng: -8.4567 },
  { id: 10, name: 'Nazaré, Praia do Norte', lat: 39.6056, lng: -9.0847 },
]

function stations(source: keyof typeof SOURCES, country: string, rows: Row[]): Station[] {
  return rows.map(([identifier, name, lat, lng, climate, exposure, direction, more]) => ({
    source,
    identifier,
    name,
    lat,
    lng,
    country,
    climate,
    exposure,
    direction,
    ...more,
  }))
}

export const STATIONS: readonly Station[] = [
  ...stations('ndbc', 'US', NDBC),
  ...stations('candhis', 'FR', CANDHIS),
  ...stations('meteoFrance', 'FR', METEO_FRANCE),
  ...stations('ireland', 'IE', IRELAND),
  ...stations('norway', 'NO', NORWAY),
  ...stations('britain', 'GB', BRITAIN),
]

/** `V+4882-00715`: hundredths of a degree. */
function virtualIdentifier(lat: number, lng: number): string {
  const hundredths = (degrees: number, width: number): string =>
    `${degrees < 0 ? '-' : '+'}${String(Math.round(Math.abs(degrees) * 100)).padStart(width, '0')}`
  return `V${hundredths(lat, 4)}${hundredths(lng, 5)}`
}

export const VIRTUAL_STATIONS: readonly Station[] = VIRTUAL.map(
  ([name, lat, lng, climate, exposure, direction]) => ({
    source: 'altimetry',
    identifier: virtualIdentifier(lat, lng),
    name: `${name} (virtual)`,
    lat,
    lng,
    climate,
    exposure,
    direction,
  }),
)
