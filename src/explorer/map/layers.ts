/** What the map draws and how: its layers from the sea up to the labels, in the colours of a theme. */
import type { ExpressionSpecification, FilterSpecification, LayerSpecification } from 'maplibre-gl'
import { CLASS_STARTS, HEIGHT_COLORS } from '../heights.ts'
import type { Theme } from '../theme.ts'

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
    mark: '#ff7eb6',
    pass: '#c79bf2',
  },
} as const

const HEIGHT: ExpressionSpecification = ['coalesce', ['get', 'height'], -1]

function heightColor(theme: Theme): ExpressionSpecification {
  const colors = HEIGHT_COLORS[theme]
  return [
    'step',
    HEIGHT,
    colors[0],
    ...CLASS_STARTS.flatMap((start, i) => [start, colors[i + 1]]),
  ] as unknown as ExpressionSpecification
}

const kindIs = (kind: string): FilterSpecification => ['==', ['get', 'kind'], kind]
const PHYSICAL: FilterSpecification = ['!', ['get', 'virtual']]
const VIRTUAL: FilterSpecification = ['get', 'virtual']
const RADIUS: ExpressionSpecification = ['interpolate', ['linear'], ['zoom'], 0, 5, 3, 6.5, 7, 10]

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

/** The region of the chosen pass. */
function passLayers(theme: Theme, visibility: Visibility): LayerSpecification[] {
  const color = COLORS[theme]
  return [
    {
      id: 'pass-area',
      type: 'fill',
      source: 'pass',
      layout: { visibility },
      paint: { 'fill-color': color.pass, 'fill-opacity': 0.1 },
    },
    {
      id: 'pass-edge',
      type: 'line',
      source: 'pass',
      layout: { visibility },
      paint: { 'line-color': color.pass, 'line-width': 1.5, 'line-dasharray': [3, 2] },
    },
  ]
}

/** Virtual buoys are rings, buoys in the water are full circles above them. */
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
        'circle-stroke-color': heightColor(theme),
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
        'circle-color': heightColor(theme),
        'circle-stroke-width': 1,
        'circle-stroke-color': color.outline,
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
      'circle-color': ['case', ['has', 'height'], heightColor(theme), 'rgba(0,0,0,0)'],
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
    filter: satellites ? ['!=', ['get', 'id'], -1] : PHYSICAL,
    layout: {
      'text-field': [
        'step',
        ['zoom'],
        ['get', 'label'],
        3.6,
        ['format', ['get', 'label'], { 'font-scale': 1 }, '\n', {}, ['get', 'name'], { 'font-scale': 0.85 }],
      ],
      'text-font': FONT,
      'text-size': 13,
      'text-variable-anchor': ['left', 'right', 'bottom', 'top'],
      'text-radial-offset': 0.85,
      'text-justify': 'auto',
      'text-max-width': 12,
      // Where labels do not all fit, the highest seas keep theirs.
      'symbol-sort-key': ['-', 0, HEIGHT],
    },
    paint: { 'text-color': color.text, 'text-halo-color': color.halo, 'text-halo-width': 1.4 },
  }
}
