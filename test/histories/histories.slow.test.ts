/**
 * Random histories of a folder against a naive model. `node --import tsx test/histories/histories.slow.test.ts
 * 1000 [SEED]` runs so many and says what they did.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { rounds } from '../rounds.ts'
import { Builders, History, type Counts } from './history.ts'

const STEPS = 12
const SHORT = rounds(8, 200)
/** Enough to see what they have in common. */
const MOST_FAULTS = 5

/** A fault is named by the seed of its history. */
async function runHistories(count: number, firstSeed: number): Promise<{ counts: Counts; faults: string[] }> {
  const counts: Counts = {}
  const faults: string[] = []
  const root = mkdtempSync(join(tmpdir(), 'groundswell-histories-'))
  const builders = await Builders.in(root)
  try {
    for (let seed = firstSeed; seed < firstSeed + count && faults.length < MOST_FAULTS; seed++) {
      const dir = join(root, String(seed))
      try {
        await new History(dir, seed, builders, counts).run(STEPS)
      } catch (error) {
        faults.push(`history ${seed}: ${(error as Error).message}`)
      }
      counts.histories = (counts.histories ?? 0) + 1
      rmSync(dir, { recursive: true, force: true })
    }
    return { counts, faults }
  } finally {
    builders.close()
    rmSync(root, { recursive: true, force: true })
  }
}

const asked = Number(process.argv[2] ?? Number.NaN)
if (Number.isInteger(asked)) {
  const { counts, faults } = await runHistories(asked, Number(process.argv[3] ?? 1))
  process.stdout.write([...faults, JSON.stringify(counts, null, 1), ''].join('\n'))
  if (faults.length > 0) process.exitCode = 1
} else {
  test(
    'Over builds, failing sources, rollbacks, pins, collections, lost files and kills no id names another buoy and nothing given is missing.',
    { timeout: 3_600_000 },
    async (t) => {
      const { counts, faults } = await runHistories(SHORT, Number(process.env.GROUNDSWELL_SEED ?? 1))
      t.diagnostic(JSON.stringify(counts))
      assert.deepEqual(faults, [])
    },
  )
}
