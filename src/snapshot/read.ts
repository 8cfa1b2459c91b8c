/** Reads a snapshot's files into shared memory, every byte checked against its hash. */
import { createHash, type Hash } from 'node:crypto'
import { closeSync, fstatSync, readSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openRegularFile, openRegularFileSync, UnfitFile } from '../system/files.ts'
import { finish, finishInSlices, type Steps } from '../system/steps.ts'
import { startThread } from '../system/thread.ts'
import {
  decodeManifest,
  decodePart,
  expectHeader,
  MANIFEST_FILE,
  MAX_MANIFEST_BYTES,
  SnapshotError,
  type Manifest,
  type PartEntry,
} from './format.ts'
import { checkPart } from './check.ts'
import { summaryOf, type Summary, type Told } from './summary.ts'

/** One part in memory that all threads share. */
export interface LoadedPart {
  entry: PartEntry
  buffer: SharedArrayBuffer
}

/** A snapshot in memory: plain enough to be posted to a worker, which then sees the same bytes. */
export interface LoadedSnapshot extends Summary {
  id: string
  asOf: number
  /** When the manifest was published, epoch seconds (its file's mtime: no clock is in the bytes). */
  publishedAt: number
  parts: LoadedPart[]
}

/** Read and hashed at a time: 0.3 ms, and small enough to be hashed out of the processor's cache. */
const CHUNK_BYTES = 256 * 1024
/**
 * Where a snapshot is being served, loading the next works this long at a time, in ms: this thread may have
 * to share its core with a serving one, which the system would let wait for several.
 */
const SLICE = 0.2

export interface PublishedManifest extends Manifest {
  publishedAt: number
}

/**
 * The manifest a folder announces, or null when it holds none. @throws SnapshotError when it is not whole.
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
      // No more than it had: should it grow meanwhile, what is read has another id than it says.
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
 * Loads the snapshot that a folder announces, on this thread. Parts that `previous` holds are taken from
 * there and not read again.
 * @throws SnapshotError naming the file, when anything is missing, cut, changed or malformed.
 */
export async function loadSnapshot(dir: string, previous?: LoadedSnapshot): Promise<LoadedSnapshot> {
  const manifest = await readManifest(dir)
  if (manifest === null) throw new SnapshotError(`${dir}: there is no snapshot in this folder`)
  return loadManifest(dir, manifest, previous)
}

/**
 * Loads the snapshot of a manifest that was read before, as `loadSnapshot` does; gently, when there is one
 * before it. `told` is what was kept of the parts of that one, by file; it becomes what is kept of this one.
 */
export async function loadManifest(
  dir: string,
  manifest: PublishedManifest,
  previous?: LoadedSnapshot,
  told = new Map<string, Told>(),
): Promise<LoadedSnapshot> {
  const known = knownParts(manifest, previous)
  const fresh = manifest.parts.filter(({ file }) => !known.has(file))
  // Before there is room for any of them.
  for (const entry of fresh) expectSize(dir, entry)
  const read = new Map(fresh.map((entry) => [entry.file, { entry, buffer: roomFor(entry) }]))
  const gently = previous !== undefined
  const now = await readParts(dir, [...read.values()], gently)
  const parts = manifest.parts.map(({ file }) => known.get(file) ?? read.get(file)!)
  for (const { entry, buffer } of known.values()) {
    const kept =
      told.get(entry.file) ?? finish(checkPart(decodePart(new Uint8Array(buffer), entry.file), entry))
    now.set(entry.file, kept)
  }
  told.clear()
  for (const [file, kept] of now) told.set(file, kept)
  const summary = summaryOf(parts.map(({ entry }) => ({ entry, told: now.get(entry.file)! })))
  return { id: manifest.id, asOf: manifest.asOf, publishedAt: manifest.publishedAt, parts, ...summary }
}

/**
 * The parts of a manifest that are in memory. @throws SnapshotError where it says other things of one than
 * that is.
 */
function knownParts(manifest: Manifest, previous?: LoadedSnapshot): Map<string, LoadedPart> {
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
      throw new SnapshotError(
        `${entry.file}: the manifest says other things of it than are so of the part of this name in memory`,
      )
    }
    known.set(entry.file, part)
  }
  return known
}

function roomFor({ file, bytes }: PartEntry): SharedArrayBuffer {
  try {
    return new SharedArrayBuffer(bytes)
  } catch {
    throw new SnapshotError(`${file}: there is no memory for its ${bytes} bytes`)
  }
}

/** Reads one part. @throws SnapshotError as `loadSnapshot` does. */
export async function loadPart(dir: string, entry: PartEntry): Promise<LoadedPart> {
  expectSize(dir, entry)
  const part = { entry, buffer: roomFor(entry) }
  await readParts(dir, [part], false)
  return part
}

/**
 * Reads parts back and checks them, keeping none: each reader has one buffer for all its parts.
 * @throws SnapshotError as `loadSnapshot` does.
 */
export async function verifyParts(dir: string, entries: readonly PartEntry[]): Promise<void> {
  await readParts(
    dir,
    entries.map((entry) => ({ entry, buffer: null })),
    false,
  )
}

/** A part to be read: into `buffer`, or only to be checked. */
export interface PartToRead {
  entry: PartEntry
  buffer: SharedArrayBuffer | null
}

/** Less than this is read before a thread has started. */
const WORTH_THREADS = 64 * 1024 * 1024
const MOST_THREADS = 4

/**
 * Reading, hashing and checking are all work for a core: large sets are spread over threads. Returns what is
 * to be kept, by file.
 */
async function readParts(
  dir: string,
  parts: readonly PartToRead[],
  gently: boolean,
): Promise<Map<string, Told>> {
  const told = new Map<string, Told>()
  const bytes = parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
  const threads = Math.min(MOST_THREADS, availableParallelism(), parts.length)
  if (bytes < WORTH_THREADS || threads < 2) {
    const steps = readOneByOne(dir, parts, told)
    if (gently) await finishInSlices(steps, SLICE)
    else finish(steps)
    return told
  }
  // The largest first, so that no thread is left with one at the end.
  const queue = [...parts].sort((a, b) => b.entry.bytes - a.entry.bytes)
  await Promise.all(Array.from({ length: threads }, () => readInThread(dir, queue, told)))
  return told
}

function* readOneByOne(dir: string, parts: readonly PartToRead[], told: Map<string, Told>): Steps<void> {
  const reader = new PartReader(dir)
  for (const part of parts) told.set(part.entry.file, yield* reader.reading(part))
}

/** What a thread that reads parts answers. */
export type FromReading = { told: Told } | { refusal: string }

/** Lets a thread of its own read parts off `queue` until none is left. */
async function readInThread(dir: string, queue: PartToRead[], told: Map<string, Told>): Promise<void> {
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
        told.set(part!.entry.file, answer.told)
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
    if (!info.isFile()) throw new UnfitFile('NOT_REGULAR', 'is no regular file')
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

/** Reads parts one after the other, on the thread it is on. */
export class PartReader {
  readonly #dir: string
  /** Room for parts that nobody keeps. */
  #room = new Uint8Array(0)

  constructor(dir: string) {
    this.#dir = dir
  }

  /**
   * What is to be kept of a part. @throws SnapshotError naming the file, when it is missing, cut, changed or
   * malformed.
   */
  *reading({ entry, buffer }: PartToRead): Steps<Told> {
    if (buffer === null && this.#room.length < entry.bytes) this.#room = new Uint8Array(entry.bytes)
    const bytes = buffer === null ? this.#room.subarray(0, entry.bytes) : new Uint8Array(buffer)
    const hash = createHash('sha256')
    yield* this.#filling(bytes, entry.file, hash)
    if (hash.digest('hex') !== entry.sha256) {
      throw new SnapshotError(`${entry.file}: its bytes do not have the hash that the manifest names`)
    }
    expectHeader(bytes, entry)
    return yield* checkPart(decodePart(bytes, entry.file), entry)
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
