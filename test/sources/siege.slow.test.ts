/** The compiled sources among damaged and hostile files. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { KIND_OPTIONS } from '../../src/sources/kinds.ts'
import { temporaryFolder } from '../live.ts'
import { rounds } from '../rounds.ts'
import { SAMPLES } from './samples.ts'
import { besiege } from './siege.ts'

/** Of each kind. */
const FILES = rounds(12, 120)

test('Damaged and hostile files of every kind fail their source at most, and the others are published', async (t) => {
  const kinds = Object.keys(SAMPLES)
  // Only made-up data come from no files.
  assert.deepEqual(kinds.toSorted(), [...KIND_OPTIONS.keys()].filter((kind) => kind !== 'demo').sort())
  const outcomes = await besiege({
    kinds,
    files: FILES,
    batch: 12,
    seed: 20_261_121,
    folder: join(temporaryFolder(t), 'siege'),
  })
  for (const { kind, files, builds, refused } of outcomes) {
    assert.ok(files === FILES && builds >= 1, kind)
    for (const reason of refused.keys())
      assert.doesNotMatch(reason, /its reader failed|crashed|stalled/, kind)
  }
})
