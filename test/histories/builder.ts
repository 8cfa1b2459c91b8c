/** A process that works on a folder once, and may be killed between two changes of the disk. */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { doWork, type Work } from './work.ts'

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

/** @param killAt the change of the disk that it is killed in place of, counted from 0 */
process.once('message', ({ killAt, ...work }: Work & { killAt: number }) => {
  killAtChange(killAt)
  void doWork(work)
    .then((said) => process.send!(said))
    .finally(() => process.disconnect())
})
