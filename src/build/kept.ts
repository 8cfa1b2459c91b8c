/**
 * The snapshots that a folder keeps: the manifest of each stays for a while, to roll back to.
 *
 *   manifest.msgpack                the published one, which readers read: a copy of one of
 *   manifest-NNNNNN-ID.msgpack      in the order in which they were built
 *   pin-ID                          an empty file: this snapshot is never removed
 *   report-ID.json, report-ID.html  what its build reported, kept as long as the snapshot
 *   given-ID.jsonl                  the last known state of each source, kept as long as the snapshot
 *   files-ID.json                   which files the snapshot was exported as, kept as long as the snapshot
 *   hold.json                       while a rollback holds: what is built is kept and not published
 *   registry.jsonl                  all ids that were ever given here
 */
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES, type Manifest } from '../snapshot/manifest.ts'
import { timestampText } from '../sea/time.ts'
import type { PublishedManifest } from '../snapshot/read.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/files.ts'
import { readHold } from './hold.ts'

/** Manifests kept when nobody says otherwise: two and a half hours of half-hourly builds. */
export const DEFAULT_KEPT = 5

const KEPT_MANIFEST = /^manifest-(\d{6,})-([0-9a-f]{24})\.msgpack$/
const PIN = /^pin-([0-9a-f]{24})$/

export interface KeptSnapshot {
  file: string
  sequence: number
  id: string
  pinned: boolean
  /** The published one, which readers see now. */
  current: boolean
  /** Built while a rollback holds, and not published. */
  waiting: boolean
  /** Null when the file is broken. */
  manifest: Manifest | null
  /** Epoch seconds. */
  builtAt: number
}

/** Kept snapshots, oldest first; one that was built again stands where it was built last. */
export function listKept(dir: string): KeptSnapshot[] {
  const names = readdirSync(dir)
  const pins = new Set(names.map((name) => PIN.exec(name)?.[1]))
  const currentId = manifestOf(join(dir, MANIFEST_FILE))?.id
  const after = readHold(dir)?.after ?? Infinity
  const kept = keptFiles(names).map(({ file, sequence, id }) => ({
    file,
    sequence,
    id,
    pinned: pins.has(id),
    current: id === currentId,
    waiting: sequence > after && id !== currentId,
    manifest: manifestOf(join(dir, file)),
    builtAt: modifiedAt(join(dir, file)) ?? 0,
  }))
  return [...new Map(kept.map((one) => [one.id, one])).values()].sort((a, b) => a.sequence - b.sequence)
}

/** Which kept snapshot: the one of an id, or the last whose data's time, epoch seconds, is not later. */
export type Wanted = { readonly id: string } | { readonly time: number }

/**
 * A kept snapshot to serve again. One that waits for the end of a rollback was never served: only its id
 * finds it.
 * @throws BuildError where none is as wanted
 */
export function keptSnapshot(dir: string, wanted: Wanted): PublishedManifest {
  const whole = listKept(dir).flatMap(({ manifest, builtAt, waiting }) =>
    manifest === null ? [] : [{ ...manifest, publishedAt: Math.floor(builtAt), waiting }],
  )
  const found =
    'id' in wanted
      ? whole.find(({ id }) => id === wanted.id)
      : whole
          .filter(({ asOf, waiting }) => asOf <= wanted.time && !waiting)
          .reduce<(typeof whole)[number] | undefined>(
            (last, one) => (last === undefined || one.asOf >= last.asOf ? one : last),
            undefined,
          )
  if (found !== undefined) {
    const { id, asOf, parts, publishedAt } = found
    return { id, asOf, parts, publishedAt }
  }
  const what = 'id' in wanted ? `has the id ${wanted.id}` : `is as of ${timestampText(wanted.time)} or before`
  throw new BuildError(`no kept snapshot ${what}; groundswell list ${dir} names them, --keep keeps more`)
}

/** Files of kept manifests, oldest first; a snapshot that was built again has several. */
export function keptFiles(names: readonly string[]): { file: string; sequence: number; id: string }[] {
  return names
    .flatMap((file) => {
      const match = KEPT_MANIFEST.exec(file)
      return match === null ? [] : { file, sequence: Number(match[1]), id: match[2] }
    })
    .sort((a, b) => a.sequence - b.sequence)
}

/** The file for the manifest of the next snapshot. */
export function nextKeptFile(dir: string, id: string): string {
  const last = keptFiles(readdirSync(dir)).at(-1)?.sequence ?? 0
  return `manifest-${String(last + 1).padStart(6, '0')}-${id}.msgpack`
}

/** Keeps a snapshot until it is unpinned. @throws BuildError when the folder does not keep it */
export function setPinned(dir: string, id: string, pinned: boolean): void {
  if (!listKept(dir).some((snapshot) => snapshot.id === id))
    throw new BuildError(`no kept snapshot has the id ${id}`)
  const file = join(dir, `pin-${id}`)
  if (!pinned) {
    rmSync(file, { force: true })
    return
  }
  writeFileSync(file, '')
  // A builder may have dropped it before the pin was there.
  if (listKept(dir).some((snapshot) => snapshot.id === id)) return
  rmSync(file, { force: true })
  throw new BuildError(`the snapshot ${id} has just been dropped`)
}

/** Null where the manifest is missing or cannot be read. */
export function manifestOf(path: string): Manifest | null {
  try {
    return decodeManifest(readRegularFileSync(path, MAX_MANIFEST_BYTES), path)
  } catch {
    return null
  }
}

/** When a file was last written, epoch seconds; null where it is gone. */
export function modifiedAt(path: string): number | null {
  const info = statSync(path, { throwIfNoEntry: false })
  return info === undefined ? null : info.mtimeMs / 1000
}
