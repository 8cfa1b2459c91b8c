/**
 * Operation 2, `GET /buoys/{buoy_id}`: digits are an id first, then a slug; the detail adds `country` and
 * `dtz`, the zone again.
 */
import { Literal } from '../answers/literals.ts'
import { operation, requireBuoy } from '../answers/operation.ts'

const BUOY = new Literal('{"buoy":')
const END = new Literal('}')
/** More than what follows the buoy. */
const END_BYTES = 8

export const getBuoy = operation({
  name: 'getBuoy',
  path: '/buoys/{buoy_id}',
  access: 'keyed',
  summary: 'One buoy',
  parameters: {},
  refusal: 'bad_request',
  errors: ['resource_not_found'],
  answer(view, _query, [buoyId]) {
    const { writer, detail } = view.fragments
    const ordinal = requireBuoy(view, buoyId)
    writer.literal(BUOY)
    detail.write(ordinal)
    writer.ensure(END_BYTES)
    writer.literal(END)
  },
})
