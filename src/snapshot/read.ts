/** Reads a snapshot's files into shared memory, every byte checked against its hash. */
import { createHash, type Hash } from 'node:crypto'
import { closeSync, fstatSync, readSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openRegularFile, openRegularFileSync, UnfitFile } from '../system/files.ts'
import { finish, finishInSlices, type Steps } from '../system/steps.ts'
import { startThread } from '../system/thread.ts'
import { BuildError } from '../system/build-error.ts'
import { sharedBytes } from '../system/thread-memory.ts'
import { listAnswer, readSnapshotList } from './file-list.ts'
import { madeFrom, yearOfMonth } from './aggregates.ts'
import { expect, SnapshotError, type PartEntry } from './format.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES, type Manifest } from './manifest.ts'
import { decodePart, expectHeader } from './part.ts'
import { checkPart } from './check.ts'
import { summaryOf, type Summary, type PartSummary } from './summary.ts'

/** One part in memory that all threads share. */
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
  /** The files that it was exported as: the value of `data` on the wire. */
  files: SharedArrayBuffer
  /** What is wrong with the list of these files, which is empty then; null where nothing is. */
  filesFault: string | null
}

/** What was loaded before, whose parts need not be read again. */
export interface PartsInMemory {
  parts: readonly LoadedPart[]
}

/** Read and hashed at a time: 0.3 ms, and small enough to stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024
/**
 * While a snapshot is served, loading the next one works in slices of this length: this thread may share its
 * core with a serving one, which the system would let wait for several milliseconds.
 */
const SLICE_MS = 0.2

export interface PublishedManifest extends Manifest {
  publishedAt: number
}

/**
 * The published manifest of a folder, null where there is none. @throws SnapshotError when it is not whole
 */
export async function readManifest(dir: string): Promise<PublishedManifest | null> {
  const path = join(dir, MANIFEST_FILE)
  try {
    const file = await openRegularFile(path)
    try {
      const { size, mtimeMs } = await file.stat()
      if (size > MAX_MANIFEST_BYTES) {
        throw new SnapshotError(`${path}: ${size} bytes are too many for a manifest`)
      }
      // No more than its size: a manifest that grows meanwhile does not agree with its id.
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, 0)
      const manifest = decodeManifest(buffer.subarray(0, bytesRead), MANIFEST_FILE)
      return { ...manifest, publishedAt: Math.floor(mtimeMs / 1000) }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (error instanceof SnapshotError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new SnapshotError(
      error instanceof UnfitFile ? `${path}: ${error.message}` : `${path}: cannot be read (${code})`,
    )
  }
}

/**
 * Loads the published snapshot of a folder, on this thread. Parts that `previous` holds are taken from there
 * and not read again.
 * @throws SnapshotError naming the file, when anything is missing, cut, changed or malformed
 */
export async function loadSnapshot(dir: string, previous?: PartsInMemory): Promise<LoadedSnapshot> {
  const manifest = await readManifest(dir)
  if (manifest === null) throw new SnapshotError(`${dir}: there is no snapshot in this folder`)
  return loadManifest(dir, manifest, previous)
}

/**
 * Loads the snapshot of a manifest that was read before, as `loadSnapshot` does; gently, when there is one
 * before it, with fewer rests while `isQuiet`. `summaries` of the parts of that one, by file, become those of this one.
 */
export async function loadManifest(
  dir: string,
  manifest: PublishedManifest,
  previous?: PartsInMemory,
  summaries = new Map<string, PartSummary>(),
  isQuiet: () => boolean = () => false,
): Promise<LoadedSnapshot> {
  const known = knownParts(manifest, previous)
  const fresh = manifest.parts.filter(({ file }) => !known.has(file))
  // Before memory is taken for any of them.
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
  const buffer = new SharedArrayBuffer(bytes.length)
  new Uint8Array(buffer).set(bytes)
  return buffer
}

/** The parts of a manifest that are in memory. @throws SnapshotError when it contradicts one of them */
function knownParts(manifest: Manifest, previous?: PartsInMemory): Map<string, LoadedPart> {
  const held = new Map(previous?.parts.map((part) => [part.entry.file, part]))
  const known = new Map<string, LoadedPart>()
  for (const entry of manifest.parts) {
    const part = held.get(entry.file)
    if (part === undefined) continue
    const { kind, bytes, sha256, rows, month } = part.entry
    const isSame =
      entry.kind === kind &&
      entry.bytes === bytes &&
      entry.sha256 === sha256 &&
      entry.rows === rows &&
      entry.month === month
    if (!isSame) {
      throw new SnapshotError(`${entry.file}: the manifest contradicts the part of this name in memory`)
    }
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

/** Reads one part. @throws SnapshotError as `loadSnapshot` does */
export async function loadPart(dir: string, entry: PartEntry): Promise<LoadedPart> {
  expectSize(dir, entry)
  const part = { entry, bytes: roomFor(entry) }
  await readParts(dir, [part], null)
  return part
}

/**
 * Reads parts and checks them, keeping none: each reader has one buffer for all its parts.
 * @throws SnapshotError as `loadSnapshot` does
 */
export async function verifyParts(dir: string, entries: readonly PartEntry[]): Promise<void> {
  await readParts(
    dir,
    entries.map((entry) => ({ entry, bytes: null })),
    null,
  )
}

/** A part to be read: into `bytes`, or only to be checked. */
export interface PartToRead {
  entry: PartEntry
  bytes: Uint8Array | null
}

/** Less than this is read faster than a thread starts. */
const WORTH_THREADS_BYTES = 64 * 2 ** 20
const MAX_THREADS = 4

/**
 * Reading, hashing and checking keep a core busy: large sets are spread over threads. Small ones are read in slices, with fewer
 * rests while `isQuiet`, or at once where that is null. Returns by file.
 */
async function readParts(
  dir: string,
  parts: readonly PartToRead[],
  isQuiet: (() => boolean) | null,
): Promise<Map<string, PartSummary>> {
  const summaries = new Map<string, PartSummary>()
  const bytes = parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
  const threads = Math.min(MAX_THREADS, availableParallelism(), parts.length)
  if (bytes < WORTH_THREADS_BYTES || threads < 2) {
    const steps = readOneByOne(dir, parts, summaries)
    if (isQuiet === null) finish(steps)
    else await finishInSlices(steps, SLICE_MS, isQuiet)
    return summaries
  }
  // The largest first, so that no thread is left with one at the end.
  const queue = [...parts].sort((a, b) => b.entry.bytes - a.entry.bytes)
  await Promise.all(Array.from({ length: threads }, () => readInThread(dir, queue, summaries)))
  return summaries
}

function* readOneByOne(
  dir: string,
  parts: readonly PartToRead[],
  summaries: Map<string, PartSummary>,
): Steps<void> {
  const reader = new PartReader(dir)
  for (const part of parts) summaries.set(part.entry.file, yield* reader.reading(part))
}

/** The answer of a thread that reads parts. */
export type FromReading = { summary: PartSummary } | { refusal: string }

/** Lets a thread of its own read parts off `queue` until none is left. */
async function readInThread(
  dir: string,
  queue: PartToRead[],
  summaries: Map<string, PartSummary>,
): Promise<void> {
  const thread = startThread(new URL('./read-thread', import.meta.url), dir)
  try {
    await new Promise<void>((resolve, reject) => {
      let part: PartToRead | undefined
      const next = (): void => {
        part = queue.shift()
        if (part === undefined) resolve()
        else thread.postMessage(part)
      }
      thread.once('error', reject)
      thread.on('message', (answer: FromReading) => {
        if ('refusal' in answer) {
          reject(new SnapshotError(answer.refusal))
          return
        }
        summaries.set(part!.entry.file, answer.summary)
        next()
      })
      next()
    })
  } finally {
    queue.length = 0
    await thread.terminate()
  }
}

/** @throws SnapshotError unless a regular file of that size is there. */
function expectSize(dir: string, { file, bytes }: PartEntry): void {
  try {
    const info = statSync(join(dir, file))
    if (!info.isFile()) throw new UnfitFile('NOT_REGULAR', 'is not a regular file')
    if (info.size !== bytes) throw wrongSize(file, info.size, bytes)
  } catch (error) {
    throw readFault(file, error)
  }
}

function wrongSize(file: string, size: number, expected: number): SnapshotError {
  return new SnapshotError(`${file}: has ${size} bytes, the manifest says ${expected}`)
}

function readFault(file: string, error: unknown): SnapshotError {
  if (error instanceof SnapshotError) return error
  if (error instanceof UnfitFile) return new SnapshotError(`${file}: ${error.message}`)
  const { code } = error as NodeJS.ErrnoException
  return new SnapshotError(`${file}: ${code === 'ENOENT' ? 'is missing' : `cannot be read (${code})`}`)
}

/** Reads parts one after the other, on its own thread. */
export class PartReader {
  readonly #dir: string
  /** For parts that are only checked. */
  #room = new Uint8Array(0)

  constructor(dir: string) {
    this.#dir = dir
  }

  /** @throws SnapshotError naming the file, when it is missing, cut, changed or malformed */
  *reading(part: PartToRead): Steps<PartSummary> {
    const { entry } = part
    const bytes = part.bytes ?? this.#roomFor(entry.bytes)
    const hash = createHash('sha256')
    yield* this.#filling(bytes, entry.file, hash)
    if (hash.digest('hex') !== entry.sha256) {
      throw new SnapshotError(`${entry.file}: its bytes do not have the hash that the manifest names`)
    }
    expectHeader(bytes, entry)
    return yield* checkPart(decodePart(bytes, entry.file), entry)
  }

  #roomFor(bytes: number): Uint8Array {
    if (this.#room.length < bytes) this.#room = new Uint8Array(bytes)
    return this.#room.subarray(0, bytes)
  }

  *#filling(bytes: Uint8Array, name: string, hash: Hash): Steps<void> {
    let file: number
    try {
      file = openRegularFileSync(join(this.#dir, name))
    } catch (error) {
      throw readFault(name, error)
    }
    try {
      const { size } = fstatSync(file)
      if (size !== bytes.length) throw wrongSize(name, size, bytes.length)
      for (let at = 0; at < bytes.length;) {
        const read = readSync(file, bytes, at, Math.min(CHUNK_BYTES, bytes.length - at), at)
        if (read === 0) throw new SnapshotError(`${name}: ended at byte ${at} of ${bytes.length}`)
        hash.update(bytes.subarray(at, at + read))
        at += read
        yield
      }
    } finally {
      closeSync(file)
    }
  }
}
