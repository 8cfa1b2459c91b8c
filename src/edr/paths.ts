/**
 * OGC API - Environmental Data Retrieval 1.1 as serving threads know it: what a path asks for, who may ask,
 * and how errors are spelled. All else is done on the thread of long answers (`translate.ts`).
 */
import { type ApiError, ERRORS } from '../operation/errors.ts'
import type { Format } from '../operation/shape.ts'

export const EDR_PATH = '/edr'
export const isOfEdr = (path: string): boolean => path === EDR_PATH || path.startsWith(`${EDR_PATH}/`)

const QUERIES = ['locations', 'position', 'radius', 'area', 'cube'] as const
export type EdrQuery = (typeof QUERIES)[number]

export const QUERIES_OF = {
  waves: QUERIES,
  weather: QUERIES,
  forecast: ['position'],
  tides: ['position'],
} as const satisfies { readonly [collection: string]: readonly EdrQuery[] }
export type CollectionId = keyof typeof QUERIES_OF

/** A query of a collection: what a path below `/edr` asks for, if it is no document. */
export interface EdrRoute {
  readonly collection: CollectionId
  readonly query: EdrQuery
  /** Id or slug of a buoy; null for a list of all, and for other queries. */
  readonly location: string | null
}

const PATH = /^\/collections\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/
const DOCUMENT = /^(?:|\/conformance|\/api|\/period|\/collections(?:\/([^/]+))?)$/

const isCollection = (id: string | undefined): id is CollectionId =>
  id !== undefined && Object.hasOwn(QUERIES_OF, id)

/** Whether a path below `/edr` is a document's. */
export function isDocument(path: string): boolean {
  const match = DOCUMENT.exec(path)
  return match !== null && (match[1] === undefined || isCollection(match[1]))
}

/** The query at a path behind `/edr`; null where there is none. */
export function edrRoute(path: string): EdrRoute | null {
  const [, collection, name, location] = PATH.exec(path) ?? []
  if (!isCollection(collection)) return null
  const query = QUERIES_OF[collection].find((each) => each === name)
  if (query === undefined || (location !== undefined && query !== 'locations')) return null
  try {
    return { collection, query, location: location === undefined ? null : decodeURIComponent(location) }
  } catch {
    return null
  }
}

/** The operation that answers, and who may ask. The list of buoys is for all, as a search is. */
export function operationOf({ collection, query, location }: EdrRoute): {
  name: 'listBuoys' | 'listReadings' | 'readingsOfBuoys' | 'forecast'
  access: 'keyed' | 'public'
} {
  if (collection === 'forecast' || collection === 'tides') return { name: 'forecast', access: 'keyed' }
  if (query === 'locations' && location === null) return { name: 'listBuoys', access: 'public' }
  const isOfOne = query === 'locations' || query === 'position'
  return { name: isOfOne ? 'listReadings' : 'readingsOfBuoys', access: 'keyed' }
}

/** The parameters of all queries. */
export const PARAMETERS = [
  'coords',
  'bbox',
  'within',
  'within-units',
  'datetime',
  'parameter-name',
  'crs',
  'f',
] as const
/** The text of each, '' without it; null where it is given several times or is not percent-encoded UTF-8. */
export type EdrGiven = { readonly [name in (typeof PARAMETERS)[number]]: string | null }

/** The format of an answer; any for a refused one. */
export function formatAt(path: string, { f }: EdrGiven): Format {
  if (path === '/api') return 'openapi'
  if (path === '/period') return 'text'
  if (isDocument(path)) return 'document'
  const isList = edrRoute(path)?.location === null && path.endsWith('/locations')
  const name = isList ? 'geojson' : f?.toLowerCase()
  return name === 'geojson' || name === 'csv' ? name : 'covjson'
}

type Failure = Pick<ApiError, 'code' | 'message'> & Partial<Pick<ApiError, 'details' | 'retryAfter'>>

/** An error as EDR has it: it knows no 422, and it has `code` and `description`. */
export function edrFailure(failure: Failure): Failure & { more: object } {
  const code = failure.code === 'validation_failed' ? 'bad_request' : failure.code
  const { message, details = null, retryAfter = null } = failure
  return {
    code,
    message,
    details,
    retryAfter,
    more: { code: String(ERRORS[code].status), description: message },
  }
}
