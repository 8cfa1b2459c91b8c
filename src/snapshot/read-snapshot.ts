/** Reads a snapshot's files into shared memory, every byte checked against its hash. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { errorCode } from '../system/file-faults.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { finish } from '../system/steps.ts'
import { BuildError } from '../system/build-error.ts'
import { sharedBytes } from '../system/thread-memory.ts'
import { listAnswer, readSnapshotList } from './file-list.ts'
import { madeFrom, yearOfMonth } from './part-kinds.ts'
import { expect, SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES, type Manifest } from './manifest.ts'
import { decodePart } from './part-columns.ts'
import { checkPart } from './check-snapshot.ts'
import { expectSize, readFault, readParts } from './read-parts.ts'
import { summaryOf, type Summary, type PartSummary } from './catalog-summary.ts'

export interface LoadedPart {
  entry: PartEntry
  /** In shared memory. */
  bytes: Uint8Array
}

/** A snapshot in memory: plain enough to be posted to a worker, which then sees the same bytes. */
export interface LoadedSnapshot extends Summary {
  id: string
  asOf: number
  /** When the manifest was published, epoch seconds (its file's mtime: no clock is in the bytes). */
  publishedAt: number
  /** Whether any of its data are made up. */
  demo: boolean
  parts: LoadedPart[]
  /** The value of `data` for the list of exported files. */
  files: SharedArrayBuffer
  /** The fault of the list of files, which is empty then; or null. */
  filesFault: string | null
}

/** Parts that were loaded before and need not be read again. */
export interface LoadedParts {
  parts: readonly LoadedPart[]
}

export interface PublishedManifest extends Manifest {
  publishedAt: number
}

/** The published manifest of a folder, or null. @throws SnapshotError when it is not whole */
export async function readManifest(dir: string): Promise<PublishedManifest | null> {
  const path = join(dir, MANIFEST_FILE)
  try {
    const publishedAt = Math.floor(statSync(path).mtimeMs / 1000)
    return { ...decodeManifest(readRegularFileSync(path, MAX_MANIFEST_BYTES), MANIFEST_FILE), publishedAt }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    throw readFault(path, error)
  }
}

/**
 * Loads the published snapshot of a folder, on this thread, without reading the parts of `previous` again.
 * @throws SnapshotError naming the file, when anything is missing, cut, changed or malformed
 */
export async function loadSnapshot(dir: string, previous?: LoadedParts): Promise<LoadedSnapshot> {
  const manifest = await readManifest(dir)
  if (manifest === null) throw new SnapshotError(`${dir}: there is no snapshot in this folder`)
  return loadManifest(dir, manifest, previous)
}

/**
 * As `loadSnapshot`, for a manifest read before; in slices after a `previous`, with fewer pauses while
 * `isQuiet`. `summaries`, by file, are those of `previous` and become those of this one.
 */
export async function loadManifest(
  dir: string,
  manifest: PublishedManifest,
  previous?: LoadedParts,
  summaries = new Map<string, PartSummary>(),
  isQuiet: () => boolean = () => false,
): Promise<LoadedSnapshot> {
  const known = knownParts(manifest, previous)
  const fresh = manifest.parts.filter(({ file }) => !known.has(file))
  // Sizes are checked before memory is taken for any part.
  for (const entry of fresh) expectSize(dir, entry)
  const read = new Map(fresh.map((entry) => [entry.file, { entry, bytes: roomFor(entry) }]))
  const now = await readParts(dir, [...read.values()], previous === undefined ? null : isQuiet)
  const parts = manifest.parts.map(({ file }) => known.get(file) ?? read.get(file)!)
  for (const { entry, bytes } of known.values()) {
    const summary = summaries.get(entry.file) ?? finish(checkPart(decodePart(bytes, entry.file), entry))
    now.set(entry.file, summary)
  }
  for (const { kind, file, month } of manifest.parts) {
    if (kind !== 'aggregates') continue
    const holds = now.get(file)!.madeFrom === madeFrom(manifest.parts, yearOfMonth(month!))
    expect(holds, file, "was not made from the manifest's monthly parts")
  }
  summaries.clear()
  for (const [file, summary] of now) summaries.set(file, summary)
  const summary = summaryOf(parts.map(({ entry }) => ({ entry, summary: now.get(entry.file)! })))
  const { id, asOf, publishedAt, demo = false } = manifest
  return { id, asOf, publishedAt, demo, parts, ...listOf(dir, id), ...summary }
}

/** A list that cannot be read keeps no snapshot from being served. */
function listOf(dir: string, id: string): Pick<LoadedSnapshot, 'files' | 'filesFault'> {
  try {
    return { files: shared(listAnswer(readSnapshotList(dir, id))), filesFault: null }
  } catch (error) {
    if (!(error instanceof BuildError)) throw error
    return { files: shared(listAnswer(null)), filesFault: error.message }
  }
}

function shared(bytes: Uint8Array): SharedArrayBuffer {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length))
  copy.set(bytes)
  return copy.buffer
}

/** The parts of a manifest that are in memory. @throws SnapshotError when it contradicts one of them */
function knownParts(manifest: Manifest, previous?: LoadedParts): Map<string, LoadedPart> {
  const held = new Map(previous?.parts.map((part) => [part.entry.file, part]))
  const known = new Map<string, LoadedPart>()
  for (const entry of manifest.parts) {
    const part = held.get(entry.file)
    if (part === undefined) continue
    const isSame = isDeepStrictEqual(entry, part.entry)
    expect(isSame, entry.file, 'the manifest contradicts the part of this name in memory')
    known.set(entry.file, part)
  }
  return known
}

function roomFor({ file, bytes }: PartEntry): Uint8Array {
  try {
    return sharedBytes(bytes)
  } catch {
    throw new SnapshotError(`${file}: there is no memory for its ${bytes} bytes`)
  }
}

/** Reads a part, checked as a server does. @throws SnapshotError for a bad part */
export async function readPart<T>(
  dir: string,
  entry: PartEntry,
  read: (part: Part, file: string) => T,
): Promise<T> {
  expectSize(dir, entry)
  const bytes = roomFor(entry)
  await readParts(dir, [{ entry, bytes }], null)
  return read(decodePart(bytes, entry.file), entry.file)
}

/** For `catch`: a damaged part counts as none. */
export function nullIfDamaged(error: unknown): null {
  if (error instanceof SnapshotError) return null
  throw error
}

/** Checks parts and keeps none. @throws SnapshotError as `loadSnapshot` does */
export async function verifyParts(dir: string, entries: readonly PartEntry[]): Promise<void> {
  await readParts(
    dir,
    entries.map((entry) => ({ entry, bytes: null })),
    null,
  )
}
