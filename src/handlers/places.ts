/** Operation 19, `GET /places`: coastal towns by name, each with its nearest active buoys. */
import { writeNearest } from '../dataset/fragments.ts'
import { endList } from '../dataset/json-writer.ts'
import { Places, readTowns, type Town } from '../index/places.ts'
import { operation } from '../operation/operation.ts'
import { integer, text } from '../operation/parameters.ts'

const BUOYS_OF_PLACE = 3
/** A buoy so near counts as much as eight times the people: ranks are powers of two. */
const NEAR_KM = 150
const NEAR_RANKS = 3
/** Most places that get their buoys: a short text names hundreds. */
const MOST_LOOKED_AT = 50

const COUNTRY_NAMES = new Intl.DisplayNames('en', { type: 'region' })

let known: { readonly towns: readonly Town[]; readonly places: Places } | null = null

/** The towns of this thread: some 10 ms of work at the first request. */
function knownTowns(): NonNullable<typeof known> {
  if (known !== null) return known
  const towns = readTowns()
  const named = towns.map(({ name, region, country, rank }) => {
    return { name, within: `${region} ${COUNTRY_NAMES.of(country)} ${country}`, rank }
  })
  return (known = { towns, places: new Places(named) })
}

export const searchPlaces = operation({
  name: 'searchPlaces',
  path: '/places',
  access: 'public',
  summary: 'Coastal towns by name, with the nearest buoys',
  parameters: {
    query: text({
      required: true,
      minLength: 2,
      trim: true,
      description:
        'The beginning of a name, without case or accents; a region or country may follow, as in `santa monica california`.',
    }),
    limit: integer({ minimum: 1, maximum: 20, default: 5, description: 'Most places to answer.' }),
  },
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer({ dataset: { near, isActiveAndPhysical }, fragments }, { query, limit }) {
    const { writer } = fragments
    const { towns, places } = knownTowns()
    const found = places.find(query, MOST_LOOKED_AT).map(({ index, isWhole }) => {
      const town = towns[index]
      const buoys = near.nearest(town.lat, town.lng, BUOYS_OF_PLACE, Infinity, isActiveAndPhysical)
      const rank = town.rank + ((buoys[0]?.km ?? Infinity) <= NEAR_KM ? NEAR_RANKS : 0)
      return { town, buoys, isWhole, rank }
    })
    const answered = found
      .toSorted((a, b) => Number(b.isWhole) - Number(a.isWhole) || b.rank - a.rank)
      .slice(0, limit)
    writer.text('{"places":[')
    answered.forEach(({ town: { name, region, country, lat, lng }, buoys }, i) => {
      const place = { name, region: region || null, country: COUNTRY_NAMES.of(country), lat, lng }
      writer.text(`${i === 0 ? '' : ','}${JSON.stringify(place).slice(0, -1)},"buoys":[`)
      writeNearest(fragments, buoys)
      writer.text(']}')
    })
    endList(writer, answered.length)
  },
})
