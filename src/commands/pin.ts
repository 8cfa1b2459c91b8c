/** `pin` and `unpin`: whether a snapshot is kept however old it is. */
import { setPinned } from '../build/retained.ts'
import { command } from './command.ts'

export const pin = command({
  usage: 'DIR ID',
  settings: {},
  positionals: 2,
  inFolder: true,
  run: async (_config, [dir, id]) => setPinned(dir, id, true),
})

export const unpin = command({
  usage: 'DIR ID',
  settings: {},
  positionals: 2,
  inFolder: true,
  run: async (_config, [dir, id]) => setPinned(dir, id, false),
})
