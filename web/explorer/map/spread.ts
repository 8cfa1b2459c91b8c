/** Dots that would cover each other are moved apart. */

interface Placed {
  geometry: { type: 'Point'; coordinates: number[] }
}

/** Pixels between the middles of two dots: the small ones touch. */
const GAP = 10
/** No dot is drawn further than this from where its buoy is. */
const MOST = 9
const ROUNDS = 8
const TILE_PIXELS = 512
const RADIANS = Math.PI / 180

interface Dot {
  x: number
  y: number
  readonly own: { readonly x: number; readonly y: number }
}

/** The features at the places where they are drawn at a zoom, in the same order. */
export function spread<Feature extends Placed>(features: readonly Feature[], zoom: number): Feature[] {
  const world = TILE_PIXELS * 2 ** zoom
  const dots = features.map(({ geometry: { coordinates } }): Dot => {
    const own = pixelOf(coordinates, world)
    return { ...own, own }
  })
  for (let round = 0; round < ROUNDS; round++) pushApart(dots)
  return features.map((feature, i) => {
    const { x, y, own } = dots[i] as Dot
    if (x === own.x && y === own.y) return feature
    return { ...feature, geometry: { ...feature.geometry, coordinates: positionOf(x, y, world) } }
  })
}

function pushApart(dots: readonly Dot[]): void {
  const fromWest = dots.toSorted((a, b) => a.x - b.x)
  fromWest.forEach((one, i) => {
    for (const other of fromWest.slice(i + 1)) {
      if (other.x - one.x >= GAP) break
      const apart = Math.hypot(other.x - one.x, other.y - one.y)
      if (apart >= GAP) continue
      const push = (GAP - apart) / 2
      // Two in one place go to either side.
      const [east, south] = apart === 0 ? [1, 0] : [(other.x - one.x) / apart, (other.y - one.y) / apart]
      move(one, -push * east, -push * south)
      move(other, push * east, push * south)
    }
  })
}

function move(dot: Dot, east: number, south: number): void {
  const [x, y] = [dot.x + east - dot.own.x, dot.y + south - dot.own.y]
  const short = Math.min(1, MOST / (Math.hypot(x, y) || 1))
  dot.x = dot.own.x + x * short
  dot.y = dot.own.y + y * short
}

function pixelOf([lng = 0, lat = 0]: readonly number[], world: number): { x: number; y: number } {
  const north = Math.log(Math.tan(Math.PI / 4 + (lat * RADIANS) / 2))
  return { x: ((lng + 180) / 360) * world, y: ((Math.PI - north) / (2 * Math.PI)) * world }
}

function positionOf(x: number, y: number, world: number): [lng: number, lat: number] {
  const north = Math.PI - (y / world) * 2 * Math.PI
  return [(x / world) * 360 - 180, (2 * Math.atan(Math.exp(north)) - Math.PI / 2) / RADIANS]
}
