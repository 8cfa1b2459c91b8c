/** Operation 2, `GET /buoys/{buoy_id}`: digits are an id first, then a slug; the detail adds `country` and `dtz`, the zone again. */
import { operation, requireBuoy } from '../operation.ts'

export const getBuoy = operation({
  name: 'getBuoy',
  path: '/buoys/{buoy_id}',
  access: 'keyed',
  summary: 'One buoy',
  parameters: {},
  refusal: 'bad_request',
  errors: ['resource_not_found'],
  answer(view, _query, [buoyId]) {
    const { writer, detail } = view.shapes
    const ordinal = requireBuoy(view, buoyId)
    writer.text('{"buoy":')
    detail.write(ordinal)
    writer.text('}')
    return ''
  },
})
