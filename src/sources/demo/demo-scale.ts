/**
 * `--source demo:scale,…`: as many made-up buoys, for as long, as a bench wants. Rows come month by month,
 * all buoys of a month together, as the builder spools them best.
 */
import { setImmediate } from 'node:timers/promises'
import { RowBatch } from '../../sea/row-batch.ts'
import { BuildError } from '../../system/build-error.ts'
import type { Sink, Source, SourceContext } from '../source.ts'
import type { BuoyRecord, SourceInfo } from '../../sea/records.ts'
import { monthOf, monthStart, monthText } from '../../sea/time.ts'
import { fillRows, type Instrument, type Mooring } from './demo-rows.ts'
import { gaussian, keyOf, lastHalfHour, Sea, STEP, uniform, type Climate } from './demo-sea.ts'
import data from './stations.json' with { type: 'json' }

interface ScaleOptions {
  readonly buoys: number
  /** Length of the window that ends at `--as-of`: one of the two. */
  readonly span: { readonly years: number } | { readonly days: number }
  readonly seed: number
}

/** Ranges of the options. The defaults are about the size of the real world: 1,200 buoys, 90 days. */
const LIMITS = {
  buoys: { min: 1, max: 5000 },
  years: { min: 1, max: 20 },
  days: { min: 1, max: 7300 },
  seed: { min: 0, max: 0xffffffff },
} as const
type OptionName = keyof typeof LIMITS

/** No window may begin before 1970, nor reach past what 32 bits of seconds hold. */
const FIRST_AS_OF = Date.UTC(1991, 0, 1) / 1000
const LAST_AS_OF = Date.UTC(2106, 0, 1) / 1000

const NATIONAL: SourceInfo = { name: 'Scale National', network: 'national', credit: 'Made up, not measured.' }
const COASTAL: SourceInfo = { name: 'Scale Coastal', network: 'coastal', credit: 'Made up, not measured.' }

interface Coast {
  readonly name: string
  readonly country: string
  readonly lat: number
  readonly lng: number
  /** The direction in which the coast runs there, and where waves come from, degrees. */
  readonly along: number
  readonly waves: number
  readonly climate: string
}

const { networks, climates, coasts } = data as unknown as {
  networks: { [name in 'ndbc' | 'candhis']: { instrument: Instrument } }
  climates: { [name: string]: Climate }
  coasts: Coast[]
}

/** In every four buoys of a coast, one is coastal, one measures all nine quantities, two are as NDBC's. */
const [ndbc, candhis] = [networks.ndbc.instrument, networks.candhis.instrument]
const WAVES_ONLY: Instrument = { ...candhis, water: false }
const INSTRUMENTS = [WAVES_ONLY, ndbc, { ...candhis, wind: true }, ndbc]

/**
 * Opens the generator. `text` is what follows `demo:scale,`, for instance `buoys=500,years=10,seed=7`.
 * @throws BuildError naming an unknown, repeated or ill-valued option, and what is allowed
 */
export function openScale(text: string): Source {
  const options = scaleOptions(text)
  return {
    isMadeUp: true,
    defaultAsOf: lastHalfHour,
    async read(sink: Sink, context: SourceContext): Promise<void> {
      const asOf = context.asOf ?? lastHalfHour(context.now)
      if (!(asOf >= FIRST_AS_OF && asOf <= LAST_AS_OF)) {
        throw new BuildError('scale: --as-of must lie in the years 1991 to 2105')
      }
      const fleet = fleetOf(options)
      sink.source(NATIONAL)
      sink.source(COASTAL)
      const handles = fleet.map(({ record }) => sink.buoy(record))
      const batch = new RowBatch()
      const first = firstStep(options, asOf) + 1
      const behind = Math.floor(asOf / STEP) + 1
      for (let month = monthOf(first * STEP); month <= monthOf(asOf); month++) {
        const file = context.report.file(`scale ${monthText(month)}`)
        const from = Math.max(monthStart(month) / STEP, first)
        const to = Math.min(monthStart(month + 1) / STEP, behind)
        fleet.forEach(({ mooring, sea }, i) => {
          fillRows(batch, mooring, sea, { from, to, every: 1 })
          if (batch.length > 0) sink.rows(handles[i], batch)
          file.rows(batch.length)
        })
        file.end()
        // A month of 5,000 buoys takes about two seconds: timers and signals run in between.
        await setImmediate()
      }
    },
  }
}

export function scaleOptions(text: string): ScaleOptions {
  const given: { [name in OptionName]?: number } = {}
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
    if (Object.hasOwn(given, name)) throw new BuildError(`scale: ${name} is given twice`)
    given[name as OptionName] = Number(value)
  }
  const { buoys = 1200, years, days, seed = 1 } = given
  if (years !== undefined && days !== undefined) {
    throw new BuildError('scale: years and days exclude each other')
  }
  return { buoys, span: years === undefined ? { days: days ?? 90 } : { years }, seed }
}

/** The half-hour before the window's first: `asOf` is inside, the begin is not. */
function firstStep({ span }: ScaleOptions, asOf: number): number {
  if ('days' in span) return Math.floor(asOf / STEP) - (span.days * 86_400) / STEP
  const start = new Date(asOf * 1000)
  return Math.floor(start.setUTCFullYear(start.getUTCFullYear() - span.years) / 1000 / STEP)
}

interface Member {
  readonly record: BuoyRecord
  readonly mooring: Mooring
  readonly sea: Sea
}

/** Buoy n is the next one along coast n mod 37; the first n buoys are the same however many are asked for. */
function fleetOf({ buoys, seed }: ScaleOptions): Member[] {
  const places = coasts.map(({ lat, lng, along }) => ({ lat, lng, heading: along }))
  return Array.from({ length: buoys }, (_, n) => {
    const coast = coasts[n % coasts.length]
    const place = places[n % coasts.length]
    const ordinal = Math.floor(n / coasts.length)
    const identifier = `S${String(n + 1).padStart(5, '0')}`
    const key = keyOf(seed, identifier)
    const instrument = INSTRUMENTS[(ordinal + (n % coasts.length)) % INSTRUMENTS.length]
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
    const { lat, lng } = record
    const climate = climates[coast.climate]
    const mooring = { key, lat, lng, climate, exposure, direction: coast.waves, instrument }
    return { record, mooring, sea: new Sea(mooring, seed) }
  })
}

function wander(place: { lat: number; lng: number; heading: number }, key: number): void {
  if (uniform(key, 1) < 0.1) place.heading += 180
  const heading = ((place.heading + 35 * gaussian(key, 2)) * Math.PI) / 180
  const degrees = (2 + 10 * uniform(key, 3)) / 111.2
  place.lat = Math.min(Math.max(place.lat + degrees * Math.cos(heading), -75), 75)
  const lng = place.lng + (degrees * Math.sin(heading)) / Math.cos((place.lat * Math.PI) / 180)
  place.lng = ((lng + 540) % 360) - 180
}

const rounded = (degrees: number): number => Math.round(degrees * 10_000) / 10_000
