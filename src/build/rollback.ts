/** Going back to a kept snapshot, and forward again. */
import { join } from 'node:path'
import { SnapshotError } from '../snapshot/format.ts'
import { MANIFEST_FILE, MAX_MANIFEST_BYTES } from '../snapshot/manifest.ts'
import { verifyParts } from '../snapshot/read.ts'
import { lockFolder, publishManifest } from '../snapshot/write.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/files.ts'
import { readHold, removeHold, writeHold } from './hold.ts'
import { listKept, manifestOf, type KeptSnapshot } from './kept.ts'

/** What `rollback` and `resume` published. */
export interface Republished {
  id: string
  /** The data's time, epoch seconds. */
  asOf: number
  /** Whether later builds are held back now. */
  held: boolean
}

/**
 * Publishes the snapshot before the current one again, or the one of `id`, once all its parts have been read
 * and found whole. It holds: what is built later is not published before `resume`. Where the current manifest
 * is lost or broken, the snapshot that it named is published again, or the newest kept one where no rollback
 * holds; that is a repair and holds nothing.
 * @param now epoch seconds
 * @throws BuildError when the snapshot does not exist or somebody writes to the folder, SnapshotError when it
 * is not whole
 */
export async function rollback(dir: string, id: string | null, now: number): Promise<Republished> {
  const lock = lockFolder(dir)
  try {
    const kept = listKept(dir)
    const hold = readHold(dir)
    const isRepair = id === null && manifestOf(join(dir, MANIFEST_FILE)) === null
    const target = rollbackTarget(kept, id, isRepair ? (hold?.snapshot ?? null) : null)
    const { asOf, bytes } = await wholeManifest(dir, target)
    // The hold first: a rollback that was killed half-way must not be undone by the next build.
    if (!isRepair) writeHold(dir, target.id, kept.at(-1)!.sequence, now, lock)
    publishManifest(dir, bytes, lock)
    return { id: target.id, asOf, held: !isRepair || hold !== null }
  } finally {
    lock.release()
  }
}

/** @param held the snapshot that the lost manifest named, where the hold still says it */
function rollbackTarget(kept: readonly KeptSnapshot[], id: string | null, held: string | null): KeptSnapshot {
  const at = kept.findLastIndex(({ current }) => current)
  const before = kept.findLast((one) => one.id === held) ?? kept.at(at === -1 ? -1 : at - 1)
  const target = id === null ? before : kept.find((one) => one.id === id)
  if (target !== undefined && (id !== null || at !== 0)) return target
  throw new BuildError(
    id === null ? 'there is no earlier snapshot to go back to' : `no kept snapshot has the id ${id}`,
  )
}

/** @throws SnapshotError unless the snapshot is whole */
async function wholeManifest(
  dir: string,
  { file, manifest }: KeptSnapshot,
): Promise<{ asOf: number; bytes: Uint8Array }> {
  if (manifest === null) throw new SnapshotError(`${file}: is broken`)
  await verifyParts(dir, manifest.parts)
  return { asOf: manifest.asOf, bytes: readRegularFileSync(join(dir, file), MAX_MANIFEST_BYTES) }
}

/**
 * Ends the hold of a rollback: publishes the newest kept snapshot, once all its parts have been read and
 * found whole. Null where nothing is held.
 * @throws BuildError when somebody writes to the folder, SnapshotError when that snapshot is not whole; then
 * the hold stays
 */
export async function resume(dir: string): Promise<Republished | null> {
  const lock = lockFolder(dir)
  try {
    if (readHold(dir) === null) return null
    const newest = listKept(dir).at(-1)
    if (newest === undefined) throw new BuildError(`${dir}: there is no kept snapshot to publish`)
    const { asOf, bytes } = await wholeManifest(dir, newest)
    if (!newest.current) publishManifest(dir, bytes, lock)
    removeHold(dir, lock)
    return { id: newest.id, asOf, held: false }
  } finally {
    lock.release()
  }
}

/** The hold of a rollback, for `/status`; null where nothing is held. */
export function holdStatus(dir: string): object | null {
  const hold = readHold(dir)
  if (hold === null) return null
  return {
    snapshot: hold.snapshot,
    since: hold.since,
    builds_waiting: buildsWaiting(dir),
    ends_with: `groundswell resume ${dir}`,
  }
}

/** Null where the folder cannot be read any more: its server goes on. */
function buildsWaiting(dir: string): number | null {
  try {
    return listKept(dir).filter(({ waiting }) => waiting).length
  } catch {
    return null
  }
}
