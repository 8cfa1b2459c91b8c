/** What a request of a case asks for: which rows, which buoys, and the oracle's form of it. */
import type { Operation, Question } from '../../test/oracle/oracle.ts'
import type { Case } from './cases.ts'
import { AS_OF, type Span } from './data.ts'

const HOUR = 3600
const DAY = 24 * HOUR
/** Operations that read the rows of one buoy. */
export const OF_ONE_BUOY = new Set<string>(['readings', 'readings_search', 'reading', 'chart', 'series'])
/** Degrees: requests for places of one cell share a world. */
const CELL = 5

export interface Asked {
  one: Case
  /** Below the base path. */
  path: string
}
/** The buoy of a path below the base path, for the operations of one buoy. */
export const buoyOf = (path: string): number => Number(path.split('/')[2])

/**
 * Requests with the same text can share worlds; the empty one is that of worlds with all buoys and their
 * newest readings.
 */
export function groupOf({ one: { name, operation }, path }: Asked): string {
  if (operation === 'series') return operation
  if (OF_ONE_BUOY.has(operation)) return `${buoyOf(path)} ${operation === 'reading'}`
  const place = placeOf(operation, path)
  return place === null ? '' : `${name} ${Math.floor(place.lat / CELL)} ${Math.floor(place.lng / CELL)}`
}

export const EVER: Span = { from: 0, to: AS_OF }

/** Times outside which no row can be in the answer. */
export function spanOf({ one: { operation }, path }: Asked): Span {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  const textOf = (name: string): string => searchParams.get(name) ?? ''
  if (operation === 'reading') {
    const time = Number(pathname.split('/')[4]) % 1e10
    return { from: time, to: time }
  }
  if (operation === 'readings_search') {
    const target = Date.parse(`${textOf('date')}T${textOf('time')}:00Z`) / 1000
    const tolerance = Number(textOf('tolerance_hours')) * HOUR
    return { from: target - tolerance, to: target + tolerance }
  }
  if (operation === 'chart' && searchParams.size === 0) return { from: AS_OF - 7 * DAY, to: AS_OF }
  if (operation === 'readings' && textOf('start_date').endsWith('Z') && textOf('end_date').endsWith('Z')) {
    return { from: Date.parse(textOf('start_date')) / 1000, to: Date.parse(textOf('end_date')) / 1000 }
  }
  return EVER
}

/** Where an answer of the nearest active buoys looks, and how far, km; null for all other requests. */
export function placeOf(
  operation: string,
  path: string,
): { lat: number; lng: number; radius: number } | null {
  const { searchParams } = new URL(path, 'http://127.0.0.1')
  if (operation === 'nearest') {
    return {
      lat: Number(searchParams.get('lat')),
      lng: Number(searchParams.get('lng')),
      radius: Number(searchParams.get('max_distance') ?? 150),
    }
  }
  if (operation !== 'list' || !searchParams.has('near') || searchParams.has('active_only')) return null
  const [lat, lng] = searchParams.get('near')!.split(',').map(Number)
  return { lat, lng, radius: Number(searchParams.get('radius') ?? 100) }
}

/** The oracle's form of a path below the base path. */
export function questionOf(operation: Operation, path: string): Question {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  const [, , buoyId, , readingId] = pathname.split('/')
  return {
    operation,
    ...(buoyId === undefined ? {} : { buoyId }),
    ...(readingId === undefined ? {} : { readingId }),
    parameters: new Map(searchParams),
  }
}
