/** The index over passes where there are none: those of a snapshot the oracle knows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passIndexes } from '../../src/server/index-snapshot.ts'
import { Passes } from '../../src/index/passes.ts'
import { finish } from '../../src/system/steps.ts'

test('A snapshot without passes has none of anything.', () => {
  const passes = new Passes(null, finish(passIndexes(null, 2, () => -1, 0)))
  assert.equal(passes.count, 0)
  assert.deepEqual([passes.indexes.everywhere.all.length, passes.indexes.everywhere.fresh.length], [0, 0])
  assert.equal(passes.countSince(passes.indexes.everywhere.all, 0), 0)
  assert.equal(passes.ofMission(1).all.length, 0)
  assert.deepEqual([passes.indexes.newest[0], passes.indexes.newest[1]], [-1, -1])
})
