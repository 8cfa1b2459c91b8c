/** A process that works on a folder once, and may be killed between two changes of the disk. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { Speaker } from './world.ts'

export interface Work {
  dir: string
  now: number
  /** Killed in place of the change of this number, counted from 0. */
  killAt: number
  what:
    | { command: 'build'; speakers: Speaker[]; keep: number; fresh: boolean }
    | { command: 'rollback'; to: string | null }
    | { command: 'resume' }
}

const CHANGES = [
  'openSync',
  'writeSync',
  'fsyncSync',
  'renameSync',
  'rmSync',
  'writeFileSync',
  'appendFileSync',
  'symlinkSync',
  'unlinkSync',
  'mkdirSync',
  'linkSync',
] as const

function killAtChange(number: number): void {
  let done = 0
  for (const name of CHANGES) {
    const original = fs[name] as (...given: unknown[]) => unknown
    Object.assign(fs, {
      [name]: (...given: unknown[]) => {
        if (name === 'openSync' && (given[1] === undefined || given[1] === 'r')) return original(...given)
        if (done++ === number) {
          // Half of what was to be written gets there.
          if (name === 'writeSync') original(given[0], (given[1] as Uint8Array).subarray(0, 20))
          process.kill(process.pid, 'SIGKILL')
        }
        return original(...given)
      },
    })
  }
  syncBuiltinESMExports()
}

async function work({ dir, now, what }: Work): Promise<void> {
  const [{ rollback, resume }, { buildSnapshot }, { BuildReport }, { sourceOf }] = await Promise.all([
    import('../../src/snapshot/retained.ts'),
    import('../../src/builder/run-build.ts'),
    import('../../src/builder/build-report.ts'),
    import('./world.ts'),
  ])
  if (what.command === 'rollback') await rollback(dir, what.to, now)
  else if (what.command === 'resume') await resume(dir)
  else {
    const report = new BuildReport({ maxBadShare: 0.1, write: () => {}, clock: () => 0 })
    const sources = what.speakers.map(sourceOf)
    const { keep, fresh } = what
    await buildSnapshot({ sources, out: dir, asOf: null, now, report, keep, fresh, allowLoss: 1 })
  }
}

process.once('message', (asked: Work) => {
  void import('../../src/builder/run-build.ts')
    .then(() => {
      killAtChange(asked.killAt)
      return work(asked)
    })
    .then(
      () => process.send!({ done: true }),
      (error: unknown) => process.send!({ error: (error as Error).message }),
    )
    .finally(() => process.disconnect())
})
process.send!({ ready: true })
