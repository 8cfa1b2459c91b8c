/** What is done to a folder once, in this process or in one that is killed. */
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { resume, rollback } from '../../src/snapshot/retained.ts'
import { silentReport } from '../builder/fake_source.ts'
import { sourceOf, type Speaker } from './world.ts'

export interface Work {
  dir: string
  now: number
  what:
    | { command: 'build'; speakers: Speaker[]; keep: number; fresh: boolean }
    | { command: 'rollback'; to: string | null }
    | { command: 'resume' }
}

/** Resolves to 'done' or the message of the error. */
export async function doWork({ dir, now, what }: Work): Promise<string> {
  try {
    if (what.command === 'rollback') await rollback(dir, what.to, now)
    else if (what.command === 'resume') await resume(dir)
    else {
      const report = silentReport()
      const sources = what.speakers.map(sourceOf)
      const { keep, fresh } = what
      await buildSnapshot({ sources, out: dir, asOf: null, now, report, keep, fresh, allowLoss: 1 })
    }
    return 'done'
  } catch (error) {
    return (error as Error).message
  }
}
