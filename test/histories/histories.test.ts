/**
 * Random histories of a folder against a naive model. `node --import tsx test/histories/histories.test.ts 1000 [SEED]` runs so many and
 * says what they did.
 */
import { rmSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Builders, History, type Counts } from './history.ts'

const STEPS = 12
const SHORT = 40

/** @throws Error naming the seed of the history that went wrong */
async function runHistories(count: number, firstSeed: number): Promise<Counts> {
  const counts: Counts = {}
  const root = mkdtempSync(join(tmpdir(), 'groundswell-histories-'))
  const builders = await Builders.in(root)
  try {
    for (let seed = firstSeed; seed < firstSeed + count; seed++) {
      const dir = join(root, String(seed))
      await new History(dir, seed, builders, counts).run(STEPS).catch((error: unknown) => {
        throw new Error(`history ${seed}: ${(error as Error).message}`, { cause: error })
      })
      rmSync(dir, { recursive: true, force: true })
    }
    return counts
  } finally {
    builders.close()
    rmSync(root, { recursive: true, force: true })
  }
}

const asked = Number(process.argv[2] ?? Number.NaN)
if (Number.isInteger(asked)) {
  const seed = Number(process.argv[3] ?? 1)
  process.stdout.write(
    `${asked} histories from seed ${seed}: ${JSON.stringify(await runHistories(asked, seed), null, 1)}\n`,
  )
} else {
  test(
    'Over builds, failing sources, rollbacks, pins, collections, lost files and kills no id names another buoy and nothing given is missing.',
    { timeout: 300_000 },
    async (t) => {
      t.diagnostic(JSON.stringify(await runHistories(SHORT, Date.now() % 1_000_000)))
    },
  )
}
