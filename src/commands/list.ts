/** `list`: the snapshots that a folder keeps. */
import { holdText, listKept, readHold } from '../snapshot/retained.ts'
import { timestampText } from '../sea/time.ts'
import { counted } from '../system/text.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

export const list = command({
  takes: '<DIR>',
  settings: {},
  run: async (_config, [dir]) => {
    for (const line of keptLines(dir)) print(line)
  },
})

function keptLines(dir: string): string[] {
  const kept = listKept(dir)
  if (kept.length === 0) return ['no snapshots']
  const lines = kept.map(({ id, manifest, builtAt, current, waiting, pinned }) => {
    const about =
      manifest === null
        ? 'broken'
        : `as of ${timestampText(manifest.asOf)}  ${counted(manifest.parts.length, 'part')}`
    const marks = [current && 'current', waiting && 'not published', pinned && 'pinned']
    return [id, `built ${timestampText(builtAt)}`, about, ...marks.filter((mark) => mark !== false)].join(
      '  ',
    )
  })
  const hold = readHold(dir)
  return hold === null ? lines : [...lines, holdText(hold, dir)]
}
