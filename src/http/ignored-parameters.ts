/** The header `X-Ignored-Parameters`, which repeats only names of a list of our own, no text of a request. */
import type { Declared } from '../operation/operation.ts'
import { namesOf, UNKNOWN, type RawQuery } from '../operation/query.ts'

/** Wrong names of our parameters, and parameters of similar services. */
const USUAL_MISTAKES =
  'q search term name slug id ids buoy_id buoyId buoys station station_id network provider lon long longitude ' +
  'latitude position location bbox box distance max_radius start end from to begin until start_time end_time ' +
  'startDate endDate date_from date_to datetime day days hours year month range interval window perPage ' +
  'per-page page_size pageSize pagesize size count offset skip cursor after before sort sort_by sortBy order_by ' +
  'orderBy direction active activeOnly lang language tz time_zone timeZone unit metrics agg aggregate key ' +
  'apikey apiKey api-key token access_token callback debug optimized fresh fresh_only ' +
  'past_days forecast_days hourly daily current'

/** Parameters of every operation: shaping ones are refused if not offered. */
const OF_ALL = ['api_key', 'snapshot']
const OF_SHAPES = ['format', 'fields', 'layout', 'units', 'bom', 'include']

/** The header has at most some 400 bytes. */
const MOST_NAMED = 16
const LONGEST_NAME = 24
/** More than the longest header line. */
export const MOST_IGNORED_BYTES = 32 + MOST_NAMED * (LONGEST_NAME + 2)

/** The names that the header may have, for each of `operations`. */
export function ignorableNames(operations: readonly Declared[]): ReadonlySet<string>[] {
  const own = operations.map(({ parameters }) =>
    Object.entries(parameters).flatMap(([name, parameter]) => namesOf(name, parameter)),
  )
  const listed = [...own.flat(), ...OF_SHAPES, ...USUAL_MISTAKES.split(' ')].filter(
    (name) => name.length <= LONGEST_NAME,
  )
  return operations.map((operation, i) => {
    // Streams have no shape.
    const taken = new Set([...OF_ALL, ...('buoys' in operation ? [] : OF_SHAPES), ...own[i]])
    return new Set(listed.filter((name) => !taken.has(name)))
  })
}

/** For each parameter by its ordinal: the one without which it says nothing, or `undefined`. */
export function neededBy({ parameters }: Declared): readonly (string | undefined)[] {
  return Object.values(parameters).map(({ goesWith }) => goesWith)
}

/**
 * The header line after a CRLF; '' if the operation takes all that a query has.
 * @param names from `ignorableNames` @param needed from `neededBy`
 */
export function ignoredHeader(
  { names: given, ordinals }: RawQuery,
  names: ReadonlySet<string>,
  needed: readonly (string | undefined)[],
): string {
  let found: string[] | null = null
  for (let i = 0; i < given.length; i++) {
    const ordinal = ordinals[i]
    // Most names are of the operation's own parameters.
    const other = ordinal === UNKNOWN ? undefined : needed[ordinal]
    const isIgnored =
      ordinal === UNKNOWN ? names.has(given[i]) : other !== undefined && !given.includes(other)
    if (isIgnored) (found ??= []).push(given[i])
  }
  if (found === null) return ''
  return `\r\nX-Ignored-Parameters: ${[...new Set(found)].slice(0, MOST_NAMED).join(', ')}`
}
