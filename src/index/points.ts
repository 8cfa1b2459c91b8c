/**
 * Nearest points on the globe: a KD-tree (kdbush) asked by great circle (geokdbush). Numbers in, ordinals
 * out.
 *
 * Adapters ask it, and a snapshot's catalogue has its bytes. The server scans (`near.ts`): a tree calls its
 * filter in no order, and takes 8 µs for one of 1,200 points.
 *
 * geokdbush decides which points come; distances, ties and limits are ours: its ties come in no order, a
 * maximum beyond half the circumference loses points, and a limit of 0 means all.
 */
import { around } from 'geokdbush'
import KDBush from 'kdbush'
import { FARTHEST_KM, haversineKm } from '../sea/geo.ts'

/** Points found, nearest first; at equal distance the lower ordinal first. */
export interface Found {
  ordinals: number[]
  km: number[]
}

/**
 * Widens the tree's search by more than its arithmetic differs from ours; we compare with the true limit
 * ourselves.
 */
const MARGIN_KM = 1e-6

export function buildPoints(lat: Float64Array, lng: Float64Array): Uint8Array {
  const tree = new KDBush(lat.length)
  for (let i = 0; i < lat.length; i++) tree.add(lng[i], lat[i])
  return new Uint8Array(tree.finish().data as ArrayBuffer)
}

export class Points {
  readonly #tree: KDBush
  readonly #lat: Float64Array
  readonly #lng: Float64Array

  /** `bytes` as `buildPoints` gave them; kdbush wants a buffer of its own, so they are copied. */
  constructor(bytes: Uint8Array, lat: Float64Array, lng: Float64Array) {
    this.#tree = KDBush.from(Uint8Array.from(bytes).buffer)
    this.#lat = lat
    this.#lng = lng
  }

  /** The `limit` nearest points within `maxKm` (inclusive) that `accept` takes. */
  nearest(
    lat: number,
    lng: number,
    limit: number,
    maxKm: number,
    accept: (ordinal: number) => boolean,
  ): Found {
    const reach = maxKm >= FARTHEST_KM ? Infinity : maxKm + MARGIN_KM
    const km = (ordinal: number): number => haversineKm(lat, lng, this.#lat[ordinal], this.#lng[ordinal])
    // One more than asked for shows whether the last one is tied; while it is, the tie may go on.
    for (let ask = Math.min(limit, this.#lat.length) + 1; ; ask *= 2) {
      const ordinals = around(this.#tree, lng, lat, ask, reach, accept)
      const last = ordinals.length - 1
      if (ordinals.length === ask && km(ordinals[last]) - km(ordinals[limit - 1]) < MARGIN_KM) continue
      return arrange(ordinals, km, limit, maxKm)
    }
  }

  /** Every point within `km` (inclusive) that `accept` takes. */
  within(lat: number, lng: number, km: number, accept: (ordinal: number) => boolean): Found {
    return this.nearest(lat, lng, this.#lat.length, km, accept)
  }
}

function arrange(ordinals: number[], kmOf: (ordinal: number) => number, limit: number, maxKm: number): Found {
  const found = ordinals
    .map((ordinal) => ({ ordinal, km: kmOf(ordinal) }))
    .filter(({ km }) => km <= maxKm)
    .sort((a, b) => a.km - b.km || a.ordinal - b.ordinal)
    .slice(0, limit)
  return { ordinals: found.map(({ ordinal }) => ordinal), km: found.map(({ km }) => km) }
}
