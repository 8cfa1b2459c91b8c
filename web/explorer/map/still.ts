/**
 * A picture of the flat map, which is there long before MapLibre is, and stays where a browser has no WebGL:
 * coast and dots, drawn on a canvas where MapLibre will have them. A click on a dot opens its buoy.
 */
import { VectorTile } from '@mapbox/vector-tile'
import { Supercluster } from '@maplibre/geojson-vt'
import { effect, signal } from '@preact/signals'
import { PbfReader } from 'pbf'
import { HEIGHT_COLORS } from '../heights.ts'
import { about, openBuoy, pause, showsGlobe } from '../store.ts'
import { type Theme, theme } from '../theme.ts'
import type { Camera, Position } from '../view.ts'
import { addressIn, COAST_ZOOM } from './basemap.ts'
import { cameraNow, CLUSTER, dotsOf, frameOf, position, sayBeyond } from './camera.ts'
import type { buoyFeatures } from './features.ts'
import { type Frame, NARROW_PIXELS, onMap, spotOf, TILE_PIXELS } from './first.ts'
import { CLUSTER_PIXELS, colorsOf, COUNT_COLORS, NEAR_PIXELS, RADII, RING_RADII } from './layers.ts'
import { leashes } from './spread.ts'

type Dot = ReturnType<typeof buoyFeatures>[number]
/** A dot, or several of a narrow map in one. */
type Drawn = Dot['properties'] & { point_count?: number }
type Colors = ReturnType<typeof colorsOf>

/** Shapes of a tile by their kind, in units of which `extent` are its side. */
interface Tile {
  readonly z: number
  readonly x: number
  readonly y: number
  readonly extent: number
  readonly shapes: ReadonlyMap<string, Path2D>
}

async function loadTile(address: string, z: number, x: number, y: number): Promise<Tile> {
  const bytes = await (await fetch(address)).arrayBuffer()
  const layer = new VectorTile(new PbfReader(new Uint8Array(bytes))).layers.shapes
  const shapes = new Map<string, Path2D>()
  for (let i = 0; i < (layer?.length ?? 0); i++) {
    const feature = layer!.feature(i)
    const kind = String(feature.properties.kind)
    // Names are points.
    if (feature.type === 1) continue
    const path = shapes.get(kind) ?? new Path2D()
    shapes.set(kind, path)
    for (const points of feature.loadGeometry()) {
      for (const [k, point] of points.entries()) {
        if (k === 0) path.moveTo(point.x, point.y)
        else path.lineTo(point.x, point.y)
      }
      if (feature.type === 3) path.closePath()
    }
  }
  return { z, x, y, extent: layer?.extent ?? 1, shapes }
}

/**
 * Draws over the map's place until it is removed, by the state of the page, which has the list once
 * `isListed`. Resolves once dots can be seen; to null for a globe, of which there is no picture.
 * @throws Error where the basemap cannot be loaded
 */
export async function showStill(
  host: HTMLElement,
  isListed: Promise<void>,
): Promise<{ remove: () => void } | null> {
  const isOperators = addressIn(host, 'mapStyle') !== ''
  // The operator's map may have any colour: of ours there is the sea alone.
  const world = isOperators ? [] : [await loadTile(addressIn(host, 'basemap'), 0, 0, 0)]
  const canvas = document.createElement('canvas')
  canvas.className = 'still'
  canvas.ariaHidden = 'true'
  // Getting a context takes a while, and the list is still on its way.
  const context = canvas.getContext('2d')!
  await isListed
  await pause()
  if (showsGlobe.peek()) return null
  const near = signal<readonly Tile[]>([])
  const frame = signal(frameOf(host))
  let spots: readonly Spot[] = []
  const end = effect(() => {
    const camera = cameraNow(frame.value)
    spots = drawStill(context, [...world, ...near.value], camera, frame.value)
    sayBeyond(camera, frame.value)
  })
  canvas.addEventListener('click', ({ offsetX: x, offsetY: y }) => {
    const away = (spot: Spot): number => Math.hypot(spot.x - x, spot.y - y)
    const [nearest] = spots.toSorted((a, b) => away(a) - away(b))
    if (nearest !== undefined && away(nearest) <= NEAR_PIXELS) openBuoy(nearest.slug)
  })
  host.after(canvas)
  performance.mark('dots')
  const observer = new ResizeObserver(() => {
    const { width, height } = host.getBoundingClientRect()
    // The first call has the size that is drawn.
    if (width !== frame.peek().width || height !== frame.peek().height) frame.value = frameOf(host)
  })
  observer.observe(host)
  const camera = cameraNow(frame.peek())
  if (!isOperators && camera.zoom >= COAST_ZOOM)
    void loadCoast(host, camera, frame.peek()).then((tiles) => (near.value = tiles))
  return {
    remove: () => {
      end()
      observer.disconnect()
      canvas.remove()
    },
  }
}

/** The tiles of the fine coast that a near map shows, which MapLibre needs too. */
async function loadCoast(
  host: HTMLElement,
  camera: Camera,
  { width, height }: Frame,
): Promise<readonly Tile[]> {
  const count = 2 ** COAST_ZOOM
  const middle = onMap(camera)
  const pixels = TILE_PIXELS * 2 ** (camera.zoom - COAST_ZOOM)
  const range = (at: number, size: number): number[] => {
    const first = Math.floor((at + 0.5) * count - size / 2 / pixels)
    const last = Math.floor((at + 0.5) * count + size / 2 / pixels)
    return Array.from({ length: last - first + 1 }, (_, i) => first + i)
  }
  const rows = range(middle.y, height).filter((y) => y >= 0 && y < count)
  const columns = new Set(range(middle.x, width).map((x) => ((x % count) + count) % count))
  const address = addressIn(host, 'coast')
  const tiles = [...columns].flatMap((x) =>
    rows.map((y) => loadTile(address.replace('*', `${x}-${y}`), COAST_ZOOM, x, y)),
  )
  // The coarse coast remains where one cannot be loaded.
  const loaded = await Promise.allSettled(tiles)
  return loaded.flatMap((tile) => (tile.status === 'fulfilled' ? [tile.value] : []))
}

/** A buoy that can be clicked, in pixels of the canvas. */
interface Spot {
  readonly x: number
  readonly y: number
  readonly slug: string
}

function drawStill(
  context: CanvasRenderingContext2D,
  tiles: readonly Tile[],
  camera: Camera,
  frame: Frame,
): Spot[] {
  const { width, height } = frame
  const colors = colorsOf(theme.value)
  Object.assign(context.canvas, { width: width * devicePixelRatio, height: height * devicePixelRatio })
  context.scale(devicePixelRatio, devicePixelRatio)
  context.fillStyle = colors.sea
  context.fillRect(0, 0, width, height)
  for (const tile of tiles) drawTile(context, tile, camera, frame, colors)
  return drawDots(context, camera, frame, theme.value)
}

/** Draws a tile as often as a small map shows the world. */
function drawTile(
  context: CanvasRenderingContext2D,
  tile: Tile,
  camera: Camera,
  frame: Frame,
  colors: Colors,
): void {
  const { width, height } = frame
  const middle = onMap(camera)
  const world = TILE_PIXELS * 2 ** camera.zoom
  const side = world / 2 ** tile.z
  const top = height / 2 + (tile.y / 2 ** tile.z - 0.5 - middle.y) * world
  const left = width / 2 + (tile.x / 2 ** tile.z - 0.5 - middle.x) * world
  const first = left - Math.floor((left + side) / world) * world
  for (let x = first; x < width; x += world) {
    context.save()
    context.beginPath()
    // Shapes go on a little beyond their tile, so that neighbours leave no line between them.
    context.rect(Math.floor(x), Math.floor(top), Math.ceil(side) + 1, Math.ceil(side) + 1)
    context.clip()
    context.translate(x, top)
    context.scale(side / tile.extent, side / tile.extent)
    drawShapes(context, tile, tile.extent / side / devicePixelRatio, colors)
    context.restore()
  }
}

/** `pixel` of the screen in units of the tile. */
function drawShapes(
  context: CanvasRenderingContext2D,
  { shapes }: Tile,
  pixel: number,
  colors: Colors,
): void {
  const shown = { sea: colors.sea, land: colors.land, lake: colors.sea }
  for (const [kind, color] of Object.entries(shown)) {
    const path = shapes.get(kind)
    if (path === undefined) continue
    context.fillStyle = color
    context.fill(path)
    context.strokeStyle = colors.coast
    context.lineWidth = pixel
    if (kind !== 'sea') context.stroke(path)
  }
  const borders = shapes.get('border')
  context.strokeStyle = colors.border
  context.lineWidth = 0.8 * pixel * devicePixelRatio
  if (borders !== undefined) context.stroke(borders)
}

/** The buoys of a cluster as one dot, as MapLibre makes it: from their highest height and class of now. */
function clustersOf(dots: readonly Dot[], zoom: number): { at: Position; properties: Drawn }[] {
  const now = ({ old, height = -1, class: own = 0 }: Drawn): Partial<Drawn> =>
    old ? { old, height: -1, class: 0 } : { old, height, class: own }
  const index = new Supercluster({
    ...CLUSTER,
    map: now,
    reduce: (all: Partial<Drawn>, { old, height, class: own }: Partial<Drawn>) => {
      all.old &&= old!
      all.height = Math.max(all.height!, height!)
      all.class = Math.max(all.class!, own!)
    },
  })
  index.load([...dots])
  return placed(index.getClusters([-180, -90, 180, 90], Math.floor(zoom)))
}

const placed = (dots: readonly { geometry: Dot['geometry']; properties: Drawn }[]) =>
  dots.map(({ geometry, properties }) => {
    const [lng = 0, lat = 0] = geometry.coordinates
    return { at: { lat, lng }, properties }
  })

/** The radius at a zoom, between the given ones. */
function atZoom(stops: readonly (readonly [zoom: number, pixels: number])[], zoom: number): number {
  const next = stops.findIndex(([from]) => from > zoom)
  const [a, b] = [stops[next - 1], stops[next]]
  if (a === undefined || b === undefined) return (next === 0 ? stops[0] : stops.at(-1))![1]
  return a[1] + ((b[1] - a[1]) * (zoom - a[0])) / (b[0] - a[0])
}

function drawDots(context: CanvasRenderingContext2D, camera: Camera, frame: Frame, shown: Theme): Spot[] {
  const colors = colorsOf(shown)
  const { zoom } = camera
  const isClustered = frame.width < NARROW_PIXELS && zoom < CLUSTER.maxZoom + 1
  const dots = dotsOf(isClustered ? null : TILE_PIXELS * 2 ** zoom)
  const isMarked = ({ properties }: Dot): boolean => properties.slug === about.value
  const marked = [...dots.virtual, ...dots.physical].find(isMarked)
  const others = dots.physical.filter((dot) => dot !== marked)
  const rank = ({ old, height = -1 }: Drawn): number => height - (old ? 100 : 0)
  const sorted = [
    placed(dots.virtual.filter((dot) => dot !== marked)),
    isClustered ? clustersOf(others, zoom) : placed(others),
  ].flatMap((each) => each.toSorted((a, b) => rank(a.properties) - rank(b.properties)))

  const radii = (name: 'low' | 'high') => RADII.map((stop) => [stop.zoom, stop[name]] as const)
  const [low, high] = [atZoom(radii('low'), zoom), atZoom(radii('high'), zoom)]
  const spots: Spot[] = []
  const dot = (at: Position, drawn: Drawn): void => {
    const { x, y } = spotOf(at, camera, frame)
    const { class: own = 0, old, point_count: count, virtual } = drawn
    const radius =
      count === undefined ? low + ((high - low) * own) / (HEIGHT_COLORS.length - 1) : high + CLUSTER_PIXELS
    const disc = (fill: string, stroke: string, wide: number): void => {
      context.beginPath()
      context.arc(x, y, radius, 0, 2 * Math.PI)
      context.lineWidth = 2 * wide
      context.strokeStyle = stroke
      // The line lies outside of the disc, which is drawn above its inner half.
      context.stroke()
      context.fillStyle = fill
      context.fill()
    }
    const color = HEIGHT_COLORS[own]!
    if (virtual) {
      if (shown === 'dark') disc('transparent', colors.outline, 4)
      disc(colors.sea, old ? colors.old : color, 3)
    } else if (old) disc(colors.sea, colors.old, 2)
    else disc(color, colors.outline, shown === 'dark' ? 1.6 : 1.3)
    if (count === undefined) {
      spots.push({ x, y, slug: drawn.slug })
      return
    }
    context.font = '11px sans-serif'
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.fillStyle = old ? colors.text : COUNT_COLORS[own]!
    context.fillText(String(count), x, y + 1)
  }

  context.strokeStyle = colors.outline
  context.lineWidth = 1
  for (const { geometry } of isClustered ? [] : leashes(dots.true, dots.physical)) {
    context.beginPath()
    for (const [lng = 0, lat = 0] of geometry.coordinates) {
      const { x, y } = spotOf({ lat, lng }, camera, frame)
      context.lineTo(x, y)
    }
    context.stroke()
  }
  const ring = placed(marked === undefined ? [] : [marked])[0]
  const middle = ring?.at ?? position.value
  if (middle !== null) {
    const radius = atZoom(RING_RADII, zoom)
    const { x, y } = spotOf(middle, camera, frame)
    context.beginPath()
    context.arc(x, y, radius + 1.5, 0, 2 * Math.PI)
    context.lineWidth = 3
    context.strokeStyle = colors.mark
    context.stroke()
  }
  for (const { at, properties } of ring === undefined ? sorted : [...sorted, ring]) dot(at, properties)
  return spots
}
