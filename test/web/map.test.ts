/** The parts of the map that need no browser: the first view, dots that are spread, labels that are whole. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { VectorTile } from '@mapbox/vector-tile'
import fc from 'fast-check'
import type { Map as MapView, SymbolLayerSpecification } from 'maplibre-gl'
import { PbfReader } from 'pbf'
import { useLanguage } from '../../web/explorer/language.ts'
import {
  beyondOf,
  cameraOn,
  firstBuoys,
  firstCamera,
  type Frame,
  spotOf,
} from '../../web/explorer/map/first.ts'
import { nameLayers } from '../../web/explorer/map/layers.ts'
import { leashes, spread } from '../../web/explorer/map/spread.ts'
import { keepLabelsWhole } from '../../web/explorer/map/whole_labels.ts'

const buoy = (name: string, lat: number, lng: number, timezone: string) => ({ name, lat, lng, timezone })
const BUOYS = [
  buoy('Anglet', 43.5, -1.6, 'Europe/Paris'),
  buoy('Cap Ferret', 44.7, -1.4, 'Europe/Paris'),
  buoy('Sevenstones', 50.1, -6.1, 'Europe/London'),
  buoy('Monterey', 36.8, -122.4, 'America/Los_Angeles'),
  buoy('Eel River', 40.4, -124.5, 'America/Los_Angeles'),
  buoy('Waimea', 21.7, -158.1, 'Pacific/Honolulu'),
  buoy('Majuro', 7, 171, 'Pacific/Majuro'),
  buoy('Réunion', -21, 55, 'Indian/Reunion'),
]
const names = (shown: readonly { name: string }[]): string => shown.map(({ name }) => name).join()

test('A narrow map starts with the buoys of the time zone, else with those around its longitude, else with all.', () => {
  const phone = { width: 390, height: 560 }
  const first = (timezone: string, hours: number): string =>
    names(firstBuoys(BUOYS, phone, { timezone, hours }))
  assert.equal(first('Europe/Paris', 1), 'Anglet,Cap Ferret')
  assert.equal(first('America/Tijuana', -8), 'Monterey,Eel River')
  assert.ok(first('Etc/Unknown', -3) !== '')
  assert.deepEqual(firstBuoys([], phone, { timezone: 'UTC', hours: 0 }), [])
  const tongaAndSamoa = [
    buoy('Nukuʻalofa', -21, -175.2, 'Pacific/Tongatapu'),
    buoy('Apia', -13.8, 188.2, 'Pacific/Apia'),
  ]
  assert.deepEqual(firstBuoys(tongaAndSamoa, phone, { timezone: 'Pacific/Apia', hours: 13 }), tongaAndSamoa)
})

test('A wide map starts around the visitor, with as many buoys as fit, or where most are, over 180° too.', () => {
  const visitor = { timezone: 'Europe/Paris', hours: 1 }
  assert.deepEqual(firstBuoys(BUOYS, { width: 2600, height: 800 }, visitor), BUOYS)
  const pane = { width: 893, height: 820 }
  assert.equal(names(firstBuoys(BUOYS, pane, visitor)), 'Anglet,Cap Ferret,Sevenstones,Réunion')
  const american = firstBuoys(BUOYS, pane, { timezone: 'America/Los_Angeles', hours: -8 })
  assert.equal(names(american), 'Monterey,Eel River,Waimea,Majuro')
  // Where nothing is near, as many as can be.
  const far = firstBuoys(BUOYS, pane, { timezone: 'Asia/Tokyo', hours: 8 })
  assert.ok(far.length === 7 && !names(far).includes('Majuro'))
  const pacific = BUOYS.slice(3, 7)
  assert.deepEqual(firstBuoys(pacific, pane, visitor), pacific)
})

/** Mercator's projection in pixels from the middle of the map, the shorter way around. */
function pixelsFrom(
  camera: { lat: number; lng: number; zoom: number },
  lat: number,
  lng: number,
): [number, number] {
  const world = 512 * 2 ** camera.zoom
  const south = (degrees: number): number =>
    (-Math.log(Math.tan(Math.PI / 4 + (degrees * Math.PI) / 360)) / (2 * Math.PI)) * world
  return [
    ((((((lng - camera.lng + 180) % 360) + 360) % 360) - 180) / 360) * world,
    south(lat) - south(camera.lat),
  ]
}

test('The first view shows its buoys clear of what lies over the map, as near as they allow, over 180° too.', () => {
  const visitor = { timezone: 'Etc/Unknown', hours: 0 }
  const frames = fc.record<Frame>({
    width: fc.integer({ min: 200, max: 2000 }),
    height: fc.integer({ min: 300, max: 1400 }),
    top: fc.integer({ min: 0, max: 60 }),
    right: fc.integer({ min: 0, max: 50 }),
    bottom: fc.integer({ min: 0, max: 120 }),
    panel: fc.constant(0),
  })
  const around = fc.record({
    lat: fc.double({ min: -60, max: 80, noNaN: true }),
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
  })
  const steps = fc.array(fc.tuple(fc.integer({ min: -9, max: 9 }), fc.integer({ min: -9, max: 9 })), {
    minLength: 1,
    maxLength: 9,
  })
  fc.assert(
    fc.property(frames, around, steps, (frame, middle, moves) => {
      const buoys = moves.map(([north, east]) => ({
        lat: Math.max(-60, Math.min(80, middle.lat + north)),
        lng: ((middle.lng + east + 540) % 360) - 180,
      }))
      const camera = firstCamera(buoys, frame, visitor)
      const spots = buoys.map(({ lat, lng }) => pixelsFrom(camera, lat, lng))
      const [left, right] = [-frame.width / 2, frame.width / 2 - Math.min(frame.right, frame.width / 4)]
      const top = Math.min(frame.top, frame.height / 4) - frame.height / 2
      const bottom = frame.height / 2 - Math.min(frame.bottom, frame.height / 2)
      for (const [x, y] of spots) {
        assert.ok(x >= left - 0.01 && x <= right + 0.01, `${x} of ${left} to ${right}`)
        assert.ok(y >= top - 0.01 && y <= bottom + 0.01, `${y} of ${top} to ${bottom}`)
      }
      for (const [i, spot] of buoys.map((buoy) => spotOf(buoy, camera, frame)).entries()) {
        const [x, y] = spots[i]
        assert.ok(Math.hypot(spot.x - x - frame.width / 2, spot.y - y - frame.height / 2) < 0.01)
      }
      // As near as allowed, or one side of the buoys takes what is free but for the frame.
      if (camera.zoom > (buoys.length === 1 ? 7.499 : 8.999)) return
      const spread = (at: 0 | 1): number =>
        Math.max(...spots.map((s) => s[at])) - Math.min(...spots.map((s) => s[at]))
      const frameOf = { x: 40 + 62, y: 2 * 120 + 24 }
      assert.ok(spread(0) >= frame.width * 0.68 - frameOf.x || spread(1) >= frame.height - frameOf.y - 12)
    }),
  )
  const none = { width: 9, height: 9, top: 0, right: 0, bottom: 0, panel: 0 }
  assert.equal(firstCamera([], none, visitor).zoom, 1)
})

test('What the panel is about is brought above the sheet from near enough, and not at all where it is seen.', () => {
  const frame: Frame = { width: 390, height: 700, top: 40, right: 40, bottom: 400, panel: 400 }
  const far = { lat: 10, lng: 175, zoom: 2 }
  const samoa = { lat: -13.8, lng: -172 }
  const near = cameraOn(samoa, far, frame)
  assert.equal(near.zoom, 4.5)
  const [x, y] = pixelsFrom(near, samoa.lat, samoa.lng)
  assert.ok(Math.hypot(x, y + 200) < 1e-6, `${x}, ${y}`)
  assert.equal(cameraOn(samoa, near, frame), near)
  const nearer = { ...near, zoom: 6 }
  assert.equal(cameraOn({ lat: -15, lng: -172 }, { ...nearer, lat: -40 }, frame).zoom, 6)
})

test('What the first view leaves out is counted by where it is, the most first.', () => {
  const at = (x: number, y: number) => ({ x, y })
  const points = [at(-1, 50), at(-300, -40), at(401, 900), at(200, -3), at(200, 301), at(0, 0), at(400, 300)]
  const said = beyondOf(points, { width: 400, height: 300 }).map(({ side, count }) => `${count} ${side}`)
  assert.equal(said.join(), '2 west,1 east,1 north,1 south')
  assert.deepEqual(beyondOf([at(1, 1)], { width: 400, height: 300 }), [])
})

const dot = (lng: number, lat: number) => ({ geometry: { type: 'Point' as const, coordinates: [lng, lat] } })

test('Dots that would cover each other are drawn apart but near their buoys; others stay where they are.', () => {
  const dots = [dot(-1.6, 43.5), dot(-1.6, 43.5), dot(-1.61, 43.5), dot(-9, 52)]
  const world = 512 * 2 ** 4
  const drawn = spread(dots, world)
  assert.equal(drawn[3], dots[3])
  const pixels = ({ geometry: { coordinates } }: (typeof dots)[number]): [number, number] =>
    pixelsFrom({ lat: 0, lng: 0, zoom: 4 }, coordinates[1], coordinates[0])
  for (const [i, k] of [0, 1, 2].map((first) => [first, (first + 1) % 3])) {
    const [[x, y], [left, top]] = [pixels(drawn[i]), pixels(drawn[k])]
    assert.ok(Math.hypot(x - left, y - top) > 7, `${i} and ${k}`)
  }
  // Near by, the same buoys lie apart by themselves.
  const near = spread([dot(-1.6, 43.5), dot(-1.4, 43.5)], 512 * 2 ** 9)
  assert.equal(near[0].geometry.coordinates[0], -1.6)
  // Those of a pier, within 200 m, stand where they are on the nearest map.
  const pier = [dot(-117.2571, 32.8669), dot(-117.2581, 32.8674), dot(-117.2569, 32.8681)]
  assert.deepEqual(spread(pier, 512 * 2 ** 14), pier)
})

test('Every country of the map has a name in the language of the page.', async (t) => {
  t.after(() => useLanguage(null, []))
  await useLanguage('fr', [])
  const { layout } = nameLayers('light').find(({ id }) => id === 'countries') as SymbolLayerSpecification
  const [, [, , [, own]]] = layout!['text-field'] as unknown as [
    string,
    [string, string, [string, { [name: string]: string }]],
  ]
  const bytes = readFileSync(new URL('../../web/basemap/basemap.pbf', import.meta.url))
  const { shapes } = new VectorTile(new PbfReader(bytes)).layers
  const all = Array.from({ length: shapes.length }, (_, i) => shapes.feature(i).properties)
  const english = all.filter(({ kind, name }) => kind === 'country' && name !== undefined)
  assert.ok(english.length > 200)
  for (const { name } of english) assert.ok(own[String(name)] !== undefined, String(name))
  assert.equal(own.Germany, 'Allemagne')
})

test('A line leads from each dot that was moved to where its buoy is, over the antimeridian the short way.', () => {
  const buoys = [dot(-1.6, 43.5), dot(-9, 52), dot(179.999, -16)]
  const lines = leashes(buoys, [dot(-1.61, 43.51), dot(-9, 52), dot(-179.999, -16)])
  const [moved, over] = lines.map(({ geometry }) => geometry.coordinates.flat().join())
  assert.deepEqual([moved, over, lines.length], ['-1.6,43.5,-1.61,43.51', '179.999,-16,180.001,-16', 2])
})

test('Two dots beside the antimeridian are moved apart as any others, each to its own side.', () => {
  const [west, east] = spread([dot(179.99, -16), dot(-179.99, -16)], 512 * 2 ** 4).map(
    ({ geometry }) => geometry.coordinates[0],
  )
  assert.ok(west < 179.99 && west > 178, `${west}`)
  assert.ok(east > -179.99 && east < -178, `${east}`)
})

// On a globe pixels are at most as large.
test('No dot is drawn further than nine pixels from its buoy at any zoom.', () => {
  const RADIANS = Math.PI / 180
  const around = fc.record({
    lng: fc.double({ min: -180, max: 180, noNaN: true }),
    lat: fc.double({ min: -84, max: 84, noNaN: true }),
  })
  // Close together, as those of a bay are.
  const buoys = fc.tuple(
    around,
    fc.array(fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: -20, max: 20 })), {
      maxLength: 12,
    }),
  )
  fc.assert(
    fc.property(buoys, fc.double({ min: 0, max: 14, noNaN: true }), ([middle, steps], zoom) => {
      const equator = 512 * 2 ** zoom
      const degree = equator / 360
      const dots = steps.map(([x, y]) =>
        dot(
          ((middle.lng + x / degree + 540) % 360) - 180,
          Math.max(-84, Math.min(84, middle.lat + y / degree)),
        ),
      )
      const flat = ([lng, lat]: number[]): number[] => [lng * RADIANS, Math.asinh(Math.tan(lat * RADIANS))]
      for (const [i, { geometry }] of spread(dots, equator).entries()) {
        const [to, from] = [geometry, dots[i].geometry].map(({ coordinates }) => flat(coordinates))
        const turns = to.map((each, k) => each - from[k])
        turns[0] -= 2 * Math.PI * Math.round(turns[0] / (2 * Math.PI))
        const pixels = (Math.hypot(...turns) * equator) / (2 * Math.PI)
        assert.ok(pixels < 9.01, `${pixels} pixels`)
      }
    }),
  )
})

test('A label that the edge of the map or something over it would cut has no room, another has.', () => {
  class Rooms {
    gridRightBoundary = 1000
    screenRightBoundary = 900
    placeCollisionBox(box: number[], _mode: string) {
      return { box, placeable: true, offscreen: false, occluded: false }
    }
  }
  const collisionIndex = new Rooms()
  const map = {
    style: { placement: { collisionIndex } },
    getContainer: () => ({ getBoundingClientRect: () => ({ left: 300, top: 60, right: 1100, bottom: 660 }) }),
  }
  const legend = { left: 310, top: 610, right: 510, bottom: 650 }
  let looks = 0
  keepLabelsWhole(map as unknown as MapView, () => {
    looks++
    return [legend]
  })
  const hasRoom = (left: number, top: number, mode = 'never'): boolean =>
    collisionIndex.placeCollisionBox([left + 100, top + 100, left + 150, top + 120], mode).placeable
  assert.equal(hasRoom(400, 300), true)
  assert.equal(hasRoom(-10, 300), false, 'left')
  assert.equal(hasRoom(760, 300), false, 'right')
  assert.equal(hasRoom(400, -5), false, 'top')
  assert.equal(hasRoom(400, 590), false, 'bottom')
  assert.equal(hasRoom(100, 560), false, 'below the legend')
  assert.equal(hasRoom(-10, 300, 'always'), true, 'what keeps labels off the dots')
  assert.equal(looks, 1, 'what lies over the map is measured once for a frame')
})
