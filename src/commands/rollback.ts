/** `rollback` and `resume`: back to a kept snapshot, and forward again. */
import { resume as resumeFolder, rollback as rollBackFolder } from '../snapshot/retained.ts'
import { optional } from '../server/setting.ts'
import { timestampText } from '../sea/time.ts'
import { command } from './command.ts'
import { clock, print } from './surroundings.ts'

export const rollback = command({
  takes: '<DIR>',
  settings: { to: optional('ID', 'the snapshot to publish; the one before the current without this option') },
  run: async ({ to }, [dir]) => {
    const { id, asOf, held } = await rollBackFolder(dir, to, clock())
    print(publishedText(id, asOf))
    if (held) print(`builds are kept but not published, until: groundswell resume ${dir}`)
  },
})

export const resume = command({
  takes: '<DIR>',
  settings: {},
  run: async (_config, [dir]) => {
    const published = await resumeFolder(dir)
    print(published === null ? `no rollback holds ${dir}` : publishedText(published.id, published.asOf))
  },
})

function publishedText(id: string, asOf: number): string {
  return `published snapshot ${id}, data as of ${timestampText(asOf)}`
}
