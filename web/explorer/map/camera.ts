/**
 * Movements of the map, which are jumps for visitors who ask their system for less motion, and the basemap: a
 * coarse one for the first view, and a fine coast once the map is close.
 */
import { type GeoJSONSource, LngLatBounds, type Map as MapView } from 'maplibre-gl'
import type { Position } from '../view.ts'
import { arcOf } from './arc.ts'

/** Pixels of the map that the panel covers, at its left and at its bottom. */
export interface Covered {
  left: number
  bottom: number
}

const FLIGHT_MS = 700
const ZOOM_MS = 250
/** A position that is nearer to the edge is not in view. */
const EDGE_PIXELS = 40
/** From here on the surroundings of a buoy can be made out. */
const CLOSE_ZOOM = 3
const BUOY_ZOOM = 4.5
/** Room for the buttons at the right of the map and the legend at its bottom. */
const FRAME_PIXELS = { top: 40, right: 74, bottom: 96, left: 40 } as const
/** What is left of a small map around the frame; a map that is all frame shows nothing anew. */
const MOST_FRAME_SHARE = 0.6
const NARROW_PIXELS = 500
const NARROW_FRAME_PIXELS = { top: 24, right: 62, bottom: 84, left: 24 } as const
/** Tells movements of the page's own from those of the visitor. */
const OWN_MOVE = { isOwn: true } as const

const duration = (ms: number): number => (matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : ms)

/** Goes to a position, unless it is in view already. */
export function bringIntoView(
  map: MapView,
  host: HTMLElement,
  { lat, lng }: Position,
  { left, bottom }: Covered,
): void {
  const { x, y } = map.project([lng, lat])
  const [right, lower] = [host.clientWidth - EDGE_PIXELS, host.clientHeight - bottom - EDGE_PIXELS]
  const isInView = x > left + EDGE_PIXELS && x < right && y > EDGE_PIXELS && y < lower
  if (isInView && map.getZoom() >= CLOSE_ZOOM) return
  map.easeTo({
    center: [lng, lat],
    zoom: Math.max(map.getZoom(), BUOY_ZOOM),
    offset: [left / 2, -bottom / 2],
    duration: duration(FLIGHT_MS),
  })
}

/** Shows all positions at once, over the antimeridian where that is the shorter way around. */
export function fitPositions(
  map: MapView,
  host: HTMLElement,
  positions: readonly Position[],
  { left, bottom }: Covered,
  { maxZoom = FINE_COAST_ZOOM, isFlight = false } = {},
): void {
  if (positions.length === 0) return
  const [west, east] = arcOf(positions.map(({ lng }) => lng))
  const lats = positions.map(({ lat }) => lat)
  const frame = host.clientWidth < NARROW_PIXELS ? NARROW_FRAME_PIXELS : FRAME_PIXELS
  const [fromLeft, fromRight] = frameWithin(host.clientWidth, frame.left + left, frame.right)
  const lower = Math.max(frame.bottom, bottom + frame.top)
  const [fromTop, fromBottom] = frameWithin(host.clientHeight, frame.top, lower)
  map.fitBounds(
    new LngLatBounds([west, Math.min(...lats)], [east, Math.max(...lats)]),
    {
      padding: { left: fromLeft, right: fromRight, top: fromTop, bottom: fromBottom },
      maxZoom,
      duration: isFlight ? duration(FLIGHT_MS) : 0,
    },
    OWN_MOVE,
  )
}

function frameWithin(size: number, first: number, second: number): [number, number] {
  const factor = Math.min(1, (size * MOST_FRAME_SHARE) / (first + second))
  return [first * factor, second * factor]
}

export function zoomBy(map: MapView, levels: number): void {
  map.easeTo({ zoom: map.getZoom() + levels, duration: duration(ZOOM_MS) })
}

/** From here on the coarse coast looks coarse. */
const FINE_COAST_ZOOM = 4

interface BasemapFeature {
  type: 'Feature'
  properties: { kind: string }
  geometry: { type: 'Point'; coordinates: number[] }
}

/** As `basemap.mjs` makes it: land and borders, and the names of countries. */
export type Basemap = Awaited<ReturnType<typeof loadBasemap>>

/** @throws Error when the basemap cannot be loaded */
export async function loadBasemap(address: string) {
  const answer = await fetch(address)
  if (!answer.ok) throw new Error(`the basemap cannot be loaded: ${answer.status}`)
  const { features } = (await answer.json()) as { features: BasemapFeature[] }
  const collection = (isWanted: (kind: string) => boolean) => ({
    type: 'FeatureCollection' as const,
    features: features.filter(({ properties }) => isWanted(properties.kind)),
  })
  return { shapes: collection((kind) => kind !== 'name'), names: collection((kind) => kind === 'name') }
}

/** Loads the fine coast into `basemap` as soon as the map is close enough to need it. */
export function keepCoastFine(map: MapView, basemap: GeoJSONSource, address: string): void {
  let isFine = false
  const refine = async (): Promise<void> => {
    if (isFine || map.getZoom() <= FINE_COAST_ZOOM) return
    isFine = true
    try {
      await basemap.setData((await loadBasemap(address)).shapes)
    } catch {
      // The coarse coast stays; the next movement tries again.
      isFine = false
    }
  }
  map.on('moveend', () => void refine())
  void refine()
}
