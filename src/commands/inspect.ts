/** `inspect`: shows what a snapshot holds: the published one, or a kept one by its id. */
import { keptSnapshot } from '../snapshot/retained.ts'
import { inspectSnapshot } from '../snapshot/inspection.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

export const inspect = command({
  takes: '<DIR> [ID]',
  settings: {},
  run: async (_config, [dir, id]) => {
    const kept = id === undefined ? null : keptSnapshot(dir, { id })
    for (const line of await inspectSnapshot(dir, kept)) print(line)
    if (kept !== null) print(`serve it: groundswell serve --snapshots ${dir} --as-of ${id}`)
  },
})
