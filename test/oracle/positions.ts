/** Positions and boxes as parameters: near buoys, at the poles and the antimeridian, anywhere. */
import * as fc from 'fast-check'
import type { ParameterKind } from './request_parts.ts'

interface Position {
  lat: number
  lng: number
}

const turnLongitude = (lng: number) => (lng > 180 ? lng - 360 : lng < -180 ? lng + 360 : lng)
const round6 = (value: number) => Number(value.toFixed(6))

export type Positions = ReturnType<typeof positionsOf>

/** @param places positions of the buoys */
export function positionsOf(places: readonly Position[]) {
  const nearBuoy = fc
    .tuple(
      fc.constantFrom(...places),
      fc.integer({ min: -900, max: 900 }),
      fc.integer({ min: -900, max: 900 }),
    )
    .map(([place, north, east]) => ({
      lat: round6(Math.max(-90, Math.min(90, place.lat + north / 1000))),
      lng: round6(turnLongitude(place.lng + east / 1000)),
    }))
  const somewhere = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...places) },
    { weight: 5, arbitrary: nearBuoy },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        { lat: 90, lng: 0 },
        { lat: 90, lng: -180 },
        { lat: -90, lng: 77 },
        { lat: 0, lng: 180 },
        { lat: 0, lng: -180 },
        { lat: -17, lng: -179.999 },
        { lat: -17, lng: 179.999 },
        { lat: 0, lng: 0 },
        { lat: 0, lng: -140 },
      ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.integer({ min: -90_000, max: 90_000 }), fc.integer({ min: -180_000, max: 180_000 }))
        .map(([lat, lng]) => ({ lat: lat / 1000, lng: lng / 1000 })),
    },
  )
  const degreeText = fc.constantFrom(
    (value: number) => String(value),
    (value: number) => String(value),
    (value: number) => (Number.isInteger(value) ? `${value}.000` : `${value}00`),
    (value: number) => (value === 0 ? '-0' : String(value)),
    (value: number) => (value < 0 ? String(value) : `0${value}`),
  )
  const latitude = fc.tuple(somewhere, degreeText).map(([place, text]) => text(place.lat))
  return { places, nearBuoy, somewhere, degreeText, latitude }
}

/** The two ways to ask for a box, which exclude each other. */
export function boxKinds({ places, nearBuoy }: Positions): { bounds: ParameterKind; bbox: ParameterKind } {
  const anyOrder = fc.constantFrom(
    ['south', 'west', 'north', 'east'],
    ['north', 'south', 'east', 'west'],
    ['east', 'north', 'west', 'south'],
  )
  const edge = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...places) },
    // A map that was dragged round the globe sends longitudes beyond 180.
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...places), fc.constantFrom(-360, 360, 720))
        .map(([place, turn]) => ({ lat: place.lat, lng: round6(place.lng + turn) })),
    },
    { weight: 2, arbitrary: nearBuoy },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.integer({ min: -95_000, max: 95_000 }), fc.integer({ min: -400_000, max: 400_000 }))
        .map(([lat, lng]) => ({ lat: lat / 1000, lng: lng / 1000 })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(-100, -90, 0, 90, 91), fc.constantFrom(-540, -360, -180, 0, 180, 360, 540))
        .map(([lat, lng]) => ({ lat, lng })),
    },
  )
  const corners = fc.tuple(edge, edge, fc.boolean()).map(([one, other, ordered]) => {
    const [south, north] = one.lat <= other.lat ? [one.lat, other.lat] : [other.lat, one.lat]
    const [west, east] = ordered && one.lng > other.lng ? [other.lng, one.lng] : [one.lng, other.lng]
    return { south, west, north, east }
  })
  const square = fc.tuple(edge, fc.integer({ min: 0, max: 40_000 })).map(([centre, half]) => ({
    south: round6(centre.lat - half / 1000),
    west: round6(centre.lng - half / 1000),
    north: round6(centre.lat + half / 1000),
    east: round6(centre.lng + half / 1000),
  }))
  const boxes = fc.oneof(corners, square)
  const bbox: ParameterKind = {
    name: 'bbox',
    valid: boxes.map(({ west, south, east, north }) => [west, south, east, north].join()),
    rare: true,
  }
  const bounds: ParameterKind = {
    name: 'bounds',
    valid: fc.tuple(boxes, anyOrder, fc.boolean()).map(([box, order, spaced]) => {
      const sorted = Object.fromEntries(order.map((side) => [side, box[side]]))
      return spaced ? JSON.stringify(sorted, null, 1).replaceAll('\n', ' ') : JSON.stringify(sorted)
    }),
    rare: true,
  }
  return { bounds, bbox }
}
