/** `export`: a snapshot as files that databases read, in a folder or a bucket. */
import { realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, isAbsolute, resolve, sep } from 'node:path'
import { filesOfLists } from '../builder/export-built.ts'
import { BucketTarget } from '../formats/bulk/bucket-target.ts'
import type { Exported } from '../formats/bulk/bulk-export.ts'
import { FolderTarget } from '../formats/bulk/folder-target.ts'
import type { Target } from '../formats/bulk/bulk-target.ts'
import { type Setting, text, UsageError } from '../server/setting.ts'
import { readManifest } from '../snapshot/read-snapshot.ts'
import type { Store } from '../snapshot/store/store.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import { command } from './command.ts'
import { openPublishing } from './publishing.ts'
import { clock, note, print } from './surroundings.ts'

const EXPORT_SETTINGS = {
  out: {
    placeholder: 'DIR_OR_URL',
    help: 'folder or bucket, s3://BUCKET/PREFIX, that the files go to; what it has of the same data stays',
    required: true,
    parse: text,
  } satisfies Setting<string>,
} as const

export const exportCommand = command({
  takes: '<DIR>',
  settings: EXPORT_SETTINGS,
  run: async ({ out }, [dir]) => {
    const manifest = await readManifest(dir)
    if (manifest === null) {
      throw new BuildError(
        `${dir}: there is no snapshot to export; "groundswell build --out ${dir}" makes one`,
      )
    }
    const { target, store } = openTarget('--out', out, dir)
    // Other commands do not load the writer of Parquet.
    const { exportSnapshot } = await import('../formats/bulk/bulk-export.ts')
    try {
      const exporting = { dir, manifest, named: filesOfLists(dir), log: note }
      const exported = await exportSnapshot(exporting, target)
      for (const line of linesOf(exported, target.address)) print(line)
    } finally {
      await store?.close()
    }
  },
})

/**
 * A folder or bucket, not asked yet. @throws UsageError
 * @param option how the operator knows the address
 * @param dir the folder of snapshots, which an export must not lie in
 */
export function openTarget(
  option: string,
  address: string,
  dir: string,
): { target: Target; store: Store | null } {
  if (/^[a-z0-9+.-]+:\/\//i.test(address)) {
    const store = openPublishing(option, address)
    return { target: new BucketTarget(store, tmpdir(), note), store }
  }
  const between = relative(realPath(dir), realPath(address))
  const isInside = between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between)
  if (isInside) {
    throw new UsageError(
      `${option}: ${address} is or lies in the folder of snapshots ${dir}; name a folder outside it`,
    )
  }
  return { target: new FolderTarget(address, clock()), store: null }
}

/** A path with its links resolved; its end may not exist yet. */
function realPath(path: string): string {
  const whole = resolve(path)
  try {
    return realpathSync(whole)
  } catch {
    const above = dirname(whole)
    return above === whole ? whole : join(realPath(above), basename(whole))
  }
}

/** What an operator should know of an export. */
export function linesOf({ list, written }: Exported, address: string): string[] {
  const { files, snapshot, as_of: asOf } = list
  const [rows, bytes] = [
    files.reduce((sum, file) => sum + (file.kind === 'buoys' ? 0 : file.rows), 0),
    files.reduce((sum, file) => sum + file.bytes, 0),
  ]
  return [
    `exported snapshot ${snapshot}, data as of ${asOf}, to ${address}`,
    `${counted(files.length, 'file')} (${counted(bytes, 'byte')}, ${counted(rows, 'reading')}); ${written.files} of them written (${counted(written.bytes, 'byte')})`,
  ]
}
