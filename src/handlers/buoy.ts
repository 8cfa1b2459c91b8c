/** Operation 2, `GET /buoys/{buoy_id}`: digits are an id first, then a slug; adds `country` and `dtz`. */
import { addExtras, EXTRA_GROUPS, INCLUDES_SPECTRUM, SPECTRUM, WIRE_NAMES } from '../dataset/reading-json.ts'
import type { MonthRow } from '../index/segments.ts'
import { type MeasureName, MEASURES, WEATHER_MEASURES } from '../sea/columns.ts'
import { BUOY_GROUPS, includesUsual, usualJson } from '../dataset/usual.ts'
import { wordSet } from '../operation/parameters.ts'
import { JsonWriter } from '../dataset/json-writer.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { availableOf, type Span } from '../index/latest.ts'
import { entryOf } from '../system/entry-of.ts'
import { newestSpectrum } from '../dataset/spectra-json.ts'
import { timestampText } from '../sea/time.ts'
import { Literal } from '../dataset/literals.ts'
import { operation, requireBuoy } from '../operation/operation.ts'
import { FORMATS } from '../operation/shape.ts'
import type { View } from '../dataset/view.ts'

const BUOY = new Literal('{"buoy":')
const END = new Literal('}')
/** Bytes: more than follow the buoy. */
const END_BYTES = 8

export const getBuoy = operation({
  name: 'getBuoy',
  path: '/buoys/{buoy_id}',
  access: 'keyed',
  summary: 'One buoy',
  parameters: {
    include: wordSet({
      values: [...BUOY_GROUPS, SPECTRUM, 'available', 'credit'],
      description:
        'More members: of the last reading `peak_period`, with `wind` `wind_speed`, `wind_direction` and `gust_speed`, with `swell` height, period and direction of the swell and of the wind sea, with `weather` air temperature, dew point, pressure, humidity and visibility; of the buoy with `weather` `last_weather`, its newest row without waves, where that is newer than the last reading or has a value that it lacks; `available`, the fields that it has had, each with the times of its first and last value; with `credit` its `credit` and `licence`, with `spectrum` its newest wave spectrum without the bands; with `usual` how its last height compares with those of the same time of the year.',
    }),
  },
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  answer(view, query, [buoyId]) {
    const { writer, detail } = view.fragments
    const ordinal = requireBuoy(view, buoyId)
    if (query.include !== undefined) {
      writer.text(moreText(view, ordinal, query.include))
      return
    }
    writer.literal(BUOY)
    detail.write(ordinal)
    writer.ensure(END_BYTES)
    writer.literal(END)
  },
  tables: { formats: FORMATS, isList: false },
})

const WEATHER = 1 << EXTRA_GROUPS.indexOf('weather')
const AVAILABLE = INCLUDES_SPECTRUM << 1
const CREDIT = AVAILABLE << 1
/** Room to begin with; it grows. */
const TEXT_BYTES = 1024

interface Detail {
  last_reading: object | null
  last_weather?: object | null
  usual?: object | null
  available?: object
  credit?: string | null
  licence?: string | null
  spectrum?: object | null
}

/** Spans that were found for a buoy of a snapshot: searching ten years takes up to 1 ms. */
const known = new WeakMap<Dataset, Map<number, object>>()

function availableIn(dataset: Dataset, ordinal: number): object {
  const ofBuoys = known.get(dataset) ?? new Map<number, object>()
  known.set(dataset, ofBuoys)
  return entryOf(ofBuoys, ordinal, () => {
    const found = [...availableOf([dataset.readings, dataset.weather], ordinal)]
    const texts = ({ first, last }: Span) => ({ first: timestampText(first), last: timestampText(last) })
    return Object.fromEntries(found.map(([name, span]) => [WIRE_NAMES[name], texts(span)]))
  })
}

/** The value of a measure in a row; null where it is missing. */
function valueIn({ month, row }: MonthRow, name: MeasureName): number | null {
  const { codes, mask } = month.measures[name]
  const code = codes[row & mask]
  return code === MEASURES[name].missing ? null : code / MEASURES[name].scale
}

/** The newest weather row, if it is newer than the last reading or has a measure that the reading lacks. */
function lastWeather({ readings, weather }: Dataset, ordinal: number): object | null {
  const newest = weather.newestRow(ordinal)
  const reading = readings.newestRow(ordinal)
  if (newest === null || reading === null) return null
  const adds = (name: MeasureName): boolean =>
    valueIn(newest, name) !== null && valueIn(reading, name) === null
  const time = newest.month.time[newest.row]
  if (time < reading.month.time[reading.row] && !WEATHER_MEASURES.some(adds)) return null
  const values = WEATHER_MEASURES.map((name) => [WIRE_NAMES[name], valueIn(newest, name)])
  return { time: timestampText(time), ...Object.fromEntries(values) }
}

/** `data` with the members of `included`. */
function moreText({ dataset, fragments }: View, ordinal: number, included: number): string {
  const { readings } = dataset
  const writer = new JsonWriter(TEXT_BYTES)
  fragments.detail.writeTo(writer, ordinal)
  const buoy = JSON.parse(writer.textOf(0, writer.at)) as Detail
  const newest = readings.newestRow(ordinal)
  if (newest !== null) {
    writer.begin()
    const start = writer.at
    writer.text('{"uuid":null}')
    addExtras(writer, newest, included)
    const { uuid: _, ...extras } = JSON.parse(writer.textOf(start, writer.at)) as { uuid: null }
    buoy.last_reading = { ...buoy.last_reading, ...extras }
  }
  if ((included & WEATHER) !== 0) buoy.last_weather = lastWeather(dataset, ordinal)
  if ((included & INCLUDES_SPECTRUM) !== 0) buoy.spectrum = newestSpectrum(dataset, ordinal)
  if (includesUsual(included)) buoy.usual = usualJson(dataset, ordinal)
  if ((included & AVAILABLE) !== 0) {
    buoy.available = availableIn(dataset, ordinal)
  }
  if ((included & CREDIT) !== 0) {
    const { catalog } = dataset
    const { credit, licence } = catalog.sources[catalog.source[ordinal]]
    Object.assign(buoy, { credit, licence })
  }
  return JSON.stringify({ buoy })
}
