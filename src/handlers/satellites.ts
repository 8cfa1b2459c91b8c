/** Operation 11, `GET /buoys/satellites`: every mission, passes or not. `locale` beats `Accept-Language`. */
import { LANGUAGES } from '../sea/languages.ts'
import { recordTable, type JsonRecord } from '../operation/record-table.ts'
import { operation } from '../operation/operation.ts'
import { choice } from '../operation/parameters.ts'

export const listSatellites = operation({
  name: 'listSatellites',
  path: '/buoys/satellites',
  access: 'keyed',
  summary: 'Satellite missions',
  parameters: {
    locale: choice({
      values: LANGUAGES,
      description: 'Language of the descriptions; without it `Accept-Language` decides, else en.',
    }),
  },
  refusal: 'validation_failed',
  errors: ['validation_failed'],
  language: true,
  answer({ fragments }, _query, _path, _now, language) {
    const { from, to } = fragments.satellites[language]
    fragments.writer.copy(from, to)
  },
  tables: {
    formats: ['json', 'csv', 'ndjson'],
    isList: true,
    make({ view: { fragments }, language }) {
      const { from, to } = fragments.satellites[language]
      const { satellites: rows } = JSON.parse(fragments.writer.textOf(from, to)) as {
        satellites: JsonRecord[]
      }
      const list = { key: 'satellites', after: `,"count":${rows.length}` }
      return recordTable(rows, COLUMNS, { name: 'satellites', place: null, list })
    },
  },
})

const COLUMNS = [
  { name: 'slug', kind: 'text' },
  { name: 'name', kind: 'text' },
  { name: 'agency', kind: 'text' },
  { name: 'instrument', kind: 'text' },
  { name: 'description', kind: 'text' },
  { name: 'image_url', kind: 'text' },
  { name: 'pass_count', kind: 'integer' },
] as const
