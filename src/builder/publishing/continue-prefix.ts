/** Makes a folder continue a store's snapshot, ids, source states and hold; once killed, it starts over. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { plainManifest, type Commit } from '../../snapshot/commit.ts'
import { MAX_LIST_BYTES, snapshotList } from '../../snapshot/file-list.ts'
import { verifyParts } from '../../snapshot/read-snapshot.ts'
import { keepManifest, lostLock, publishManifest, writeDurably } from '../../snapshot/write-snapshot.ts'
import type { Lock } from '../../system/lock.ts'
import { REGISTRY_FILE } from '../registry.ts'
import { listKept, nextKeptFile, readHold, writeHold } from '../../snapshot/retained.ts'
import { givenFile } from '../source-state.ts'
import type { Agreed } from './agreed.ts'
import { fetchFiles } from './prefix-files.ts'
import type { Prefix } from './prefix.ts'

/**
 * @param dir without snapshots, or with that of the commit as its newest
 * @param now epoch seconds
 * @throws RequestFault, SnapshotError or BuildError; then the folder's snapshot stays as it was
 */
export async function continueFrom(
  dir: string,
  { store }: Prefix,
  { manifest, stateParts, registry, states, hold, bytes, name }: Commit,
  now: number,
  lock: Lock,
): Promise<Agreed> {
  const { id, parts } = manifest
  await fetchFiles(store, dir, [...parts, ...stateParts])
  await verifyParts(dir, parts)
  const list = await store.read(snapshotList(id), { maxBytes: MAX_LIST_BYTES })
  if (list !== null && list !== 'unchanged') {
    writeDurably(dir, snapshotList(id), list.bytes, lock.folder)
  }
  // The registry goes first: a snapshot must never have ids that the next build does not know of.
  const texts = new Map([[registry, REGISTRY_FILE]])
  if (states !== null) texts.set(states, givenFile(id))
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
