/** The layers of the map, from the sea up to the labels, in the colours of a theme. */
import type {
  CircleLayerSpecification,
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl'
import { HEIGHT_COLORS } from '../heights.ts'
import { locale } from '../language.ts'
import type { Theme } from '../theme.ts'
import type { Position } from '../view.ts'

/** Drawn with the fonts of the visitor's machine. */
export const FONT = ['sans-serif']

/** Colours of the light and the dark theme. */
const COLORS = {
  sea: ['#dde9f0', '#0d1b25'],
  land: ['#f6f4ee', '#1d2b35'],
  coast: ['#b9c6cc', '#3a4d59'],
  border: ['#dcd8cd', '#2e3f4a'],
  name: ['#7d7a70', '#8396a2'],
  seaName: ['#5b7f95', '#5f89a3'],
  town: ['#55524a', '#a5b3bc'],
  text: ['#15313f', '#e6f0f5'],
  halo: ['#f4f9fb', '#0b161e'],
  outline: ['#16323f', '#eef6fa'],
  old: ['#6f7f88', '#8b9aa4'],
  mark: ['#c2185b', '#ff7eb6'],
} as const

export const colorsOf = (theme: Theme) =>
  Object.fromEntries(
    Object.entries(COLORS).map(([name, [light, dark]]) => [name, theme === 'dark' ? dark : light]),
  ) as { readonly [name in keyof typeof COLORS]: string }

export const OLD: ExpressionSpecification = ['boolean', ['get', 'old'], false]
/**
 * The order of drawing and labelling: the highest seas above others, and readings of now above all old ones.
 */
const PRIORITY: ExpressionSpecification = ['-', ['coalesce', ['get', 'height'], -1], ['case', OLD, 100, 0]]

/** A value for each class of height. */
const byClass = (values: readonly (string | number)[]): ExpressionSpecification =>
  [
    'step',
    ['coalesce', ['get', 'class'], 0],
    ...values.flatMap((value, i) => (i === 0 ? [value] : [i, value])),
  ] as unknown as ExpressionSpecification

const HEIGHT_COLOR = byClass(HEIGHT_COLORS)

const kindIs = (kind: string): ExpressionSpecification => ['==', ['get', 'kind'], kind]
const SIDES = ['left', 'right', 'bottom', 'top'] as const
const CLUSTER: ExpressionSpecification = ['has', 'point_count']
/**
 * A cluster has the height of its highest buoy of now, whose label it does not know; it is old if all its
 * buoys are.
 */
const LABEL: ExpressionSpecification = ['coalesce', ['get', 'label'], '']
/** Pixels that a cluster is larger than a dot. */
export const CLUSTER_PIXELS = 3
/** The first of `HEIGHT_COLORS` on which white is read better than black. */
const DARK_CLASS = 4
/** How a cluster's number is written on each class. */
export const COUNT_COLORS = HEIGHT_COLORS.map((_, i) => (i < DARK_CLASS ? '#10212a' : '#ffffff'))

/** Pixels by zoom for the lowest and the highest seas: the larger a dot, the higher they are. */
export const RADII = [
  { zoom: 0, low: 4, high: 6.5 },
  { zoom: 3, low: 5.5, high: 8 },
  { zoom: 7, low: 8.5, high: 11.5 },
] as const
/** Radii of the ring around the buoy or point of the panel. */
export const RING_RADII = [
  [0, 9],
  [3, 11],
  [7, 15],
] as const
const byZoom = (size: (radii: { low: number; high: number }) => unknown): ExpressionSpecification =>
  [
    'interpolate',
    ['linear'],
    ['zoom'],
    ...RADII.flatMap(({ zoom, ...radii }) => [zoom, size(radii)]),
  ] as unknown as ExpressionSpecification
const sized = (
  low: number,
  high: number,
  of = (radius: number): unknown => radius,
): ExpressionSpecification =>
  byClass(HEIGHT_COLORS.map((_, i, { length }) => of(low + ((high - low) * i) / (length - 1)) as never))
const RADIUS = byZoom(({ low, high }) => sized(low, high))
/** The side of a square around the largest dot, in which no label may lie. */
const BOX = byZoom(({ high }) => high * 1.7)
/**
 * Images: one without colour, as labels avoid images but not circles, the disc of a town, and where waves go.
 */
export const [BOX_IMAGE, DOT_IMAGE, ARROW_IMAGE] = ['box', 'dot', 'arrow']
/** A triangle with its tip to the north, and some room around it. */
export const ARROW_PIXELS = 12

/** The layers that draw buoys. */
export const BUOY_LAYERS = ['buoys', 'virtual-buoys', 'mark-dot']
/** A click within this distance of a buoy means the buoy: a finger's width on a phone. */
export const NEAR_PIXELS = 14

/** All layers above a basemap's own, from the lowest. */
export function layers(theme: Theme, font: string[]): LayerSpecification[] {
  return [
    {
      id: 'leashes',
      type: 'line',
      source: 'leashes',
      paint: { 'line-color': colorsOf(theme).outline, 'line-width': 1 },
    },
    markLayer(theme, 'ring'),
    ...buoyLayers(theme),
    markLayer(theme, 'dot'),
    ...buoyLabels(theme, font),
    // The highest layers are placed first.
    ...labelObstacles,
    ...arrows(theme),
  ]
}

/** Sea, land, lakes and borders, coarse and, as soon as tiles of it are there, fine. */
export function basemapLayers(theme: Theme): LayerSpecification[] {
  const color = colorsOf(theme)
  const fill = (id: string, kind: string, paint: object, source: string): LayerSpecification => ({
    id,
    type: 'fill',
    source,
    'source-layer': 'shapes',
    filter: kindIs(kind),
    paint,
  })
  const land = { 'fill-color': color.land, 'fill-outline-color': color.coast }
  const lake = { 'fill-color': color.sea, 'fill-outline-color': color.coast }
  const shapes = (name: string, source: string): LayerSpecification[] => [
    fill(name, 'land', land, source),
    fill(`${name}-lake`, 'lake', lake, source),
    {
      id: `${name}-border`,
      type: 'line',
      source,
      'source-layer': 'shapes',
      filter: kindIs('border'),
      paint: { 'line-color': color.border, 'line-width': 0.8 },
    },
  ]
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': color.sea } },
    ...shapes('land', 'basemap'),
    // A tile covers the coarse shapes.
    fill('coast-sea', 'sea', { 'fill-color': color.sea }, 'coast'),
    ...shapes('coast', 'coast'),
  ]
}

const circle = (
  id: string,
  source: string,
  paint: CircleLayerSpecification['paint'],
  more: Partial<CircleLayerSpecification> = {},
): LayerSpecification => ({ id, type: 'circle', source, ...(paint && { paint }), ...more })

/** Virtual buoys are rings, buoys in the water full circles above them; grey and hollow where old. */
function buoyLayers(theme: Theme): LayerSpecification[] {
  const color = colorsOf(theme)
  const highestAbove = { layout: { 'circle-sort-key': PRIORITY } }
  return [
    // High seas are dark: on a dark map an outline sets their rings off.
    circle('virtual-outlines', 'virtual', {
      'circle-radius': RADIUS,
      'circle-color': 'rgba(0,0,0,0)',
      'circle-stroke-width': theme === 'dark' ? 4 : 0,
      'circle-stroke-color': color.outline,
    }),
    circle(
      'virtual-buoys',
      'virtual',
      {
        'circle-radius': RADIUS,
        'circle-color': color.sea,
        'circle-stroke-width': 3,
        'circle-stroke-color': ['case', OLD, color.old, HEIGHT_COLOR],
      },
      highestAbove,
    ),
    circle(
      'buoys',
      'buoys',
      {
        'circle-radius': byZoom(({ low, high }) => [
          'case',
          CLUSTER,
          high + CLUSTER_PIXELS,
          sized(low, high),
        ]),
        'circle-color': ['case', OLD, color.sea, HEIGHT_COLOR],
        'circle-stroke-width': ['case', OLD, 2, theme === 'dark' ? 1.6 : 1.3],
        'circle-stroke-color': ['case', OLD, color.old, color.outline],
      },
      highestAbove,
    ),
  ]
}

/** The closer the map, the smaller what it names: each rank from its zoom on, seas and countries. */
const NAMED_FROM: ExpressionSpecification = ['step', ['zoom'], 0, 2, 1, 3.5, 2, 4.7, 3]
/** Zooms from which towns are named, by thousands of people as powers of two. */
const TOWNS_FROM: ExpressionSpecification = ['step', ['zoom'], 9, 6, 7, 7, 5, 8, 3, 9, 0]

/** Kilometres that a town may be further from a buoy than one of half its size. */
const TOWN_KM = 20

/** The order and the choice of names for these buoys: their countries come first, and the towns near them. */
export function namesFirst(buoys: readonly (Position & { timezone: string })[]): {
  readonly [layer in 'countries' | 'towns']: { key: ExpressionSpecification; filter: FilterSpecification }
} {
  const zones = [...new Set(buoys.map(({ timezone }) => timezone))]
  const rank: ExpressionSpecification = ['get', 'rank']
  const isIn = (zone: string): ExpressionSpecification => ['in', zone, ['get', 'zones']]
  const hasBuoys: ExpressionSpecification = ['any', ...zones.map(isIn)]
  const coordinates = buoys.map(({ lat, lng }) => [lng, lat])
  const metres: ExpressionSpecification = ['distance', { type: 'MultiPoint', coordinates }]
  const far: ExpressionSpecification | number = buoys.length === 0 ? 0 : ['/', metres, TOWN_KM * 1000]
  return {
    countries: {
      key: ['case', hasBuoys, -1, rank],
      filter: ['all', kindIs('country'), ['any', hasBuoys, ['<=', rank, NAMED_FROM]]],
    },
    towns: { key: ['-', far, rank], filter: ['>=', rank, TOWNS_FROM] },
  }
}

/** Countries in the page's language, by the English names of the basemap. */
function countryNames(): ExpressionSpecification {
  const regions = (language: string) => new Intl.DisplayNames(language, { type: 'region' })
  const [english, own] = [regions('en'), regions(locale)]
  const letters = locale.startsWith('en') ? [] : Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZ')
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  return ['literal', Object.fromEntries(codes.map((code) => [english.of(code), own.of(code)]))]
}

/** Names of towns, seas and countries; the highest layer is placed first. */
export function nameLayers(theme: Theme): LayerSpecification[] {
  const color = colorsOf(theme)
  const names = (id: string, text: string, around: string, layout: object): SymbolLayerSpecification => ({
    id,
    type: 'symbol',
    source: 'basemap',
    layout: { 'text-field': ['get', 'name'], 'text-font': FONT, ...layout },
    paint: { 'text-color': text, 'text-halo-color': around, 'text-halo-width': 1 },
  })
  const near = namesFirst([])
  return [
    {
      ...names('towns', color.town, color.land, {
        'icon-image': DOT_IMAGE,
        'text-size': 11,
        'text-variable-anchor': [...SIDES],
        'text-radial-offset': 0.5,
        'text-max-width': 8,
        'symbol-sort-key': near.towns.key,
      }),
      source: 'coast',
      'source-layer': 'towns',
      filter: near.towns.filter,
    },
    {
      ...names('seas', color.seaName, color.sea, {
        'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10, 6, 14],
        'text-letter-spacing': 0.12,
        'text-max-width': 6,
      }),
      'source-layer': 'shapes',
      filter: ['all', kindIs('sea'), ['<=', ['get', 'rank'], NAMED_FROM]],
    },
    {
      ...names('countries', color.name, color.land, {
        'text-field': ['coalesce', ['get', ['get', 'name'], countryNames()], ['get', 'name']],
        'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10, 6, 13],
        'text-letter-spacing': 0.06,
        'text-max-width': 7,
        // Beside the labels of buoys there is room at another side of its middle.
        'text-variable-anchor': ['center', 'top', 'bottom', 'left', 'right', 'top-left', 'bottom-left'],
        'text-radial-offset': 1.2,
        'symbol-sort-key': near.countries.key,
      }),
      'source-layer': 'shapes',
      filter: near.countries.filter,
    },
  ]
}

/** The buoy or point in the panel: a ring that its neighbours cover, and the buoy itself above them. */
function markLayer(theme: Theme, part: 'ring' | 'dot'): LayerSpecification {
  const color = colorsOf(theme)
  const isRing = part === 'ring'
  const paint: CircleLayerSpecification['paint'] = {
    'circle-radius': isRing ? ['interpolate', ['linear'], ['zoom'], ...RING_RADII.flat()] : RADIUS,
    'circle-color': isRing ? 'rgba(0,0,0,0)' : ['case', OLD, color.sea, HEIGHT_COLOR],
    'circle-stroke-width': isRing ? 3 : ['case', OLD, 2, 1.3],
    'circle-stroke-color': isRing ? color.mark : ['case', OLD, color.old, color.outline],
  }
  return circle(`mark-${part}`, 'mark', paint, isRing ? {} : { filter: ['has', 'slug'] })
}

/** Zoom from which buoys have their names beside their heights. */
const NAMES_FROM = 3.6

/** Heights, and from some zoom on names, where there is room; in a cluster how many buoys it has. */
function buoyLabels(theme: Theme, font: string[]): LayerSpecification[] {
  const color = colorsOf(theme)
  const withName: ExpressionSpecification = [
    'format',
    LABEL,
    { 'font-scale': 1 },
    ['case', ['==', LABEL, ''], '', '\n'],
    {},
    ['coalesce', ['get', 'name'], ''],
    { 'font-scale': 0.85 },
  ]
  const labels = (id: string, source: string, isMark = false): LayerSpecification => ({
    id,
    type: 'symbol',
    source,
    layout: {
      // The subject of the panel has its name at any zoom.
      'text-field': isMark ? withName : ['step', ['zoom'], LABEL, NAMES_FROM, withName],
      'text-font': font,
      'text-size': 13,
      'text-variable-anchor': [...SIDES, 'bottom-left', 'top-right', 'top-left', 'bottom-right'],
      // Heights of the text, beyond the dot or its ring.
      'text-radial-offset': isMark
        ? ['interpolate', ['linear'], ['zoom'], 0, 1.2, 3, 1.35, 7, 1.65]
        : // On a near map they lie beyond arrows too.
          ['interpolate', ['linear'], ['zoom'], 0, 0.75, 3, 0.9, 7, 1.15, 14, 1.8],
      'text-justify': 'auto',
      // Whatever else is there, it has a name.
      'text-allow-overlap': isMark,
      'text-max-width': 12,
      'symbol-sort-key': ['-', 0, PRIORITY],
    },
    paint: { 'text-color': color.text, 'text-halo-color': color.halo, 'text-halo-width': 1.4 },
  })
  return [
    labels('virtual-labels', 'virtual'),
    labels('labels', 'buoys'),
    labels('mark-labels', 'mark', true),
    {
      id: 'cluster-counts',
      type: 'symbol',
      source: 'buoys',
      filter: CLUSTER,
      layout: {
        'text-field': ['get', 'point_count_abbreviated'],
        'text-font': font,
        'text-size': 11,
        'text-allow-overlap': true,
      },
      paint: {
        'text-color': ['case', OLD, color.text, byClass(COUNT_COLORS)],
      },
    },
  ]
}

/**
 * Layers with a small arrow beside each dot, and the zoom from which they are shown however many dots there
 * are.
 */
export const ARROW_LAYERS = ['buoys-arrows', 'virtual-arrows', 'mark-arrows']
export const ARROWS_FROM = 6
/** With fewer dots in view there is room for arrows at any zoom. */
export const FEW_DOTS = 60

/** Directions that waves go, at the edge of each dot that has one. */
function arrows(theme: Theme): LayerSpecification[] {
  const away = (radius: number): ExpressionSpecification => ['literal', [0, -(radius + ARROW_PIXELS / 2)]]
  const offset = byZoom(({ low, high }) => sized(low, high, away))
  return ARROW_LAYERS.map((id): LayerSpecification => ({
    id,
    type: 'symbol',
    source: id.slice(0, id.indexOf('-')),
    filter: ['all', ['has', 'from'], ['!', CLUSTER]],
    layout: {
      'icon-image': ARROW_IMAGE,
      'icon-rotate': ['+', ['get', 'from'], 180],
      'icon-offset': offset,
      'icon-allow-overlap': true,
      'icon-padding': 0,
      visibility: 'none',
    },
    paint: { 'icon-color': colorsOf(theme).outline },
  }))
}

/** Keeps labels off the dots: nothing is drawn. */
const labelObstacles = ['virtual', 'buoys', 'mark'].map((source): LayerSpecification => ({
  id: `${source}-obstacles`,
  type: 'symbol',
  source,
  layout: {
    'icon-image': BOX_IMAGE,
    'icon-size': BOX,
    'icon-allow-overlap': true,
    'icon-padding': 0,
  },
}))
