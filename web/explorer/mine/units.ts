/** The units that a visitor reads; the API answers in metres, km/h and °C, and the page converts. */

export const UNIT_CHOICES = {
  height: ['m', 'ft'],
  speed: ['kmh', 'kn', 'ms'],
  temperature: ['c', 'f'],
} as const

type Kind = keyof typeof UNIT_CHOICES
export type Units = { readonly [kind in Kind]: (typeof UNIT_CHOICES)[kind][number] }
/** Units that a link or the browser names; the rest follows the visitor's locale. */
export type SomeUnits = Partial<Units>

export const KINDS = Object.keys(UNIT_CHOICES) as Kind[]

/** What a value is: of heights, speeds and temperatures the visitor chooses the unit. */
export type Quantity = Kind | 'period' | 'direction'

/** How the values of a quantity are written. */
export interface Scale {
  unit: string
  /** Decimals; a foot has fewer than a metre, since a tenth of it is three centimetres. */
  digits: number
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
} as const satisfies { [quantity in Quantity]: { readonly [unit: string]: Scale } }

/** The scale of a quantity in the units that the visitor reads. */
export type Scales = (quantity: Quantity) => Scale

/** What is written in the unit that it was measured in has at most `decimals`. */
export function scaleOf(quantity: Quantity, units: Units, decimals = Infinity): Scale {
  const scales: { readonly [unit: string]: Scale } = SCALES[quantity]
  const scale = scales[quantity in UNIT_CHOICES ? units[quantity as Kind] : 'only']!
  return scale.from === same ? { ...scale, digits: Math.min(scale.digits, decimals) } : scale
}

/** JSON leaves closing zeros out, so the longest of many numbers tells the decimals of their source. */
export function decimalsOf(values: readonly (number | null | undefined)[]): number {
  return Math.max(0, ...values.map((value) => String(value ?? '').split('.')[1]?.length ?? 0))
}

/** `1.52 m`, `5.0 ft`; `value` in the unit of the API, with its own decimals unless others are given. */
export function quantityText(
  quantity: Quantity,
  units: Units,
  value: number,
  decimals = decimalsOf([value]),
): string {
  return scaledText(scaleOf(quantity, units, decimals), value)
}

/** A value, in the unit of the API, with its unit. */
export function scaledText({ unit, from, digits }: Scale, value: number): string {
  return `${decimalText(from(value), digits)}${unit === '°' ? '' : ' '}${unit}`
}

/** A number as text, without the sign that a small negative one keeps when it is rounded to zero. */
export function decimalText(value: number, digits: number): string {
  const text = value.toFixed(digits)
  return /^-0(\.0*)?$/.test(text) ? text.slice(1) : text
}

/** Regions where seas are given in feet; the United States and those that follow them. */
const FEET = new Set('AS BS BZ FM GU KY LR MH MP PR PW US VI'.split(' '))
/** Where winds at sea are given in knots, and in metres a second. Elsewhere people read km/h. */
const KNOTS = new Set([...FEET, ...'AU BE CA FR GB GG IE IM IN JE NL NZ ZA'.split(' ')])
const METRES_A_SECOND = new Set('BY CN DK EE FI FO GL IS JP KP KR KZ LT LV MN NO RU SE SJ TW UA'.split(' '))

/**
 * The units of a visitor's locales (BCP 47, the preferred one first). The first one with a region decides;
 * without any they are those of the API.
 */
export function unitsOfLocales(locales: readonly string[]): Units {
  const region = locales.map(regionOf).find((each) => each !== undefined) ?? ''
  const usesFeet = FEET.has(region)
  const speed = KNOTS.has(region) ? 'kn' : METRES_A_SECOND.has(region) ? 'ms' : 'kmh'
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
    const word = words.find((each) => (UNIT_CHOICES[kind] as readonly string[]).includes(each))
    if (word !== undefined) found[kind] = word
  }
  return found as SomeUnits
}
