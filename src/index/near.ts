/**
 * Points near a position on the globe, exact: nearest ones from a KD-tree (geokdbush over kdbush), all within
 * a distance from an R-tree. The great circle of `sea/geo.ts` decides; at equal distance the lower ordinal
 * comes first.
 */
import { around } from 'geokdbush'
import KDBush from 'kdbush'
import { boundsAround, cosineOf, FARTHEST_KM, haversineKm } from '../sea/geo.ts'
import { Boxes, buildBoxes } from './boxes.ts'

/** Points of a leaf: of 1,200 points the nearest takes longer with 8 and with 64. */
const NODE_SIZE = 16
/** Bytes in front of the ids of a tree, and the multiple at which its coordinates begin. */
const HEADER_BYTES = 8
/** Trees of fewer points have ids of 16 bits. */
const WIDE_IDS = 65536
/**
 * The tree orders by its own rounding, which moves distances by less than a metre, most of all near the
 * opposite of the position: the search includes points this close to the last one.
 */
const ROUNDING_KM = 0.001
/** Within this distance a box of the R-tree has few points, and is searched in half the time. */
const BOX_KM = 150

export interface Found {
  readonly ordinal: number
  /** Great-circle distance. */
  readonly km: number
}

type Accept = (ordinal: number) => boolean

/** A KD-tree as kdbush stores it, longitudes first. Degrees. */
export function buildPoints(lat: Float64Array, lng: Float64Array): Uint8Array {
  const tree = new KDBush(lat.length, NODE_SIZE)
  for (let i = 0; i < lat.length; i++) tree.add(lng[i], lat[i])
  return new Uint8Array(tree.finish().data as ArrayBuffer)
}

/** The stored tree in place: `KDBush.from` wants a buffer that begins with it. */
function openPoints(points: Uint8Array, count: number): KDBush {
  const Ids = count < WIDE_IDS ? Uint16Array : Uint32Array
  const start = points.byteOffset + HEADER_BYTES
  const ids = new Ids(points.buffer as ArrayBuffer, start, count)
  const coordsAt = start + Math.ceil(ids.byteLength / HEADER_BYTES) * HEADER_BYTES
  const coords = new Float64Array(points.buffer as ArrayBuffer, coordsAt, 2 * count)
  return Object.assign(new KDBush(0, NODE_SIZE), { numItems: count, ids, coords })
}

export class NearPoints {
  readonly #lat: Float64Array
  readonly #lng: Float64Array
  readonly #cosines: Float64Array
  readonly #tree: KDBush
  readonly #boxes: Boxes

  /**
   * `points` and `boxes`: as `buildPoints` and `buildBoxes` made them of these positions, at multiples of 8.
   */
  constructor(
    lat: Float64Array,
    lng: Float64Array,
    points = buildPoints(lat, lng),
    boxes = new Boxes(buildBoxes(lat, lng)),
  ) {
    this.#lat = lat
    this.#lng = lng
    this.#cosines = lat.map(cosineOf)
    this.#tree = openPoints(points, lat.length)
    this.#boxes = boxes
  }

  /** The `limit` nearest points within `km` (inclusive) that `accept` takes, which is asked in no order. */
  nearest(lat: number, lng: number, limit: number, km: number, accept?: Accept): Found[] {
    if (km <= BOX_KM) return this.#inBox(lat, lng, km, accept).slice(0, limit)
    // Half a turn or more is no limit to the tree.
    const reach = km + ROUNDING_KM < FARTHEST_KM ? km + ROUNDING_KM : Infinity
    // The search ends at a point beyond reach, so there it takes all.
    const isTaken =
      accept && ((ordinal: number): boolean => accept(ordinal) || this.#kmTo(ordinal, lat, lng) > reach)
    for (let most = limit + 1; ; most *= 2) {
      const ordinals = around(this.#tree, lng, lat, most, reach, isTaken)
      const found = this.#ordered(lat, lng, ordinals)
      const isAll = ordinals.length < most
      if (isAll || found[most - 1].km > found[limit - 1].km + ROUNDING_KM) return cut(found, limit, km)
    }
  }

  /** Ordinals of all points within `km` (inclusive) that `accept` takes, nearest first. */
  within(lat: number, lng: number, km: number, accept?: Accept): number[] {
    return this.#inBox(lat, lng, km, accept).map(({ ordinal }) => ordinal)
  }

  #inBox(lat: number, lng: number, km: number, accept?: Accept): Found[] {
    const cosine = cosineOf(lat)
    const found: Found[] = []
    this.#boxes.each(boundsAround(lat, lng, km), (ordinal) => {
      if (accept !== undefined && !accept(ordinal)) return false
      const away = this.#kmTo(ordinal, lat, lng, cosine)
      if (away <= km) found.push({ ordinal, km: away })
      return false
    })
    return found.sort(byDistance)
  }

  #ordered(lat: number, lng: number, ordinals: readonly number[]): Found[] {
    const cosine = cosineOf(lat)
    const found = ordinals.map((ordinal) => ({ ordinal, km: this.#kmTo(ordinal, lat, lng, cosine) }))
    return found.sort(byDistance)
  }

  #kmTo(ordinal: number, lat: number, lng: number, cosine = cosineOf(lat)): number {
    return haversineKm(lat, lng, this.#lat[ordinal], this.#lng[ordinal], cosine, this.#cosines[ordinal])
  }
}

const byDistance = (a: Found, b: Found): number => a.km - b.km || a.ordinal - b.ordinal

function cut(found: Found[], limit: number, km: number): Found[] {
  const end = found.findIndex((each) => each.km > km)
  return found.slice(0, Math.min(limit, end === -1 ? limit : end))
}
