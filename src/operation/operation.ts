/** What an operation is: its path on the wire, its parameters, and the function that writes its data. */
import type { Dataset } from '../dataset/dataset.ts'
import type { View } from '../dataset/view.ts'
import { ApiError, type ErrorCode, notFound, refused } from './errors.ts'
import { Literal } from '../dataset/literals.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import type { Language } from '../sea/languages.ts'
import { idOf } from '../sea/numerals.ts'
import { MINUTE, type ParsedTime } from '../sea/time.ts'
import { firstOf, lastOf, type Zone } from '../sea/zones.ts'
import type { Parameters, QueryOf } from './parameters.ts'
import type { Offered } from './shape.ts'
import type { Paging, Pieces, Table } from '../dataset/table.ts'

/** Bytes that an operation finds free in the writer: more than the text before its first item. */
export const PRELUDE_BYTES = 256

export const META = new Literal(',"meta":{')

/** Bytes: more than the beginning of `meta` and the members of a paged list take. */
const PAGING_BYTES = 160

const PAGE = new Literal('"page":')
const PER_PAGE = new Literal(',"per_page":')
const TOTAL_PAGES = new Literal(',"total_pages":')

/** `data`, and members of `meta` other than the time, from the thread that makes long answers. */
export interface LongJson extends Pieces {
  readonly paging?: Paging
}

/** A method's type, so that operations of any parameters fit into the table of routes. */
type Until<P extends Parameters> = {
  until(this: void, view: View, query: QueryOf<P>, now: number): number
}['until']

export interface Operation<P extends Parameters = Parameters> {
  /** `operationId` of the documentation. */
  readonly name: string
  /** Relative to the base path, as in the contract: `/buoys/{buoy_id}`. */
  readonly path: string
  readonly access: 'keyed' | 'public'
  readonly summary: string
  readonly parameters: P
  /** The error of a missing, malformed or out-of-range parameter. */
  readonly refusal: 'bad_request' | 'validation_failed'
  readonly errors: readonly ErrorCode[]
  /**
   * Set if the answer is about the sea of this moment: relative times then count from the clock's minute.
   * Returns the epoch second until which the answer and its validators hold; 0 if the request names its time.
   * @throws ApiError
   */
  readonly holdsUntil?: Until<P> | undefined
  /** A parameter that names another snapshot, which has to be held, too. */
  readonly comparesWith?: string | undefined
  /** The answer depends on a language: that of the parameter `locale`, else of `Accept-Language`. */
  readonly language?: true | undefined
  /** The other formats of the answer, which the thread of long answers makes (`long/makers.ts`). */
  readonly tables?: Offered | undefined
  /**
   * Writes the value of `data`. Returns 'long' if that thread has to make the usual JSON, too; without
   * `answer` it always does. An answer with more members in `meta` then writes `META` and the members, each
   * followed by a comma, and returns its paging. The writer has `PRELUDE_BYTES` of room. `path` holds decoded
   * arguments, `now` is epoch seconds, `language` the answer's.
   * @throws ApiError for what the parameters' schemas cannot say.
   */
  answer?(
    this: void,
    view: View,
    query: QueryOf<P>,
    path: readonly string[],
    now: number,
    language: Language,
  ): Paging | 'long' | void
}

/** An operation without its answer: what admits, routes and documents a request. */
export type Declared<P extends Parameters = Parameters> = Omit<Operation<P>, 'answer'>

/** An operation that is answered with a stream of events (Server-Sent Events). */
export interface StreamOperation<P extends Parameters = Parameters> extends Declared<P> {
  /** Ids that a client asks about, ascending; null for all buoys. @throws ApiError */
  buoys(view: View, query: QueryOf<P>): readonly number[] | null
}

export function streamOperation<const P extends Parameters>(definition: StreamOperation<P>): StreamOperation {
  return definition
}

/**
 * Keeps the parameters' types for `answer` and forgets them for the route table. All operations have their
 * members in one order: V8 takes twice as long to read those of objects of many shapes.
 */
export function operation<const P extends Parameters>(definition: Operation<P>): Operation {
  const { name, path, access, summary, parameters, refusal, errors, answer } = definition
  const { holdsUntil, comparesWith, language, tables } = definition
  const of = { name, path, access, summary, parameters, refusal, errors }
  const declared = { ...of, holdsUntil, comparesWith, language, tables }
  return answer === undefined ? declared : { ...declared, answer }
}

/**
 * The meaning of `now` in a query, epoch seconds: the snapshot's time for readings, so that an answer can be
 * kept and repeated; the clock's minute for the sea of this moment.
 */
export function nowOf(
  { holdsUntil }: Pick<Operation, 'holdsUntil'>,
  { dataset }: View,
  clock: number,
): number {
  return holdsUntil !== undefined ? Math.floor(clock / MINUTE) * MINUTE : dataset.asOf
}

/** The end of the clock's minute where a time is left out, or relative to now; else 0. */
export function untilNextMinute(time: ParsedTime | undefined, now: number): number {
  return time === undefined || time.moves === true ? (Math.floor(now / MINUTE) + 1) * MINUTE : 0
}

/** The ordinal of a buoy by id, else by slug. @throws ApiError 404 */
export function requireBuoy({ dataset }: View, idOrSlug: string): number {
  const id = idOf(idOrSlug)
  const byId = id >= 0 ? dataset.ordinalOfId(id) : -1
  const ordinal = byId === -1 ? dataset.ordinalOfSlug(idOrSlug) : byId
  if (ordinal === -1) throw noSuchBuoy(dataset, idOrSlug)
  return ordinal
}

/** Characters. Slugs and identifiers are shorter. */
const LONGEST_LOOKED_FOR = 64
const LEAST_LOOKED_FOR = 3

/** The 404 with the slug that was probably meant, never with the text of the request. */
export function noSuchBuoy(dataset: Dataset, idOrSlug: string): ApiError {
  const { length } = idOrSlug
  const isLikely = length >= LEAST_LOOKED_FOR && length <= LONGEST_LOOKED_FOR
  const [near] = isLikely ? dataset.search.find(idOrSlug, 1) : []
  if (near === undefined) return notFound('Buoy not found')
  const slug = dataset.catalog.slugs[near]
  return new ApiError('resource_not_found', `Buoy not found. Did you mean ${slug}?`, { did_you_mean: slug })
}

/** @throws ApiError 422 when the range (epoch seconds) ends before it starts */
export function refuseBackwards(start: number, end: number): void {
  if (start <= end) return
  const problem = 'is after end_date. Allowed: a start_date that is not after end_date'
  throw refused('start_date', problem, 'validation_failed')
}

/**
 * The first and last second of a range, epoch. A day that the clock of `zone` skips is empty.
 * @param zone of dates without a time; null for UTC
 * @throws ApiError 422 when the range ends before it starts
 */
export function rangeBetween(
  start: ParsedTime,
  end: ParsedTime,
  zone: Zone | null,
): { start: number; end: number } {
  const range = { start: firstOf(start, zone), end: lastOf(end, zone) }
  if (start.wholeDay && end.wholeDay) refuseBackwards(start.epoch, end.epoch)
  else refuseBackwards(range.start, range.end)
  return range
}

export function rowsOfPage(count: number, page: number, perPage: number): { from: number; to: number } {
  const from = Math.min(count, (page - 1) * perPage)
  return { from, to: Math.min(count, from + perPage) }
}

export function tablePage(
  count: number,
  isWhole: boolean,
  page: number,
  perPage: number,
): { from: number; to: number; paging?: Table['paging'] } {
  if (isWhole) return { from: 0, to: count }
  return { ...rowsOfPage(count, page, perPage), paging: { page, perPage, pages: Math.ceil(count / perPage) } }
}

export function writePaging(writer: JsonWriter, count: number, page: number, perPage: number): Paging {
  writer.ensure(PAGING_BYTES)
  writer.literal(META)
  writer.literal(PAGE)
  writer.integer(page)
  writer.literal(PER_PAGE)
  writer.integer(perPage)
  writer.literal(TOTAL_PAGES)
  const pages = Math.ceil(count / perPage)
  writer.integer(pages)
  writer.comma()
  return { page, pages }
}
