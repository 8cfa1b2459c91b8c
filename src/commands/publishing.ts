/** `publish`: brings a bucket up to a folder; and how the commands that build open a bucket. */
import { Prefix } from '../builder/publishing/prefix.ts'
import {
  beginPublishing,
  outcomeText,
  pendingSnapshot,
  publishSnapshot,
} from '../builder/publishing/publish-to-prefix.ts'
import { UsageError } from '../server/setting.ts'
import { lockFolder } from '../snapshot/write-snapshot.ts'
import { parseBucket } from '../snapshot/store/store-address.ts'
import { openStore } from '../snapshot/store/open-store.ts'
import { StoreError, type Store } from '../snapshot/store/store.ts'
import { BuildError } from '../system/build-error.ts'
import { PUBLISH_SETTINGS } from './build-settings.ts'
import { command } from './command.ts'
import { clock, environment, note, print, random } from './surroundings.ts'

const PUBLISH_COMMAND_SETTINGS = {
  'single-writer': PUBLISH_SETTINGS['single-writer'],
} as const

export const publish = command({
  takes: '<DIR> <URL>',
  settings: PUBLISH_COMMAND_SETTINGS,
  run: async (config, [dir, url]) => {
    const store = openPublishing('URL', url)
    const lock = lockFolder(dir)
    try {
      const prefix = new Prefix(store, config['single-writer'])
      const publishing = await beginPublishing({ dir, prefix, now: clock(), log: note }, lock)
      const pending = pendingSnapshot(publishing)
      if (pending === null) {
        throw new BuildError(
          `${dir}: there is no snapshot to publish; "groundswell build --out ${dir}" makes one`,
        )
      }
      const outcome = await publishSnapshot(publishing, pending)
      if (outcome !== null) print(`published snapshot ${pending.id}`)
      print(outcomeText(outcome, prefix.address))
    } finally {
      lock.release()
      await store.close()
    }
  },
})

/** @param option how the operator knows the address @throws UsageError for one that cannot be written to */
export function openPublishing(option: string, address: string): Store {
  try {
    parseBucket(address)
  } catch (error) {
    throw error instanceof StoreError
      ? new UsageError(`${option}: ${error.message}`, { cause: error })
      : error
  }
  return openStore(address, { environment, random })
}
