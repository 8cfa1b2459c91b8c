/** What the map draws and how: its layers from the sea up to the labels, in the colours of a theme. */
import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from 'maplibre-gl'
import { CLASS_STARTS, HEIGHT_COLORS } from '../heights.ts'
import type { Theme } from '../scene.ts'

const FONT = ['sans-serif']

const COLORS = {
  light: {
    sea: '#dde9f0',
    land: '#f6f4ee',
    coast: '#b9c6cc',
    border: '#dcd8cd',
    name: '#7d7a70',
    text: '#15313f',
    halo: '#f4f9fb',
    outline: '#16323f',
    old: '#6f7f88',
    mark: '#c2185b',
    pass: '#7b3fa0',
  },
  dark: {
    sea: '#0d1b25',
    land: '#1d2b35',
    coast: '#3a4d59',
    border: '#2e3f4a',
    name: '#8396a2',
    text: '#e6f0f5',
    halo: '#0b161e',
    outline: '#eef6fa',
    old: '#8b9aa4',
    mark: '#ff7eb6',
    pass: '#c79bf2',
  },
} as const

const HEIGHT: ExpressionSpecification = ['coalesce', ['get', 'height'], -1]

/** One value for each class of height. */
const byClass = (values: readonly (string | number)[]): ExpressionSpecification =>
  [
    'step',
    HEIGHT,
    values[0],
    ...CLASS_STARTS.flatMap((start, i) => [start, values[i + 1]]),
  ] as unknown as ExpressionSpecification

const HEIGHT_COLOR = byClass(HEIGHT_COLORS)

const kindIs = (kind: string): FilterSpecification => ['==', ['get', 'kind'], kind]
const OLD: ExpressionSpecification = ['get', 'old']
const PHYSICAL: FilterSpecification = ['!', ['get', 'virtual']]
const VIRTUAL: FilterSpecification = ['get', 'virtual']
/** Pixels by zoom for the lowest and the highest seas: the larger a dot, the higher they are. */
const RADII = [
  [0, 4, 6.5],
  [3, 5.5, 8],
  [7, 8.5, 11.5],
] as const
const RADIUS = [
  'interpolate',
  ['linear'],
  ['zoom'],
  ...RADII.flatMap(([zoom, low, high]) => [
    zoom,
    byClass(HEIGHT_COLORS.map((_, i, { length }) => low + ((high - low) * i) / (length - 1))),
  ]),
] as unknown as ExpressionSpecification
/** The side of a square around the largest dot, in which no label may lie. */
const BOX: ExpressionSpecification = [
  'interpolate',
  ['linear'],
  ['zoom'],
  ...RADII.flatMap(([zoom, , high]) => [zoom, high * 1.7]),
] as unknown as ExpressionSpecification
/** An image without colour: labels avoid images, but not circles. */
export const BOX_IMAGE = 'box'

/** The layers that draw buoys. */
export const BUOY_LAYERS = ['buoys', 'virtual-buoys']

/** All layers, from the lowest; those of satellites are hidden unless `satellites`. */
export function layers(theme: Theme, satellites: boolean): LayerSpecification[] {
  const visibility = satellites ? 'visible' : 'none'
  return [
    ...basemapLayers(theme),
    ...passLayers(theme, visibility),
    countryNames(theme),
    ...buoyLayers(theme, visibility),
    markLayer(theme),
    buoyLabels(theme, satellites),
    // The highest layer is placed first.
    labelObstacles(satellites),
  ]
}

type Visibility = 'visible' | 'none'

function basemapLayers(theme: Theme): LayerSpecification[] {
  const color = COLORS[theme]
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': color.sea } },
    {
      id: 'land',
      type: 'fill',
      source: 'basemap',
      filter: kindIs('land'),
      paint: { 'fill-color': color.land, 'fill-outline-color': color.coast },
    },
    {
      id: 'border',
      type: 'line',
      source: 'basemap',
      filter: kindIs('border'),
      paint: { 'line-color': color.border, 'line-width': 0.8 },
    },
  ]
}

/** The chosen pass: the points that it measured, and the way from one to the next. */
function passLayers(theme: Theme, visibility: Visibility): LayerSpecification[] {
  const color = COLORS[theme]
  return [
    {
      id: 'pass-track',
      type: 'line',
      source: 'pass',
      layout: { visibility },
      paint: { 'line-color': color.pass, 'line-width': 2, 'line-dasharray': [3, 2] },
    },
    {
      id: 'pass-points',
      type: 'circle',
      source: 'pass',
      filter: ['==', ['geometry-type'], 'Point'],
      layout: { visibility },
      paint: {
        'circle-radius': 14,
        'circle-color': color.pass,
        'circle-opacity': 0.25,
        'circle-stroke-width': 2,
        'circle-stroke-color': color.pass,
      },
    },
  ]
}

/** Virtual buoys are rings, buoys in the water full circles above them; grey and hollow where old. */
function buoyLayers(theme: Theme, visibility: Visibility): LayerSpecification[] {
  const color = COLORS[theme]
  return [
    {
      id: 'virtual-buoys',
      type: 'circle',
      source: 'buoys',
      filter: VIRTUAL,
      layout: { visibility, 'circle-sort-key': HEIGHT },
      paint: {
        'circle-radius': RADIUS,
        'circle-color': color.sea,
        'circle-stroke-width': 3,
        'circle-stroke-color': HEIGHT_COLOR,
      },
    },
    {
      id: 'buoys',
      type: 'circle',
      source: 'buoys',
      filter: PHYSICAL,
      layout: { 'circle-sort-key': HEIGHT },
      paint: {
        'circle-radius': RADIUS,
        'circle-color': ['case', OLD, color.sea, HEIGHT_COLOR],
        'circle-stroke-width': ['case', OLD, 2, 1.3],
        'circle-stroke-color': ['case', OLD, color.old, color.outline],
      },
    },
  ]
}

/** The closer the map, the smaller the countries that it names. */
function countryNames(theme: Theme): LayerSpecification {
  const color = COLORS[theme]
  return {
    id: 'country',
    type: 'symbol',
    source: 'names',
    filter: ['<=', ['get', 'rank'], ['step', ['zoom'], 0, 2, 1, 3.5, 2]],
    layout: {
      'text-field': ['get', 'name'],
      'text-font': FONT,
      'text-size': ['interpolate', ['linear'], ['zoom'], 1, 10, 6, 13],
      'text-letter-spacing': 0.06,
      'text-max-width': 7,
    },
    paint: { 'text-color': color.name, 'text-halo-color': color.land, 'text-halo-width': 1 },
  }
}

/** The buoy or point in the panel. */
function markLayer(theme: Theme): LayerSpecification {
  const color = COLORS[theme]
  return {
    id: 'mark',
    type: 'circle',
    source: 'mark',
    paint: {
      'circle-radius': ['interpolate', ['linear'], ['zoom'], 0, 7, 3, 9, 7, 12],
      // The buoy in the panel lies above its neighbours.
      'circle-color': ['case', ['has', 'height'], HEIGHT_COLOR, 'rgba(0,0,0,0)'],
      'circle-stroke-width': 3,
      'circle-stroke-color': color.mark,
    },
  }
}

/** Heights, and from some zoom on names, where there is room. */
function buoyLabels(theme: Theme, satellites: boolean): LayerSpecification {
  const color = COLORS[theme]
  return {
    id: 'labels',
    type: 'symbol',
    source: 'buoys',
    filter: shown(satellites),
    layout: {
      'text-field': [
        'step',
        ['zoom'],
        ['get', 'label'],
        3.6,
        [
          'format',
          ['get', 'label'],
          { 'font-scale': 1 },
          '\n',
          {},
          ['get', 'shortName'],
          { 'font-scale': 0.85 },
        ],
      ],
      'text-font': FONT,
      'text-size': 13,
      'text-variable-anchor': ['left', 'right', 'bottom', 'top'],
      'text-radial-offset': ['interpolate', ['linear'], ['zoom'], 0, 0.75, 3, 0.9, 7, 1.15],
      'text-justify': 'auto',
      'text-max-width': 12,
      // Where labels do not all fit, the highest seas keep theirs.
      'symbol-sort-key': ['-', 0, HEIGHT],
    },
    paint: { 'text-color': color.text, 'text-halo-color': color.halo, 'text-halo-width': 1.4 },
  }
}

/** Keeps labels off the dots: nothing is drawn. */
function labelObstacles(satellites: boolean): LayerSpecification {
  return {
    id: 'label-obstacles',
    type: 'symbol',
    source: 'buoys',
    filter: shown(satellites),
    layout: {
      'icon-image': BOX_IMAGE,
      'icon-size': BOX,
      'icon-allow-overlap': true,
      'icon-padding': 0,
    },
  }
}

const shown = (satellites: boolean): FilterSpecification =>
  satellites ? ['!=', ['get', 'id'], -1] : PHYSICAL
