/**
 * Operation 3, `GET /buoys/last_readings`: in the order asked for, each buoy once. Only the first `limit` supplied ids are
 * processed, repeats counted; ids past them are neither answered nor missing.
 */
import { operation } from '../operation.ts'
import { integer, integerList } from '../query.ts'

export const lastReadings = operation({
  name: 'lastReadings',
  path: '/buoys/last_readings',
  access: 'keyed',
  summary: 'Latest reading of several buoys',
  parameters: {
    ids: integerList({
      required: true,
      description: 'Buoy ids: `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2` or a mixture.',
    }),
    limit: integer({
      minimum: 1,
      maximum: 100,
      default: 3,
      description: 'Only this many of the ids are processed.',
    }),
  },
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, { ids, limit }) {
    const { writer, lastReading } = view.shapes
    const found: number[] = []
    const missing: number[] = []
    const end = Math.min(limit, ids.length)
    for (let i = 0; i < end; i++) {
      const id = ids[i]
      // Once is enough. Asking the list is cheaper than making a set of it.
      if (ids.indexOf(id) !== i) continue
      const ordinal = view.dataset.ordinalOfId(id)
      if (ordinal === -1) missing.push(id)
      else found.push(ordinal)
    }
    writer.text('{"buoys":[')
    lastReading.writeList(found, 0, found.length)
    writer.text(`],"missing_ids":[${missing.join(',')}]}`)
    return ''
  },
})
