/**
 * Publishes a folder's snapshots to a prefix of a store. Read this file first. An empty folder continues the
 * store, any other has to have published what is there. The manifest is put on condition that the one of the
 * beginning is still there, so one of two builders is refused; what the store accepted becomes the folder's
 * snapshot.
 */
import { existsSync, renameSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import {
  commitText,
  decodeCommit,
  encodeCommit,
  filesNamed,
  plainManifest,
  type Commit,
  type CommitRecord,
} from '../../snapshot/commit.ts'
import { encodeList, MAX_LIST_BYTES, readSnapshotList, snapshotList } from '../../snapshot/file-list.ts'
import { sha256 } from '../../snapshot/snapshot-format.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES } from '../../snapshot/manifest.ts'
import { verifyParts } from '../../snapshot/read-snapshot.ts'
import { keepManifest, lostLock, publishManifest, writeDurably } from '../../snapshot/write-snapshot.ts'
import { readObject } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import type { Lock } from '../../system/lock.ts'
import { randomName } from '../../system/random-name.ts'
import { readRegularFileSync } from '../../system/regular-files.ts'
import { statesFile, stateParts } from '../source-state.ts'
import { listKept, manifestOf, nextKeptFile, readHold, writeHold } from '../../snapshot/retained.ts'
import { MAX_STATE_BYTES } from '../state-file.ts'
import { REGISTRY_FILE } from '../registry.ts'
import { readPublished, writePublished, type Published } from './published.ts'
import { collectObjects, fetchFiles, storeFiles, type FileToStore } from './prefix-files.ts'
import { CHANGING, formerFile, type Prefix, type StoredCommit } from './prefix.ts'
import type { LogLine } from '../../system/log.ts'

export interface PublishingOptions {
  dir: string
  prefix: Prefix
  keep: number
  now: number
  log: LogLine
}

/** What was put into the store for a snapshot; null where the store had it already. */
export type Outcome = { files: number; bytes: number } | null

/** What an operator should know of a snapshot that was published, or was there already. */
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
 * Compares folder and store; an empty folder continues what the store has. Run under the folder's lock.
 * @throws RequestFault; BuildError or SnapshotError where they do not belong together
 */
export async function beginPublishing(options: PublishingOptions, lock: Lock): Promise<Publishing> {
  const { dir, prefix, now, log } = options
  let published = publishedTo(dir, prefix)
  const newest = await prefix.newest()
  if (newest === null) {
    if (published.commit !== '') {
      throw new BuildError(
        `${prefix.address}: has no snapshot, and ${dir} has published there; is it the right store? To start over there, remove ${join(dir, 'published.json')}`,
      )
    }
    await prefix.expectEmpty()
  }
  await prefix.probe()
  if (newest !== null && !ownCommits(published).includes(newest.name)) {
    const built = listKept(dir).at(-1)?.id
    if (built === undefined ? hasHistory(dir) : built !== newest.manifest.id) {
      throw anotherBuilder(dir, prefix, newest)
    }
    published = await continueFrom(dir, prefix, newest, now, lock)
    log(`continues ${commitText(newest)} at ${prefix.address}`)
  }
  writePublished(dir, published, lock)
  return { ...options, lock, newest, published }
}

/**
 * Makes a folder continue a store's snapshot, ids, source states and hold; once killed, it starts over.
 * @param dir without snapshots, or with that of the commit as its newest
 * @throws RequestFault, SnapshotError or BuildError; then the folder's snapshot stays as it was
 */
async function continueFrom(
  dir: string,
  { store }: Prefix,
  { manifest, stateParts, registry, states, hold, bytes, name }: Commit,
  now: number,
  lock: Lock,
): Promise<Published> {
  const { id, parts } = manifest
  await fetchFiles(store, dir, [...parts, ...stateParts])
  await verifyParts(dir, parts)
  const list = await readObject(store, snapshotList(id), { maxBytes: MAX_LIST_BYTES })
  if (list !== null && list !== 'unchanged') {
    writeDurably(dir, snapshotList(id), list.bytes, lock.folder)
  }
  // The registry goes first: a snapshot must never have ids that the next build does not know of.
  const texts = new Map([[registry, REGISTRY_FILE]])
  if (states !== null) texts.set(states, statesFile(id))
  await fetchFiles(store, lock.folder, [...texts.keys()])
  if (!lock.isHeld()) throw lostLock(dir)
  for (const [{ file }, as] of texts) renameSync(join(lock.folder, file), join(dir, as))
  const plain = plainManifest(bytes)
  if (listKept(dir).at(-1)?.id !== id) keepManifest(dir, nextKeptFile(dir, id), plain, lock)
  const after = listKept(dir).at(-1)!.sequence
  // A rollback that was asked for here and is not published yet stays.
  if (readHold(dir) === null) {
    if (hold !== null) writeHold(dir, id, after, now, lock)
    publishManifest(dir, plain, lock)
  }
  return { to: store.address, commit: name, tried: [], after }
}

/** As `beginPublishing`; null where the store does not answer and the folder has something to go on with. */
export async function beginIfThere(options: PublishingOptions, lock: Lock): Promise<Publishing | null> {
  try {
    return await beginPublishing(options, lock)
  } catch (error) {
    const { dir, prefix, log } = options
    const isEmpty = listKept(dir).length === 0 && !hasHistory(dir)
    if (!(error instanceof RequestFault) || !error.passing || isEmpty) throw error
    writePublished(dir, publishedTo(dir, prefix), lock)
    log(`${error.message}; the build goes on upon what ${dir} has`, 'warning')
    return null
  }
}

/** The snapshot for the store: of a rollback that holds, else the newest built; null without one. */
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
 * Publishes a snapshot in the store, then in the folder. @throws RequestFault: the snapshot is kept, and the
 * next build or `publish` tries again. BuildError where another builder was there first
 */
export async function publishSnapshot(
  { dir, prefix, keep, now, log, lock, newest, published }: Publishing,
  { id, bytes }: { id: string; bytes: Uint8Array },
): Promise<Outcome> {
  const { store } = prefix
  const hold = readHold(dir)
  const isSame =
    newest?.manifest.id === id && newest.number === null && (newest.hold === null) === (hold === null)
  const { files, ...needs } = filesOf(dir, id, bytes)
  const named = new Set(newest === null ? [] : filesNamed(newest))
  const needed = isSame ? files.filter(({ file }) => named.has(file)) : files
  const put = await storeFiles(store, needed, named)
  // Readers find the list by the snapshot's id. Its content may change after an export that failed before.
  const list = readSnapshotList(dir, id)
  if (list !== null) {
    const type = 'application/json'
    await store.put(snapshotList(id), encodeList(list), { type, cacheControl: CHANGING })
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
    ...needs,
  }
  const commit = decodeCommit(encodeCommit(bytes, record), MANIFEST_FILE)
  // The replaced commit keeps its files for its readers.
  if (newest !== null) await store.put(formerFile(newest), newest.bytes, { cacheControl: CHANGING })
  const tried = { ...published, tried: [...published.tried, commit.name] }
  writePublished(dir, tried, lock)
  const other = await prefix.replace(newest, commit, ownCommits(tried))
  if (other !== null) throw anotherBuilder(dir, prefix, other)
  settle(dir, commit, bytes, published, lock)
  await collectObjects(prefix, commit, keep, log)
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

/** What a folder has published to a store: nothing, where the two have not met. */
function publishedTo(dir: string, { address }: Prefix): Published {
  const known = readPublished(dir)
  return known?.to === address ? known : { to: address, commit: '', tried: [], after: 0 }
}

const ownCommits = ({ commit, tried }: Published): string[] => [commit, ...tried]

/** Whether anybody can have seen ids of this folder: it has published a snapshot. */
function hasHistory(dir: string): boolean {
  return existsSync(join(dir, MANIFEST_FILE))
}

function anotherBuilder(dir: string, { address }: Prefix, there: Commit): BuildError {
  return new BuildError(
    `${address}: has ${commitText(there)}, which is not what ${dir} published last: another builder publishes there, or the store shows an old state. One builder publishes to a prefix, and nothing of this one is published: give it an empty prefix, or an empty folder, which continues what the store has`,
  )
}

function filesOf(
  dir: string,
  id: string,
  manifest: Uint8Array,
): Pick<CommitRecord, 'registry' | 'states' | 'stateParts'> & { files: FileToStore[] } {
  const entries = decodeManifest(manifest, MANIFEST_FILE).parts
  // Sources may have given the same, and what the snapshot has.
  const more = new Map(stateParts(dir, id).map((part) => [part.file, part]))
  for (const { file } of entries) more.delete(file)
  const registry = contentOf(dir, REGISTRY_FILE, 'registry')
  if (registry === null) {
    throw new BuildError(
      `${join(dir, REGISTRY_FILE)}: is missing, and the ids in it are published with a snapshot; the next build in this folder makes it anew`,
    )
  }
  const states = contentOf(dir, statesFile(id), 'given')
  const parts = [...more.values()]
  const fromDisk = [...entries, ...parts].map((part) => ({ ...part, from: join(dir, part.file) }))
  const made = states === null ? [registry] : [registry, states]
  return { files: [...fromDisk, ...made], registry, states, stateParts: parts }
}

/** A file of the folder under a name by its content; null where there is none. */
function contentOf(dir: string, file: string, kind: 'registry' | 'given'): FileToStore | null {
  if (!existsSync(join(dir, file))) return null
  const bytes = readRegularFileSync(join(dir, file), MAX_STATE_BYTES)
  const hash = sha256(bytes)
  return { file: `${kind}-${hash.slice(0, 32)}.jsonl`, bytes: bytes.length, sha256: hash, from: bytes }
}
