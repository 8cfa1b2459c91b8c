/**
 * The snapshots that a folder retains: the manifest of each stays for a while, to roll back to.
 *
 *   manifest.msgpack                the published one, which readers read: a copy of one of
 *   manifest-NNNNNN-ID.msgpack      in the order in which they were built
 *   pin-ID                          an empty file: this snapshot is never removed
 *   report-ID.json                  what its build reported, kept as long as the snapshot
 *   given-ID.jsonl                  the last known state of each source, kept as long as the snapshot
 *   files-ID.json                   which files the snapshot was exported as, kept as long as the snapshot
 *   hold.json                       while a rollback holds: what is built is kept and not published
 *   registry.jsonl                  all ids that were ever given here
 *
 * `hold.json` is written and removed under the builder's lock, and only the operator ends a hold:
 *
 *   {"format":"groundswell-hold","version":1,"snapshot":ID,"since":"2026-03-27T12:00:00Z","after":N}
 */
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../system/regular-files.ts'
import { errorCode, isSystemFault } from '../system/file-faults.ts'
import type { Lock } from '../system/lock.ts'
import { timestampText } from '../sea/time.ts'
import {
  lostLock,
  type Patience,
  publishManifest,
  syncFolder,
  underLock,
  writeDurably,
} from './write-snapshot.ts'
import { MANIFEST_FILE, MAX_MANIFEST_BYTES, type Manifest, decodeManifest } from './manifest.ts'
import { type PublishedManifest, verifyParts } from './read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { SnapshotError } from './snapshot-format.ts'

const HOLD_FILE = 'hold.json'

const FORMAT = 'groundswell-hold'
const MAX_BYTES = 4096

export interface Hold {
  /** Id of the snapshot that was published again; null where the file has none. */
  snapshot: string | null
  /** The time as on the wire; null where the file has none. */
  since: string | null
  /** Kept snapshots with a higher sequence number were built since. */
  after: number
}

const UNKNOWN_HOLD: Hold = { snapshot: null, since: null, after: Infinity }

/**
 * Null when nothing is held. A file that cannot be understood counts: only the operator ends a hold. Throws a
 * fault of the system, after which the next look may find that there is none.
 */
export function readHold(dir: string): Hold | null {
  try {
    const text = readRegularFileSync(join(dir, HOLD_FILE), MAX_BYTES).toString('utf8')
    const { format, snapshot, since, after } = JSON.parse(text) as Partial<Hold> & { format?: unknown }
    const isHold = typeof snapshot === 'string' && typeof since === 'string' && typeof after === 'number'
    if (format === FORMAT && isHold) return { snapshot, since, after }
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null
    if (isSystemFault(error)) throw error
  }
  return UNKNOWN_HOLD
}

/** The same for those who only tell of it: one that cannot be read counts, too. */
export function shownHold(dir: string): Hold | null {
  try {
    return readHold(dir)
  } catch {
    return UNKNOWN_HOLD
  }
}

export function writeHold(dir: string, snapshot: string, after: number, now: number, lock: Lock): void {
  const hold = { format: FORMAT, version: 1, snapshot, since: timestampText(Math.floor(now)), after }
  writeDurably(dir, HOLD_FILE, Buffer.from(`${JSON.stringify(hold)}\n`), lock.folder)
  syncFolder(dir)
}

/** @throws BuildError when the lock was taken over, and the hold may be another one's */
export function removeHold(dir: string, lock: Lock): void {
  const away = join(lock.folder, HOLD_FILE)
  try {
    renameSync(join(dir, HOLD_FILE), away)
  } catch (error) {
    if (!lock.isHeld()) throw lostLock(dir)
    if (errorCode(error) !== 'ENOENT') throw error
    return
  }
  rmSync(away, { force: true })
  syncFolder(dir)
}

/** Tells the operator of a hold, after a snapshot's name. */
export function holdText({ since }: Hold, dir: string): string {
  return `held${since === null ? '' : ` since ${since}`} by a rollback, until: groundswell resume ${dir}`
}

/** Two and a half hours of half-hourly builds. */
export const DEFAULT_KEPT = 5

const KEPT_MANIFEST = /^manifest-(\d{6,})-([0-9a-f]{24})\.msgpack$/
const PIN = /^pin-([0-9a-f]{24})$/

export interface KeptSnapshot {
  file: string
  sequence: number
  id: string
  pinned: boolean
  /** Whether readers see the snapshot now. */
  current: boolean
  /** Built while a rollback holds, and not published. */
  waiting: boolean
  /** Null when the file is broken. */
  manifest: Manifest | null
  /** Epoch seconds. */
  builtAt: number
}

/** Kept snapshots, oldest first, each where it was built last. */
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

/** A kept snapshot by its id, or the last with a data's time (epoch seconds) not after `time`. */
export type Wanted = { readonly id: string } | { readonly time: number }

/**
 * A kept snapshot to serve again; a snapshot that waits for the end of a rollback is found by id only.
 * @throws BuildError where none is as wanted
 */
export function keptSnapshot(dir: string, wanted: Wanted): PublishedManifest {
  const isWanted = ({ id, waiting, manifest }: KeptSnapshot): boolean =>
    'id' in wanted ? id === wanted.id : manifest!.asOf <= wanted.time && !waiting
  const found = listKept(dir)
    .filter((kept) => kept.manifest !== null && isWanted(kept))
    .toSorted((a, b) => a.manifest!.asOf - b.manifest!.asOf)
    .at(-1)
  if (found !== undefined) return { ...found.manifest!, publishedAt: Math.floor(found.builtAt) }
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

/** Puts a manifest next to the current one, unless its snapshot was built last. */
export function keepManifest(dir: string, id: string, bytes: Uint8Array, lock: Lock): void {
  if (listKept(dir).at(-1)?.id === id) return
  const next = (keptFiles(readdirSync(dir)).at(-1)?.sequence ?? 0) + 1
  writeDurably(dir, `manifest-${String(next).padStart(6, '0')}-${id}.msgpack`, bytes, lock.folder)
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

interface Republished {
  id: string
  /** The data's time, epoch seconds. */
  asOf: number
  /** Whether later builds are held back now. */
  held: boolean
}

/**
 * Publishes the snapshot before the current one again, or the one of `id`, once all its parts are found
 * whole, and holds later builds back until `resume`. Where the current manifest is lost or broken, the
 * snapshot that it named, or the newest kept one without a rollback, is published again; that repair holds
 * nothing.
 * @throws BuildError for an unknown snapshot or a folder in use, SnapshotError for one that is not whole
 */
export function rollback(
  dir: string,
  id: string | null,
  now: number,
  patience?: Patience,
): Promise<Republished> {
  const work = async (lock: Lock): Promise<Republished> => {
    const kept = listKept(dir)
    const hold = readHold(dir)
    const isRepair = id === null && manifestOf(join(dir, MANIFEST_FILE)) === null
    const target = rollbackTarget(kept, id, isRepair ? (hold?.snapshot ?? null) : null)
    const { asOf, bytes } = await wholeManifest(dir, target)
    // The hold is written first: the next build must not undo a rollback that was killed half-way.
    if (!isRepair) writeHold(dir, target.id, kept.at(-1)!.sequence, now, lock)
    publishManifest(dir, bytes, lock)
    return { id: target.id, asOf, held: !isRepair || hold !== null }
  }
  return underLock(dir, work, patience)
}

/** @param held the snapshot that the lost manifest named, where the hold still names it */
function rollbackTarget(kept: readonly KeptSnapshot[], id: string | null, held: string | null): KeptSnapshot {
  const wanted = id ?? held
  const current = kept.findLastIndex((one) => one.current)
  // Without a current snapshot: the newest, at −1.
  const before = current === 0 ? undefined : kept.at(current === -1 ? -1 : current - 1)
  const target = kept.find((one) => one.id === wanted) ?? (id === null ? before : undefined)
  if (target !== undefined) return target
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
 * Ends the hold of a rollback: publishes the newest kept snapshot once all its parts are found whole. Null
 * where nothing is held.
 * @throws BuildError for a folder in use, SnapshotError for a snapshot that is not whole; the hold stays
 */
export function resume(dir: string, patience?: Patience): Promise<Republished | null> {
  const work = async (lock: Lock): Promise<Republished | null> => {
    if (readHold(dir) === null) return null
    const newest = listKept(dir).at(-1)
    if (newest === undefined) throw new BuildError(`${dir}: there is no kept snapshot to publish`)
    const { asOf, bytes } = await wholeManifest(dir, newest)
    if (!newest.current) publishManifest(dir, bytes, lock)
    removeHold(dir, lock)
    return { id: newest.id, asOf, held: false }
  }
  return underLock(dir, work, patience)
}

/** The hold of a rollback, for `/status`; null where nothing is held. */
export function holdStatus(dir: string): object | null {
  const hold = shownHold(dir)
  const { snapshot, since } = hold ?? { snapshot: null, since: null }
  return hold && { snapshot, since, reason: holdText(hold, dir), ends_with: `groundswell resume ${dir}` }
}
