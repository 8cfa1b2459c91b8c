/** Reads parts of a snapshot, each checked against its hash and the rules; large sets on several threads. */
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, readSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { openRegularFileSync, UnfitFile } from '../system/regular-files.ts'
import { finish, finishInSlices, type Steps } from '../system/steps.ts'
import { startThread } from '../system/thread.ts'
import { checkPart, expectHeader } from './check-snapshot.ts'
import { HEADER_BOUNDS, SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import { decodeHeader, decodePart, describedColumns, kindAndMeta } from './part-columns.ts'
import { plainEnd } from './plain-messagepack.ts'
import type { PartSummary } from './catalog-summary.ts'

/** A part to read into `bytes`, or only to check. */
export interface PartToRead {
  entry: PartEntry
  bytes: Uint8Array | null
}

/** Slice of work while a snapshot is served: a serving thread on the same core must not wait for long. */
const SLICE_MS = 0.2
/** Less is read faster than a thread starts. */
const WORTH_THREADS_BYTES = 64 * 2 ** 20
const MAX_THREADS = 4
/** Time of this thread's work before it hears the others. */
const OWN_SLICE_MS = 10

/**
 * Large sets are spread over threads, including this one where `isQuiet` is null. Small ones are read in
 * slices, with fewer pauses while `isQuiet`, or at once where that is null. Returns by file.
 */
export async function readParts(
  dir: string,
  parts: readonly PartToRead[],
  isQuiet: (() => boolean) | null,
): Promise<Map<string, PartSummary>> {
  const bytes = parts.reduce((sum, { entry }) => sum + entry.bytes, 0)
  const threads = Math.min(MAX_THREADS, availableParallelism(), parts.length)
  if (bytes < WORTH_THREADS_BYTES || threads < 2) {
    const steps = new PartQueue(sharedParts(dir, parts)).reading()
    return new Map(isQuiet === null ? finish(steps) : await finishInSlices(steps, SLICE_MS, isQuiet))
  }
  // The largest first, so that no thread is left with one at the end.
  const largestFirst = parts.toSorted((a, b) => b.entry.bytes - a.entry.bytes)
  const queue = new PartQueue(sharedParts(dir, largestFirst))
  const shares = Array.from({ length: isQuiet === null ? threads - 1 : threads }, () => readInThread(queue))
  if (isQuiet === null) shares.push(finishInSlices(queue.reading(), OWN_SLICE_MS, () => true))
  try {
    return new Map((await Promise.all(shares)).flat())
  } finally {
    queue.close()
  }
}

/** Parts that threads share: plain, so that it can be posted to each. */
export interface SharedParts {
  dir: string
  parts: readonly PartToRead[]
  /** Index of the next part that nobody reads yet. */
  next: Int32Array<SharedArrayBuffer>
}

function sharedParts(dir: string, parts: readonly PartToRead[]): SharedParts {
  return { dir, parts, next: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) }
}

export type Summaries = [file: string, summary: PartSummary][]

export class PartQueue {
  readonly shared: SharedParts

  constructor(shared: SharedParts) {
    this.shared = shared
  }

  /** Reads parts until none is left. @throws SnapshotError as `loadSnapshot` does */
  *reading(): Steps<Summaries> {
    const { dir, parts, next } = this.shared
    const summaries: Summaries = []
    // Memory for parts that are only checked.
    let room = new Uint8Array(0)
    for (;;) {
      const part = parts.at(Atomics.add(next, 0, 1))
      if (part === undefined) return summaries
      const { entry, bytes } = part
      if (bytes === null && room.length < entry.bytes) room = new Uint8Array(entry.bytes)
      summaries.push([entry.file, yield* reading(dir, entry, bytes ?? room.subarray(0, entry.bytes))])
    }
  }

  close(): void {
    Atomics.store(this.shared.next, 0, this.shared.parts.length)
  }
}

export type FromReading = { summaries: Summaries } | { refusal: string }

async function readInThread(queue: PartQueue): Promise<Summaries> {
  const thread = startThread(new URL('./read-thread', import.meta.url), queue.shared)
  try {
    return await new Promise((resolve, reject) => {
      thread.once('error', reject)
      thread.once('message', (answer: FromReading) => {
        if ('refusal' in answer) reject(new SnapshotError(answer.refusal))
        else resolve(answer.summaries)
      })
    })
  } finally {
    await thread.terminate()
  }
}

/** @throws SnapshotError unless a regular file of that size is there. */
export function expectSize(dir: string, { file, bytes }: PartEntry): void {
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

/** @throws SnapshotError */
function openPart(dir: string, file: string): number {
  try {
    return openRegularFileSync(join(dir, file))
  } catch (error) {
    throw readFault(file, error)
  }
}

/** Bytes read and hashed together in 0.3 ms; they stay in the processor's cache. */
const CHUNK_BYTES = 256 * 1024
/** One buffer serves the whole thread, which puts something else there only between two steps. */
const chunk = new Uint8Array(CHUNK_BYTES)

/** Fills `bytes` from position `at` of a file; returns the number of bytes read. */
function readFully(file: number, bytes: Uint8Array, at: number): number {
  let filled = 0
  while (filled < bytes.length) {
    const read = readSync(file, bytes, filled, bytes.length - filled, at + filled)
    if (read === 0) break
    filled += read
  }
  return filled
}

/** More than the header of a month or a year takes. */
const HEAD_BYTES = 64 * 1024

/**
 * Reads the header of a part and the columns `names`, without a check of its hash.
 * @throws SnapshotError when it cannot be read or is malformed
 */
export function readPartHead(dir: string, { file, bytes }: PartEntry, names: readonly string[]): Part {
  const handle = openPart(dir, file)
  const read = (from: number, size: number): Uint8Array<ArrayBuffer> => {
    const some = new Uint8Array(size)
    if (readFully(handle, some, from) < size) throw new SnapshotError(`${file}: ends too early`)
    return some
  }
  try {
    for (let size = Math.min(bytes, HEAD_BYTES); ; size = Math.min(bytes, size * 4)) {
      const head = read(0, size)
      if (size < bytes && typeof plainEnd(head, HEADER_BOUNDS) === 'string') continue
      const { header } = decodeHeader(head, file)
      const wanted = describedColumns(header, bytes, file).filter(({ name }) => names.includes(name))
      const columns = wanted.map(({ name, ColumnArray, length, offset }) => {
        const { buffer } = read(offset, length * ColumnArray.BYTES_PER_ELEMENT)
        return [name, new ColumnArray(buffer)] as const
      })
      return { ...kindAndMeta(header, file), columns: new Map(columns) }
    }
  } finally {
    closeSync(handle)
  }
}

/**
 * Reads a part into `bytes`, and checks it.
 * @throws SnapshotError naming the file, when it is missing, cut, changed or malformed
 */
function* reading(dir: string, entry: PartEntry, bytes: Uint8Array): Steps<PartSummary> {
  const { file: name } = entry
  const hash = createHash('sha256')
  const file = openPart(dir, name)
  try {
    const { size } = fstatSync(file)
    if (size !== bytes.length) throw wrongSize(name, size, bytes.length)
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const some = chunk.subarray(0, Math.min(CHUNK_BYTES, bytes.length - at))
      const read = readFully(file, some, at)
      if (read < some.length)
        throw new SnapshotError(`${name}: ended at byte ${at + read} of ${bytes.length}`)
      hash.update(some)
      bytes.set(some, at)
      yield
    }
  } finally {
    closeSync(file)
  }
  if (hash.digest('hex') !== entry.sha256) {
    throw new SnapshotError(`${name}: its bytes do not have the hash that the manifest names`)
  }
  expectHeader(bytes, entry)
  return yield* checkPart(decodePart(bytes, name), entry)
}
