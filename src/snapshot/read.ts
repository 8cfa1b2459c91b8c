/** Reads a snapshot's files into shared memory, every byte checked against its hash. */
import { open, readFile, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import {
  decodeManifest,
  decodePart,
  MANIFEST_FILE,
  sha256,
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

/** Parts read at a time: enough to overlap reading with hashing. */
const PARALLEL_READS = 4
/** One read call must stay below 2 GiB. */
const READ_BYTES = 256 * 1024 * 1024
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
  const known = new Map(previous?.parts.map((part) => [part.entry.file, part]))
  const parts: LoadedPart[] = []
  await eachPart(manifest.parts, async (entry, i) => {
    parts[i] = known.get(entry.file) ?? (await loadPart(dir, entry))
  })
  return { id: manifest.id, asOf: manifest.asOf, publishedAt: manifest.publishedAt, parts }
}

/** Reads parts back and checks them, keeping none. @throws SnapshotError as `loadSnapshot` does. */
export async function verifyParts(dir: string, entries: readonly PartEntry[]): Promise<void> {
  await eachPart(entries, async (entry) => {
    await loadPart(dir, entry)
  })
}

async function eachPart(
  entries: readonly PartEntry[],
  visit: (entry: PartEntry, i: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const visitor = async (): Promise<void> => {
    while (next < entries.length) {
      const i = next++
      await visit(entries[i], i)
    }
  }
  await Promise.all(Array.from({ length: PARALLEL_READS }, visitor))
}

/** Reads one part. @throws SnapshotError as `loadSnapshot` does. */
export async function loadPart(dir: string, entry: PartEntry): Promise<LoadedPart> {
  const buffer = new SharedArrayBuffer(entry.bytes)
  const bytes = new Uint8Array(buffer)
  const file = await open(join(dir, entry.file), 'r').catch((error: NodeJS.ErrnoException) => {
    throw new SnapshotError(
      `${entry.file}: ${error.code === 'ENOENT' ? 'is missing' : `cannot be read (${error.code})`}`,
    )
  })
  try {
    await fill(file, bytes, entry)
  } finally {
    await file.close()
  }
  if (sha256(bytes) !== entry.sha256)
    throw new SnapshotError(`${entry.file}: its bytes do not have the hash that the manifest names`)
  checkPart(decodePart(bytes, entry.file), entry)
  return { entry, buffer }
}

async function fill(file: FileHandle, bytes: Uint8Array, { file: name }: PartEntry): Promise<void> {
  const { size } = await file.stat()
  if (size !== bytes.length) {
    throw new SnapshotError(`${name}: has ${size} bytes, the manifest says ${bytes.length}`)
  }
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await file.read(bytes, at, Math.min(READ_BYTES, bytes.length - at), at)
    if (bytesRead === 0) throw new SnapshotError(`${name}: ended at byte ${at} of ${bytes.length}`)
    at += bytesRead
  }
}
