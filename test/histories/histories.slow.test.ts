/** Random histories of a folder against a naive model. `GROUNDSWELL_SEED` is that of the first. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../live.ts'
import { rounds } from '../rounds.ts'
import { Builders, History } from './history.ts'

const STEPS = 12
/** Enough to see what they have in common. */
const MOST_FAULTS = 5

test(
  'Over builds, failing sources, rollbacks, pins, collections, lost files and kills no id names another buoy and nothing given is missing.',
  { timeout: 3_600_000 },
  async (t) => {
    const root = temporaryFolder(t)
    const builders = await Builders.in(root)
    t.after(() => builders.close())
    const first = Number(process.env.GROUNDSWELL_SEED ?? 1)
    const faults: string[] = []
    for (let seed = first; seed < first + rounds(8, 200) && faults.length < MOST_FAULTS; seed++) {
      const history = new History(join(root, String(seed)), seed, builders)
      await history.run(STEPS).catch(({ message }: Error) => faults.push(`history ${seed}: ${message}`))
    }
    assert.deepEqual(faults, [])
  },
)
