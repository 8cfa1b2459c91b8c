/**
 * Forecasts of public services, one answer a file (`docs/sources-beyond-buoys.md`). Everything about a point
 * is gathered over all files, as some services answer one quantity at a time. A file that cannot be
 * understood is reported and left out whole.
 */
import type { Static } from 'typebox'
import { object, Type } from '../../system/schema.ts'
import { degrees, readTable } from '../reading/text-table.ts'
import { join } from 'node:path'
import type { OpenSource, Report, Sink, SourceContext } from '../source.ts'
import { POSITIONS_FILE, seriesOf } from './forecast-answers.ts'
import { NOTHING_USED, type Quantity, type Series, type Values, quantitiesOf } from './forecast-quantities.ts'
import { WholeFiles, takeDoubts, listSource, readText } from '../reading/source-files.ts'
import type { ForecastRecord } from '../../sea/records.ts'
import { FORECAST_MEASURES, FORECAST_NAMES, type ForecastName, MEASURES } from '../../sea/columns.ts'
import { LONGEST_STEP, directionBetween } from '../../index/forecast.ts'
import { NearPoints } from '../../index/near.ts'
import { pointKey } from '../../sea/geo.ts'
import { entryOf } from '../../system/entry-of.ts'

/** Bytes of an answer, held as text and as objects of ten times its size. */
const MAX_ANSWER_BYTES = 64 * 2 ** 20

/** The position of answers that do not name it. */
const POSITIONS = { file: String, lat: degrees(90), lng: degrees(180) }

const WORD = { minLength: 1, maxLength: 200, pattern: '^[^\\x00-\\x1f]+$' }

export const FORECAST_OPTIONS = object({
  /** Name of the answers' model: most services do not name it. */
  model: Type.Optional(Type.String(WORD)),
  /** The only model that counts of answers with several, by the service's own word. */
  pick: Type.Optional(Type.String(WORD)),
})

export const openForecast: OpenSource = (folder, options: Static<typeof FORECAST_OPTIONS> = {}) => ({
  read: (sink, context) => readFolder(folder, options, sink, context),
})

async function readFolder(
  folder: string,
  { model, pick }: Static<typeof FORECAST_OPTIONS>,
  sink: Sink,
  { report }: SourceContext,
): Promise<void> {
  const root = await listSource('forecast', folder)
  const list = root.files.includes(POSITIONS_FILE) ? join(folder, POSITIONS_FILE) : null
  const positions = list === null ? new Map() : await readPositions(list, report)
  const places = new Map<string, Place>()
  const files = new WholeFiles('forecast', report)
  for (const name of root.files) {
    if (name === POSITIONS_FILE) continue
    const path = join(folder, name)
    const file = report.file(path)
    await files.use(path, async () => {
      const doubt = takeDoubts(report, path)
      const series = seriesOf(await readText(path, file, MAX_ANSWER_BYTES), positions.get(name), doubt, pick)
      if (series.length === 0) file.skipped(NOTHING_USED)
      // A fault is found before anything of the file is taken.
      const taken = series.map((one) => ({ one, quantities: quantitiesOf(one, file, doubt) }))
      for (const { one } of taken) file.rows(one.times.length)
      if (file.end()) for (const { one, quantities } of taken) gather(places, one, quantities)
    })
  }
  files.expectUsed()
  const records = recordsOf(places)
  if (records.length === 0) report.doubt({ what: 'there is no forecast', examples: [folder], isGrave: true })
  for (const record of records) sink.forecast(model === undefined ? record : { ...record, model })
}

async function readPositions(
  path: string,
  report: Report,
): Promise<Map<string, { lat: number; lng: number }>> {
  const positions = new Map<string, { lat: number; lng: number }>()
  await readTable(path, report.file(path), POSITIONS, 3, ({ file, ...place }) => {
    positions.set(file, place)
    return null
  })
  return positions
}

/** Waves without wind take it from within this distance, just over half the diagonal of a 0.25° cell. */
const WIND_REACH_KM = 25

export interface Place {
  lat: number
  lng: number
  quantities: { [name in ForecastName]?: Quantity }
}

/** The newest run counts for each quantity; files of one run complete each other, and the first file wins. */
export function gather(
  places: Map<string, Place>,
  { lat, lng }: Series,
  quantities: ReadonlyMap<ForecastName, Quantity>,
): void {
  const key = pointKey(lat, lng)
  const place = entryOf(places, key, () => ({ lat, lng, quantities: {} }))
  for (const [name, quantity] of quantities) {
    if (quantity.values.every((value) => value === null)) continue
    const known = place.quantities[name]
    if (known === undefined || known.runAt < quantity.runAt) place.quantities[name] = quantity
    else if (known.runAt === quantity.runAt) place.quantities[name] = joined(known, quantity)
  }
}

function joined(first: Quantity, second: Quantity): Quantity {
  const byTime = new Map<number, number | null>()
  for (const { times, values } of [second, first]) {
    times.forEach((time, i) => {
      if (values[i] !== null || !byTime.has(time)) byTime.set(time, values[i])
    })
  }
  const times = [...byTime.keys()].sort((a, b) => a - b)
  return { ...first, times, values: times.map((time) => byTime.get(time)!) }
}

const WAVE_NAMES = FORECAST_NAMES.filter((name) => !name.startsWith('wind'))
const WIND_NAMES = FORECAST_NAMES.filter((name) => name.startsWith('wind'))

/** One record a position, south to north. A position with wind alone has none if another took its wind. */
function recordsOf(places: ReadonlyMap<string, Place>): ForecastRecord[] {
  const inOrder = [...places.values()]
    .filter(({ quantities }) => Object.keys(quantities).length > 0)
    .sort((a, b) => a.lat - b.lat || a.lng - b.lng)
  const has = ({ quantities }: Place, names: readonly ForecastName[]): boolean =>
    names.some((name) => quantities[name] !== undefined)
  const windOnly = inOrder.filter((place) => !has(place, WAVE_NAMES))
  const windless = inOrder.filter((place) => !has(place, WIND_NAMES))
  const lent = new Set<Place>()
  if (windOnly.length > 0) {
    const lat = Float64Array.from(windOnly, (place) => place.lat)
    const lng = Float64Array.from(windOnly, (place) => place.lng)
    const near = new NearPoints(lat, lng)
    for (const place of windless) {
      const [nearest] = near.nearest(place.lat, place.lng, 1, WIND_REACH_KM)
      if (nearest === undefined) continue
      const lender = windOnly[nearest.ordinal]
      for (const name of WIND_NAMES) {
        const quantity = lender.quantities[name]
        if (quantity !== undefined) place.quantities[name] = quantity
      }
      lent.add(lender)
    }
  }
  return inOrder.filter((place) => !lent.has(place)).map(recordOf)
}

/** All quantities on one axis of time. Models and the oldest run are those of the waves, if there are any. */
function recordOf({ lat, lng, quantities }: Place): ForecastRecord {
  const given = FORECAST_NAMES.flatMap((name) => {
    const quantity = quantities[name]
    return quantity === undefined ? [] : [{ name, quantity }]
  })
  const waves = given.filter(({ name }) => WAVE_NAMES.includes(name))
  const leading = (waves.length > 0 ? waves : given).map(({ quantity }) => quantity)
  const models = new Set(leading.flatMap(({ model }) => model ?? []))
  const times = [...new Set(given.flatMap(({ quantity }) => quantity.times))].sort((a, b) => a - b)
  return {
    lat,
    lng,
    runAt: Math.min(...leading.map(({ runAt }) => runAt)),
    ...(models.size > 0 && { model: [...models].join(', ') }),
    times,
    values: Object.fromEntries(given.map(({ name, quantity }) => [name, laidOn(times, name, quantity)])),
  }
}

/**
 * The quantity's values at `times`, which include its own. A three-hourly model gets hours by the
 * interpolation that the server would use; its own gaps stay.
 */
function laidOn(times: readonly number[], name: ForecastName, quantity: Quantity): Values {
  const { times: own, values } = quantity
  const isDirection = MEASURES[FORECAST_MEASURES[name]].unit === 'degree'
  let next = 0
  return times.map((time) => {
    while (next < own.length && own[next] < time) next++
    if (own[next] === time) return values[next]
    if (next === 0 || next === own.length || own[next] - own[next - 1] > LONGEST_STEP) return null
    const [before, after] = [values[next - 1], values[next]]
    if (before === null || after === null) return null
    const share = (time - own[next - 1]) / (own[next] - own[next - 1])
    return isDirection ? directionMean(before, after, share) : before + (after - before) * share
  })
}

function directionMean(before: number, after: number, share: number): number | null {
  const opposite = Math.abs(after - before) === 180
  return opposite ? null : directionBetween(before * 100, after * 100, share) / 100
}
