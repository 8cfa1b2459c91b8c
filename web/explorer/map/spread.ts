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

/** The features at the places where they are drawn at a zoom, in the same order. */
export function spread<Feature extends Placed>(features: readonly Feature[], zoom: number): Feature[] {
  const world = TILE_PIXELS * 2 ** zoom
  const own = features.map(({ geometry: { coordinates } }) => pixelOf(coordinates, world))
  const drawn = own.map(({ x, y }) => ({ x, y }))
  const moved = new Set<number>()
  for (let round = 0; round < ROUNDS; round++) pushApart(own, drawn, moved)
  return features.map((feature, i) => {
    const at = drawn[i]
    if (at === undefined || !moved.has(i)) return feature
    return { ...feature, geometry: { ...feature.geometry, coordinates: positionOf(at, world) } }
  })
}

interface Pixel {
  x: number
  y: number
}

function pushApart(own: readonly Pixel[], drawn: readonly Pixel[], moved: Set<number>): void {
  const order = drawn.map((_, i) => i).toSorted((a, b) => (drawn[a]?.x ?? 0) - (drawn[b]?.x ?? 0))
  order.forEach((i, rank) => {
    const one = drawn[i]
    for (let k = rank + 1; k < order.length; k++) {
      const j = order[k] ?? 0
      const other = drawn[j]
      if (one === undefined || other === undefined || other.x - one.x >= GAP) break
      const apart = Math.hypot(other.x - one.x, other.y - one.y)
      if (apart >= GAP) continue
      // Two in one place go to either side.
      const [east, south] = apart === 0 ? [1, 0] : [(other.x - one.x) / apart, (other.y - one.y) / apart]
      const push = (GAP - apart) / 2
      for (const [at, sign] of [
        [i, -1],
        [j, 1],
      ] as const) {
        move(drawn[at], own[at], sign * push * east, sign * push * south)
        moved.add(at)
      }
    }
  })
}

function move(at: Pixel | undefined, from: Pixel | undefined, east: number, south: number): void {
  if (at === undefined || from === undefined) return
  const [x, y] = [at.x + east - from.x, at.y + south - from.y]
  const short = Math.min(1, MOST / (Math.hypot(x, y) || 1))
  at.x = from.x + x * short
  at.y = from.y + y * short
}

function pixelOf([lng = 0, lat = 0]: readonly number[], world: number): Pixel {
  const north = Math.log(Math.tan(Math.PI / 4 + (lat * RADIANS) / 2))
  return { x: ((lng + 180) / 360) * world, y: ((Math.PI - north) / (2 * Math.PI)) * world }
}

function positionOf({ x, y }: Pixel, world: number): [lng: number, lat: number] {
  const north = Math.PI - (y / world) * 2 * Math.PI
  return [(x / world) * 360 - 180, (2 * Math.atan(Math.exp(north)) - Math.PI / 2) / RADIANS]
}
