/**
 * Operation 17, `GET /readings`: rows of many buoys, by buoy id and then time, by default of the last 24
 * hours before the snapshot's time. As a table all rows come in one answer, each with its buoy's name and
 * position. All matches have to be counted, so the thread of long answers makes the answer.
 */
import { bucketParameters, buoyFilters, include, pageParameters, timezone } from '../operation/filters.ts'
import { operation } from '../operation/operation.ts'
import { choice, date, integerList, timestamp } from '../operation/parameters.ts'
import { FORMATS } from '../operation/shape.ts'

export const MAX_PER_PAGE = 1000

export const parameters = {
  ids: integerList({ description: 'Only these buoys: `ids=1,2`, `ids=1&ids=2`, `ids[]=1&ids[]=2`.' }),
  ...buoyFilters,
  start_date: timestamp({
    description: 'First moment; default 24 hours before the last. A date alone is its first second.',
  }),
  end_date: timestamp({
    description: "Last moment, included; default the snapshot's time. A date alone is its last second.",
  }),
  date: date({ description: 'One day, instead of a range.' }),
  order: choice({
    values: ['asc', 'desc'],
    default: 'desc',
    description: 'By time within a buoy, newest first.',
  }),
  ...pageParameters(100, MAX_PER_PAGE),
  include,
  ...bucketParameters,
  timezone,
}

export const readingsOfBuoys = operation({
  name: 'readingsOfBuoys',
  path: '/readings',
  access: 'keyed',
  summary: 'Readings of many buoys',
  parameters,
  refusal: 'bad_request',
  errors: ['bad_request', 'validation_failed'],
  tables: { formats: [...FORMATS, 'parquet'], isList: true },
})
