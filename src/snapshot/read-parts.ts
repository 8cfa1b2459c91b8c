/** Reads parts of a snapshot, each checked against its hash and the rules; large sets on several threads. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, readSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { whyNotRead } from '../system/file-faults.ts'
import { openRegularFileSync, readRegularFileSync } from '../system/regular-files.ts'
import { finish, finishInSlices, type Steps } from '../system/steps.ts'
import { startThread } from '../system/thread.ts'
import { checkPart, headerValues } from './check-snapshot.ts'
import { expect, SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import { decodePart } from './part-columns.ts'
import type { PartSummary } from './catalog-summary.ts'

/** A part to read into `bytes`, or only to check. */
interface PartToRead {
  entry: PartEntry
  bytes: Uint8Array | null
}

/** Slice of work while a snapshot is served: a serving thread on the same core must not wait for long. */
const SLICE_MS = 0.2
/** Fewer bytes are read before a thread has started. */
const WORTH_THREADS_BYTES = 64 * 2 ** 20
const MAX_THREADS = 4
/** Time of this thread's work before it gets messages of the others. */
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
  const shared: SharedParts = {
    dir,
    // The largest first, so that no thread is left with one at the end.
    parts: parts.toSorted((a, b) => b.entry.bytes - a.entry.bytes),
    next: new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  }
  if (bytes < WORTH_THREADS_BYTES || threads < 2) {
    const steps = readingShare(shared)
    return new Map(isQuiet === null ? finish(steps) : await finishInSlices(steps, SLICE_MS, isQuiet))
  }
  const shares = Array.from({ length: isQuiet === null ? threads - 1 : threads }, () => readInThread(shared))
  if (isQuiet === null) shares.push(finishInSlices(readingShare(shared), OWN_SLICE_MS, () => true))
  try {
    return new Map((await Promise.all(shares)).flat())
  } finally {
    // After a fault the others read no further part.
    Atomics.store(shared.next, 0, parts.length)
  }
}

/** Parts that threads share: plain, so that it can be posted to each. */
export interface SharedParts {
  dir: string
  parts: readonly PartToRead[]
  /** Index of the next part that nobody reads yet. */
  next: Int32Array<SharedArrayBuffer>
}

export type Summaries = [file: string, summary: PartSummary][]

/** Reads parts until none is left. @throws SnapshotError as `loadSnapshot` does */
export function* readingShare({ dir, parts, next }: SharedParts): Steps<Summaries> {
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

export type FromReading = { summaries: Summaries } | { refusal: string }

async function readInThread(shared: SharedParts): Promise<Summaries> {
  const thread = startThread(new URL('./read-thread', import.meta.url), shared)
  try {
    const [answer] = (await once(thread, 'message')) as [FromReading]
    if ('refusal' in answer) throw new SnapshotError(answer.refusal)
    return answer.summaries
  } finally {
    await thread.terminate()
  }
}

/** @throws SnapshotError unless a regular file of that size is there. */
export function expectSize(dir: string, { file, bytes }: PartEntry): void {
  try {
    const info = statSync(join(dir, file))
    expect(info.isFile(), file, 'is not a regular file')
    expect(info.size === bytes, file, `has ${info.size} bytes, the manifest says ${bytes}`)
  } catch (error) {
    throw readFault(file, error)
  }
}

function openPart(dir: string, entry: PartEntry): number {
  expectSize(dir, entry)
  try {
    return openRegularFileSync(join(dir, entry.file))
  } catch (error) {
    throw readFault(entry.file, error)
  }
}

/** The error for a file that cannot be read. */
export function readFault(file: string, error: unknown): SnapshotError {
  return error instanceof SnapshotError ? error : new SnapshotError(`${file}: ${whyNotRead(error)}`)
}

/** Reads a part without a check of its hash. @throws SnapshotError */
export function readUnchecked(dir: string, { file, bytes }: PartEntry): Part {
  try {
    return decodePart(readRegularFileSync(join(dir, file), bytes), file)
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

/**
 * Reads a part into `bytes`, and checks it.
 * @throws SnapshotError naming the file, when it is missing, cut, changed or malformed
 */
function* reading(dir: string, entry: PartEntry, bytes: Uint8Array): Steps<PartSummary> {
  const { file: name } = entry
  const hash = createHash('sha256')
  const file = openPart(dir, entry)
  try {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
      const some = chunk.subarray(0, Math.min(CHUNK_BYTES, bytes.length - at))
      const read = readFully(file, some, at)
      expect(read === some.length, name, `ended at byte ${at + read} of ${bytes.length}`)
      hash.update(some)
      bytes.set(some, at)
      yield
    }
  } finally {
    closeSync(file)
  }
  const isSame = hash.digest('hex') === entry.sha256
  expect(isSame, name, 'its bytes do not have the hash that the manifest names')
  return yield* checkPart(decodePart(bytes, name, headerValues(entry)), entry)
}
