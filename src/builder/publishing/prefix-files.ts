/** Moves files that never change between a folder and a store, each checked by its hash. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { fewAtATime } from '../../snapshot/store/few-at-a-time.ts'
import { fetchPart, removeHalves, type StoredFile } from '../../snapshot/store/fetch-part.ts'
import { StoreError, type Store } from '../../snapshot/store/store.ts'
import { BuildError } from '../../system/build-error.ts'
import { whyNotWritten } from '../../system/file-faults.ts'
import { NEVER_CHANGING } from './prefix.ts'

/** Age from which unnamed objects are collected, by the store's clock. */
export const COLLECTED_AFTER_S = 86_400

/** Fetches files that the folder lacks in their size. @throws RequestFault; BuildError on a full disk */
export async function fetchFiles(store: Store, dir: string, files: readonly StoredFile[]): Promise<void> {
  const missing = files.filter(
    ({ file, bytes }) => statSync(join(dir, file), { throwIfNoEntry: false })?.size !== bytes,
  )
  await fewAtATime(missing, async (entry, signal) => {
    try {
      await fetchPart({ source: store, dir, entry, signal })
    } catch (error) {
      // Faults of the file system are those with a number.
      if (!(error instanceof Error) || !('errno' in error)) throw error
      throw new BuildError(`${join(dir, entry.file)}: cannot be written: ${whyNotWritten(error)}`)
    }
  })
  removeHalves(dir)
}

/** A file of a folder that is to be in the store, or a text made for it. */
export type FileToStore = StoredFile & { from: string | Uint8Array }

/**
 * Puts files that the store lacks, and those that could be collected before a commit names them. `named` are
 * those of the newest commit, which nobody collects. Returns number and bytes.
 * @throws StoreError, also where the store does not list them then
 */
export async function storeFiles(
  store: Store,
  files: readonly FileToStore[],
  named: ReadonlySet<string>,
): Promise<{ files: number; bytes: number }> {
  const { objects, now } = await store.list('')
  const there = new Map(objects.map((object) => [object.name, object]))
  const wanted = files.filter(({ file, bytes }) => {
    const object = there.get(file)
    if (object?.bytes !== bytes) return true
    return !named.has(file) && now !== null && now - object.modified > COLLECTED_AFTER_S / 2
  })
  await fewAtATime(wanted, async ({ file, bytes, sha256, from }, signal) => {
    const body = typeof from === 'string' ? { path: from, bytes } : from
    await store.put(file, body, { sha256, cacheControl: NEVER_CHANGING, signal })
  })
  const listed = wanted.length === 0 ? objects : (await store.list('')).objects
  const sizes = new Map(listed.map(({ name, bytes }) => [name, bytes]))
  for (const { file, bytes } of files) {
    const size = sizes.get(file)
    if (size === bytes) continue
    throw new StoreError(
      `${store.address}/${file}: ${size === undefined ? 'the store took it and does not list it' : `the store took ${bytes} bytes and lists ${size}`}; nothing is published`,
    )
  }
  return { files: wanted.length, bytes: wanted.reduce((sum, { bytes }) => sum + bytes, 0) }
}
