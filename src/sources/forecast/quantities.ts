/** What the columns of a series are: quantities of the forecast, in the units of the contract. */
import { FORECAST_MEASURES, FORECAST_NAMES, type ForecastName } from '../../sea/records.ts'
import type { FileReport } from '../source.ts'
import { MEASURES } from '../../sea/columns.ts'
import type { Series, SeriesColumn, Values } from './answers.ts'

/** The reason for an answer about something else, such as air temperature. */
export const NOTHING_USED = 'no wave or wind forecast'

/** One quantity at one position, in the contract's unit. */
export interface Quantity {
  runAt: number
  model?: string
  times: number[]
  values: Values
}

/**
 * Names of a quantity in the answers of Open-Meteo, WAVEWATCH III and GFS-Wave, Copernicus Marine and the CF
 * convention, the preferred ones first. Peak periods come before mean periods, since `period` is that of the
 * dominant waves.
 */
const LABELS: { readonly [name in ForecastName]: readonly string[] } = {
  waveHeight: ['wave_height', 'hs', 'swh', 'htsgw', 'thgt', 'vhm0', 'sea_surface_wave_significant_height'],
  wavePeriod: [
    'wave_period',
    'tp',
    'perpw',
    'tper',
    'vtpk',
    'sea_surface_wave_period_at_variance_spectral_density_maximum',
    't01',
    'vtm10',
    't02',
    'vtm02',
    'sea_surface_wave_mean_period',
  ],
  waveDirection: ['wave_direction', 'dir', 'dirpw', 'tdir', 'vmdr', 'sea_surface_wave_from_direction'],
  swellHeight: [
    'swell_wave_height',
    'swell',
    'shgt',
    'vhm0_sw1',
    'sea_surface_swell_wave_significant_height',
  ],
  swellPeriod: ['swell_wave_period', 'swper', 'sper', 'vtm01_sw1', 'sea_surface_swell_wave_period'],
  swellDirection: [
    'swell_wave_direction',
    'swdir',
    'sdir',
    'vmdr_sw1',
    'sea_surface_swell_wave_from_direction',
    'sea_surface_swell_wave_to_direction',
  ],
  windSpeed: ['wind_speed_10m', 'windspeed_10m', 'wind_speed'],
  windDirection: ['wind_direction_10m', 'winddirection_10m', 'wind_from_direction', 'wind_to_direction'],
}

/** The wind's eastward and northward parts. */
const EASTWARD = ['ugrd10m', 'ugrd', 'u10', 'eastward_wind']

const NORTHWARD = ['vgrd10m', 'vgrd', 'v10', 'northward_wind']
const KNOWN_LABELS = new Set([...Object.values(LABELS).flat(), ...EASTWARD, ...NORTHWARD])

export function isKnownLabel(label: string): boolean {
  return KNOWN_LABELS.has(label.toLowerCase())
}

const METRES = { m: 1, metre: 1, metres: 1, meter: 1, meters: 1, ft: 0.3048, foot: 0.3048, feet: 0.3048 }
const SECONDS = { s: 1, sec: 1, second: 1, seconds: 1 }
const DEGREES = { '°': 1, deg: 1, degree: 1, degrees: 1, degrees_true: 1, degree_true: 1 }

const KILOMETRES_PER_HOUR = {
  'km/h': 1,
  'km h-1': 1,
  'm/s': 3.6,
  'm s-1': 3.6,
  'm s**-1': 3.6,
  'm.s-1': 3.6,
  kn: 1.852,
  kt: 1.852,
  knot: 1.852,
  knots: 1.852,
  mph: 1.609344,
  'mp/h': 1.609344,
  'mi/h': 1.609344,
}

/**
 * The factor from the file's unit to the contract's, or null for an unknown unit. A missing unit is the
 * contract's, except for speeds.
 */
function factorOf(name: ForecastName, unit: string): number | null {
  const measured = MEASURES[FORECAST_MEASURES[name]].unit
  const factors: { readonly [unit: string]: number } =
    measured === 'm'
      ? METRES
      : measured === 's'
        ? SECONDS
        : measured === 'degree'
          ? DEGREES
          : KILOMETRES_PER_HOUR
  const key = unit.trim().toLowerCase()
  if (key === '') return measured === 'km/h' ? null : 1
  return Object.hasOwn(factors, key) ? factors[key] : null
}

/**
 * The quantities of a series, in the contract's units; values beyond their limits are left out and counted.
 */
export function quantitiesOf(series: Series, file: FileReport): Map<ForecastName, Quantity> {
  const columns = new Map(series.columns)
  resolveWind(columns, file)
  const quantities = new Map<ForecastName, Quantity>()
  for (const name of FORECAST_NAMES) {
    const label = LABELS[name].find((candidate) => columns.has(candidate))
    if (label === undefined) continue
    const { unit, standardName, values } = columns.get(label)!
    const factor = factorOf(name, unit)
    if (factor === null) {
      file.skipped(`${name} in an unknown unit`)
      continue
    }
    const turn = label.endsWith('to_direction') || standardName.endsWith('to_direction') ? 180 : 0
    quantities.set(name, {
      runAt: series.runAt,
      ...(series.model !== undefined && { model: series.model }),
      times: series.times,
      values: values.map((value) => {
        if (value === null) return null
        const kept = keepable(name, value * factor, turn)
        if (kept === null) file.skipped(`${name} outside its limits`)
        return kept
      }),
    })
  }
  if (quantities.size === 0) file.skipped(NOTHING_USED)
  return quantities
}

/** The value, directions wrapped into 0…360; null beyond the limits of its measure. */
function keepable(name: ForecastName, value: number, turn: number): number | null {
  const { unit, min, max } = MEASURES[FORECAST_MEASURES[name]]
  if (unit !== 'degree') return value >= min && value <= max ? value : null
  // A full circle either way is notation; anything farther marks a missing value.
  return value >= -360 && value <= 360 ? (value + turn + 720) % 360 : null
}

/**
 * Adds speed and direction where the wind comes as eastward and northward parts, which say where it blows to.
 */
function resolveWind(columns: Map<string, SeriesColumn>, file: FileReport): void {
  const east = EASTWARD.flatMap((label) => columns.get(label) ?? [])[0]
  const north = NORTHWARD.flatMap((label) => columns.get(label) ?? [])[0]
  if (east === undefined || north === undefined) return
  const factors = [east, north].map(({ unit }) => factorOf('windSpeed', unit))
  const [eastFactor, northFactor] = factors
  if (eastFactor === null || northFactor === null) {
    file.skipped('wind in an unknown unit')
    return
  }
  const resolved = east.values.map((value, i): { speed: number; from: number | null } | null => {
    const other = north.values[i]
    if (value === null || other === null) return null
    const [u, v] = [value * eastFactor, other * northFactor]
    // A calm has no direction.
    return { speed: Math.hypot(u, v), from: u === 0 && v === 0 ? null : (Math.atan2(-u, -v) * 180) / Math.PI }
  })
  columns.set('wind_speed', {
    unit: 'km/h',
    standardName: '',
    values: resolved.map((wind) => wind?.speed ?? null),
  })
  columns.set('wind_from_direction', {
    unit: 'degree',
    standardName: '',
    values: resolved.map((wind) => wind?.from ?? null),
  })
}
