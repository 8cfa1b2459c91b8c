/** Operation 14, `GET /countries`: the countries that have active buoys, by name. */
import { recordTable, type JsonRecord } from '../operation/record-table.ts'
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
  tables: {
    formats: ['json', 'csv', 'ndjson'],
    isList: true,
    make({ view: { fragments } }) {
      const { from, to } = fragments.countries
      const { countries: rows } = JSON.parse(fragments.writer.textOf(from, to)) as { countries: JsonRecord[] }
      const list = { key: 'countries', after: `,"count":${rows.length}` }
      return recordTable(rows, COLUMNS, { name: 'countries', place: null, list })
    },
  },
})

const COLUMNS = [
  { name: 'code', kind: 'text' },
  { name: 'name', kind: 'text' },
  { name: 'buoy_count', kind: 'integer' },
] as const
