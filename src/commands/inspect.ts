/** `inspect`: shows what a snapshot holds. */
import { inspectSnapshot } from '../snapshot/inspect.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

export const inspect = command({
  usage: 'DIR',
  summary: 'show what a snapshot holds',
  settings: {},
  positionals: 1,
  inFolder: true,
  run: async (_config, [dir]) => {
    for (const line of await inspectSnapshot(dir)) print(line)
  },
})
