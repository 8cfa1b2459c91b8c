/** Dots that would cover each other are moved apart, the less the nearer the map is. */
import { MAP_END } from '../view.ts'
import { onMap, TILE_PIXELS, wrapped, ZOOMS } from './first.ts'

interface Placed {
  geometry: { type: 'Point'; coordinates: number[] }
}

/**
 * No dot is drawn further than this from where its buoy is, and none at all from the zoom on where all are
 * true.
 */
const MOST = 9
const TRUE_ZOOM = ZOOMS.most
/** From this zoom on dots move less and less. */
const LESS_FROM_ZOOM = 8
/**
 * Pixels between the middles of two dots on a map of the world, and on a map 32 times as near: small dots
 * touch.
 */
const GAP = { far: 10, near: 17, farEquator: 2 ** 12, doublings: 5 } as const
const ROUNDS = 8
const RADIANS = Math.PI / 180

/** Pixels of Mercator's map from its middle, and those that the dot was moved by. */
interface Dot {
  readonly x: number
  readonly y: number
  east: number
  south: number
}

/**
 * The features at the places where they are drawn, in the same order. `equator` is its length in pixels; on a
 * globe pixels are smaller towards the poles.
 */
export function spread<Feature extends Placed>(features: readonly Feature[], equator: number): Feature[] {
  const radian = equator / (2 * Math.PI)
  const dots = features.map(({ geometry: { coordinates } }): Dot => {
    const [lng = 0, lat = 0] = coordinates
    const { x, y } = onMap({ lat, lng })
    return { x: x * equator, y: y * equator, east: 0, south: 0 }
  })
  const near = Math.log2(equator / GAP.farEquator) / GAP.doublings
  const gap = GAP.far + (GAP.near - GAP.far) * Math.min(1, Math.max(0, near))
  const zoom = Math.log2(equator / TILE_PIXELS)
  const share = Math.min(1, Math.max(0, (TRUE_ZOOM - zoom) / (TRUE_ZOOM - LESS_FROM_ZOOM)))
  if (share === 0) return [...features]
  const limits = { gap, most: MOST * share, equator }
  for (let round = 0; round < ROUNDS; round++) pushApart(dots, limits)
  return features.map((feature, i) => {
    const { x, y, east, south } = dots[i] as Dot
    // Around the poles only a globe has room, and Mercator's pixels do not count.
    if ((east === 0 && south === 0) || Math.abs(feature.geometry.coordinates[1] ?? 0) > MAP_END)
      return feature
    const lat = Math.atan(Math.sinh(-(y + south) / radian)) / RADIANS
    const coordinates = [wrapped((x + east) / equator) * 360, lat]
    return { ...feature, geometry: { ...feature.geometry, coordinates } }
  })
}

/** A line from each dot that was moved to where its buoy is. */
export function leashes<Feature extends Placed>(buoys: readonly Feature[], dots: readonly Feature[]) {
  return buoys.flatMap((buoy, i) => {
    const [from, to] = [buoy.geometry.coordinates, dots[i]?.geometry.coordinates ?? []]
    const [lng = 0, lat = 0] = to
    if (lng === from[0] && lat === from[1]) return []
    // Over the antimeridian the line goes the short way, too.
    const turn = Math.round(((from[0] ?? 0) - lng) / 360) * 360
    const coordinates = [from, [lng + turn, lat]]
    return [
      { type: 'Feature' as const, properties: {}, geometry: { type: 'LineString' as const, coordinates } },
    ]
  })
}

/** Pixels between two dots, pixels that one may be moved, and those of the equator. */
interface Limits {
  readonly gap: number
  readonly most: number
  readonly equator: number
}

function pushApart(dots: readonly Dot[], { gap, most, equator }: Limits): void {
  const fromNorth = dots.toSorted((a, b) => a.y + a.south - (b.y + b.south))
  for (const [i, one] of fromNorth.entries()) {
    for (let k = i + 1; k < fromNorth.length; k++) {
      const other = fromNorth[k] as Dot
      const down = other.y + other.south - (one.y + one.south)
      if (down >= gap) break
      const across = wrapped((other.x + other.east - one.x - one.east) / equator) * equator
      if (Math.abs(across) >= gap) continue
      const apart = Math.hypot(across, down)
      if (apart >= gap) continue
      const push = (gap - apart) / 2
      // Two in one place go to either side.
      const [east, south] = apart === 0 ? [1, 0] : [across / apart, down / apart]
      move(one, [-push * east, -push * south], most)
      move(other, [push * east, push * south], most)
    }
  }
}

function move(dot: Dot, [east, south]: readonly [number, number], most: number): void {
  const [x, y] = [dot.east + east, dot.south + south]
  const short = Math.min(1, most / (Math.hypot(x, y) || 1))
  dot.east = x * short
  dot.south = y * short
}
