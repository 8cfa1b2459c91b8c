/** Operations with data that are ready bytes of the snapshot. */
import { operation } from '../operation/operation.ts'
import { choice } from '../operation/parameters.ts'
import { LANGUAGES } from '../sea/languages.ts'

/** Operation 14: the countries that have active buoys, by name. */
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

/** Operation 11: every mission, passes or not. `locale` beats `Accept-Language`. */
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

/** The exported files, so that nobody fetches ten years in pages. */
export const listFiles = operation({
  name: 'listFiles',
  path: '/files',
  access: 'keyed',
  summary: 'Bulk files of all readings',
  parameters: {},
  refusal: 'bad_request',
  errors: [],
  answer({ dataset: { files }, fragments: { writer } }) {
    writer.take(files)
  },
})
