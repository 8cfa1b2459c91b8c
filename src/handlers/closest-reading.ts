/** Operation 7, `GET /buoys/{buoy_id}/readings/search`: the reading closest to a moment; on a tie the earlier one. */
import { notFound } from '../errors.ts'
import { operation, requireBuoy } from '../operation.ts'
import { date, number, timeOfDay } from '../query.ts'
import { READING_BYTES, writeOpenReading } from '../shapes.ts'
import { HOUR, MINUTE, timestampText } from '../time.ts'

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
  },
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  answer(view, { date: day, time, tolerance_hours: hours }, [buoyId]) {
    const ordinal = requireBuoy(view, buoyId)
    const { readings, catalog } = view.dataset
    const target = day + time
    const position = readings.closest(ordinal, target)
    if (position === -1 || Math.abs(readings.timeAt(ordinal, position) - target) > hours * HOUR) {
      throw notFound('A reading within the tolerance')
    }
    const { writer } = view.shapes
    const segment = readings.segmentOf(ordinal, position)
    const rows = readings.months[readings.month[segment]]
    const row = readings.from[segment] + position - readings.before[segment]
    writer.text('{"closest_reading":')
    writer.ensure(READING_BYTES)
    writeOpenReading(writer, catalog.id[ordinal], rows, row)
    writer.text(',"time_diff_minutes":')
    writer.integer(Math.round(Math.abs(rows.time[row] - target) / MINUTE))
    const start = timestampText(target - hours * HOUR)
    const end = timestampText(target + hours * HOUR)
    writer.text(
      `},"search_parameters":{"target_datetime":"${timestampText(target)}","tolerance_hours":${hours},` +
        `"search_range":{"start":"${start}","end":"${end}"}}}`,
    )
    return ''
  },
})
