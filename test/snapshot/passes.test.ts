/** The passes part: newest first, parts of a pass become one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Bounds } from '../../src/sea/geo.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { checkPasses } from '../../src/snapshot/check-snapshot.ts'
import { passesPart } from '../../src/snapshot/make-passes.ts'
import { readPasses } from '../../src/snapshot/part-kinds.ts'
import type { PassColumns } from '../../src/index/passes.ts'
import type { PassRecord } from '../../src/sea/records.ts'
import { entryOf } from './entry_of.ts'

const START = 1_774_569_600
const FILE = 'passes-0.msgpack'
const BOX: Bounds = { south: -10, west: 20, north: 10, east: 25 }

function pass(number: number, more: Partial<PassRecord> = {}): PassRecord {
  const startedAt = START + number * 3000
  return {
    mission: 'sentinel-3a',
    cycle: 81,
    number,
    startedAt,
    endedAt: startedAt + 2500,
    bounds: BOX,
    observations: [],
    ...more,
  }
}

/** Ids are handles plus 100. */
function build(records: PassRecord[], asOf: number | null = null): { bytes: Uint8Array; rows: number } {
  const { part, rows } = passesPart(records, (handle) => handle + 100, asOf)
  return { bytes: encodePart(part), rows }
}

/** Through the bytes of a part, as a reader sees it. */
function columnsOf(records: PassRecord[], asOf: number | null = null): PassColumns {
  const { bytes, rows } = build(records, asOf)
  const columns = readPasses(decodePart(bytes, FILE), FILE)
  checkPasses(columns, entryOf('passes', rows))
  return columns
}

test('Passes come newest first, each with its observations by buoy.', () => {
  const columns = columnsOf([
    pass(1, {
      observations: [
        { buoy: 7, time: START + 3100 },
        { buoy: 2, time: START + 3300 },
        { buoy: 2, time: START + 3200 },
        { buoy: 7, time: START + 3100 },
      ],
    }),
    pass(3),
    pass(2, { mission: 'swot', cycle: 301, bounds: { south: -78, west: 170, north: 78, east: -120.5 } }),
    pass(40_000, { mission: 'cryosat-2', startedAt: START + 9000, endedAt: START + 9000 }),
  ])
  const { number, mission, cycle, started, ended, west, east } = columns
  assert.deepEqual(
    Array.from(number, (each, i) => [
      each,
      mission[i],
      cycle[i],
      started[i] - START,
      ended[i] - START,
      west[i],
      east[i],
    ]),
    [
      [40_000, 6, 81, 9000, 9000, 20, 25],
      [3, 1, 81, 9000, 11_500, 20, 25],
      [2, 7, 301, 6000, 8500, 170, -120.5],
      [1, 1, 81, 3000, 5500, 20, 25],
    ],
  )
  assert.deepEqual([...columns.first], [0, 0, 0, 0, 3])
  assert.deepEqual([...columns.buoy], [102, 102, 107])
  assert.deepEqual([...columns.time], [START + 3200, START + 3300, START + 3100])
})

test('A time that was asked for cuts off what came later.', () => {
  const records = [
    pass(1, {
      observations: [
        { buoy: 1, time: START + 3100 },
        { buoy: 2, time: START + 3101 },
      ],
    }),
    pass(2),
  ]
  assert.deepEqual([...columnsOf(records).number], [2, 1])
  assert.deepEqual([...columnsOf(records, START + 6000).number], [2, 1])
  const cut = columnsOf(records, START + 3100)
  assert.deepEqual([[...cut.number], [...cut.buoy]], [[1], [101]])
  assert.equal(build(records, START + 2999).rows, 0)
})

test('The order in which passes arrive does not reach the bytes.', () => {
  const observation = fc.record({ buoy: fc.nat({ max: 5 }), time: fc.integer({ min: 6000, max: 6040 }) })
  const degree = fc.integer({ min: -180, max: 180 })
  const record = fc
    .tuple(
      fc.constantFrom('sentinel-3a', 'sentinel-3b', 'jason-3'),
      fc.integer({ min: 1, max: 3 }),
      fc.nat({ max: 2 }),
      degree,
      degree,
      fc.array(observation, { maxLength: 5 }),
    )
    .map(([mission, number, shift, west, east, observations]): PassRecord => ({
      mission,
      cycle: 5,
      number,
      startedAt: START + 6000 - shift,
      endedAt: START + 6040,
      bounds: { south: -shift, west, north: shift, east },
      observations: observations.map(({ buoy, time }) => ({ buoy, time: START + time })),
    }))
  const shuffled = fc
    .array(record, { maxLength: 8 })
    .chain((records) =>
      fc.tuple(fc.constant(records), fc.shuffledSubarray(records, { minLength: records.length })),
    )
  fc.assert(
    fc.property(shuffled, ([records, other]) => {
      assert.deepEqual(build(other).bytes, build(records).bytes)
      const columns = columnsOf(records)
      const passes = new Set(records.map(({ mission, number }) => `${mission} ${number}`))
      assert.equal(columns.mission.length, passes.size)
      const seen = records.flatMap(({ mission, number, observations }) =>
        observations.map(({ buoy, time }) => `${mission} ${number} ${buoy} ${time}`),
      )
      assert.equal(columns.buoy.length, new Set(seen).size)
    }),
    { numRuns: 300 },
  )
})

test('The box of a pass in two parts is the smallest that holds both.', () => {
  const turned = (from: number, to: number) => (((to - from) % 360) + 360) % 360
  const wide = ({ west, east }: Bounds) => (west === -180 && east === 180 ? 360 : turned(west, east))
  const holds = (box: Bounds, lng: number) => turned(box.west, lng) <= wide(box)
  const degree = fc.integer({ min: -180, max: 179 })
  const latitude = fc.nat(80)
  const box = fc.record({ south: latitude.map((lat) => -lat), west: degree, north: latitude, east: degree })
  fc.assert(
    fc.property(box, box, (a, b) => {
      const { south, west, north, east } = columnsOf([
        pass(1, { bounds: a }),
        pass(1, { bounds: b, startedAt: START + 3001 }),
      ])
      const joined = { ...BOX, west: west[0], east: east[0] }
      assert.deepEqual([south[0], north[0]], [Math.min(a.south, b.south), Math.max(a.north, b.north)])
      const degrees = Array.from({ length: 720 }, (_, i) => i / 2 - 180)
      const inside = degrees.filter((lng) => holds(a, lng) || holds(b, lng))
      for (const lng of inside) assert.ok(holds(joined, lng), `${lng}`)
      // Nothing smaller does: between two borders of the parts lies every candidate.
      const widths = [a.west, b.west].map((from) =>
        [a.east, b.east]
          .map((to): Bounds => ({ south: 0, west: from, north: 0, east: to }))
          .filter((candidate) => inside.every((lng) => holds(candidate, lng)))
          .map(wide),
      )
      assert.equal(wide(joined), Math.min(360, ...widths.flat()))
    }),
    { numRuns: 500 },
  )
})

test('An impossible pass ends the build, and the error names it.', () => {
  const refused: [Partial<PassRecord>, RegExp][] = [
    [{ mission: 'apollo-11' }, /unknown mission "apollo-11"/],
    [{ cycle: -1 }, /cycle/],
    [{ cycle: 1.5 }, /cycle/],
    [{ cycle: 100_000 }, /cycle/],
    [{ number: 0 }, /number/],
    [{ number: 65_536 }, /number/],
    [{ endedAt: START }, /ends before it starts/],
    [{ endedAt: NaN }, /ends before it starts/],
    [{ observations: [{ buoy: 1, time: START }] }, /outside its time/],
    [{ bounds: { ...BOX, south: 11 } }, /bounds/],
    [{ bounds: { ...BOX, north: 91 } }, /bounds/],
    [{ bounds: { ...BOX, west: -181 } }, /bounds/],
    [{ bounds: { ...BOX, east: NaN } }, /bounds/],
  ]
  for (const [more, message] of refused) {
    assert.throws(() => build([pass(1, more)]), { name: 'BuildError', message }, JSON.stringify(more))
  }
})
