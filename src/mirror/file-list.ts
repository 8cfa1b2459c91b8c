/**
 * The list of the files that a snapshot was exported as comes with its parts, where the source has one. No
 * snapshot waits for it.
 */
import { decodeList, MAX_LIST_BYTES, snapshotList } from '../snapshot/file-list.ts'
import { writeDurably } from '../snapshot/write.ts'
import { readUpTo, RequestFault } from '../store/web-request.ts'
import { BuildError } from '../system/build-error.ts'
import type { Lock } from '../system/lock.ts'
import type { Source } from './part.ts'

/** Without the right to list a bucket, a name that is not there is forbidden. */
const ABSENT = new Set([403, 404])

/** Why the list did not come though the source may have one; null where it came, or is not there. */
export async function fetchFileList(
  { source, dir, signal }: { source: Source; dir: string; signal: AbortSignal },
  id: string,
  lock: Lock,
): Promise<string | null> {
  const file = snapshotList(id)
  try {
    const bytes = await readList(source, file, signal)
    if (bytes === null) return null
    decodeList(bytes, `${source.address}: ${file}`)
    writeDurably(dir, file, bytes, lock.folder)
    return null
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RequestFault && ABSENT.has(error.status ?? 0)) return null
    if (error instanceof RequestFault || error instanceof BuildError) return error.message
    throw error
  }
}

async function readList(source: Source, file: string, signal: AbortSignal): Promise<Buffer | null> {
  const { status, body } = await source.get(file, { signal })
  if (status !== 200) {
    body.destroy()
    return null
  }
  return readUpTo(
    body,
    MAX_LIST_BYTES,
    () => new BuildError(`${source.address}: ${file} has more than ${MAX_LIST_BYTES} bytes`),
  )
}
