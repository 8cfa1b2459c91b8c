/**
 * The header `X-Ignored-Parameters`: names in a query that its operation does not take. Only names of a list of
 * our own are repeated, never any other text of a request.
 */
import type { Declared } from '../operation/operation.ts'
import { namesOf, type RawQuery } from '../operation/query.ts'

/** What clients write for parameters of ours, and parameters of other services of this kind. */
const USUAL_MISTAKES =
  'q search term name slug id ids buoy_id buoyId buoys station station_id network provider lon long longitude ' +
  'latitude position location bbox box distance max_radius start end from to begin until start_time end_time ' +
  'startDate endDate date_from date_to datetime day days hours year month range interval window perPage ' +
  'per-page page_size pageSize pagesize size count offset skip cursor after before sort sort_by sortBy order_by ' +
  'orderBy direction active activeOnly lang language tz time_zone timeZone unit metrics agg aggregate key ' +
  'apikey apiKey api-key token access_token callback debug optimized fresh fresh_only'

/** Parameters of every operation: those that shape its answer are refused where they are not offered. */
const OF_ALL = ['api_key', 'snapshot']
const OF_SHAPES = ['format', 'fields', 'layout', 'units', 'include']

/** A header of at most some 400 bytes. */
const MOST_NAMED = 16
const LONGEST_NAME = 24
/** Room for the header line, which is shorter. */
export const MOST_IGNORED_BYTES = 32 + MOST_NAMED * (LONGEST_NAME + 2)

/** For each of `operations` the names that its header may have. */
export function ignorableNames(
  operations: readonly (Declared & { readonly isStream?: boolean })[],
): ReadonlySet<string>[] {
  const own = operations.map(({ parameters }) =>
    Object.entries(parameters).flatMap(([name, parameter]) => namesOf(name, parameter)),
  )
  const listed = [...own.flat(), ...OF_SHAPES, ...USUAL_MISTAKES.split(' ')].filter(
    (name) => name.length <= LONGEST_NAME,
  )
  return operations.map(({ isStream }, i) => {
    const taken = new Set([...OF_ALL, ...(isStream === true ? [] : OF_SHAPES), ...own[i]])
    return new Set(listed.filter((name) => !taken.has(name)))
  })
}

/** The header line, begun by CRLF; '' where a query gives none of the names. */
export function ignoredHeader(query: RawQuery, names: ReadonlySet<string>): string {
  let found: string[] | null = null
  for (const name of query.names) if (names.has(name)) (found ??= []).push(name)
  if (found === null) return ''
  return `\r\nX-Ignored-Parameters: ${[...new Set(found)].slice(0, MOST_NAMED).join(', ')}`
}
