/** The commands that show, check or change the kept snapshots of a folder. */
import { newestReport, reportLines } from '../builder/report-document.ts'
import { inspectSnapshot } from '../snapshot/inspection.ts'
import {
  holdText,
  keptSnapshot,
  listKept,
  readHold,
  resume,
  rollback,
  setPinned,
} from '../snapshot/retained.ts'
import type { Patience } from '../snapshot/write-snapshot.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { flag, optional } from '../server/setting.ts'
import { timestampText } from '../sea/time.ts'
import { counted } from '../system/text.ts'
import { command, type Command } from './command.ts'
import { clock, note, print } from './surroundings.ts'

/** Most builds take less. */
const BUILD_PATIENCE_MS = 30_000

const patienceFor = (dir: string): Patience => ({
  ms: BUILD_PATIENCE_MS,
  say: () => note(`a build is at work in ${dir}: waiting for it, up to ${BUILD_PATIENCE_MS / 1000} s`),
})

const pinning = (isPinned: boolean): Command =>
  command({
    takes: '<DIR> <ID>',
    settings: {},
    run: async (_config, [dir, id]) => setPinned(dir, id, isPinned),
  })

export const COMMANDS: { readonly [name: string]: Command } = {
  inspect: command({
    takes: '<DIR> [ID]',
    settings: {},
    run: async (_config, [dir, id]) => {
      const kept = id === undefined ? null : keptSnapshot(dir, { id })
      for (const line of await inspectSnapshot(dir, kept)) print(line)
      if (kept !== null) print(`serve it: groundswell serve --snapshots ${dir} --as-of ${id}`)
    },
  }),
  check: command({
    takes: '<DIR>',
    settings: {},
    run: async (_config, [dir]) => {
      // Other commands do not load what reads parts.
      const { checkFolder } = await import('../builder/folder-check.ts')
      const faults = await checkFolder(dir)
      for (const fault of faults) note(fault)
      if (faults.length > 0) throw new SnapshotError(`${dir}: ${counted(faults.length, 'fault')}`)
      print(`${dir}: every part of every kept snapshot is whole`)
    },
  }),
  report: command({
    takes: '<DIR>',
    settings: { json: flag('print the JSON document') },
    run: async ({ json }, [dir]) => {
      const document = newestReport(dir)
      if (json) print(JSON.stringify(document))
      else for (const line of reportLines(document)) print(line)
    },
  }),
  list: command({
    takes: '<DIR>',
    settings: {},
    run: async (_config, [dir]) => {
      for (const line of keptLines(dir)) print(line)
    },
  }),
  pin: pinning(true),
  unpin: pinning(false),
  rollback: command({
    takes: '<DIR>',
    settings: {
      to: optional('ID', 'the snapshot to publish; the one before the current without this option'),
    },
    run: async ({ to }, [dir]) => {
      const { id, asOf, held } = await rollback(dir, to, clock(), patienceFor(dir))
      print(publishedText(id, asOf))
      if (held) print(`builds are kept but not published, until: groundswell resume ${dir}`)
    },
  }),
  resume: command({
    takes: '<DIR>',
    settings: {},
    run: async (_config, [dir]) => {
      const published = await resume(dir, patienceFor(dir))
      print(published === null ? `no rollback holds ${dir}` : publishedText(published.id, published.asOf))
    },
  }),
}

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

function publishedText(id: string, asOf: number): string {
  return `published snapshot ${id}, data as of ${timestampText(asOf)}`
}
