/**
 * The snapshots that a folder keeps: each manifest that was announced stays beside the current one for a
 * while, to go back to.
 *
 *   manifest.msgpack              what readers read: a copy of one of
 *   manifest-NNNNNN-ID.msgpack    in the order of their building
 *   pin-ID                        an empty file: this one is never removed
 *   report-ID.json, report-ID.html   what its build had to say, kept as long as it is
 *   given-ID.jsonl                what each source gave last, kept as long as it is
 *   hold.json                     while a rollback holds: what is built is kept, and not announced
 *   registry.jsonl                all ids that were ever given here
 *
 * What no kept manifest names is removed, but only files of the builder's own naming, and none that is so
 * young that a reader or a builder may be about to need it.
 */
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readRegularFileSync } from '../system/files.ts'
import { BuildError } from '../system/build-error.ts'
import {
  decodeManifest,
  MANIFEST_FILE,
  MAX_MANIFEST_BYTES,
  PART_KINDS,
  SnapshotError,
  type Manifest,
  type PartEntry,
} from '../snapshot/format.ts'
import { givenSnapshot, readGiven } from './given.ts'
import { readHold, removeHold, writeHold } from './hold.ts'
import { readManifest, verifyParts } from '../snapshot/read.ts'
import { readRegistryFile } from './registry.ts'
import { reportedSnapshot } from './report/files.ts'
import { lockFolder, publishManifest, TEMPORARY_PREFIX } from '../snapshot/write.ts'

/** Manifests kept when nobody says otherwise: two and a half hours of half-hourly builds. */
export const DEFAULT_KEPT = 5
/**
 * Younger than this, in seconds, a manifest or a part is kept whatever else holds: longer than any reader
 * takes to load.
 */
const GRACE = 120

const KEPT_MANIFEST = /^manifest-(\d{6,})-([0-9a-f]{24})\.msgpack$/
const PIN = /^pin-([0-9a-f]{24})$/
const PART = new RegExp(`^(${PART_KINDS.join('|')})-[0-9a-f]{32}\\.msgpack$`)

export interface KeptSnapshot {
  file: string
  sequence: number
  id: string
  pinned: boolean
  /** What readers see now. */
  current: boolean
  /** Built while a rollback holds, and not announced. */
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

/** Oldest first. */
function keptFiles(names: readonly string[]): { file: string; sequence: number; id: string }[] {
  return names
    .flatMap((file) => {
      const match = KEPT_MANIFEST.exec(file)
      return match === null ? [] : { file, sequence: Number(match[1]), id: match[2] }
    })
    .sort((a, b) => a.sequence - b.sequence)
}

/** The file that keeps the manifest of the next snapshot. */
export function nextKeptFile(dir: string, id: string): string {
  const last = keptFiles(readdirSync(dir)).at(-1)?.sequence ?? 0
  return `manifest-${String(last + 1).padStart(6, '0')}-${id}.msgpack`
}

/** What `rollback` and `resume` announced. */
export interface Announced {
  id: string
  /** The data's time, epoch seconds. */
  asOf: number
  /** Whether later builds are held back now. */
  held: boolean
}

/**
 * Announces the snapshot before the current one again, or the one of `id`, once all its parts have been read
 * and found whole. It holds: what is built later is not announced before `resume`. Where the current manifest
 * is lost or broken, what it was is announced again, the newest that is kept where nothing was held; that is
 * a repair and holds nothing.
 * @param now epoch seconds
 * @throws BuildError when there is none or somebody writes to the folder, SnapshotError when it is not whole.
 */
export async function rollback(dir: string, id: string | null, now: number): Promise<Announced> {
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

/** @param held the snapshot that was announced, where it is known though the manifest is not */
function rollbackTarget(kept: readonly KeptSnapshot[], id: string | null, held: string | null): KeptSnapshot {
  const at = kept.findLastIndex(({ current }) => current)
  const before = kept.findLast((one) => one.id === held) ?? kept.at(at === -1 ? -1 : at - 1)
  const target = id === null ? before : kept.find((one) => one.id === id)
  if (target !== undefined && (id !== null || at !== 0)) return target
  throw new BuildError(
    id === null ? 'there is no earlier snapshot to go back to' : `no kept snapshot has the id ${id}`,
  )
}

/** @throws SnapshotError unless the snapshot is whole. */
async function wholeManifest(
  dir: string,
  { file, manifest }: KeptSnapshot,
): Promise<{ asOf: number; bytes: Uint8Array }> {
  if (manifest === null) throw new SnapshotError(`${file}: is broken`)
  await verifyParts(dir, manifest.parts)
  return { asOf: manifest.asOf, bytes: readRegularFileSync(join(dir, file), MAX_MANIFEST_BYTES) }
}

/**
 * Ends what a rollback holds: announces the newest kept snapshot, once all its parts have been read and found
 * whole. Null where nothing is held.
 * @throws BuildError when somebody writes to the folder, SnapshotError when that snapshot is not whole; the
 * hold stays then.
 */
export async function resume(dir: string): Promise<Announced | null> {
  const lock = lockFolder(dir)
  try {
    if (readHold(dir) === null) return null
    const newest = listKept(dir).at(-1)
    if (newest === undefined) throw new BuildError(`${dir}: there is no kept snapshot to announce`)
    const { asOf, bytes } = await wholeManifest(dir, newest)
    if (!newest.current) publishManifest(dir, bytes, lock)
    removeHold(dir)
    return { id: newest.id, asOf, held: false }
  } finally {
    lock.release()
  }
}

/** A rollback that holds, for `/status`; null where none does. */
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

/** Null where the folder cannot be read any more: its server goes on and tells so. */
function buildsWaiting(dir: string): number | null {
  try {
    return listKept(dir).filter(({ waiting }) => waiting).length
  } catch {
    return null
  }
}

/**
 * Reads every part that the current or a kept manifest names. Returns what is wrong, nothing when all is
 * whole.
 */
export async function checkFolder(dir: string): Promise<string[]> {
  const { faults, parts } = await namedParts(dir)
  const broken = new Map<string, string>()
  for (const part of parts.values()) {
    try {
      await verifyParts(dir, [part])
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      broken.set(part.file, error.message)
    }
  }
  try {
    if (existsSync(dir)) readRegistryFile(dir)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    faults.push(`${error.message}; the next build makes it anew`)
  }
  if (broken.size === 0) return faults
  // A builder at work may have dropped an old snapshot, and its parts, since they were listed.
  const now = await namedParts(dir)
  for (const [file, fault] of broken) if (now.parts.has(file)) faults.push(fault)
  return faults
}

/** The parts that the current or a kept manifest names, by file, and what is wrong with the manifests. */
async function namedParts(dir: string): Promise<{ faults: string[]; parts: Map<string, PartEntry> }> {
  const faults: string[] = []
  const parts = new Map<string, PartEntry>()
  const add = (manifest: Manifest): void => {
    for (const part of manifest.parts) parts.set(part.file, part)
    try {
      for (const part of givenParts(dir, manifest.id)) parts.set(part.file, part)
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error
      faults.push(`${error.message}; a build from all sources makes it anew`)
    }
  }
  try {
    const current = await readManifest(dir)
    if (current === null) faults.push(`${dir}: there is no snapshot in this folder`)
    else add(current)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    faults.push(error.message)
  }
  for (const { file, manifest } of existsSync(dir) ? listKept(dir) : []) {
    if (manifest === null) faults.push(`${file}: is broken`)
    else add(manifest)
  }
  return { faults, parts }
}

/** The parts that hold what single sources gave. @throws SnapshotError when that cannot be read */
function givenParts(dir: string, id: string): PartEntry[] {
  return (readGiven(dir, id) ?? []).flatMap(({ parts }) => parts)
}

/** Keeps a snapshot until it is unpinned. @throws BuildError when it is not there. */
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

/**
 * Removes manifests beyond the newest `keep`, and the parts that no kept one names. Run by the builder, under
 * its lock.
 * @param now epoch seconds
 * @param needed part files to keep beside, such as those of an unfinished build
 * @param isHeld asked before each removal: one that stood still and lost the lock must not remove what the
 * next builder counts on
 */
export function collectGarbage(
  dir: string,
  keep: number,
  now: number,
  needed: ReadonlySet<string>,
  isHeld = (): boolean => true,
): void {
  const remove = (file: string): void => {
    if (isHeld()) rmSync(join(dir, file), { force: true })
  }
  const isOld = (file: string): boolean => {
    const modified = modifiedAt(join(dir, file))
    return modified !== null && now - modified > GRACE
  }
  const kept = listKept(dir)
  const dropped = new Set(
    kept
      .filter(({ pinned, current, file }, i) => i < kept.length - keep && !pinned && !current && isOld(file))
      .map(({ file }) => file),
  )
  const stay = kept.filter(({ file }) => !dropped.has(file))
  const current = manifestOf(join(dir, MANIFEST_FILE))
  const isBroken = current === null && existsSync(join(dir, MANIFEST_FILE))
  // A manifest that cannot be read may name any part: nothing is removed until a person has looked.
  if (isBroken || stay.some(({ manifest }) => manifest === null)) return
  for (const file of dropped) remove(file)
  // Those of snapshots that were built again.
  const listed = new Set(kept.map(({ file }) => file))
  for (const { file } of keptFiles(readdirSync(dir))) {
    if (!listed.has(file) && isOld(file)) remove(file)
  }
  const named = new Set(stay.flatMap(({ manifest }) => manifest!.parts.map((part) => part.file)))
  for (const { file } of current?.parts ?? []) named.add(file)
  const keptIds = new Set([current?.id, ...stay.map(({ id }) => id)])
  for (const id of keptIds) {
    try {
      if (id !== undefined) for (const { file } of givenParts(dir, id)) named.add(file)
    } catch (error) {
      // What it names is lost with it.
      if (!(error instanceof SnapshotError)) throw error
    }
  }
  for (const file of readdirSync(dir)) {
    const belongsTo = reportedSnapshot(file) ?? givenSnapshot(file)
    if (belongsTo !== null && !keptIds.has(belongsTo) && isOld(file)) remove(file)
    if (PART.test(file) && !named.has(file) && !needed.has(file) && isOld(file)) remove(file)
  }
}

/**
 * Removes what killed builders left half-written; the journal of an unfinished build stays. Run under the
 * builder's lock.
 */
export function removeLeftovers(dir: string, journalFile: string): void {
  for (const file of readdirSync(dir)) {
    if (file.startsWith(TEMPORARY_PREFIX) && file !== journalFile) {
      rmSync(join(dir, file), { recursive: true, force: true })
    }
  }
}

/** Null when there is none, or none that can be read. */
function manifestOf(path: string): Manifest | null {
  try {
    return decodeManifest(readRegularFileSync(path, MAX_MANIFEST_BYTES), path)
  } catch {
    return null
  }
}

function modifiedAt(path: string): number | null {
  const info = statSync(path, { throwIfNoEntry: false })
  return info === undefined ? null : info.mtimeMs / 1000
}
