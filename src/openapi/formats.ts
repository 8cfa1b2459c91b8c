/** What the description says of answers in other forms than JSON: parameters, headers and contents. */
import type { Declared, Tables } from '../answers/operation.ts'
import type { Format } from '../answers/shape.ts'
import type { Schema } from './schemas.ts'

const COLUMN = '[a-z_]+([.][a-z_]+)*'

/** Contents of a success beside JSON. */
export const FORMAT_CONTENTS: {
  readonly [format in Exclude<Format, 'json'>]: { readonly type: string; readonly schema: Schema }
} = {
  csv: {
    type: 'text/csv',
    schema: {
      type: 'string',
      description: 'A line with the names of the columns, then a line for each item (RFC 4180).',
    },
  },
  ndjson: {
    type: 'application/x-ndjson',
    schema: { type: 'string', description: 'The items of the list, a line of JSON each.' },
  },
  geojson: { type: 'application/geo+json', schema: { $ref: '#/components/schemas/FeatureCollection' } },
  parquet: {
    type: 'application/vnd.apache.parquet',
    schema: { type: 'string', format: 'binary', description: 'A Parquet file with a row for each item.' },
  },
}

const POSITION: Schema = { type: 'array', items: { type: 'number' } }
/** Of a point a number, of a line a position, of lines a line. */
const COORDINATE: Schema = { anyOf: [{ type: 'number' }, POSITION, { type: 'array', items: POSITION }] }

/** The components that operations with tables share. */
export const FEATURE_COLLECTION: Schema = {
  type: 'object',
  description: 'Features in WGS 84, longitude first (RFC 7946). The properties are the members of the items.',
  required: ['type', 'features', 'meta'],
  properties: {
    type: { type: 'string', const: 'FeatureCollection', description: 'Says what it is.' },
    features: {
      type: 'array',
      description: 'One for each item, in the order of the list.',
      items: {
        type: 'object',
        required: ['type', 'geometry', 'properties'],
        properties: {
          type: { type: 'string', const: 'Feature', description: 'Says what it is.' },
          id: { type: 'integer', description: 'The `id` of the item.' },
          geometry: {
            description: 'Where the item is. Of a pass: the virtual buoys that it saw, in their order.',
            type: ['object', 'null'],
            required: ['type', 'coordinates'],
            properties: {
              type: {
                type: 'string',
                enum: ['Point', 'LineString', 'MultiLineString'],
                description: 'A line over the antimeridian is in parts.',
              },
              coordinates: {
                type: 'array',
                items: COORDINATE,
                description: 'Longitude and latitude in degrees, of a line a list of them.',
              },
            },
          },
          properties: { type: 'object', additionalProperties: true, description: 'The item.' },
        },
      },
    },
    meta: {
      type: 'object',
      description: 'What the collection is part of.',
      required: ['snapshot', 'returned'],
      properties: {
        snapshot: { type: 'string', description: 'The snapshot that the answer comes from.' },
        count: { type: 'integer', description: 'Items on all pages.' },
        page: { type: 'integer', description: 'The page, from 1.' },
        per_page: { type: 'integer', description: 'Items a page.' },
        total_pages: { type: 'integer', description: 'Pages in all.' },
        returned: { type: 'integer', description: 'Features in this answer.' },
      },
    },
  },
}

/** The query parameters that shape answers. */
export function shapeParameters({ tables }: Declared): Schema[] {
  if (tables === undefined) return []
  return [
    query('format', formatText(tables), { type: 'string', enum: tables.formats, default: 'json' }),
    query(
      'fields',
      'Only these columns, in this order: names of members, nested ones with a dot (`last_reading.time`), or of what nests several. ' +
        `${tables.isList ? '' : 'Not with `json`. '}The schemas do not describe such answers. Malformed it is a 400. Allowed: names, separated by commas, once each.`,
      { type: 'string', maxLength: 2000, pattern: `^${COLUMN}(,${COLUMN})*$` },
    ),
    ...(tables.isList
      ? [
          query(
            'layout',
            'With `columns` the list of a JSON answer is an object of arrays, one for each column. Allowed: one of rows, columns; with other formats rows.',
            { type: 'string', enum: ['rows', 'columns'], default: 'rows' },
          ),
        ]
      : []),
    query(
      'units',
      'With `1` the second line of CSV has the units of the columns. Allowed: 0, and with `csv` 1.',
      { type: 'string', enum: ['0', '1'], default: '0' },
    ),
  ]
}

function formatText({ formats }: Tables): string {
  const whole = formats.includes('csv')
    ? ' Other formats than `json` have all pages in one answer, unless `page` or `per_page` are given.'
    : ''
  return `The format of the answer. It beats the header \`Accept\`.${whole} Malformed it is a 400. Allowed: one of ${formats.join(', ')}.`
}

function query(name: string, description: string, schema: Schema): Schema {
  return { name, in: 'query', required: false, description, schema }
}

/** The headers that only answers in other formats have. */
export function shapeHeaders({ tables }: Declared): Schema {
  if (tables === undefined) return {}
  return {
    'Content-Disposition': { $ref: '#/components/headers/ContentDisposition' },
    'X-Total-Count': { $ref: '#/components/headers/TotalCount' },
  }
}
