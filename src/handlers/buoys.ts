/** Operation 1, `GET /buoys`: by id ascending, with `near` by distance; filters combine. */
import { boundsContain, boundsOnGlobe } from '../geo.ts'
import { EMPTY_GROUP, type Group } from '../index/groups.ts'
import { fold } from '../index/words.ts'
import { MAX_PAGE, operation, paging, type View } from '../operation.ts'
import { boolean, bounds, integer, point, text, type QueryOf } from '../query.ts'

const MAX_PER_PAGE = 500
const DEFAULT_PER_PAGE = 50
/** Without `radius`, `near` reaches this far, in km. */
const DEFAULT_RADIUS = 100
/** A little more than half the circumference: all of the globe. */
const MAX_RADIUS = 20100

const parameters = {
  bounds: bounds({
    description:
      'Only buoys in this box, as JSON object text with numeric north, south, east and west. West greater than east crosses the antimeridian.',
  }),
  near: point({ description: 'Only buoys within `radius` of this point, nearest first.' }),
  radius: integer({
    minimum: 1,
    maximum: MAX_RADIUS,
    default: DEFAULT_RADIUS,
    description: 'Kilometres around `near`; ignored without it.',
  }),
  source: text({ description: 'Only buoys of this source; case and accents do not count.' }),
  country: text({
    pattern: '^[A-Z]{2}$',
    allowed: 'an ISO 3166-1 alpha-2 code in capitals',
    description: 'Only buoys of this country. Raises the default page size to 500.',
  }),
  active_only: boolean({ default: true, description: 'Only buoys with a recent reading.' }),
  page: integer({ minimum: 1, maximum: MAX_PAGE, default: 1, description: 'Page, from 1.' }),
  per_page: integer({
    minimum: 1,
    description: `Buoys a page: default ${DEFAULT_PER_PAGE}, with \`country\` ${MAX_PER_PAGE}; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
  }),
}

export const listBuoys = operation({
  name: 'listBuoys',
  path: '/buoys',
  access: 'keyed',
  summary: 'List buoys',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, query) {
    const { writer, list } = view.shapes
    const ordinals = matching(view, query)
    const perPage = query.per_page ?? (query.country === undefined ? DEFAULT_PER_PAGE : MAX_PER_PAGE)
    const { from, to, meta } = paging(ordinals.length, query.page, Math.min(perPage, MAX_PER_PAGE))
    writer.text('{"buoys":[')
    list.writeList(ordinals, from, to)
    writer.text(`],"count":${ordinals.length}}`)
    return meta
  },
})

/** Ordinals of the buoys that pass every filter, in the order of the answer. */
function matching({ dataset }: View, query: QueryOf<typeof parameters>): ArrayLike<number> {
  const { catalog, groups, active, points, boxes } = dataset
  const { near, source, country, active_only: activeOnly } = query
  const box = query.bounds === undefined ? null : boundsOnGlobe(query.bounds)
  const ofSource = source === undefined ? null : (groups.bySource.get(fold(source)) ?? EMPTY_GROUP)
  const ofCountry = country === undefined ? null : (groups.byCountry.get(country) ?? EMPTY_GROUP)
  const pick = (group: Group): Uint32Array => (activeOnly ? group.active : group.all)
  if (near === undefined && box === null) {
    if (ofSource === null || ofCountry === null) return pick(ofSource ?? ofCountry ?? groups.everywhere)
    return intersect(pick(ofSource), pick(ofCountry))
  }
  const sets = [ofSource, ofCountry].flatMap((group) => (group === null ? [] : [new Set(pick(group))]))
  const accept = (ordinal: number): boolean =>
    (!activeOnly || active[ordinal] === 1) &&
    sets.every((set) => set.has(ordinal)) &&
    (box === null || boundsContain(box, catalog.lat[ordinal], catalog.lng[ordinal]))
  return near === undefined
    ? boxes.within(box!).filter(accept)
    : points.within(near.lat, near.lng, query.radius, accept).ordinals
}

/** What two ascending lists share. */
function intersect(a: Uint32Array, b: Uint32Array): number[] {
  const shared: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const [left, right] = [a[i], b[j]]
    if (left === right) shared.push(left)
    if (left <= right) i++
    if (right <= left) j++
  }
  return shared
}
