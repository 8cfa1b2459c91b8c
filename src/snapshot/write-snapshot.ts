/** Puts parts and manifests into a folder: readers see one whole snapshot, whatever process is killed. */
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, readRegularFileSync } from '../system/regular-files.ts'
import { codeInWords, whyNotWritten } from '../system/file-faults.ts'
import { lock, LockError, type Lock } from '../system/lock.ts'
import { randomName } from '../system/replace-file.ts'
import { BuildError } from '../system/build-error.ts'
import { MANIFEST_FILE } from './manifest.ts'
import { mirroredSource } from './mirror/mark.ts'
import { encodePart } from './part-columns.ts'
import { partFile, sha256, type Part, type PartEntry } from './snapshot-format.ts'

/** Temporary names begin like this, so that files left by a killed builder are recognised. */
export const TEMPORARY_PREFIX = '.tmp-'

/** Long enough to replace a holder that was killed, and for a rollback to finish. */
const LOCK_PATIENCE_MS = 1000

/** Keeps others from writing to `dir`. @throws BuildError while another writes, and for a mirror's folder */
export function lockFolder(dir: string, patienceMs?: number): Lock {
  const held = lockOf(dir, undefined, patienceMs)
  const source = mirroredSource(dir)
  if (source === null) return held
  held.release()
  throw new BuildError(
    `${dir}: is a mirror of ${source === '' ? 'another folder' : source}, and no command may change it: run the command where the builder is, or give another folder`,
  )
}

/** How long a command waits for a build that is under way, and how it says so. */
export interface Patience {
  ms: number
  say: () => void
}

/**
 * Runs `work` while others are kept from writing to `dir`.
 * @param patience for those who do not mind to wait @throws BuildError as `lockFolder` does
 */
export async function underLock<T>(
  dir: string,
  work: (lock: Lock) => Promise<T>,
  patience?: Patience,
): Promise<T> {
  let held: Lock
  try {
    held = lockFolder(dir)
  } catch (error) {
    if (patience === undefined || !(error instanceof BuildError) || !(error.cause instanceof LockError))
      throw error
    patience.say()
    held = lockFolder(dir, patience.ms)
  }
  try {
    return await work(held)
  } finally {
    held.release()
  }
}

/** @throws BuildError while another process holds it */
export function lockOf(dir: string, file = 'builder.lock', patienceMs = LOCK_PATIENCE_MS): Lock {
  try {
    return lock(join(dir, file), { patienceMs })
  } catch (error) {
    if (!existsSync(dir)) throw noFolder(dir)
    throw error instanceof LockError ? new BuildError(error.message, { cause: error }) : error
  }
}

/**
 * Writes a part, unless a file with the same bytes is there. Returns its entry.
 * @throws BuildError as `writeDurably` does
 */
export function writePart(dir: string, part: Part, rows: number, month: number | null = null): PartEntry {
  const bytes = encodePart(part)
  const hash = sha256(bytes)
  const file = partFile(part.kind, hash)
  if (!holds(join(dir, file), bytes)) writeDurably(dir, file, bytes)
  return { kind: part.kind, file, bytes: bytes.length, sha256: hash, rows, month }
}

/** Makes a manifest the current one: from the rename on, readers see its snapshot. Parts must be in `dir`. */
export function publishManifest(dir: string, bytes: Uint8Array, held: Lock): void {
  // The parts' names must reach the disk before a manifest that counts on them.
  syncFolder(dir)
  writeDurably(dir, MANIFEST_FILE, bytes, held.folder)
  syncFolder(dir)
}

/** @throws BuildError when the folder cannot be made */
export function makeOutput(dir: string): void {
  try {
    makeFolder(dir)
  } catch (error) {
    throw new BuildError(`${dir}: this folder cannot be made ${codeInWords(error)}`)
  }
}

/**
 * Replaces a file as a whole, its bytes safely on disk.
 * @param within where it is written first: from a lock's folder it is moved only while the lock is held
 * @throws BuildError naming the file when it cannot be written, on a full disk above all
 */
export function writeDurably(dir: string, file: string, bytes: Uint8Array, within = dir): void {
  const temporary = join(within, `${TEMPORARY_PREFIX}${randomName()}-${file}`)
  try {
    writeFileSync(temporary, bytes, { mode: 0o644, flush: true })
    renameSync(temporary, join(dir, file))
  } catch (error) {
    rmSync(temporary, { force: true })
    if (!existsSync(within)) throw lostLock(dir)
    throw new BuildError(`${join(dir, file)}: cannot be written: ${whyNotWritten(error)}`)
  }
}

export function lostLock(dir: string): BuildError {
  return new BuildError(`${dir}: another builder took over while this one stood still; nothing is published`)
}

export function noFolder(dir: string): BuildError {
  return new BuildError(`${dir}: there is no such folder; "groundswell build --out ${dir}" makes one`)
}

/** Syncs the names in a folder to the disk. */
export function syncFolder(dir: string): void {
  const handle = openSync(dir, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Whether a file has exactly these bytes. */
export function holds(path: string, bytes: Uint8Array): boolean {
  try {
    return Buffer.compare(readRegularFileSync(path, bytes.length), bytes) === 0
  } catch {
    return false
  }
}
