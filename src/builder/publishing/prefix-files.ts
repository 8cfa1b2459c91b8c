/** Moves files that never change between a folder and a store, a few at a time, each checked by its hash. */
import { createHash } from 'node:crypto'
import { statSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredFile } from '../../snapshot/commit.ts'
import { TEMPORARY_PREFIX } from '../../snapshot/write-snapshot.ts'
import { StoreError, type Listing, type Store } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { whyNotWritten } from '../../system/file-faults.ts'
import { randomName } from '../../system/random-name.ts'
import { NEVER_CHANGING } from './prefix.ts'

/** Files that are moved at a time. */
const CONNECTIONS = 4
/** Attempts at a body that breaks off. The store itself tries again until a body begins. */
const ATTEMPTS = 6
/** Age from which unnamed objects are collected, by the store's clock. */
export const COLLECTED_AFTER_S = 86_400

/**
 * Brings files into a folder that does not have them in their size.
 * @returns their names
 * @throws StoreError, or BuildError when the disk is full or the store has other bytes
 */
export async function fetchFiles(
  store: Store,
  dir: string,
  files: readonly StoredFile[],
): Promise<Set<string>> {
  const missing = files.filter(({ file, bytes }) => {
    const info = statSync(join(dir, file), { throwIfNoEntry: false })
    return info === undefined || info.size !== bytes
  })
  await eachOf(missing, async (file) => fetchFile(store, dir, file))
  return new Set(missing.map(({ file }) => file))
}

async function fetchFile(store: Store, dir: string, stored: StoredFile): Promise<void> {
  const temporary = join(dir, `${TEMPORARY_PREFIX}${randomName()}-${stored.file}`)
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        await fetchOnce(store, temporary, stored)
        break
      } catch (error) {
        if (!(error instanceof RequestFault) || !error.passing || attempt === ATTEMPTS) throw error
      }
    }
    renameSync(temporary, join(dir, stored.file))
  } catch (error) {
    rmSync(temporary, { force: true })
    // Only the file system's own faults have a number.
    if (!(error instanceof Error) || !('errno' in error)) throw error
    throw new BuildError(`${join(dir, stored.file)}: cannot be written: ${whyNotWritten(error)}`)
  }
}

/** @throws StoreError that may pass where bytes are missing or differ from those of the commit */
async function fetchOnce(store: Store, path: string, { file, bytes, sha256 }: StoredFile): Promise<void> {
  const { status, body } = await store.get(file)
  const what = `${store.address}/${file}`
  if (status !== 200) {
    throw new StoreError(`${what}: is missing, although the newest commit needs it`, { status })
  }
  const target = await open(path, 'w', 0o644)
  try {
    const hash = createHash('sha256')
    let length = 0
    for await (const chunk of body as AsyncIterable<Buffer>) {
      length += chunk.length
      if (length > bytes) break
      hash.update(chunk)
      for (let at = 0; at < chunk.length;) at += (await target.write(chunk, at)).bytesWritten
    }
    if (length !== bytes || hash.digest('hex') !== sha256) {
      throw new StoreError(`${what}: has other bytes than its commit says`, { passing: true })
    }
    await target.datasync()
  } finally {
    body.destroy()
    await target.close()
  }
}

/** A file of a folder that is to be in the store, or a text made for it. */
export type FileToStore = StoredFile & { from: string | Uint8Array }

/**
 * Puts the files that the store does not have, and again those that could be collected before a commit names
 * them.
 * @param named files that the newest commit names, which nobody collects
 * @returns the number and bytes of files that were put
 * @throws StoreError
 */
export async function storeFiles(
  store: Store,
  { objects, now }: Listing,
  files: readonly FileToStore[],
  named: ReadonlySet<string>,
  single: boolean,
): Promise<{ files: number; bytes: number }> {
  const there = new Map(objects.map((object) => [object.name, object]))
  const wanted = files.flatMap((file) => {
    const object = there.get(file.file)
    if (object === undefined) return { file, isNew: true }
    const isOld = !named.has(file.file) && now !== null && now - object.modified > COLLECTED_AFTER_S / 2
    return object.bytes === file.bytes && !isOld ? [] : { file, isNew: false }
  })
  await eachOf(wanted, async ({ file: { file, bytes, sha256, from }, isNew }) => {
    await store.put(file, typeof from === 'string' ? { path: from, bytes } : from, {
      sha256,
      cacheControl: NEVER_CHANGING,
      ...(isNew && !single && { ifNoneMatch: '*' as const }),
    })
  })
  return { files: wanted.length, bytes: wanted.reduce((sum, { file }) => sum + file.bytes, 0) }
}

/** @throws StoreError unless the store lists all files in their size */
export function expectStored(store: Store, { objects }: Listing, files: readonly StoredFile[]): void {
  const sizes = new Map(objects.map(({ name, bytes }) => [name, bytes]))
  for (const { file, bytes } of files) {
    const size = sizes.get(file)
    if (size === bytes) continue
    throw new StoreError(
      `${store.address}/${file}: ${size === undefined ? 'the store took it and does not list it' : `the store took ${bytes} bytes and lists ${size}`}; nothing is published`,
    )
  }
}

/** Runs `task` on all items, a few at a time. The first fault ends it. */
async function eachOf<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items]
  let failed = false
  await Promise.all(
    Array.from({ length: Math.min(CONNECTIONS, queue.length) }, async () => {
      for (let item = queue.shift(); item !== undefined && !failed; item = queue.shift()) {
        try {
          await task(item)
        } catch (error) {
          failed = true
          throw error
        }
      }
    }),
  )
}
