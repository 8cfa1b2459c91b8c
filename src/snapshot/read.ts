/** Reads a snapshot's files into shared memory, every byte checked against its hash. */
import { createHash, type Hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { finish, finishInSlices, type Steps } from '../steps.ts'
import { startThread } from '../thread.ts'
import {
  decodeManifest,
  decodePart,
  MANIFEST_FILE,
  SnapshotError,
  type Manifest,
  type PartEntry,
} from './format.ts'
import { checkPart } from './check.ts'

/** One part in memory that all threads share. */
export interface LoadedPart {
  entry: PartEntry
  buffer: SharedArrayBuffer
}

/** A snapshot in memory: plain enough to be posted to a worker, which then sees the same bytes. */
export interface LoadedSnapshot {
  id: string
  asOf: number
  /** When the manifest was published, epoch seconds (its file's mtime: no clock is in the bytes). */
  publishedAt: number
  parts: LoadedPart[]
}

/** Read and hashed at a time: 0.3 ms, and small enough to be hashed out of the processor's cache. */
const CHUNK_BYTES = 256 * 1024
/**
 * Where a snapshot is being served, loading the next works this long at a time, in ms: this thread may have to share its core with a
 * serving one, which the system would let wait for several.
 */
const SLICE = 0.2
/** A manifest names each part in some 150 bytes: this is room for a century of months. */
const MAX_MANIFEST_BYTES = 16 * 1024 * 1024

export interface PublishedManifest extends Manifest {
  publishedAt: number
}

/** The manifest a folder announces, or null when it holds none. @throws SnapshotError when it is not whole. */
export async function readManifest(dir: string): Promise<PublishedManifest | null> {
  const path = join(dir, MANIFEST_FILE)
  try {
    const info = await stat(path)
    if (info.size > MAX_MANIFEST_BYTES) {
      throw new SnapshotError(`${path}: ${info.size} bytes are too many for a manifest`)
    }
    const manifest = decodeManifest(await readFile(path), MANIFEST_FILE)
    return { ...manifest, publishedAt: Math.floor(info.mtimeMs / 1000) }
  } catch (error) {
    if (error instanceof SnapshotError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return null
    throw new SnapshotError(`${path}: cannot be read (${code})`)
  }
}

/**
 * Loads the snapshot that a folder announces. Parts that `previous` holds are taken from there and not read again.
 * @throws SnapshotError naming the file, when anything is missing, cut, changed or malformed.
 */
export async function loadSnapshot(dir: string, previous?: LoadedSnapshot): Promise<LoadedSnapshot> {
  const manifest = await readManifest(dir)
  if (manifest === null) throw new SnapshotError(`${dir}: there is no snapshot in this folder`)
  return loadManifest(dir, manifest, previous)
}

/**
 * Loads the snapshot of a manifest that was read before, as `loadSnapshot` does; gently, when there is one before it.
 * @throws SnapshotError also when `signal` aborts it.
 */
export async function loadManifest(
  dir: string,
  manifest: PublishedManifest,
  previous?: LoadedSnapshot,
  signal?: AbortSignal,
): Promise<LoadedSnapshot> {
  const known = new Map(previous?.parts.map((part) => [part.entry.file, part]))
  const parts = manifest.parts.map(
    (entry) => known.get(entry.file) ?? { entry, buffer: new SharedArrayBuffer(entry.bytes) },
  )
  await readParts(
    dir,
    parts.filter(({ entry }) => !known.has(entry.file)),
    { gently: previous !== undefined, signal },
  )
  return { id: manifest.id, asOf: manifest.asOf, publishedAt: manifest.publishedAt, parts }
}

/** Reads one part. @throws SnapshotError as `loadSnapshot` does. */
export async function loadPart(dir: string, entry: PartEntry): Promise<LoadedPart> {
  const part = { entry, buffer: new SharedArrayBuffer(entry.bytes) }
  await readParts(dir, [part])
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

interface ReadOptions {
  gently?: boolean
  signal?: AbortSignal | undefined
}

/** Reading, hashing and checking are all work for a core: large sets are spread over threads. */
async function readParts(
  dir: string,
  parts: readonly PartToRead[],
  { gently = false, signal }: ReadOptions = {},
): Promise<void> {
  const bytes = parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
  const threads = Math.min(MOST_THREADS, availableParallelism(), parts.length)
  if (bytes < WORTH_THREADS || threads < 2) {
    const steps = readOneByOne(dir, parts, signal)
    if (gently) await finishInSlices(steps, SLICE)
    else finish(steps)
    return
  }
  // The largest first, so that no thread is left with one at the end.
  const queue = [...parts].sort((a, b) => b.entry.bytes - a.entry.bytes)
  await Promise.all(Array.from({ length: threads }, () => readInThread(dir, queue, signal)))
}

function* readOneByOne(dir: string, parts: readonly PartToRead[], signal?: AbortSignal): Steps<void> {
  const reader = new PartReader(dir)
  for (const part of parts) {
    for (const _step of reader.reading(part)) {
      if (signal?.aborted === true) throw brokenOff()
      yield
    }
  }
}

function brokenOff(): SnapshotError {
  return new SnapshotError('loading was broken off')
}

/** Lets a thread of its own read parts off `queue` until none is left. */
async function readInThread(dir: string, queue: PartToRead[], signal?: AbortSignal): Promise<void> {
  const thread = startThread('./snapshot/read-thread', dir)
  try {
    await new Promise<void>((resolve, reject) => {
      const next = (): void => {
        const part = queue.shift()
        if (signal?.aborted === true) reject(brokenOff())
        else if (part === undefined) resolve()
        else thread.postMessage(part)
      }
      thread.once('error', reject)
      thread.on('message', (fault: string | null) => {
        if (fault === null) next()
        else reject(new SnapshotError(fault))
      })
      next()
    })
  } finally {
    queue.length = 0
    await thread.terminate()
  }
}

/** Reads parts one after the other, on the thread it is on. */
export class PartReader {
  readonly #dir: string
  /** Room for parts that nobody keeps. */
  #room = new Uint8Array(0)

  constructor(dir: string) {
    this.#dir = dir
  }

  /** @throws SnapshotError naming the file, when it is missing, cut, changed or malformed. */
  *reading({ entry, buffer }: PartToRead): Steps<void> {
    if (buffer === null && this.#room.length < entry.bytes) this.#room = new Uint8Array(entry.bytes)
    const bytes = buffer === null ? this.#room.subarray(0, entry.bytes) : new Uint8Array(buffer)
    const hash = createHash('sha256')
    yield* this.#filling(bytes, entry.file, hash)
    if (hash.digest('hex') !== entry.sha256) {
      throw new SnapshotError(`${entry.file}: its bytes do not have the hash that the manifest names`)
    }
    yield* checkPart(decodePart(bytes, entry.file), entry)
  }

  *#filling(bytes: Uint8Array, name: string, hash: Hash): Steps<void> {
    let file: number
    try {
      file = openSync(join(this.#dir, name), 'r')
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      throw new SnapshotError(`${name}: ${code === 'ENOENT' ? 'is missing' : `cannot be read (${code})`}`)
    }
    try {
      const { size } = fstatSync(file)
      if (size !== bytes.length) {
        throw new SnapshotError(`${name}: has ${size} bytes, the manifest says ${bytes.length}`)
      }
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
