/** Operation 14, `GET /countries`: the countries that have active buoys, by name. */
import { operation } from '../operation/operation.ts'

export const listCountries = operation({
  name: 'listCountries',
  path: '/countries',
  access: 'keyed',
  summary: 'Countries with active buoys',
  parameters: {},
  refusal: 'bad_request',
  errors: [],
  answer({ fragments }) {
    fragments.writer.copy(fragments.countries.from, fragments.countries.to)
  },
  tables: { formats: ['json', 'csv', 'ndjson'], isList: true },
})
