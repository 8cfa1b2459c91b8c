/** `pin` and `unpin`: whether a snapshot is kept however old it is. */
import { setPinned } from '../build/kept.ts'
import { command } from './command.ts'

export const pin = command({
  usage: 'DIR ID',
  summary: 'keep a snapshot until it is unpinned',
  settings: {},
  positionals: 2,
  inFolder: true,
  run: async (_config, [dir, id]) => setPinned(dir, id, true),
})

export const unpin = command({
  usage: 'DIR ID',
  summary: 'let builds remove a pinned snapshot when it is old enough',
  settings: {},
  positionals: 2,
  inFolder: true,
  run: async (_config, [dir, id]) => setPinned(dir, id, false),
})
