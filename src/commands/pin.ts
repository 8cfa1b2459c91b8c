/** `pin` and `unpin`: whether a snapshot is kept however old it is. */
import { setPinned } from '../snapshot/retained.ts'
import { command } from './command.ts'

export const pin = command({
  takes: '<DIR> <ID>',
  settings: {},
  run: async (_config, [dir, id]) => setPinned(dir, id, true),
})

export const unpin = command({
  takes: '<DIR> <ID>',
  settings: {},
  run: async (_config, [dir, id]) => setPinned(dir, id, false),
})
