/**
 * OGC API - Environmental Data Retrieval 1.1 as a second spelling of the API: its paths and queries become
 * the arguments of an operation, which answers as always.
 */
import type { View } from '../dataset/view.ts'
import { type ApiError, ERRORS, refused } from '../operation/errors.ts'
import type { RawQuery } from '../operation/query.ts'
import type { EdrForm, EdrWithin, Shape } from '../operation/shape.ts'
import { HOUR, parseTimestamp, timestampText } from '../sea/time.ts'
import {
  COLLECTIONS,
  type Collection,
  CRS84,
  type EdrFormat,
  type EdrQuery,
  FORMATS,
  nameOf,
} from './collections.ts'

/** A query of a collection: what a path below `/edr` asks for, if it is no document. */
export interface EdrRoute {
  readonly collection: Collection
  readonly query: EdrQuery
  /** Id or slug of a buoy; null for a list of all, and for other queries. */
  readonly location: string | null
}

/** A request for an operation of the API, and the form of its answer. */
export interface EdrRequest {
  readonly operation: 'listBuoys' | 'listReadings' | 'readingsOfBuoys' | 'forecast'
  readonly path: readonly string[]
  /** Its query. */
  readonly query: string
  readonly shape: Shape
}

const PATH = /^\/collections\/([^/]+)\/([^/]+)(?:\/([^/]+))?$/

/** What a path behind `/edr` asks for; null where there is nothing. */
export function edrRoute(path: string): EdrRoute | null {
  const [, id, query, location] = PATH.exec(path) ?? []
  const collection = COLLECTIONS.find((each) => each.id === id)
  const found = collection?.queries.find((name) => name === query)
  if (collection === undefined || found === undefined) return null
  if (location === undefined) return { collection, query: found, location: null }
  if (found !== 'locations') return null
  try {
    return { collection, query: found, location: decodeURIComponent(location) }
  } catch {
    return null
  }
}

/** The operation that answers, and who may ask. The list of buoys is for all, as a search is. */
export function operationOf({ collection, query, location }: EdrRoute): {
  name: EdrRequest['operation']
  access: 'keyed' | 'public'
} {
  if (collection.include === null) return { name: 'forecast', access: 'keyed' }
  if (query === 'locations' && location === null) return { name: 'listBuoys', access: 'public' }
  const isOfOne = query === 'locations' || query === 'position'
  return { name: isOfOne ? 'listReadings' : 'readingsOfBuoys', access: 'keyed' }
}

/** Reach of `position`, as of the readings of `/conditions`. */
const POSITION_KM = 50
/** The hours of `/forecast`: by default, and at most. */
const DEFAULT_HOURS = 72
const MOST_HOURS = 240
/** Before every reading. */
const BEGINNING = '1970-01-01T00:00:00Z'

/**
 * The request that an EDR query means; null where it is known that there are no data.
 * @param base absolute address of `/edr` @param now epoch seconds
 * @throws ApiError 400 that names the parameter
 */
export function edrRequest(
  { collection, query, location }: EdrRoute,
  raw: RawQuery,
  view: View,
  base: string,
  now: number,
): EdrRequest | null {
  const { parameters, include } = collection
  if (query === 'locations' && location === null) {
    const form = { ...formOf(collection, parameters.map(nameOf), base), isOfLocations: true }
    return { operation: 'listBuoys', path: [], query: 'active_only=false', shape: shapeOf('GeoJSON', form) }
  }
  const format = formatOf(raw)
  crsOf(raw)
  const form = formOf(collection, namesOf(raw, collection), base)
  const range = rangeOf(raw)
  if (include === null) {
    const { lat, lng } = pointOf(raw)
    const hours = hoursOf(range, now)
    if (hours === null) return null
    const asked = new URLSearchParams({ lat: String(lat), lng: String(lng), ...hours })
    const shape = shapeOf(format, { ...form, place: { lat, lng } })
    return { operation: 'forecast', path: [], query: asked.toString(), shape }
  }
  const asked = new URLSearchParams({ order: 'asc', include, ...timesOf(range) })
  if (query === 'locations' || query === 'position') {
    if (collection.id === 'weather') asked.set('rows', 'all')
    const place = query === 'position' ? pointOf(raw) : null
    const buoy = place === null ? location : nearestBuoy(view, place)
    if (buoy === null) return null
    const shape = shapeOf(format, { ...form, place })
    return { operation: 'listReadings', path: [buoy], query: asked.toString(), shape }
  }
  const within = areaOf(query, raw, asked)
  const shape = shapeOf(format, {
    ...form,
    isMany: true,
    within,
    place: within?.kind === 'circle' ? { lat: within.lat, lng: within.lng } : null,
  })
  return { operation: 'readingsOfBuoys', path: [], query: asked.toString(), shape }
}

function formOf({ id }: Collection, parameters: readonly string[], base: string): EdrForm {
  return { collection: id, parameters, base, isOfLocations: false, isMany: false, place: null, within: null }
}

const SHAPES = { CoverageJSON: 'covjson', GeoJSON: 'geojson', CSV: 'csv' } as const

function shapeOf(format: EdrFormat, edr: EdrForm): Shape {
  const plain = { fields: null, byColumns: false, units: '0', hasMark: false, isExplicit: true } as const
  return { ...plain, format: SHAPES[format], edr }
}

/** The text of a parameter, '' without it. @throws ApiError 400 for several */
function textOf(raw: RawQuery, name: string): string {
  const text = raw.get(name)
  if (text !== null) return text
  throw refused(name, 'is given more than once or is not percent-encoded UTF-8. Allowed: once')
}

function requiredOf(raw: RawQuery, name: string, allowed: string): string {
  const text = textOf(raw, name)
  if (text === '') throw refused(name, `is missing. Allowed: ${allowed}`)
  return text
}

function formatOf(raw: RawQuery): EdrFormat {
  const asked = textOf(raw, 'f').toLowerCase()
  const format = asked === '' ? FORMATS[0] : FORMATS.find((each) => each.toLowerCase() === asked)
  if (format === undefined) throw refused('f', `is not offered. Allowed: one of ${FORMATS.join(', ')}`)
  return format
}

const CRS = /^(?:\[?OGC:)?CRS84\]?$/

function crsOf(raw: RawQuery): void {
  const crs = textOf(raw, 'crs')
  if (crs !== '' && crs !== CRS84 && !CRS.test(crs)) throw refused('crs', 'is not offered. Allowed: CRS84')
}

function namesOf(raw: RawQuery, { parameters }: Collection): string[] {
  const all = parameters.map(nameOf)
  const asked = textOf(raw, 'parameter-name')
  if (asked === '') return all
  const names = [...new Set(asked.split(',').map((name) => name.trim()))]
  if (names.every((name) => all.includes(name))) return names
  throw refused('parameter-name', `names no parameter of the collection. Allowed: ${all.join(', ')}`)
}

/** Moments as they were written, '' for an open end; null without `datetime`. */
type Range = { readonly start: string; readonly end: string } | null

const DATETIMES =
  'an instant such as 2026-03-01T00:00:00Z, or two with / between them, of which .. may be one'
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/i

function rangeOf(raw: RawQuery): Range {
  const text = textOf(raw, 'datetime')
  if (text === '') return null
  const ends = text.split('/')
  const bad = (problem: string): Error => refused('datetime', `${problem}. Allowed: ${DATETIMES}`)
  const moments = ends.map((end) => (end === '..' || end === '' ? '' : end.toUpperCase()))
  if (ends.length > 2 || moments.every((moment) => moment === '')) throw bad('is malformed')
  const isMoment = (moment: string): boolean => MOMENT.test(moment) && parseTimestamp(moment) !== null
  if (!moments.every((moment) => (moment === '' && ends.length === 2) || isMoment(moment)))
    throw bad('is malformed')
  const [start, end = start] = moments
  if (start !== '' && end !== '' && epochOf(start) > lastOf(end)) throw bad('ends before it begins')
  return { start, end }
}

const epochOf = (moment: string): number => parseTimestamp(moment)!.epoch

/** Of a date alone its last second. */
const lastOf = (moment: string): number => epochOf(moment) + (moment.includes('T') ? 0 : 86_399)

function timesOf(range: Range): { [name: string]: string } {
  if (range === null) return {}
  const { start, end } = range
  return { start_date: start === '' ? BEGINNING : start, ...(end !== '' && { end_date: end }) }
}

/** `start` and `hours` of the full hours in a range; null where it has none. @throws ApiError 400 */
function hoursOf(range: Range, now: number): { start: string; hours: string } | { hours: string } | null {
  if (range === null) return { hours: String(DEFAULT_HOURS) }
  const first = Math.ceil((range.start === '' ? now : epochOf(range.start)) / HOUR)
  const last = range.end === '' ? first + MOST_HOURS - 1 : Math.floor(lastOf(range.end) / HOUR)
  if (first > last) return null
  if (last - first >= MOST_HOURS)
    throw refused('datetime', `has too many hours. Allowed: an interval of at most ${MOST_HOURS}`)
  return { start: timestampText(first * HOUR), hours: String(last - first + 1) }
}

const NUMBER = '[+-]?\\d{1,4}(?:\\.\\d{1,17})?'
const POINT = new RegExp(`^POINT ?\\( ?(${NUMBER}) (${NUMBER}) ?\\)$`)

interface Position {
  readonly lat: number
  readonly lng: number
}

/** Blanks are one, and none is before a bracket or after a comma. */
const plainWkt = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')

function pointOf(raw: RawQuery): Position {
  const allowed = 'a POINT in WKT with longitude and latitude, such as POINT(-1.6 43.5)'
  const match = POINT.exec(plainWkt(requiredOf(raw, 'coords', allowed)))
  const position = { lng: Number(match?.[1]), lat: Number(match?.[2]) }
  if (match !== null && isPosition(position)) return position
  throw refused('coords', `is malformed or outside of the globe. Allowed: ${allowed}`)
}

const isPosition = ({ lat, lng }: Position): boolean => Math.abs(lat) <= 90 && Math.abs(lng) <= 180

function nearestBuoy({ dataset }: View, { lat, lng }: Position): string | null {
  const isActive = (ordinal: number): boolean => dataset.active[ordinal] === 1
  const [found] = dataset.near.nearest(lat, lng, 1, POSITION_KM, isActive)
  return found === undefined ? null : String(dataset.catalog.id[found.ordinal])
}

/** Kilometres of a unit. */
const UNITS: { readonly [unit: string]: number } = { km: 1, m: 0.001, mi: 1.609344, nmi: 1.852 }
/** A little more than half the circumference. */
const FARTHEST_KM = 20_100

/**
 * The buoys of an area: puts what the operation can say into `asked`. @returns what their positions must be
 * in, too
 */
function areaOf(query: EdrQuery, raw: RawQuery, asked: URLSearchParams): EdrWithin | null {
  if (query === 'cube') {
    asked.set('bbox', boxOf(raw).join())
    return null
  }
  if (query === 'area') {
    const rings = polygonOf(raw)
    const [lngs, lats] = [0, 1].map((axis) => rings[0].map((point) => point[axis]))
    const box = [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)]
    asked.set('bbox', box.join())
    return { kind: 'polygon', rings }
  }
  const { lat, lng } = pointOf(raw)
  const km = radiusOf(raw)
  asked.set('near', `${lat},${lng}`)
  asked.set('radius', String(Math.max(1, Math.ceil(km))))
  return { kind: 'circle', lat, lng, km }
}

function radiusOf(raw: RawQuery): number {
  const units = Object.keys(UNITS).join(', ')
  const text = requiredOf(raw, 'within', 'a distance above 0')
  const unit = requiredOf(raw, 'within-units', `one of ${units}`).toLowerCase()
  if (!Object.hasOwn(UNITS, unit)) throw refused('within-units', `is not known. Allowed: one of ${units}`)
  const km = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * UNITS[unit] : NaN
  if (km > 0 && km <= FARTHEST_KM) return km
  throw refused('within', `is no distance. Allowed: above 0, at most ${FARTHEST_KM} km`)
}

function boxOf(raw: RawQuery): number[] {
  const allowed = 'west,south,east,north in degrees, south not above north'
  const texts = requiredOf(raw, 'bbox', allowed).split(',')
  const box = texts.map((text) => (new RegExp(`^${NUMBER}$`).test(text.trim()) ? Number(text) : NaN))
  const [west, south, east, north] = box
  const isBox =
    isPosition({ lng: west, lat: south }) && isPosition({ lng: east, lat: north }) && south <= north
  if (texts.length === 4 && isBox) return box
  throw refused('bbox', `is malformed. Allowed: ${allowed}`)
}

const POLYGON = /^POLYGON ?\((\([^()]+\)(?:,\([^()]+\))*)\)$/
/** A closed ring has at least three corners. */
const FEWEST_POINTS = 4

function polygonOf(raw: RawQuery): number[][][] {
  const allowed = 'a POLYGON in WKT, longitude first, whose rings are closed'
  const match = POLYGON.exec(plainWkt(requiredOf(raw, 'coords', allowed)))
  const pair = new RegExp(`^(${NUMBER}) (${NUMBER})$`)
  const rings = (match?.[1] ?? '')
    .slice(1, -1)
    .split('),(')
    .map((ring) =>
      ring.split(',').map((text) => {
        const [, lng, lat] = pair.exec(text) ?? []
        return [Number(lng), Number(lat)]
      }),
    )
  const isRing = (ring: number[][]): boolean =>
    ring.length >= FEWEST_POINTS &&
    ring.every(([lng, lat]) => isPosition({ lat, lng })) &&
    String(ring[0]) === String(ring.at(-1))
  if (match !== null && rings.every(isRing)) return rings
  throw refused('coords', `is malformed or outside of the globe. Allowed: ${allowed}`)
}

/** Parameters of the operations, and those of EDR that led to them. */
const SPELLED: { readonly [name: string]: string } = {
  start_date: 'datetime',
  end_date: 'datetime',
  start: 'datetime',
  hours: 'datetime',
  near: 'coords',
  radius: 'within',
  lat: 'coords',
  lng: 'coords',
}

export const EDR_PATH = '/edr'
export const isOfEdr = (path: string): boolean => path === EDR_PATH || path.startsWith(`${EDR_PATH}/`)

type Failure = Pick<ApiError, 'code' | 'message'> & Partial<Pick<ApiError, 'details' | 'retryAfter'>>

/**
 * An error as EDR has it: it knows no 422, its parameters have its names, and it has `code` and
 * `description`.
 */
export function edrFailure(failure: Failure): Failure & { more: object } {
  const code = failure.code === 'validation_failed' ? 'bad_request' : failure.code
  const name = String(failure.details?.['parameter'] ?? '')
  const spelled = SPELLED[name] ?? name
  const message = failure.message.replace(`Parameter ${name} `, `Parameter ${spelled} `)
  const details = failure.details ?? null
  const { retryAfter = null } = failure
  return {
    code,
    message,
    retryAfter,
    details: details === null || name === '' ? details : { ...details, parameter: spelled },
    more: { code: String(ERRORS[code].status), description: message },
  }
}
