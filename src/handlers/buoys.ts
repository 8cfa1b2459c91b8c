/** Operation 1, `GET /buoys`: by id ascending, with `near` by distance; filters combine. */
import { buoyFilters, include, matchingBuoys, page } from '../operation/filters.ts'
import { FORMATS } from '../operation/shape.ts'
import { Literal } from '../dataset/literals.ts'
import { operation, rowsOfPage, writePaging } from '../operation/operation.ts'
import { endList } from '../dataset/json-writer.ts'
import { boolean, integer, type QueryOf } from '../operation/parameters.ts'

const MAX_PER_PAGE = 500
const DEFAULT_PER_PAGE = 50

export const parameters = {
  ...buoyFilters,
  active_only: boolean({ default: true, description: 'Only buoys with a recent reading.' }),
  include,
  page,
  per_page: integer({
    minimum: 1,
    description: `Buoys a page: default ${DEFAULT_PER_PAGE}, with \`country\` ${MAX_PER_PAGE}; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
  }),
}

const BUOYS = new Literal('{"buoys":[')

export const listBuoys = operation({
  name: 'listBuoys',
  path: '/buoys',
  access: 'keyed',
  summary: 'List buoys',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, query) {
    const { writer, list } = view.fragments
    const perPage = perPageOf(query)
    const ordinals = matchingBuoys(view.dataset, query, query.active_only)
    const { from, to } = rowsOfPage(ordinals.length, query.page, perPage)
    writer.literal(BUOYS)
    list.writeList(ordinals, from, to)
    endList(writer, ordinals.length)
    return writePaging(writer, ordinals.length, query.page, perPage)
  },
  tables: { formats: FORMATS, isList: true },
})

export function perPageOf({ per_page: perPage, country }: QueryOf<typeof parameters>): number {
  return Math.min(perPage ?? (country === undefined ? DEFAULT_PER_PAGE : MAX_PER_PAGE), MAX_PER_PAGE)
}
