/** The units that a visitor reads; the API answers in metres, km/h and °C, and the page converts. */
import type { BuoyDetail } from '../../../clients/typescript/groundswell.ts'
import { localNumber } from '../language.ts'

/** The names in a table, in its order. */
export const namesOf = <Table extends object>(table: Table) => Object.keys(table) as (keyof Table)[]

/** Quantities whose unit a visitor chooses. */
export const KINDS = ['height', 'speed', 'temperature'] as const
type Kind = (typeof KINDS)[number]
export type Units = { readonly [kind in Kind]: keyof (typeof SCALES)[kind] }
/** Units that a link or the browser names; the rest follows the visitor's locale. */
export type SomeUnits = Partial<Units>

/** The kind of a value: the visitor chooses the unit of heights, speeds and temperatures. */
export type Quantity = Kind | 'period' | 'direction' | 'pressure' | 'visibility'

/** How the values of a quantity are written. */
export interface Scale {
  unit: string
  /** Decimals; a foot has fewer than a metre, since a tenth of it is three centimetres. */
  digits: number
  /** For values measured in this unit: each keeps all its decimals. */
  isOwn?: boolean
  /** Converts from the unit of the API. */
  from: (value: number) => number
}

/** Exact by definition: the international foot and the nautical mile. */
const METRES_PER_FOOT = 0.3048
export const KM_PER_NAUTICAL_MILE = 1.852
const KMH_PER_MS = 3.6

const same = (value: number): number => value

const SCALES = {
  height: {
    m: { unit: 'm', digits: 2, from: same },
    ft: { unit: 'ft', digits: 1, from: (metres) => metres / METRES_PER_FOOT },
  },
  speed: {
    kmh: { unit: 'km/h', digits: 0, from: same },
    kn: { unit: 'kn', digits: 0, from: (kmh) => kmh / KM_PER_NAUTICAL_MILE },
    ms: { unit: 'm/s', digits: 1, from: (kmh) => kmh / KMH_PER_MS },
  },
  temperature: {
    c: { unit: '°C', digits: 1, from: same },
    f: { unit: '°F', digits: 1, from: (celsius) => (celsius * 9) / 5 + 32 },
  },
  period: { only: { unit: 's', digits: 1, from: same } },
  direction: { only: { unit: '°', digits: 0, from: same } },
  pressure: { only: { unit: 'hPa', digits: 1, from: same } },
  visibility: { only: { unit: 'km', digits: 1, from: same } },
} as const satisfies { [quantity in Quantity]: { readonly [unit: string]: Scale } }

/** The scale of a quantity in the units that the visitor reads. */
export type Scales = (quantity: Quantity) => Scale

/** `decimals` are those of measured values, for the unit that they were measured in. */
export function scaleOf(quantity: Quantity, units: Units, decimals?: number): Scale {
  const scales: { readonly [unit: string]: Scale } = SCALES[quantity]
  const scale = scales[quantity in units ? units[quantity as Kind] : 'only']!
  return scale.from === same && decimals !== undefined ? { ...scale, digits: decimals, isOwn: true } : scale
}

type Measuring = Pick<BuoyDetail, 'source' | 'last_reading'>

/** The measures of a quantity, which have decimals in common. */
const MEASURES: { readonly [quantity in Quantity]: readonly string[] } = {
  height: ['significient_height', 'maximum_height', 'swell_height', 'wind_wave_height'],
  period: ['period', 'peak_period', 'swell_period', 'wind_wave_period'],
  temperature: ['water_temperature', 'air_temperature'],
  speed: ['wind_speed', 'gust_speed'],
  direction: ['direction', 'wind_direction', 'swell_direction', 'wind_wave_direction'],
  pressure: ['pressure'],
  visibility: ['visibility'],
}

/** The most decimals of a network's data, by its name and by field. */
export interface Decimals {
  readonly [source: string]: { readonly [field: string]: number }
}

const decimalsOf = (value: unknown): number => String(value).split('.')[1]?.length ?? 0

/** The decimals of a reading, or of all of a chart, by the fields of readings. */
const decimalsIn = (fields: object): Decimals[string] =>
  Object.fromEntries(
    Object.entries(fields).map(([name, values]) => [
      name.replace('significant', 'significient'),
      Math.max(0, ...[values].flat().map(decimalsOf)),
    ]),
  )

/**
 * Measured values have as many decimals as their network's data: as `told`, else as the newest readings. JSON
 * leaves closing zeros out, so the longest of many numbers tells them.
 */
export function scalesOfSources(
  buoys: readonly Measuring[],
  told: Decimals,
  units: Units,
): (buoy: Measuring) => Scales {
  const known = new Map<string, Decimals[string][]>()
  const learn = (source: string, fields: Decimals[string]): void =>
    void known.set(source, [...(known.get(source) ?? []), fields])
  for (const [source, fields] of Object.entries(told)) learn(source, fields)
  for (const { source, last_reading: reading } of buoys) {
    if (told[source] === undefined) learn(source, decimalsIn(reading ?? {}))
  }
  return ({ source, last_reading: reading }) => {
    const all = known.get(source) ?? [decimalsIn(reading ?? {})]
    return (quantity) => {
      const most = all.flatMap((fields) => MEASURES[quantity].map((name) => fields[name] ?? 0))
      return scaleOf(quantity, units, Math.max(...most))
    }
  }
}

/** `1.52 m`, `5.0 ft`; `value` in the unit of the API. */
export function quantityText(quantity: Quantity, units: Units, value: number): string {
  return scaledText(scaleOf(quantity, units), value)
}

/** A value, in the unit of the API, with its unit. */
export function scaledText(scale: Scale, value: number): string {
  return `${valueText(scale, value)}${scale.unit === '°' ? '' : ' '}${scale.unit}`
}

/** A value, in the unit of the API, as a number in the unit of its scale. */
export function valueText({ from, digits, isOwn = false }: Scale, value: number): string {
  return decimalText(from(value), isOwn ? Math.max(digits, decimalsOf(value)) : digits)
}

/** A number as text, without the sign that a small negative one keeps when it is rounded to zero. */
export function decimalText(value: number, digits: number): string {
  const text = value.toFixed(digits)
  return localNumber(/^-0(\.0*)?$/.test(text) ? text.slice(1) : text)
}

/** Regions where seas are given in feet; the United States and those that follow them. */
const FEET = new Set('AS BS BZ FM GU KY LR MH MP PR PW US VI'.split(' '))
/** Countries that give winds at sea in knots, and in metres a second. Elsewhere people read km/h. */
const KNOTS = new Set([...FEET, ...'AU BE CA FR GB GG IE IM IN JE NL NZ ZA'.split(' ')])
const METRES_A_SECOND = new Set('BY CN DK EE FI FO GL IS JP KP KR KZ LT LV MN NO RU SE SJ TW UA'.split(' '))

/**
 * The units of a visitor's locales (BCP 47, the preferred one first). The first one with a region decides;
 * without any they are those of the API.
 */
export function unitsOfLocales(locales: readonly string[]): Units {
  const region = locales.map(regionOf).find((each) => each !== undefined) ?? ''
  const usesFeet = FEET.has(region)
  const metric = METRES_A_SECOND.has(region) ? 'ms' : 'kmh'
  const speed = KNOTS.has(region) ? 'kn' : metric
  return { height: usesFeet ? 'ft' : 'm', speed, temperature: usesFeet ? 'f' : 'c' }
}

/** The region that a locale names itself; a likely one is not guessed, as `en` is read everywhere. */
function regionOf(locale: string): string | undefined {
  try {
    return new Intl.Locale(locale).region
  } catch {
    // `navigator.languages` may hold anything, such as `C` or `en_US.UTF-8`.
    return undefined
  }
}

/** `ft,kn,f`: units as an address and the browser's storage have them. */
export function formatUnits(units: SomeUnits): string {
  return KINDS.map((kind) => units[kind])
    .filter((unit) => unit !== undefined)
    .join(',')
}

/** The units of a text. Words that are not a unit are left out, and of two of a kind the first one counts. */
export function parseUnits(text: string): SomeUnits {
  const words = text.split(',')
  const found: { [kind in Kind]?: string } = {}
  for (const kind of KINDS) {
    const word = words.find((each) => Object.hasOwn(SCALES[kind], each))
    if (word !== undefined) found[kind] = word
  }
  return found as SomeUnits
}
