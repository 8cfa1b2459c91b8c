/** Which snapshot a request asks: the parameter `snapshot`, and others that name one. */
import { ApiError } from './errors.ts'

/** Ids of snapshots are the first 96 bits of a hash. */
const SNAPSHOT_ID = /^[0-9a-f]{24}$/
const ALLOWED = 'the id of a snapshot, once, as X-Snapshot-Id names it'

/**
 * `value` of the parameter `name` as the id of a snapshot; null where it was given several times or cannot be
 * decoded.
 * @throws ApiError 400
 */
export function snapshotId(name: string, value: string | null): string {
  if (value !== null && SNAPSHOT_ID.test(value)) return value
  throw new ApiError('bad_request', `Parameter ${name} is malformed. Allowed: ${ALLOWED}`, {
    parameter: name,
  })
}

/** The parameter `name` names a snapshot that is not held; `current` is the one that is served now. */
export function snapshotGone(name: string, current: string): ApiError {
  return new ApiError(
    'snapshot_gone',
    `Parameter ${name} names a snapshot that is not held any more, or never was. Current: ${current}`,
    { parameter: name, current },
  )
}
