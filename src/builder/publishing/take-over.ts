/**
 * A folder takes over what a store has newest: its snapshot, its registry of ids, the states of its sources
 * and its hold. Killed at any point, it is done again from the beginning.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { plainManifest, type Commit, type StoredFile } from '../../snapshot/commit.ts'
import { MAX_LIST_BYTES, snapshotList } from '../../snapshot/file-list.ts'
import { SnapshotError, sha256 } from '../../snapshot/snapshot-format.ts'
import { MANIFEST_FILE } from '../../snapshot/manifest.ts'
import { verifyParts } from '../../snapshot/read-snapshot.ts'
import { keepManifest, publishManifest, writeDurably } from '../../snapshot/write-snapshot.ts'
import { StoreError } from '../../snapshot/store/store.ts'
import { BuildError } from '../../system/build-error.ts'
import type { Lock } from '../../system/lock.ts'
import { givenFile } from '../source-state.ts'
import {
  keptFiles,
  listKept,
  manifestOf,
  nextKeptFile,
  readHold,
  removeHold,
  writeHold,
} from '../../snapshot/retained.ts'
import { REGISTRY_FILE } from '../registry.ts'
import { MAX_STATE_BYTES } from '../state-file.ts'
import { writeAgreed, type Agreed } from './agreed.ts'
import { fetchFiles } from './prefix-files.ts'
import type { Prefix } from './prefix.ts'

/**
 * @param before what folder and store agreed on; null for a folder that never was in agreement
 * @param now epoch seconds
 * @throws StoreError, SnapshotError or BuildError; then the folder's snapshot stays as it was
 */
export async function takeOver(
  dir: string,
  prefix: Prefix,
  commit: Commit,
  before: Agreed | null,
  now: number,
  lock: Lock,
): Promise<Agreed> {
  const { manifest, stateParts, registry, states, hold } = commit
  const came = await fetchFiles(prefix.store, dir, [...manifest.parts, ...stateParts])
  await expectWhole(dir, prefix, commit, came)
  const registryBytes = await fetched(prefix, registry)
  const statesBytes = states === null ? null : await fetched(prefix, states)
  // The registry goes first: a snapshot must never have ids that the next build does not know of.
  writeDurably(dir, REGISTRY_FILE, registryBytes, lock.folder)
  if (statesBytes !== null) writeDurably(dir, givenFile(manifest.id), statesBytes, lock.folder)
  const ownHold = readHold(dir) !== null && before?.held !== true
  if (before !== null && !ownHold) dropUnpublished(dir, before, manifest.id, lock)
  const list = await prefix.store.read(snapshotList(manifest.id), { maxBytes: MAX_LIST_BYTES })
  if (list !== null && list !== 'unchanged') {
    writeDurably(dir, snapshotList(manifest.id), list.bytes, lock.folder)
  }
  const bytes = plainManifest(commit.bytes)
  if (listKept(dir).at(-1)?.id !== manifest.id) {
    keepManifest(dir, nextKeptFile(dir, manifest.id), bytes, lock)
  }
  const after = listKept(dir).at(-1)!.sequence
  if (hold !== null && !ownHold) writeHold(dir, manifest.id, after, now, lock)
  // A rollback that was asked for here, and is not published yet, stays.
  if (!ownHold) {
    if (manifestOf(join(dir, MANIFEST_FILE))?.id !== manifest.id) publishManifest(dir, bytes, lock)
    if (hold === null) removeHold(dir, lock)
  }
  const agreed = {
    to: prefix.address,
    number: commit.number,
    commit: commit.builder,
    after,
    held: hold !== null,
  }
  writeAgreed(dir, agreed, lock)
  return agreed
}

/** Reads the parts that came as a server would. @throws SnapshotError that names the store */
async function expectWhole(
  dir: string,
  prefix: Prefix,
  { manifest, number }: Commit,
  came: ReadonlySet<string>,
): Promise<void> {
  try {
    await verifyParts(
      dir,
      manifest.parts.filter(({ file }) => came.has(file)),
    )
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    throw new SnapshotError(`${prefix.address}, number ${number}: ${error.message}; it is not taken over`)
  }
}

async function fetched(prefix: Prefix, stored: StoredFile): Promise<Buffer> {
  const object = await prefix.store.read(stored.file, { maxBytes: Math.min(stored.bytes, MAX_STATE_BYTES) })
  const what = `${prefix.address}/${stored.file}`
  if (object === null || object === 'unchanged') {
    throw new StoreError(`${what}: is missing, although the newest commit needs it`)
  }
  if (sha256(object.bytes) !== stored.sha256) {
    throw new StoreError(`${what}: has other bytes than its commit says`)
  }
  return object.bytes
}

/**
 * Drops snapshots that were built upon what the store had before and were never published: a rollback to one
 * of them would bring ids that were never given.
 */
function dropUnpublished(dir: string, { after }: Agreed, newId: string, lock: Lock): void {
  const current = manifestOf(join(dir, MANIFEST_FILE))?.id
  const dropped = listKept(dir).filter(
    ({ sequence, id, pinned }) => sequence > after && id !== newId && id !== current && !pinned,
  )
  if (dropped.length === 0) return
  if (!lock.isHeld()) throw new BuildError(`${dir}: another builder took over`)
  for (const { file } of dropped) rmSync(join(dir, file), { force: true })
}

/** The sequence number of the newest kept snapshot; 0 where there is none. */
export function newestSequence(names: readonly string[]): number {
  return keptFiles(names).at(-1)?.sequence ?? 0
}
