/** Operation 7, `GET /buoys/{buoy_id}/readings/search`: the closest reading, on a tie the earlier. */
import { notFound } from '../operation/errors.ts'
import { Literal } from '../dataset/literals.ts'
import { operation, requireBuoy } from '../operation/operation.ts'
import { date, number, timeOfDay } from '../operation/parameters.ts'
import { include } from '../operation/filters.ts'
import { addExtras, READING_BYTES, writeReading } from '../dataset/reading-json.ts'
import { HOUR, MINUTE } from '../sea/time.ts'

const CLOSEST = new Literal('{"closest_reading":')
const DIFFERENCE = new Literal(',"time_diff_minutes":')
const TARGET = new Literal('},"search_parameters":{"target_datetime":')
const TOLERANCE = new Literal(',"tolerance_hours":')
const RANGE_START = new Literal(',"search_range":{"start":')
const RANGE_END = new Literal(',"end":')
const END = new Literal('}}}')
/** More than the parameters take. */
const PARAMETERS_BYTES = 256

export const closestReading = operation({
  name: 'closestReading',
  path: '/buoys/{buoy_id}/readings/search',
  access: 'keyed',
  summary: 'Reading closest to a moment',
  parameters: {
    date: date({ required: true, description: 'Day of the moment, UTC.' }),
    time: timeOfDay({ required: true, description: 'Time of the moment, UTC.' }),
    tolerance_hours: number({
      minimum: 1,
      maximum: 24,
      default: 3,
      description: 'How far from the moment a reading may lie, both ends included.',
    }),
    include,
  },
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  answer(view, query, [buoyId]) {
    const { date: day, time, tolerance_hours: hours } = query
    const ordinal = requireBuoy(view, buoyId)
    const { readings, catalog } = view.dataset
    const target = day + time
    const closest = readings.closestRowWithin(ordinal, target, hours * HOUR)
    if (closest === null) {
      throw notFound('No reading lies within tolerance_hours of that time')
    }
    const { writer } = view.fragments
    writer.literal(CLOSEST)
    writer.ensure(READING_BYTES)
    writeReading(writer, catalog.id[ordinal], closest)
    if (query.include !== undefined) addExtras(writer, closest, query.include)
    // Another member goes before the closing brace.
    writer.at--
    writer.ensure(PARAMETERS_BYTES)
    writer.literal(DIFFERENCE)
    writer.integer(Math.round(Math.abs(closest.month.time[closest.row] - target) / MINUTE))
    writer.literal(TARGET)
    writer.timestamp(target)
    writer.literal(TOLERANCE)
    writer.number(hours)
    writer.literal(RANGE_START)
    // Hours may have decimals. Ends of the range are whole seconds.
    writer.timestamp(Math.floor(target - hours * HOUR))
    writer.literal(RANGE_END)
    writer.timestamp(Math.floor(target + hours * HOUR))
    writer.literal(END)
  },
})
