/**
 * Operation 4, `GET /buoys/search`: exact slug or source identifier, then name prefix, then word prefix, then
 * substring; active before inactive, then by name. Looser matches fill the rest of the limit
 * (`index/name-search.ts`). `count` is the number of buoys in the answer.
 */
import { FORMATS } from '../operation/shape.ts'
import { Literal } from '../dataset/literals.ts'
import { operation } from '../operation/operation.ts'
import { endList } from '../dataset/json-writer.ts'
import { integer, text } from '../operation/parameters.ts'

const BUOYS = new Literal('{"buoys":[')

export const searchBuoys = operation({
  name: 'searchBuoys',
  path: '/buoys/search',
  access: 'public',
  summary: 'Search buoys by name, slug or source identifier',
  parameters: {
    query: text({
      required: true,
      minLength: 2,
      trim: true,
      description:
        'Matched without case or accents against name, slug and source identifier; looser matches follow: ' +
        'blanks and hyphens left out, `st` for `saint`, a country, one typing error.',
    }),
    limit: integer({ minimum: 1, maximum: 50, default: 10, description: 'Most buoys to answer.' }),
  },
  refusal: 'bad_request',
  errors: ['bad_request'],
  answer(view, { query, limit }) {
    const { writer, search } = view.fragments
    const found = view.dataset.search.find(query, limit)
    writer.literal(BUOYS)
    search.writeList(found, 0, found.length)
    endList(writer, found.length)
  },
  tables: { formats: FORMATS, isList: true },
})
