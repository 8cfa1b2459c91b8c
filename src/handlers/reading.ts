/** Operation 8, `GET /buoys/{buoy_id}/readings/{reading_id}`: integer id or uuid, made of buoy and time. */
import { notFound } from '../operation/errors.ts'
import { Literal } from '../dataset/literals.ts'
import { operation, requireBuoy } from '../operation/operation.ts'
import { include } from '../operation/filters.ts'
import { addExtras, READING_BYTES, readingTime, writeReading } from '../dataset/reading-json.ts'

const READING = new Literal('{"reading":')
const BUOY = new Literal(',"buoy":')
const END = new Literal('}')
/** Bytes: more than follow the buoy. */
const END_BYTES = 16

export const getReading = operation({
  name: 'getReading',
  path: '/buoys/{buoy_id}/readings/{reading_id}',
  access: 'keyed',
  summary: 'One reading',
  parameters: { include },
  refusal: 'validation_failed',
  errors: ['resource_not_found', 'validation_failed'],
  answer(view, query, [buoyId, readingId]) {
    const ordinal = requireBuoy(view, buoyId)
    const { readings, catalog } = view.dataset
    const id = catalog.id[ordinal]
    const time = readingTime(readingId, id)
    const { writer, idAndName } = view.fragments
    const found = time === null ? null : readings.rowOf(ordinal, time)
    if (found === null) throw notFound('Reading not found')
    writer.literal(READING)
    writer.ensure(READING_BYTES)
    writeReading(writer, id, found)
    if (query.include !== undefined) addExtras(writer, found, query.include)
    writer.ensure(END_BYTES)
    writer.literal(BUOY)
    idAndName.write(ordinal)
    writer.ensure(END_BYTES)
    writer.literal(END)
  },
})
