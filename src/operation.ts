/** What an operation is: its place on the wire, its parameters, and the function that writes its data. */
import type { Dataset } from './dataset.ts'
import { ApiError, notFound, type ErrorCode } from './errors.ts'
import type { Language } from './language.ts'
import type { Parameters, QueryOf } from './query.ts'
import type { Shapes } from './shapes.ts'

/** One snapshot as a worker serves it. */
export interface View {
  readonly dataset: Dataset
  readonly shapes: Shapes
}

export interface Operation<P extends Parameters = Parameters> {
  /** `operationId` of the documentation. */
  readonly name: string
  /** Relative to the base path, as in the contract: `/buoys/{buoy_id}`. */
  readonly path: string
  readonly access: 'keyed' | 'public'
  readonly summary: string
  readonly parameters: P
  /** The error of a missing, malformed or out-of-range parameter (decisions, "Everywhere"). */
  readonly refusal: 'bad_request' | 'validation_failed'
  /** The documented errors beside 401 and 429. */
  readonly errors: readonly ErrorCode[]
  /** Without a `time` parameter the answer is that of the current minute, and so are its validators. */
  readonly perMinute?: true
  /** The answer depends on a language: that of the parameter `locale`, else of `Accept-Language`. */
  readonly language?: true
  /**
   * Writes the value of `data` into the view's writer and returns further members of `meta` as JSON text, each followed by a comma.
   * `path` holds the decoded arguments of the path, `now` the time of the answer in epoch seconds, `language` that of the answer.
   * @throws ApiError for what the parameters' schemas cannot say.
   */
  answer(view: View, query: QueryOf<P>, path: readonly string[], now: number, language: Language): string
}

/** Keeps the parameters' types for `answer` and forgets them for the route table. */
export function operation<const P extends Parameters>(definition: Operation<P>): Operation {
  return definition
}

/** The ordinal of a buoy by id, else by slug. @throws ApiError 404 */
export function requireBuoy({ dataset }: View, idOrSlug: string): number {
  const byId = /^[0-9]{1,16}$/.test(idOrSlug) ? dataset.ordinalOfId(Number(idOrSlug)) : -1
  const ordinal = byId === -1 ? dataset.ordinalOfSlug(idOrSlug) : byId
  if (ordinal === -1) throw notFound('Buoy')
  return ordinal
}

/** For `start_date` and `end_date`, epoch seconds. @throws ApiError 422 when the range ends before it starts. */
export function refuseBackwards(start: number, end: number): void {
  if (start <= end) return
  throw new ApiError(
    'validation_failed',
    'Parameter start_date is after end_date. Allowed: a start not after the end',
    { parameter: 'start_date' },
  )
}

/** Members of `meta` of a paged list, and the rows of the page asked for: from `from` up to `to`. */
export function paging(
  count: number,
  page: number,
  perPage: number,
): { from: number; to: number; meta: string } {
  const from = Math.min(count, (page - 1) * perPage)
  return {
    from,
    to: Math.min(count, from + perPage),
    meta: `"page":${page},"per_page":${perPage},"total_pages":${Math.ceil(count / perPage)},`,
  }
}

/** Largest page number (decisions, "Numbers in requests"). */
export const MAX_PAGE = 2147483647
