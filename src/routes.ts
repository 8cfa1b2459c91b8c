/** One row per operation: what the service answers, in the order of the contract. Read this first. */
import { getBuoy } from './handlers/buoy.ts'
import { listBuoys } from './handlers/buoys.ts'
import { chart } from './handlers/chart.ts'
import { closestReading } from './handlers/closest-reading.ts'
import { conditions } from './handlers/conditions.ts'
import { listCountries } from './handlers/countries.ts'
import { lastReadings } from './handlers/last-readings.ts'
import { mapBuoys } from './handlers/map.ts'
import { nearestBuoys } from './handlers/nearest.ts'
import { getReading } from './handlers/reading.ts'
import { listReadings } from './handlers/readings.ts'
import { listSatellitePasses } from './handlers/satellite-passes.ts'
import { listSatellites } from './handlers/satellites.ts'
import { searchBuoys } from './handlers/search.ts'
import { readingSeries } from './handlers/series.ts'
import type { Operation } from './operation.ts'

export const OPERATIONS: readonly Operation[] = [
  listBuoys,
  getBuoy,
  lastReadings,
  searchBuoys,
  nearestBuoys,
  listReadings,
  closestReading,
  getReading,
  chart,
  readingSeries,
  listSatellites,
  listSatellitePasses,
  conditions,
  listCountries,
  mapBuoys,
]

export interface Route<T> {
  target: T
  /** Decoded arguments of the path, in order. */
  path: string[]
}

/**
 * Finds the operation of a path: fixed words beat arguments (`/buoys/search` is the operation, not a buoy of that slug).
 * A path argument that is not percent-encoded UTF-8 belongs to no resource.
 */
export class Router<T> {
  readonly #fixed = new Map<string, Route<T>>()
  readonly #patterns: { segments: string[]; target: T }[] = []

  /** `base` as in `/v2`, without a slash at its end. */
  constructor(base: string, targets: readonly { path: string; target: T }[]) {
    for (const { path, target } of targets) {
      const full = base + path
      if (full.includes('{')) this.#patterns.push({ segments: full.split('/'), target })
      else this.#fixed.set(full, { target, path: [] })
    }
    // Where several patterns fit, the one with more fixed words wins.
    const words = (segments: string[]): number =>
      segments.filter((segment) => !segment.startsWith('{')).length
    this.#patterns.sort((a, b) => words(b.segments) - words(a.segments))
  }

  /** The route of a raw path, or null when there is none. */
  find(path: string): Route<T> | null {
    const fixed = this.#fixed.get(path)
    if (fixed !== undefined) return fixed
    const segments = path.split('/')
    for (const pattern of this.#patterns) {
      if (pattern.segments.length !== segments.length) continue
      const args = matchSegments(pattern.segments, segments)
      if (args !== null) return { target: pattern.target, path: args }
    }
    return null
  }
}

function matchSegments(pattern: readonly string[], segments: readonly string[]): string[] | null {
  const args: string[] = []
  for (let i = 0; i < pattern.length; i++) {
    const wanted = pattern[i]
    const segment = segments[i]
    if (!wanted.startsWith('{')) {
      if (wanted !== segment) return null
    } else {
      if (segment === '') return null
      args.push(decodeSegment(segment))
    }
  }
  return args
}

/** A segment that cannot be decoded becomes one that names nothing. */
function decodeSegment(segment: string): string {
  if (!segment.includes('%')) return segment
  try {
    return decodeURIComponent(segment)
  } catch {
    return ''
  }
}
