/** Removes files of builders that no kept manifest names and that no reader can still need. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { PART_KINDS, SnapshotError, type PartEntry } from './snapshot-format.ts'
import { MANIFEST_FILE } from './manifest.ts'
import { TEMPORARY_PREFIX, underLock } from './write-snapshot.ts'
import { keptFiles, listKept, manifestOf, modifiedAt, type KeptSnapshot } from './retained.ts'

/** Longer than any reader takes to load a snapshot. */
const GRACE_SECONDS = 120

/** Files next to a manifest, which go with it: reports, states of sources, lists of exported files. */
const BELONGS_TO_SNAPSHOT = /^(?:report|given|files)-([0-9a-f]{24})\.jsonl?$/
const PART = new RegExp(`^(${PART_KINDS.join('|')})-[0-9a-f]{32}\\.msgpack$`)

/** Parts that the sources of a snapshot still need. @throws SnapshotError when unreadable */
type PartsOf = (id: string) => readonly PartEntry[]

/**
 * Removes manifests beyond the newest `keep`, and parts that no kept manifest names. Run under the lock.
 * @param isHeld asked before each removal, since a builder that stalled may have lost the lock
 */
export function collectGarbage(
  dir: string,
  keep: number,
  now: number,
  isHeld = (): boolean => true,
  partsOf: PartsOf = () => [],
): void {
  const remove = (file: string): void => {
    if (isHeld()) rmSync(join(dir, file), { force: true })
  }
  const isOld = (file: string): boolean => {
    const modified = modifiedAt(join(dir, file))
    return modified !== null && now - modified > GRACE_SECONDS
  }
  const kept = listKept(dir)
  const dropped = new Set(
    kept
      .filter(({ pinned, current, file }, i) => i < kept.length - keep && !pinned && !current && isOld(file))
      .map(({ file }) => file),
  )
  // An unreadable manifest may name any part: nothing is removed until a person has looked.
  const named = filesNamed(
    dir,
    kept.filter(({ file }) => !dropped.has(file)),
    partsOf,
  )
  if (named === null) return
  for (const file of dropped) remove(file)
  // Snapshots that were built again have older manifests, which are not listed.
  const listed = new Set(kept.map(({ file }) => file))
  for (const { file } of keptFiles(readdirSync(dir))) {
    if (!listed.has(file) && isOld(file)) remove(file)
  }
  for (const file of readdirSync(dir)) {
    const belongsTo = BELONGS_TO_SNAPSHOT.exec(file)?.[1]
    if (belongsTo !== undefined && !named.snapshots.has(belongsTo) && isOld(file)) remove(file)
    if (PART.test(file) && !named.parts.has(file) && isOld(file)) remove(file)
  }
}

/** Parts and ids of the current and the staying snapshots; null where a manifest cannot be read. */
function filesNamed(
  dir: string,
  staying: readonly KeptSnapshot[],
  partsOf: PartsOf,
): { parts: Set<string>; snapshots: Set<string> } | null {
  const current = manifestOf(join(dir, MANIFEST_FILE))
  if (current === null && existsSync(join(dir, MANIFEST_FILE))) return null
  const parts = new Set(current?.parts.map(({ file }) => file))
  const snapshots = new Set(current === null ? [] : [current.id])
  for (const { id, manifest } of staying) {
    if (manifest === null) return null
    for (const { file } of manifest.parts) parts.add(file)
    snapshots.add(id)
  }
  for (const id of snapshots) {
    try {
      for (const { file } of partsOf(id)) parts.add(file)
    } catch (error) {
      // The names in a damaged file are lost with it.
      if (!(error instanceof SnapshotError)) throw error
    }
  }
  return { parts, snapshots }
}

/** Removes files that killed builders left half-written. Run under the builder's lock. */
export function removeLeftovers(dir: string): void {
  for (const file of readdirSync(dir)) {
    if (file.startsWith(TEMPORARY_PREFIX)) {
      rmSync(join(dir, file), { recursive: true, force: true })
    }
  }
}

/**
 * Removes half-written files of a killed builder, unless another one is at work: the next build does it, too.
 */
export async function clearLeftovers(dir: string): Promise<void> {
  await underLock(dir, async () => removeLeftovers(dir)).catch(() => {})
}
