/** Moves files that never change between a folder and a store, checked by hash, and removes old ones. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { filesNamed, type Commit } from '../../snapshot/commit.ts'
import { fewAtATime } from '../../snapshot/store/few-at-a-time.ts'
import { fetchPart, type StoredFile } from '../../snapshot/store/fetch-part.ts'
import { StoreError, type Store } from '../../snapshot/store/store.ts'
import { RequestFault } from '../../snapshot/store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import { whyNotWritten } from '../../system/file-faults.ts'
import { CONTENT, FORMER, NEVER_CHANGING, NUMBERED, type Prefix } from './prefix.ts'
import type { LogLine } from '../../system/log.ts'

/** Age from which unnamed objects are collected, by the store's clock. */
const COLLECTED_AFTER_S = 86_400
/** A name that was listed longer ago may be another builder's by now. */
const LISTING_HOLDS_MS = 60_000

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

/**
 * Removes objects with names of ours that no kept commit names, and none younger than a day by the store's
 * clock: another builder or a reader may be about to need them. A fault of a store is only logged, since the
 * next build collects, too.
 * @param keep commits that stay, however old, with the newest one
 */
export async function collectObjects(
  prefix: Prefix,
  newest: Commit,
  keep: number,
  log: LogLine,
): Promise<void> {
  try {
    await collect(prefix, newest, keep)
  } catch (error) {
    if (!(error instanceof RequestFault) && !(error instanceof BuildError)) throw error
    log(`old objects stay for now: ${error.message}`, 'warning')
  }
}

async function collect(prefix: Prefix, newest: Commit, keep: number): Promise<void> {
  const { objects, now } = await prefix.store.list('')
  const listedAt = performance.now()
  // Ages are those of the store's clock alone: ours may be wrong.
  if (now === null) return
  const isOld = ({ modified }: { modified: number }): boolean => now - modified > COLLECTED_AFTER_S
  const former = objects.filter(({ name }) => FORMER.test(name)).toSorted((a, b) => a.modified - b.modified)
  // A builder of an older version goes by numbers, and would put its own newest one in the place of ours.
  const dropped = former.filter(
    (object, i) => NUMBERED.test(object.name) || (i <= former.length - keep && isOld(object)),
  )
  const garbage = objects.filter((object) => CONTENT.test(object.name) && isOld(object))
  if (dropped.length + garbage.length === 0) return
  const named = new Set(filesNamed(newest))
  for (const object of former) {
    if (dropped.includes(object)) continue
    const commit = await prefix.commit(object.name)
    for (const file of commit === null ? [] : filesNamed(commit)) named.add(file)
  }
  if ((await prefix.newest())?.name !== newest.name) return
  // Commits go first: a commit must not outlive its parts.
  for (const { name } of [...dropped, ...garbage.filter((object) => !named.has(object.name))]) {
    if (performance.now() - listedAt > LISTING_HOLDS_MS) return
    await prefix.store.remove(name)
  }
}
