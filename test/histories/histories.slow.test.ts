/** Random histories of a folder against a naive model. `GROUNDSWELL_SEED` is that of the first. */
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../live.ts'
import { rounds } from '../rounds.ts'
import { mirrorOf, serveFolder } from '../snapshot/mirror/world.ts'
import { Builders, History } from './history.ts'

const STEPS = 12

test(
  'Over builds, failing sources, rollbacks, pins, collections, lost files and kills no id names another buoy, nothing given is missing, and a calm build heals all.',
  { timeout: 3_600_000 },
  async (t) => {
    const root = temporaryFolder(t)
    const builders = await Builders.in(root)
    t.after(() => builders.close())
    const mirrored = async (source: string): Promise<string | null> => {
      const web = await serveFolder(t, source)
      const { mirror, held } = mirrorOf(t, web.url, join(temporaryFolder(t), 'copy'))
      await mirror.look()
      web.close()
      return held()
    }
    const first = Number(process.env.GROUNDSWELL_SEED ?? 1)
    for (let seed = first; seed < first + rounds(4, 200); seed++)
      await new History(join(root, String(seed)), seed, builders, mirrored).run(STEPS)
  },
)
