/** The form of a series, and its columns as quantities of the forecast, in the units of the contract. */
import labels from './labels.json' with { type: 'json' }
import { conversionOf, saysGoesTo } from '../reading/units.ts'
import type { TakeDoubt } from '../reading/source-files.ts'
import { FORECAST_MEASURES, FORECAST_NAMES, type ForecastName, MEASURES } from '../../sea/columns.ts'
import type { FileReport } from '../source.ts'

/** The reason for an answer about something else, such as air temperature. */
export const NOTHING_USED = 'no wave or wind forecast'

export type Values = (number | null)[]

/** Values at one position in the file's own columns and units. */
export interface Series {
  lat: number
  lng: number
  /** Epoch seconds. */
  runAt: number
  /** The model or service, if the file's form names it. */
  model?: string
  /** Ascending epoch seconds. */
  times: number[]
  columns: Map<string, SeriesColumn>
}

export interface SeriesColumn {
  unit: string
  standardName?: string
  values: Values
}

export interface Quantity {
  runAt: number
  model?: string
  times: number[]
  values: Values
}

/**
 * Names by preference in Open-Meteo, WAVEWATCH III, GFS-Wave, Copernicus Marine and CF. Peak periods come
 * before mean periods, since `period` is that of the dominant waves.
 */
const LABELS: { readonly [name in ForecastName]: readonly string[] } = labels

const EASTWARD = ['ugrd10m', '10u', 'u10', 'ugrd', 'eastward_wind']

const NORTHWARD = ['vgrd10m', '10v', 'v10', 'vgrd', 'northward_wind']
const WIND_LABELS = new Set([...LABELS.windSpeed, ...LABELS.windDirection, ...EASTWARD, ...NORTHWARD])
/** Labels of directions that waves come from, by definition. */
const FROM_LABELS = new Set('wave_direction swell_wave_direction mwd dirpw dirpwsfc vmdr vmdr_sw1'.split(' '))
const KNOWN_LABELS = new Set([...Object.values(LABELS).flat(), ...WIND_LABELS])

export function isKnownLabel(label: string): boolean {
  return KNOWN_LABELS.has(label.toLowerCase())
}

/** Whether the label is of wind at any level: `u10` has its own. */
export function isWindLabel(label: string): boolean {
  return WIND_LABELS.has(label.toLowerCase()) && !label.includes('10')
}

/**
 * The factor to the contract's unit, or null. A missing unit is the contract's, except for speeds, of which
 * only Open-Meteo's names have the unit, and for `tp`, which is rain in many models.
 */
function factorOf(name: ForecastName, label: string, unit: string): number | null {
  const measure = FORECAST_MEASURES[name]
  if (unit.trim() !== '') return conversionOf(measure, unit)?.factor ?? null
  const isTold = MEASURES[measure].unit === 'km/h' ? label.endsWith('speed_10m') : label !== 'tp'
  return isTold ? 1 : null
}

/**
 * Quantities of a series in the contract's units; values beyond their limits are left out and counted. Of
 * several columns the one with most values counts, or the first of these.
 */
export function quantitiesOf(
  series: Series,
  file: FileReport,
  doubt: TakeDoubt,
): Map<ForecastName, Quantity> {
  const columns = new Map(series.columns)
  resolveWind(columns, file)
  const quantities = new Map<ForecastName, Quantity>()
  for (const name of FORECAST_NAMES) {
    const usable = LABELS[name].flatMap((label) => {
      const column = columns.get(label)
      const factor = column === undefined ? null : factorOf(name, label, column.unit)
      if (column !== undefined && factor === null) file.skipped(`${name} in an unknown unit`)
      return column === undefined || factor === null ? [] : [{ label, factor, ...column }]
    })
    if (usable.length === 0) continue
    const best = usable.reduce((one, other) => (countOf(other) > countOf(one) ? other : one))
    const { label, factor, unit, standardName = '', values } = best
    if (best !== usable[0]) doubt('fuller', `${label}, ${usable[0].label}`)
    if (unit.trim() === '') doubt('usualUnit', label, countOf(best))
    const goesTo = name.endsWith('Direction') && saysGoesTo(`${label} ${standardName}`)
    const isTurned = goesTo && !FROM_LABELS.has(label)
    if (goesTo && !isTurned) doubt('contradicted', `${label} with ${standardName}`)
    if (isTurned) doubt('turned', label, countOf(best))
    quantities.set(name, {
      runAt: series.runAt,
      ...(series.model !== undefined && { model: series.model }),
      times: series.times,
      values: values.map((value) => {
        if (value === null) return null
        const kept = keepable(name, value * factor, isTurned ? 180 : 0)
        if (kept === null) file.skipped(`${name} outside its limits`)
        return kept
      }),
    })
  }
  const heights = (quantities.get('waveHeight')?.values ?? []).filter((value) => value !== null)
  if (heights.length > 1 && heights.every((height) => height === 0)) {
    // Models give waves of 0 m on land.
    doubt('land', `${series.lat} ${series.lng}`)
    for (const name of FORECAST_NAMES) {
      if (!name.startsWith('wind')) quantities.delete(name)
    }
  }
  if (quantities.size === 0) file.skipped(NOTHING_USED)
  return quantities
}

const countOf = ({ values }: { values: Values }): number => values.filter((value) => value !== null).length

/** The value, directions wrapped into 0…360; null beyond the limits of its measure. */
function keepable(name: ForecastName, value: number, turn: number): number | null {
  const { unit, min, max } = MEASURES[FORECAST_MEASURES[name]]
  if (unit === 's' && value === 0) return null
  if (unit !== 'degree') return value >= min && value <= max ? value : null
  // Within a full circle it is another notation; beyond, a mark of "missing".
  return value >= -360 && value <= 360 ? (value + turn + 720) % 360 : null
}

/** Adds wind speed and direction from eastward and northward parts, which point where it blows to. */
function resolveWind(columns: Map<string, SeriesColumn>, file: FileReport): void {
  const east = EASTWARD.flatMap((label) => columns.get(label) ?? [])[0]
  const north = NORTHWARD.flatMap((label) => columns.get(label) ?? [])[0]
  if (east === undefined || north === undefined) return
  const [eastFactor, northFactor] = [east, north].map(({ unit }) => factorOf('windSpeed', '', unit))
  if (eastFactor === null || northFactor === null) {
    file.skipped('wind in an unknown unit')
    return
  }
  const resolve = (unit: string, resolved: (u: number, v: number) => number | null): SeriesColumn => {
    const values = east.values.map((value, i) => {
      const other = north.values[i]
      return value === null || other === null ? null : resolved(value * eastFactor, other * northFactor)
    })
    return { unit, values }
  }
  columns.set('wind_speed', resolve('km/h', Math.hypot))
  // A calm has no direction.
  const from = (u: number, v: number): number | null =>
    u === 0 && v === 0 ? null : (Math.atan2(-u, -v) * 180) / Math.PI
  columns.set('wind_from_direction', resolve('degree', from))
}
