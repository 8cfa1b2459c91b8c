/** `check`: reads every part that a kept snapshot names. */
import { checkFolder } from '../builder/folder-check.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { counted } from '../system/text.ts'
import { command } from './command.ts'
import { note, print } from './surroundings.ts'

export const check = command({
  takes: '<DIR>',
  settings: {},
  run: async (_config, [dir]) => {
    const faults = await checkFolder(dir)
    for (const fault of faults) note(fault)
    if (faults.length > 0) throw new SnapshotError(`${dir}: ${counted(faults.length, 'fault')}`)
    print(`${dir}: every part of every kept snapshot is whole`)
  },
})
