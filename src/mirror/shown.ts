/** What a source shows: its manifest, or why there is none. */
import { SnapshotError } from '../snapshot/format.ts'
import { decodeManifest, MANIFEST_FILE, MAX_MANIFEST_BYTES, type Manifest } from '../snapshot/manifest.ts'
import { readUpTo } from '../store/web-request.ts'
import { MirrorFault } from './fault.ts'
import type { Wanted } from './folder.ts'
import type { Source } from './part.ts'

/** For the whole of a manifest. */
const MANIFEST_MS = 30_000

export type Shown = Wanted & { etag: string | null }

/** The source's manifest. @throws RequestFault, MirrorFault when it shows none */
export async function readShown(
  source: Source,
  etag: string | null,
  stopping: AbortSignal,
): Promise<Shown | 'unchanged'> {
  const limit = AbortSignal.timeout(MANIFEST_MS)
  try {
    return await shownBy(source, etag, AbortSignal.any([stopping, limit]))
  } catch (error) {
    if (!limit.aborted) throw error
    throw new MirrorFault(`${source.address}: ${MANIFEST_FILE} did not come within ${MANIFEST_MS / 1000} s`)
  }
}

async function shownBy(
  source: Source,
  etag: string | null,
  signal: AbortSignal,
): Promise<Shown | 'unchanged'> {
  const what = `${source.address}: ${MANIFEST_FILE}`
  const { status, headers, body } = await source.get(MANIFEST_FILE, { ifNoneMatch: etag, signal })
  if (status === 304 && etag !== null) return 'unchanged'
  if (status === 404) {
    throw new MirrorFault(`${what} is not there (404); is this the address of a snapshot folder?`)
  }
  if (status !== 200) {
    body.destroy()
    throw new MirrorFault(`${what} is answered with ${status}, which was not asked for`)
  }
  const bytes = await readUpTo(
    body,
    MAX_MANIFEST_BYTES,
    () => new MirrorFault(`${what} has more than ${MAX_MANIFEST_BYTES} bytes`),
  )
  if (headers['content-length'] !== undefined && Number(headers['content-length']) !== bytes.length) {
    throw new MirrorFault(`${what} ends at byte ${bytes.length} of ${headers['content-length']}`)
  }
  return {
    manifest: readManifestOf(bytes, what),
    bytes,
    publishedAt: modifiedTime(headers),
    etag: headers.etag ?? null,
  }
}

function readManifestOf(bytes: Buffer, what: string): Manifest {
  try {
    return decodeManifest(bytes, MANIFEST_FILE)
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error
    if (/^\s*</.test(bytes.toString('latin1', 0, 100))) {
      throw new MirrorFault(
        `${what} is a web page, not a manifest; is this the address of a snapshot folder?`,
      )
    }
    throw new MirrorFault(`${what.slice(0, -MANIFEST_FILE.length)}${error.message}`)
  }
}

/** `Last-Modified` in epoch seconds; null where it is missing or malformed. */
function modifiedTime(headers: { readonly [name: string]: string | undefined }): number | null {
  const time = Date.parse(headers['last-modified'] ?? '') / 1000
  return Number.isFinite(time) && time > 0 && time < 2 ** 32 ? time : null
}
