/** Operation 11, `GET /buoys/satellites`: every mission, passes or not. `locale` beats `Accept-Language`. */
import { LANGUAGES } from '../sea/languages.ts'
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
  tables: { formats: ['json', 'csv', 'ndjson'], isList: true },
})
