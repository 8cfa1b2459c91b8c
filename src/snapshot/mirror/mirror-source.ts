/** What a mirror asks its source for other than parts: the manifest, and the list of exported files. */
import { decodeList, MAX_LIST_BYTES, snapshotList } from '../file-list.ts'
import { SnapshotError } from '../snapshot-format.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES, type Manifest } from '../manifest.ts'
import { writeDurably } from '../write-snapshot.ts'
import { readObject, type ReadableStore } from '../store/store.ts'
import { RequestFault } from '../store/web-request.ts'
import { BuildError } from '../../system/build-error.ts'
import type { Lock } from '../../system/lock.ts'

const MANIFEST_MS = 30_000
/** Without the right to list a bucket, a name that is not there is forbidden. */
const ABSENT = new Set([403, 404])

export interface Shown {
  manifest: Manifest
  bytes: Uint8Array
  /** When the manifest was written, epoch seconds, by the source's clock; null if unknown. */
  publishedAt: number | null
  etag: string | null
}

/** @throws RequestFault when the source shows no manifest */
export async function readShown(
  source: ReadableStore,
  etag: string | null,
  stopping: AbortSignal,
): Promise<Shown | 'unchanged'> {
  const what = `${source.address}: ${MANIFEST_FILE}`
  const limit = AbortSignal.timeout(MANIFEST_MS)
  try {
    const signal = AbortSignal.any([stopping, limit])
    const asked = { maxBytes: MAX_MANIFEST_BYTES, ifNoneMatch: etag, signal }
    const found = await readObject(source, MANIFEST_FILE, asked)
    if (found === 'unchanged') return found
    if (found === null) {
      throw new RequestFault(`${what} is not there (404); is this the address of a snapshot folder?`)
    }
    const { bytes, modified } = found
    const isDated = modified !== null && modified > 0 && modified < 2 ** 32
    const publishedAt = isDated ? modified : null
    return { manifest: manifestIn(bytes, source), bytes, publishedAt, etag: found.etag }
  } catch (error) {
    if (!limit.aborted) throw error
    throw new RequestFault(`${what} did not come within ${MANIFEST_MS / 1000} s`)
  }
}

function manifestIn(bytes: Buffer, { address }: ReadableStore): Manifest {
  try {
    return decodeManifest(bytes, MANIFEST_FILE)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    const isPage = /^\s*</.test(bytes.toString('latin1', 0, 100))
    throw new RequestFault(
      isPage
        ? `${address}: ${MANIFEST_FILE} is a web page, not a manifest; is this the address of a snapshot folder?`
        : `${address}: ${error.message}`,
    )
  }
}

/** Fetches the list of a snapshot's exported files; no snapshot waits for it. Returns why it failed. */
export async function fetchFileList(
  source: ReadableStore,
  id: string,
  { dir, lock, signal }: { dir: string; lock: Lock; signal: AbortSignal },
): Promise<string | null> {
  const file = snapshotList(id)
  const what = `${source.address}: ${file}`
  try {
    const found = await readObject(source, file, { maxBytes: MAX_LIST_BYTES, signal })
    if (found === null || found === 'unchanged') return null
    decodeList(found.bytes, what)
    writeDurably(dir, file, found.bytes, lock.folder)
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RequestFault && ABSENT.has(error.status ?? 0)) return null
    if (error instanceof RequestFault || error instanceof BuildError) return error.message
    throw error
  }
}
