/**
 * `--source demo:scale,…`: as many made-up buoys, for as long, as a bench wants, with the sea of `waves.ts`.
 *
 * Rows come month by month, oldest first, all buoys of a month together. The builder writes a month's part as
 * soon as the next month begins, and never holds more than one. A month does not depend on those before it,
 * so an interrupted build continues with the first month that it has not written.
 */
import { setImmediate } from 'node:timers/promises'
import { RowBatch } from '../../sea/columns.ts'
import { BuildError } from '../../system/build-error.ts'
import type { MonthlySource, Sink, SourceContext } from '../source.ts'
import type { BuoyRecord, SourceInfo } from '../../sea/records.ts'
import { monthOf, monthStart, monthText } from '../../sea/time.ts'
import { CLIMATES } from './climates.ts'
import { LONGEST_OUTAGE, STEP, fillRows } from './waves.ts'
import { gaussian, siteKey, uniform } from './chance.ts'
import type { Climate } from './climates.ts'
import type { Instrument, Site } from './waves.ts'

interface ScaleOptions {
  readonly buoys: number
  /** Length of the window that ends at `--as-of`: one of the two. */
  readonly span: { readonly years: number } | { readonly days: number }
  readonly seed: number
}

interface ScaleSource extends MonthlySource {
  readonly options: ScaleOptions
  defaultAsOf(now: number): number
}

/** Ranges of the options. The defaults are about the size of the real world: 1,200 buoys, 90 days. */
const LIMITS = {
  buoys: { min: 1, max: 5000 },
  years: { min: 1, max: 20 },
  days: { min: 1, max: 7300 },
  seed: { min: 0, max: 0xffffffff },
} as const
type OptionName = keyof typeof LIMITS

const DEFAULT_BUOYS = 1200
const DEFAULT_DAYS = 90
const DEFAULT_SEED = 1
/** Raised with every change of the law, so that an interrupted build never goes on with another sea. */
const LAW = 1

/** No window may begin before 1970, nor reach past what 32 bits of seconds hold. */
const FIRST_AS_OF = Date.UTC(1991, 0, 1) / 1000
const LAST_AS_OF = Date.UTC(2106, 0, 1) / 1000

const NATIONAL: SourceInfo = { name: 'Scale National', network: 'national', credit: 'Made up, not measured.' }
const COASTAL: SourceInfo = { name: 'Scale Coastal', network: 'coastal', credit: 'Made up, not measured.' }

const WAVES_ONLY: Instrument = {
  heightStep: 0.01,
  periodStep: 0.1,
  periods: 'both',
  maximum: { median: 1.64, spread: 0.0958 },
  direction: true,
  water: false,
  wind: false,
}
const EVERYTHING: Instrument = { ...WAVES_ONLY, water: true, wind: true }
const WITHOUT_MAXIMUM: Instrument = {
  heightStep: 0.1,
  periodStep: 1,
  periods: 'peak',
  direction: true,
  water: true,
  wind: true,
}

/**
 * Of four buoys of a coast one is coastal, one measures all nine quantities, two are like the American
 * national ones.
 */
const INSTRUMENTS = [WAVES_ONLY, WITHOUT_MAXIMUM, EVERYTHING, WITHOUT_MAXIMUM] as const

interface Coast {
  /** A place on it, which names its buoys. */
  readonly name: string
  readonly country: string
  readonly lat: number
  readonly lng: number
  /** Which way the coast runs there, and where waves come from, degrees. */
  readonly along: number
  readonly waves: number
  readonly climate: Climate
}

/** Sea points off real coasts, from which the buoys wander. */
const COASTS: readonly Coast[] = (
  [
    ['Biarritz', 'FR', 43.6, -1.9, 10, 300, 'biscay'],
    ['Arcachon', 'FR', 44.8, -1.7, 355, 295, 'biscay'],
    ['Bilbao', 'ES', 43.6, -3.1, 275, 310, 'biscay'],
    ['Nazaré', 'PT', 39.6, -9.4, 5, 305, 'biscay'],
    ['Brest', 'FR', 48.3, -5.3, 45, 270, 'celtic'],
    ['Newquay', 'GB', 50.5, -5.4, 50, 270, 'celtic'],
    ['Galway', 'IE', 53.1, -10.4, 10, 260, 'celtic'],
    ['Stavanger', 'NO', 58.9, 4.8, 0, 280, 'norwegian'],
    ['Ålesund', 'NO', 62.8, 5.2, 45, 290, 'norwegian'],
    ['Marseille', 'FR', 43, 5, 95, 250, 'mediterranean'],
    ['Palermo', 'IT', 38.6, 13.2, 90, 320, 'mediterranean'],
    ['Valencia', 'ES', 39.4, 0.3, 20, 80, 'mediterranean'],
    ['Heraklion', 'GR', 35.7, 25.1, 90, 330, 'mediterranean'],
    ['Hatteras', 'US', 35, -74.9, 35, 120, 'carolina'],
    ['Daytona', 'US', 29.2, -80.3, 345, 90, 'carolina'],
    ['Nantucket', 'US', 40.9, -69.8, 60, 160, 'newEngland'],
    ['Montauk', 'US', 40.6, -72, 70, 170, 'newEngland'],
    ['Halifax', 'CA', 44.2, -63, 65, 160, 'newEngland'],
    ['Galveston', 'US', 28.8, -94.5, 60, 140, 'mexicanGulf'],
    ['Veracruz', 'MX', 19.4, -95.6, 335, 30, 'mexicanGulf'],
    ['Muskegon', 'US', 43.2, -86.9, 0, 250, 'michigan'],
    ['Kodiak', 'US', 57, -152, 45, 200, 'alaskan'],
    ['Sitka', 'US', 56.8, -136.5, 325, 230, 'alaskan'],
    ['Adak', 'US', 51.4, -179.9, 85, 240, 'alaskan'],
    ['Tofino', 'CA', 48.9, -126.3, 310, 270, 'alaskan'],
    ['Monterey', 'US', 36.6, -122.4, 335, 300, 'californian'],
    ['Newport', 'US', 44.6, -124.6, 0, 285, 'californian'],
    ['Ensenada', 'MX', 31.8, -117.1, 340, 280, 'californian'],
    ['Haleiwa', 'US', 21.8, -158.3, 60, 330, 'hawaiian'],
    ['Nadi', 'FJ', -17.9, 177, 60, 200, 'mascarene'],
    ['Saint-Pierre', 'RE', -21.5, 55.3, 320, 220, 'mascarene'],
    ['Durban', 'ZA', -29.9, 31.4, 30, 170, 'mascarene'],
    ['Cape Town', 'ZA', -33.9, 18, 345, 230, 'southernOcean'],
    ['Perth', 'AU', -31.9, 115.3, 350, 235, 'southernOcean'],
    ['Sydney', 'AU', -33.9, 151.7, 20, 150, 'southernOcean'],
    ['Dunedin', 'NZ', -45.8, 171.2, 35, 190, 'southernOcean'],
    ['Valparaíso', 'CL', -33, -72, 5, 225, 'southernOcean'],
  ] as const
).map(([name, country, lat, lng, along, waves, climate]) => ({
  name,
  country,
  lat,
  lng,
  along,
  waves,
  climate: CLIMATES[climate],
}))

/**
 * Opens the generator. `options` is what follows `demo:scale,`, for instance `buoys=500,years=10,seed=7`.
 * @throws BuildError naming an unknown, repeated or ill-valued option, and what is allowed
 */
export function openScale(options: string): ScaleSource {
  return scaleSource(parseOptions(options))
}

function parseOptions(text: string): ScaleOptions {
  const given = new Map<OptionName, number>()
  // At most eight options are looked at, more than there are.
  for (const option of text === '' ? [] : text.split(',', 8)) {
    const [name = '', value = ''] = option.split('=', 2)
    if (!Object.hasOwn(LIMITS, name)) {
      throw new BuildError(
        `scale: unknown option ${JSON.stringify(name.slice(0, 20))}; allowed are buoys, years or days, and seed`,
      )
    }
    const { min, max } = LIMITS[name as OptionName]
    if (!/^[0-9]{1,10}$/.test(value) || Number(value) < min || Number(value) > max) {
      throw new BuildError(`scale: ${name} must be a whole number from ${min} to ${max}`)
    }
    if (given.has(name as OptionName)) throw new BuildError(`scale: ${name} is given twice`)
    given.set(name as OptionName, Number(value))
  }
  const years = given.get('years')
  const days = given.get('days')
  if (years !== undefined && days !== undefined) {
    throw new BuildError('scale: years and days exclude each other')
  }
  return {
    buoys: given.get('buoys') ?? DEFAULT_BUOYS,
    span: years === undefined ? { days: days ?? DEFAULT_DAYS } : { years },
    seed: given.get('seed') ?? DEFAULT_SEED,
  }
}

function scaleSource(options: ScaleOptions): ScaleSource {
  const fleet = fleetOf(options)
  const batch = new RowBatch()

  const months = (asOf: number): number[] => {
    if (!(asOf >= FIRST_AS_OF && asOf <= LAST_AS_OF)) {
      throw new BuildError('scale: --as-of must lie in the years 1991 to 2105')
    }
    const first = monthOf((firstStep(options, asOf) + 1) * STEP)
    return Array.from({ length: monthOf(asOf) - first + 1 }, (_, i) => first + i)
  }
  /** The month's half-hours inside the window: `from` to before `to`. */
  const stepsOf = (month: number, asOf: number): { from: number; to: number } => ({
    from: Math.max(monthStart(month) / STEP, firstStep(options, asOf) + 1),
    to: Math.min(monthStart(month + 1) / STEP, Math.floor(asOf / STEP) + 1),
  })
  const announce = (sink: Sink): number[] => {
    sink.source(NATIONAL)
    sink.source(COASTAL)
    return fleet.map(({ record }) => sink.buoy(record))
  }
  const readMonth: ScaleSource['readMonth'] = (month, asOf, sink, handles, file) => {
    const { from, to } = stepsOf(month, asOf)
    for (let i = 0; i < fleet.length; i++) {
      fillRows(batch, fleet[i].site, from, to, 1)
      if (batch.length > 0) sink.rows(handles[i], batch)
      file.rows(batch.length)
    }
  }

  return {
    options,
    isMadeUp: true,
    monthKey(month, asOf) {
      const { from, to } = stepsOf(month, asOf)
      return `scale law ${LAW} seed ${options.seed} buoys ${options.buoys} from ${from} to ${to}`
    },
    defaultAsOf: lastHalfHour,
    months,
    announce,
    readMonth,
    async read(sink: Sink, context: SourceContext): Promise<void> {
      const asOf = context.asOf ?? lastHalfHour(context.now)
      const handles = announce(sink)
      for (const month of months(asOf)) {
        const file = context.report.file(`scale ${monthText(month)}`)
        readMonth(month, asOf, sink, handles, file)
        file.end()
        // A month of 5,000 buoys takes about two seconds: timers and signals run in between.
        await setImmediate()
      }
    },
  }
}

function lastHalfHour(now: number): number {
  return Math.floor(now / STEP) * STEP
}

/** The half-hour before the window's first: the window holds the times after it, up to and with `asOf`. */
function firstStep({ span }: ScaleOptions, asOf: number): number {
  if ('days' in span) return Math.floor(asOf / STEP) - (span.days * 86_400) / STEP
  const start = new Date(asOf * 1000)
  return Math.floor(start.setUTCFullYear(start.getUTCFullYear() - span.years) / 1000 / STEP)
}

interface Member {
  readonly record: BuoyRecord
  readonly site: Site
}

/** Buoy n is the next one along coast n mod 37; the first n buoys are the same however many are asked for. */
function fleetOf({ buoys, seed }: ScaleOptions): Member[] {
  const places = COASTS.map(({ lat, lng, along }) => ({ lat, lng, heading: along }))
  return Array.from({ length: buoys }, (_, n) => {
    const coast = COASTS[n % COASTS.length]
    const place = places[n % COASTS.length]
    const ordinal = Math.floor(n / COASTS.length)
    const identifier = `S${String(n + 1).padStart(5, '0')}`
    const key = siteKey(seed, identifier)
    const instrument = INSTRUMENTS[(ordinal + (n % COASTS.length)) % INSTRUMENTS.length]
    const record: BuoyRecord = {
      source: instrument === WAVES_ONLY ? COASTAL.name : NATIONAL.name,
      identifier,
      name: `${coast.name} ${ordinal + 1}`,
      lat: rounded(place.lat),
      lng: rounded(place.lng),
      country: coast.country,
    }
    wander(place, key)
    const exposure = 0.6 + 0.6 * uniform(key, 0)
    const { climate, waves: direction } = coast
    return {
      record,
      site: { key, climate, exposure, direction, lng: record.lng, instrument, longestOutage: LONGEST_OUTAGE },
    }
  })
}

/** Moves on by 2 to 12 km along the coast, give or take, and now and then turns back. */
function wander(place: { lat: number; lng: number; heading: number }, key: number): void {
  if (uniform(key, 1) < 0.1) place.heading += 180
  const heading = ((place.heading + 35 * gaussian(key, 2)) * Math.PI) / 180
  const degrees = (2 + 10 * uniform(key, 3)) / 111.2
  place.lat = Math.min(Math.max(place.lat + degrees * Math.cos(heading), -75), 75)
  const lng = place.lng + (degrees * Math.sin(heading)) / Math.cos((place.lat * Math.PI) / 180)
  place.lng = ((lng + 540) % 360) - 180
}

/** Four decimals: about ten metres. */
function rounded(degrees: number): number {
  return Math.round(degrees * 10_000) / 10_000
}
