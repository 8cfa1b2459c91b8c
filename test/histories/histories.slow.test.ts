/** Random histories of a folder against a naive model. `GROUNDSWELL_SEED` is that of the first. */
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../live.ts'
import { rounds } from '../rounds.ts'
import { Builders, History } from './history.ts'

const STEPS = 12

test(
  'Over builds, failing sources, rollbacks, pins, collections, lost files and kills no id names another buoy and nothing given is missing.',
  { timeout: 3_600_000 },
  async (t) => {
    const root = temporaryFolder(t)
    const builders = await Builders.in(root)
    t.after(() => builders.close())
    const first = Number(process.env.GROUNDSWELL_SEED ?? 1)
    for (let seed = first; seed < first + rounds(8, 200); seed++)
      await new History(join(root, String(seed)), seed, builders).run(STEPS)
  },
)
