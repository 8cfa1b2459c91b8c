/** The index over passes, against looking at every pass. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { passIndexes } from '../../src/server/index-snapshot.ts'
import { Passes, type PassGroup } from '../../src/index/passes.ts'
import { finish } from '../../src/system/steps.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { passesPart } from '../../src/snapshot/make-passes.ts'
import { readPasses } from '../../src/snapshot/part-kinds.ts'
import type { PassRecord } from '../../src/sea/records.ts'

const SLUGS = ['sentinel-3a', 'sentinel-3b', 'swot'] as const
/** Indexes of these missions, fixed for ever. */
const INDEXES = [1, 2, 7]
const BUOYS = 6
/** Ids are 10, 20, 30, …; the last two handles have no ordinal. */
const idOf = (handle: number) => (handle + 1) * 10
const ordinalOf = (id: number) => (id / 10 - 1 < BUOYS ? id / 10 - 1 : -1)

const records = fc
  .array(
    fc.record({
      mission: fc.nat({ max: 2 }),
      startedAt: fc.integer({ min: 1000, max: 1060 }),
      observations: fc.array(fc.record({ buoy: fc.nat({ max: BUOYS + 1 }), after: fc.nat({ max: 30 }) }), {
        maxLength: 6,
      }),
    }),
    { maxLength: 20 },
  )
  .map((list) =>
    list.map(({ mission, startedAt, observations }, i): PassRecord => ({
      mission: SLUGS[mission],
      cycle: 1,
      number: i + 1,
      startedAt,
      endedAt: startedAt + 30,
      bounds: { south: 0, west: 0, north: 1, east: 1 },
      observations: [...new Map(observations.map((o) => [`${o.buoy} ${o.after}`, o])).values()].map(
        ({ buoy, after }) => ({ buoy, time: startedAt + after }),
      ),
    })),
  )

function open(list: PassRecord[], activeSince: number): Passes {
  const { part } = passesPart(list, idOf, null)
  const columns = readPasses(decodePart(encodePart(part), 'p'), 'p')
  return new Passes(columns, finish(passIndexes(columns, BUOYS, ordinalOf, activeSince)))
}

test('Groups, counts, freshness and the newest pass of a buoy are what a look at every pass shows.', () => {
  const times = fc.integer({ min: 990, max: 1100 })
  fc.assert(
    fc.property(records, times, times, (list, activeSince, since) => {
      const passes = open(list, activeSince)
      const inOrder = list.toSorted(
        (a, b) =>
          b.startedAt - a.startedAt ||
          SLUGS.indexOf(b.mission as 'swot') - SLUGS.indexOf(a.mission as 'swot') ||
          b.number - a.number,
      )
      assert.equal(passes.count, list.length)
      const numbers = (rows: Uint32Array) => [...rows].map((row) => passes.columns.number[row])
      const isFresh = ({ observations }: PassRecord) => observations.some(({ time }) => time >= activeSince)
      const check = (group: PassGroup, wanted: PassRecord[]) => {
        assert.deepEqual(
          numbers(group.all),
          wanted.map(({ number }) => number),
        )
        assert.deepEqual(
          numbers(group.fresh),
          wanted.filter(isFresh).map(({ number }) => number),
        )
        const later = wanted.filter(({ startedAt }) => startedAt >= since)
        assert.equal(passes.countSince(group.all, since), later.length)
        assert.equal(passes.countSince(group.fresh, since), later.filter(isFresh).length)
        // Times of requests may have a fraction.
        assert.equal(
          passes.countSince(group.all, since + 0.5),
          wanted.filter(({ startedAt }) => startedAt >= since + 0.5).length,
        )
      }
      check(passes.indexes.everywhere, inOrder)
      INDEXES.forEach((index, i) => {
        check(
          passes.ofMission(index),
          inOrder.filter(({ mission }) => mission === SLUGS[i]),
        )
      })
      check(passes.ofMission(3), [])
      inOrder.forEach(({ observations }, row) => {
        assert.equal(passes.observationCount(row), observations.length)
        assert.equal(passes.indexes.buoyCount[row], new Set(observations.map(({ buoy }) => buoy)).size)
      })
      for (let ordinal = 0; ordinal < BUOYS; ordinal++) {
        const seen = inOrder.flatMap(({ observations }, row) =>
          observations.filter(({ buoy }) => buoy === ordinal).map(({ time }) => ({ row, time })),
        )
        const newest = Math.max(...seen.map(({ time }) => time))
        const wanted = seen.find(({ time }) => time === newest)?.row ?? -1
        assert.equal(passes.indexes.newest[ordinal], wanted)
      }
    }),
    { numRuns: 400 },
  )
})

test('A snapshot without passes has none of anything.', () => {
  const passes = new Passes(null, finish(passIndexes(null, 2, () => -1, 0)))
  assert.equal(passes.count, 0)
  assert.deepEqual([passes.indexes.everywhere.all.length, passes.indexes.everywhere.fresh.length], [0, 0])
  assert.equal(passes.countSince(passes.indexes.everywhere.all, 0), 0)
  assert.equal(passes.ofMission(1).all.length, 0)
  assert.deepEqual([passes.indexes.newest[0], passes.indexes.newest[1]], [-1, -1])
})
