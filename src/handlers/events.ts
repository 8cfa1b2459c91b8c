/**
 * `GET /events`: a stream of the changes of each new snapshot. An unknown id is watched, because its buoy may
 * come; a slug has to exist, because it is looked up once.
 */
import { noSuchBuoy, streamOperation } from '../operation/operation.ts'
import { textList } from '../operation/parameters.ts'
import { idOf } from '../sea/numerals.ts'

/** An event with this many ids stays below 1 KB. */
const MOST_BUOYS = 20

export const streamEvents = streamOperation({
  name: 'streamEvents',
  path: '/events',
  access: 'keyed',
  summary: 'An event for each new snapshot',
  parameters: {
    buoy: textList({
      most: MOST_BUOYS,
      allowed: `up to ${MOST_BUOYS} ids or slugs of buoys, separated by commas`,
      description:
        'Events only where one of these buoys changes, which count these alone: `buoy=6,anglet`. A slug is looked up when the stream begins.',
    }),
  },
  refusal: 'bad_request',
  errors: ['bad_request', 'resource_not_found'],
  buoys({ dataset }, { buoy }) {
    if (buoy === undefined) return null
    const ids = new Set<number>()
    for (const wanted of buoy) {
      const id = idOf(wanted)
      const isKnown = id >= 0 && dataset.ordinalOfId(id) !== -1
      const ordinal = isKnown ? -1 : dataset.ordinalOfSlug(wanted)
      if (ordinal !== -1) ids.add(dataset.catalog.id[ordinal])
      else if (id >= 0) ids.add(id)
      else throw noSuchBuoy(dataset, wanted)
    }
    return [...ids].toSorted((a, b) => a - b)
  },
})
