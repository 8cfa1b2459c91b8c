/**
 * Publishes a folder's snapshots to a prefix of a bucket. Read this file first. An empty folder continues the
 * bucket, any other has to have published what is there. Parts and state go first, then the manifest on
 * condition that the one of the beginning is still there, so one of two builders is refused; what the bucket
 * accepted becomes the folder's snapshot.
 *
 * `published.json` is the folder's note of it. Kept snapshots with a higher sequence number than `after` are
 * not published yet; `tried` names commits that may still arrive:
 *
 *   {"format":"groundswell-published","version":3,"to":"s3://…","commit":"…","tried":["…"],"after":N}
 */
import { existsSync, statSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { encodeList, MAX_LIST_BYTES, readSnapshotList, snapshotList } from '../../snapshot/file-list.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES } from '../../snapshot/manifest.ts'
import { verifyParts } from '../../snapshot/read-snapshot.ts'
import { listKept, manifestOf, keepManifest, readHold, writeHold } from '../../snapshot/retained.ts'
import { sha256 } from '../../snapshot/snapshot-format.ts'
import { fetchPart, type StoredFile, fewAtATime } from '../../snapshot/store/fetch-part.ts'
import { readObject, type Store } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { lostLock, publishManifest, syncFolder, writeDurably } from '../../snapshot/write-snapshot.ts'
import { BuildError } from '../../system/build-error.ts'
import { errorCode, isSystemFault, whyNotWritten } from '../../system/file-faults.ts'
import type { Lock } from '../../system/lock.ts'
import type { LogLine } from '../../system/log.ts'
import { randomName } from '../../system/replace-file.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'
import { MAX_STATE_BYTES, REGISTRY_FILE, statesFile, stateParts } from '../source-state.ts'
import {
  CHANGING,
  commitText,
  decodeCommit,
  encodeCommit,
  plainManifest,
  type Commit,
  type FileToStore,
  type Prefix,
  type StoredCommit,
} from './prefix.ts'

const PUBLISHED_FILE = 'published.json'
const PUBLISHED = { format: 'groundswell-published', version: 3 }
const MAX_PUBLISHED_BYTES = 8192
/** Names of commits that may still arrive; the oldest are forgotten. */
const MOST_TRIED = 100

interface Published {
  to: string
  /** Name of the commit; empty before there is one. */
  commit: string
  /** Names of commits that were put since, whether the bucket took them or not. */
  tried: string[]
  after: number
}

export interface PublishingOptions {
  dir: string
  prefix: Prefix
  now: number
  log: LogLine
}

/** The objects put into the bucket for a snapshot; null where the bucket had it already. */
export type Outcome = { files: number; bytes: number } | null

/** Tells the operator of a snapshot that was published, or was there already. */
export function outcomeText(outcome: Outcome, address: string): string {
  return outcome === null
    ? `${address} has it already`
    : `${address} has it: ${outcome.files} files of ${outcome.bytes} bytes were put there`
}

export interface Publishing extends PublishingOptions {
  lock: Lock
  newest: StoredCommit | null
  published: Published
}

/**
 * Compares folder and bucket; an empty folder continues the bucket's snapshot. Run under the folder's lock.
 * @throws RequestFault; BuildError or SnapshotError where they do not belong together
 */
export async function beginPublishing(options: PublishingOptions, lock: Lock): Promise<Publishing> {
  const { dir, prefix, log } = options
  let published = publishedTo(dir, prefix)
  const newest = await prefix.newest()
  if (newest === null) {
    if (published.commit !== '') {
      throw new BuildError(
        `${prefix.address}: has no snapshot, and ${dir} has published there; is it the right store? To start over there, remove ${join(dir, PUBLISHED_FILE)}`,
      )
    }
    await prefix.expectEmpty()
  }
  await prefix.probe()
  if (newest !== null && !ownCommits(published).includes(newest.name)) {
    const built = listKept(dir).at(-1)?.id
    // Nobody can have seen ids of a folder that has published no snapshot.
    if (built === undefined ? existsSync(join(dir, MANIFEST_FILE)) : built !== newest.manifest.id) {
      throw anotherBuilder(dir, prefix, newest)
    }
    published = await continueFrom(options, newest, lock)
    log(`continues ${commitText(newest)} at ${prefix.address}`)
  }
  writePublished(dir, published, lock)
  return { ...options, lock, newest, published }
}

/**
 * Makes a folder continue a bucket's snapshot, ids, source states and hold; once killed, it starts over.
 * @param options a folder without snapshots, or with that of the commit as its newest
 * @throws RequestFault, SnapshotError or BuildError; then the folder's snapshot stays as it was
 */
async function continueFrom(
  { dir, prefix: { store }, now }: PublishingOptions,
  { manifest, state, hold, bytes, name }: Commit,
  lock: Lock,
): Promise<Published> {
  const { id, parts } = manifest
  const isPart = ({ file }: StoredFile): boolean => !file.endsWith('.jsonl')
  const [registry, states] = state.filter((file) => !isPart(file))
  await fetchFiles(store, lock.folder, states === undefined ? [registry] : [registry, states])
  await fetchFiles(store, dir, [...parts, ...state.filter(isPart)])
  await verifyParts(dir, parts)
  const list = await readObject(store, snapshotList(id), { maxBytes: MAX_LIST_BYTES })
  if (list !== null && list !== 'unchanged') {
    writeDurably(dir, snapshotList(id), list.bytes, lock.folder)
  }
  // The registry goes first: a snapshot must never have ids that the next build does not know of.
  writeDurably(dir, REGISTRY_FILE, contentOf(lock.folder, registry.file)!, lock.folder)
  if (states !== undefined) {
    writeDurably(dir, statesFile(id), contentOf(lock.folder, states.file)!, lock.folder)
  }
  const plain = plainManifest(bytes)
  keepManifest(dir, id, plain, lock)
  const after = listKept(dir).at(-1)!.sequence
  // A rollback of this folder that is not published yet stays.
  if (readHold(dir) === null) {
    if (hold !== null) writeHold(dir, id, after, now, lock)
    publishManifest(dir, plain, lock)
  }
  return { to: store.address, commit: name, tried: [], after }
}

/**
 * Fetches files that the folder lacks or has in another size. @throws RequestFault; BuildError on a full disk
 */
async function fetchFiles(source: Store, dir: string, files: readonly StoredFile[]): Promise<void> {
  const missing = files.filter(
    ({ file, bytes }) => statSync(join(dir, file), { throwIfNoEntry: false })?.size !== bytes,
  )
  await fewAtATime(missing, async (entry, signal) => {
    try {
      await fetchPart({ source, dir, entry, signal })
    } catch (error) {
      // Only faults of the file system have a number.
      if (!(error instanceof Error) || !('errno' in error)) throw error
      throw new BuildError(`${join(dir, entry.file)}: cannot be written: ${whyNotWritten(error)}`)
    }
  })
}

/** As `beginPublishing`; null where the bucket does not answer and the folder has something to go on with. */
export async function beginIfThere(options: PublishingOptions, lock: Lock): Promise<Publishing | null> {
  try {
    return await beginPublishing(options, lock)
  } catch (error) {
    const { dir, prefix, log } = options
    const isEmpty = listKept(dir).length === 0 && !existsSync(join(dir, MANIFEST_FILE))
    if (!(error instanceof RequestFault) || !error.passing || isEmpty) throw error
    writePublished(dir, publishedTo(dir, prefix), lock)
    log(`${error.message}; the build goes on with the state of ${dir}`, 'warning')
    return null
  }
}

/** The snapshot for the bucket: of a rollback that holds, else the newest built; null without one. */
export function pendingSnapshot({ dir, published }: Publishing): { id: string; bytes: Uint8Array } | null {
  const kept = readHold(dir) === null ? listKept(dir) : []
  const unpublished = kept.findLast(
    ({ sequence, manifest }) => sequence > published.after && manifest !== null,
  )
  const file = unpublished?.file ?? MANIFEST_FILE
  const manifest = manifestOf(join(dir, file))
  return manifest === null
    ? null
    : { id: manifest.id, bytes: readRegularFileSync(join(dir, file), MAX_MANIFEST_BYTES) }
}

/**
 * Publishes a snapshot in the bucket, then in the folder. @throws RequestFault: the snapshot is kept, and the
 * next build or `publish` tries again. BuildError where another builder was there first
 */
export async function publishSnapshot(
  { dir, prefix, now, log, lock, newest, published }: Publishing,
  { id, bytes }: { id: string; bytes: Uint8Array },
): Promise<Outcome> {
  const hold = readHold(dir)
  const isSame = newest?.manifest.id === id && (newest.hold === null) === (hold === null)
  const { files, state } = filesOf(dir, id, bytes)
  const named = new Set([snapshotList(id)])
  if (newest !== null) {
    for (const { file } of [...newest.manifest.parts, ...newest.state]) named.add(file)
    named.add(snapshotList(newest.manifest.id))
  }
  const put = await prefix.add(isSame ? files.filter(({ file }) => named.has(file)) : files, named)
  // Readers find the list by the snapshot's id. Its content may change after an export that failed before.
  const list = readSnapshotList(dir, id)
  if (list !== null) {
    const type = 'application/json'
    await prefix.store.put(snapshotList(id), encodeList(list), { type, cacheControl: CHANGING })
  }
  if (isSame) {
    settle(dir, newest, bytes, published, lock)
    return null
  }
  if (!lock.isHeld()) throw lostLock(dir)
  const record = {
    name: randomName(),
    writer: `process ${process.pid} on ${hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_')}`,
    at: Math.floor(now),
    hold: hold === null ? null : { since: hold.since },
    state,
  }
  const commit = decodeCommit(encodeCommit(bytes, record), MANIFEST_FILE)
  const tried = { ...published, tried: [...published.tried, commit.name] }
  writePublished(dir, tried, lock)
  const other = await prefix.replace(newest, commit, ownCommits(tried))
  if (other !== null) throw anotherBuilder(dir, prefix, other)
  settle(dir, commit, bytes, published, lock)
  // Readers of the snapshot before may still be at work.
  for (const { file } of files) named.add(file)
  await prefix.collect(commit, named, log)
  return put
}

function settle(
  dir: string,
  { name, manifest }: Commit,
  plain: Uint8Array,
  { to }: Published,
  lock: Lock,
): void {
  const isShown = readHold(dir) !== null || manifestOf(join(dir, MANIFEST_FILE))?.id === manifest.id
  if (!isShown) publishManifest(dir, plain, lock)
  const after = listKept(dir).at(-1)?.sequence ?? 0
  writePublished(dir, { to, commit: name, tried: [], after }, lock)
}

/** The commits that a folder has published to a bucket: none, if the two have not met. */
function publishedTo(dir: string, { address }: Prefix): Published {
  const known = readPublished(dir)
  return known?.to === address ? known : { to: address, commit: '', tried: [], after: 0 }
}

const ownCommits = ({ commit, tried }: Published): string[] => [commit, ...tried]

function anotherBuilder(dir: string, { address }: Prefix, there: Commit): BuildError {
  return new BuildError(
    `${address}: has ${commitText(there)}, which is not what ${dir} published last: another builder publishes there, or the store shows an old state. If it lags, wait some minutes and try again. One builder publishes to a prefix, and nothing of this one is published: give it an empty prefix, or an empty folder, which continues what the store has`,
  )
}

/** Files that a snapshot's commit names, and those that the next build needs beside the manifest. */
function filesOf(
  dir: string,
  id: string,
  manifest: Uint8Array,
): { files: FileToStore[]; state: FileToStore[] } {
  const { parts } = decodeManifest(manifest, MANIFEST_FILE)
  const inFolder = (part: StoredFile): FileToStore => ({ ...part, from: join(dir, part.file) })
  // Sources may have the same files as each other and as the snapshot.
  const more = new Map(stateParts(dir, id).map((part) => [part.file, part]))
  for (const { file } of parts) more.delete(file)
  const linesOf = (kind: 'registry' | 'given', file: string): FileToStore[] => {
    const from = contentOf(dir, file)
    if (from === null) return []
    const hash = sha256(from)
    return [{ file: `${kind}-${hash.slice(0, 32)}.jsonl`, bytes: from.length, sha256: hash, from }]
  }
  const registry = linesOf('registry', REGISTRY_FILE)
  if (registry.length === 0) {
    throw new BuildError(
      `${join(dir, REGISTRY_FILE)}: is missing, and the ids in it are published with a snapshot; the next build in this folder makes it again`,
    )
  }
  const state = [...registry, ...linesOf('given', statesFile(id)), ...[...more.values()].map(inFolder)]
  return { files: [...parts.map(inFolder), ...state], state }
}

function contentOf(dir: string, file: string): Uint8Array | null {
  return existsSync(join(dir, file)) ? readRegularFileSync(join(dir, file), MAX_STATE_BYTES) : null
}

/** Null for a folder that was never published. @throws BuildError for an unreadable file */
export function readPublished(dir: string): Published | null {
  const path = join(dir, PUBLISHED_FILE)
  try {
    const note = JSON.parse(readRegularFileSync(path, MAX_PUBLISHED_BYTES).toString('utf8')) as {
      [name: string]: unknown
    }
    const { format, version, to, commit, tried, after } = note
    const isOurs = format === PUBLISHED.format && version === PUBLISHED.version
    if (isOurs && Array.isArray(tried) && Number.isSafeInteger(after)) {
      return { to: String(to), commit: String(commit), tried: tried.map(String), after: after as number }
    }
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null
    if (isSystemFault(error)) throw new BuildError(`${path}: cannot be read (${error.code})`)
  }
  throw new BuildError(
    `${path}: is not of this version; remove it, and the next build compares folder and store again`,
  )
}

/** @throws BuildError when it cannot be written */
function writePublished(dir: string, { to, commit, tried, after }: Published, lock: Lock): void {
  const note = { ...PUBLISHED, to, commit, tried: tried.slice(-MOST_TRIED), after }
  writeDurably(dir, PUBLISHED_FILE, Buffer.from(`${JSON.stringify(note)}\n`), lock.folder)
  syncFolder(dir)
}
