/**
 * Files between folders and stores, a few at a time. What comes is hashed on its way into a temporary file;
 * only the right bytes get the part's name, and a download that breaks off starts over.
 */
import { createHash } from 'node:crypto'
import { createWriteStream, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { randomName } from '../../system/replace-file.ts'
import { TEMPORARY_PREFIX } from '../write-snapshot.ts'
import { receive, type ReadableStore } from './store.ts'
import { RequestFault } from './web-request.ts'

/** A file in a store, which never changes. */
export interface StoredFile {
  file: string
  bytes: number
  sha256: string
}

interface PartRequest {
  source: ReadableStore
  dir: string
  entry: StoredFile
  signal: AbortSignal
  /** Called with the number of bytes that came over the network. */
  onBytes?: (count: number) => void
}

/** Brings a file into the folder. @throws RequestFault, a fault of the disk, or the reason of `signal` */
export async function fetchPart({ source, dir, entry, signal, onBytes }: PartRequest): Promise<void> {
  const { file, bytes, sha256 } = entry
  const temporary = join(dir, `${TEMPORARY_PREFIX}${randomName()}-${file}`)
  const fault = (what: string, passing = false): RequestFault =>
    new RequestFault(`${source.address}: ${file} ${what}`, { passing })
  try {
    const came = await receive(source, file, { signal }, async ({ body }) => {
      const hash = createHash('sha256')
      let count = 0
      const counted = async function* (): AsyncGenerator<Buffer> {
        for await (const chunk of body as AsyncIterable<Buffer>) {
          count += chunk.length
          if (count > bytes) throw fault(`has more bytes than the ${bytes} that the manifest says`)
          hash.update(chunk)
          onBytes?.(chunk.length)
          yield chunk
        }
      }
      await pipeline(counted(), createWriteStream(temporary, { flush: true, mode: 0o644 }), { signal })
      if (count < bytes) throw fault(`ends at byte ${count} of ${bytes}`, true)
      if (hash.digest('hex') !== sha256) {
        throw fault('has other bytes than the manifest says: they do not have its hash')
      }
      return count
    })
    if (came === null) throw fault('is missing, although the manifest names it')
    renameSync(temporary, join(dir, file))
  } catch (error) {
    rmSync(temporary, { force: true })
    signal.throwIfAborted()
    throw error
  }
}

const CONNECTIONS = 4

/** Runs `task` on all items. The first fault ends the others, and is thrown when all have ended. */
export async function fewAtATime<T>(
  items: readonly T[],
  task: (item: T, signal: AbortSignal) => Promise<void>,
  stopping?: AbortSignal,
): Promise<void> {
  const failing = new AbortController()
  const signal = AbortSignal.any([failing.signal, ...(stopping === undefined ? [] : [stopping])])
  const queue = [...items]
  let first: unknown = null
  const connection = async (): Promise<void> => {
    try {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await task(item, signal)
    } catch (error) {
      first ??= error
      queue.length = 0
      failing.abort()
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, connection))
  if (first !== null) throw first
}
