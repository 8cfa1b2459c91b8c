/**
 * `GET /buoys/map` (decisions, 15): all active buoys unpaged, in the form map clients draw; the word beats a
 * slug `map`.
 */
import { boundsOnGlobe } from '../sea/geo.ts'
import { operation } from '../answers/operation.ts'
import { bounds } from '../answers/parameters.ts'

export const mapBuoys = operation({
  name: 'mapBuoys',
  path: '/buoys/map',
  access: 'keyed',
  summary: 'All active buoys for a map',
  parameters: {
    bounds: bounds({
      description: 'Only buoys in this box, as JSON object text with numeric north, south, east and west.',
    }),
  },
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer({ dataset, fragments }, query) {
    const { active, boxes, catalog, groups } = dataset
    const ordinals =
      query.bounds === undefined
        ? groups.everywhere.active
        : boxes.within(boundsOnGlobe(query.bounds), (ordinal) => active[ordinal] === 1)
    let virtual = 0
    for (let i = 0; i < ordinals.length; i++) virtual += catalog.virtual[ordinals[i]]
    const count = ordinals.length
    fragments.writer.text('{"buoys":[')
    fragments.map.writeList(ordinals, 0, count)
    fragments.writer.text(`],"count":${count},"real_count":${count - virtual},"virtual_count":${virtual}}`)
  },
})
