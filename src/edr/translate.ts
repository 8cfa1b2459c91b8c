/**
 * OGC API - Environmental Data Retrieval 1.1 as a second spelling of the API: its paths and queries become
 * the arguments of an operation, which answers as always.
 */
import type { View } from '../dataset/view.ts'
import { ApiError, refused } from '../operation/errors.ts'
import { HOUR, parseTimestamp, timestampText } from '../sea/time.ts'
import { COLLECTIONS, type Collection, CRS84, type FormatName, FORMATS, nameOf } from './collections.ts'
import { type EdrGiven, type EdrQuery, type EdrRoute, operationOf } from './paths.ts'

/** An area that the operation has no parameter for: a circle, or rings of longitude and latitude, degrees. */
export type EdrWithin =
  | { readonly kind: 'circle'; readonly lat: number; readonly lng: number; readonly km: number }
  | { readonly kind: 'polygon'; readonly rings: readonly (readonly (readonly number[])[])[] }

/** Members of a request that the form of its answer needs. */
export interface EdrForm {
  readonly collection: string
  readonly format: FormatName
  /** Names of parameters. */
  readonly parameters: readonly string[]
  /** Absolute address of `/edr`. */
  readonly base: string
  /** The list of buoys, in place of data. */
  readonly isOfLocations: boolean
  /** A collection of coverages, even of a single one. */
  readonly isMany: boolean
  /** The requested position; null where a buoy or an area was. */
  readonly place: { readonly lat: number; readonly lng: number } | null
  readonly within: EdrWithin | null
}

/** A request for an operation of the API, and the form of its answer. */
interface EdrRequest {
  readonly operation: ReturnType<typeof operationOf>['name']
  readonly path: readonly string[]
  /** The query of the operation. */
  readonly query: string
  readonly form: EdrForm
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
  route: EdrRoute,
  given: EdrGiven,
  view: View,
  base: string,
  now: number,
): EdrRequest | null {
  const { query, location } = route
  const collection = COLLECTIONS.find(({ id }) => id === route.collection)!
  const { id, parameters, include } = collection
  const operation = operationOf(route).name
  const plain = { collection: id, base, isOfLocations: false, isMany: false, place: null, within: null }
  if (operation === 'listBuoys') {
    const names = parameters.map(nameOf)
    const form: EdrForm = { ...plain, format: 'GeoJSON', parameters: names, isOfLocations: true }
    const within = given.bbox === '' ? '' : `&bbox=${boxOf(given).join()}`
    return { operation, path: [], query: `active_only=false${within}`, form }
  }
  const format = formatOf(given)
  crsOf(given)
  const form: EdrForm = { ...plain, format, parameters: namesOf(given, collection) }
  const range = rangeOf(given)
  if (include === null) {
    const place = pointOf(given)
    const hours = hoursOf(range, now)
    if (hours === null) return null
    const asked = new URLSearchParams({ lat: String(place.lat), lng: String(place.lng), ...hours })
    return { operation, path: [], query: asked.toString(), form: { ...form, place } }
  }
  const asked = new URLSearchParams({ order: 'asc', include, ...timesOf(range) })
  if (operation === 'listReadings') {
    if (id === 'weather') asked.set('rows', 'all')
    const place = query === 'position' ? pointOf(given) : null
    const buoy = place === null ? location : nearestBuoy(view, place)
    if (buoy === null) return null
    return { operation, path: [buoy], query: asked.toString(), form: { ...form, place } }
  }
  const within = areaOf(query, given, asked)
  const place = within?.kind === 'circle' ? { lat: within.lat, lng: within.lng } : null
  return { operation, path: [], query: asked.toString(), form: { ...form, isMany: true, within, place } }
}

/** The text of a parameter, '' without it. @throws ApiError 400 for several */
function textOf(given: EdrGiven, name: keyof EdrGiven): string {
  const text = given[name]
  if (text !== null) return text
  throw refused(name, 'is given more than once or is not percent-encoded UTF-8. Allowed: once')
}

function requiredOf(given: EdrGiven, name: keyof EdrGiven, allowed: string): string {
  const text = textOf(given, name)
  if (text === '') throw refused(name, `is missing. Allowed: ${allowed}`)
  return text
}

function formatOf(given: EdrGiven): FormatName {
  const asked = textOf(given, 'f').toLowerCase()
  const format = asked === '' ? FORMATS[0] : FORMATS.find((each) => each.toLowerCase() === asked)
  if (format === undefined) throw refused('f', `is not offered. Allowed: one of ${FORMATS.join(', ')}`)
  return format
}

const CRS = /^(?:\[?OGC:)?CRS84\]?$/

function crsOf(given: EdrGiven): void {
  const crs = textOf(given, 'crs')
  if (crs !== '' && crs !== CRS84 && !CRS.test(crs)) throw refused('crs', 'is not offered. Allowed: CRS84')
}

function namesOf(given: EdrGiven, { parameters }: Collection): string[] {
  const all = parameters.map(nameOf)
  const asked = textOf(given, 'parameter-name')
  if (asked === '') return all
  const names = [...new Set(asked.split(',').map((name) => name.trim()))]
  if (names.every((name) => all.includes(name))) return names
  throw refused('parameter-name', `names no parameter of the collection. Allowed: ${all.join(', ')}`)
}

/** Moments as they were written, '' for an open end; null without `datetime`. */
type Range = { readonly start: string; readonly end: string } | null

const DATETIMES =
  'an instant such as 2026-03-01T00:00:00Z, or two with / between them, of which .. may be one'
/** Without a zone it is UTC, as everywhere in the API. */
const MOMENT = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?)?$/i

function rangeOf(given: EdrGiven): Range {
  const text = textOf(given, 'datetime')
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

/** The last second of a moment: a date alone lasts a day. */
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

const NUMBER = '[+-]?\\d{1,4}(?:\\.\\d{1,22})?'
const POINT = new RegExp(`^POINT ?\\( ?(${NUMBER}) (${NUMBER}) ?\\)$`)

interface Position {
  readonly lat: number
  readonly lng: number
}

/** One blank for several, and none before a bracket or after a comma. */
const plainWkt = (text: string): string =>
  text
    .trim()
    .toUpperCase()
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')

function pointOf(given: EdrGiven): Position {
  const allowed = 'a POINT in WKT with longitude and latitude, such as POINT(-1.6 43.5)'
  const match = POINT.exec(plainWkt(requiredOf(given, 'coords', allowed)))
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
 * The buoys of an area: puts the operation's parameters into `asked`. @returns the area that they must lie
 * in, too
 */
function areaOf(query: EdrQuery, given: EdrGiven, asked: URLSearchParams): EdrWithin | null {
  if (query === 'cube') {
    asked.set('bbox', boxOf(given).join())
    return null
  }
  if (query === 'area') {
    const rings = polygonOf(given)
    const [lngs, lats] = [0, 1].map((axis) => rings[0].map((point) => point[axis]))
    const box = [Math.min(...lngs), Math.min(...lats), Math.max(...lngs), Math.max(...lats)]
    asked.set('bbox', box.join())
    return { kind: 'polygon', rings }
  }
  const { lat, lng } = pointOf(given)
  const km = radiusOf(given)
  asked.set('near', `${lat},${lng}`)
  asked.set('radius', String(Math.max(1, Math.ceil(km))))
  return { kind: 'circle', lat, lng, km }
}

function radiusOf(given: EdrGiven): number {
  const units = Object.keys(UNITS).join(', ')
  const text = requiredOf(given, 'within', 'a distance above 0')
  const unit = requiredOf(given, 'within-units', `one of ${units}`).toLowerCase()
  if (!Object.hasOwn(UNITS, unit)) throw refused('within-units', `is not known. Allowed: one of ${units}`)
  const km = /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) * UNITS[unit] : NaN
  if (km > 0 && km <= FARTHEST_KM) return km
  throw refused('within', `is no distance. Allowed: above 0, at most ${FARTHEST_KM} km`)
}

function boxOf(given: EdrGiven): number[] {
  const allowed = 'west,south,east,north in degrees, south not above north'
  const texts = requiredOf(given, 'bbox', allowed).split(',')
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

function polygonOf(given: EdrGiven): number[][][] {
  const allowed = 'a POLYGON in WKT, longitude first, whose rings are closed'
  const match = POLYGON.exec(plainWkt(requiredOf(given, 'coords', allowed)))
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
const SPELLED: { readonly [name: string]: string | undefined } = {
  start_date: 'datetime',
  end_date: 'datetime',
  start: 'datetime',
  hours: 'datetime',
  near: 'coords',
  radius: 'within',
  lat: 'coords',
  lng: 'coords',
}

/** An error of an operation, by the parameter of EDR that led to it. */
export function spelledError(error: ApiError): ApiError {
  const { code, message, details, retryAfter } = error
  const name = String(details?.['parameter'] ?? '')
  const spelled = SPELLED[name]
  if (spelled === undefined) return error
  const text = message.replace(`Parameter ${name} `, `Parameter ${spelled} `)
  return new ApiError(code, text, { ...details, parameter: spelled }, retryAfter)
}
