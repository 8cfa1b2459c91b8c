/** Exports a snapshot on request before it is published; a failed export keeps no data back. */
import { readdirSync } from 'node:fs'
import type { Target } from '../formats/bulk/bulk-target.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { encodeList, listedSnapshot, readSnapshotList, snapshotList } from '../snapshot/file-list.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { readManifest } from '../snapshot/read-snapshot.ts'
import { writeDurably } from '../snapshot/write-snapshot.ts'
import { RequestFault } from '../snapshot/store/web-request.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import type { Lock } from '../system/lock.ts'
import type { LogLine } from '../system/log.ts'

interface Exporting {
  dir: string
  target: Target
  log: LogLine
  warn: (message: string) => void
}

/**
 * Exports `manifest`, whose parts are in the folder, and puts the list of files next to it for servers; a
 * failed export gets the current snapshot's list. @throws BuildError when the list cannot be written
 */
export async function exportBuilt(
  { dir, target, log, warn }: Exporting,
  manifest: Manifest,
  lock: Lock,
): Promise<void> {
  try {
    // Builds that do not export do not load the writer of Parquet.
    const { exportSnapshot } = await import('../formats/bulk/bulk-export.ts')
    const { list, written } = await exportSnapshot(
      { dir, manifest, named: filesOfLists(dir), log: () => {} },
      target,
    )
    writeDurably(dir, snapshotList(manifest.id), encodeList(list), lock.folder)
    log(
      `exported to ${target.address}: ${written.files} of ${counted(list.files.length, 'file')} written, ${counted(written.bytes, 'byte')}`,
    )
  } catch (error) {
    const isExpected =
      error instanceof BuildError || error instanceof RequestFault || error instanceof SnapshotError
    if (!isExpected) throw error
    warn(`snapshot ${manifest.id} was not exported: ${error.message}; the next build tries again`)
    const current = await readManifest(dir)
    const before = current === null ? null : readSnapshotList(dir, current.id)
    if (before !== null) writeDurably(dir, snapshotList(manifest.id), encodeList(before), lock.folder)
  }
}

/** Paths of all exported files in the lists of kept snapshots. @throws BuildError */
export function filesOfLists(dir: string): Set<string> {
  const ids = readdirSync(dir).flatMap((file) => listedSnapshot(file) ?? [])
  return new Set(ids.flatMap((id) => readSnapshotList(dir, id)?.files.map(({ path }) => path) ?? []))
}
