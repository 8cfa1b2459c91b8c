/** The keys file: read and checked whole, changed under a lock, watched. It holds hashes of keys only. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { readRegularFileSync, UnfitFile } from '../system/regular-files.ts'
import { codeInWords, errorCode } from '../system/file-faults.ts'
import { lock, LockError, type Lock } from '../system/lock.ts'
import { removeLeftovers, replaceFile } from '../system/replace-file.ts'
import {
  issued,
  MAX_KEYS,
  recordFault,
  type Changed,
  type IssuedKey,
  type KeyRecord,
  type KeyRequest,
} from './key-records.ts'
import { readUsage, usagePath } from './usage-file.ts'

const FORMAT = 1
export const MAX_FILE_BYTES = 64 * 1024 * 1024
// A change of the largest file takes less than a second.
const LOCK_PATIENCE_MS = 5000

/** A keys file or lock with a fault. The message names the file and the fault, never content. */
export class KeysFileError extends Error {
  override readonly name = 'KeysFileError'
}

/** A missing file has no keys. @throws KeysFileError when it cannot be read or is not a whole keys file */
export const loadKeys = (path: string): KeyRecord[] => readKeys(path) ?? []

/** Null for a missing file. @throws KeysFileError as `loadKeys` does */
function readKeys(path: string): KeyRecord[] | null {
  const text = readText(path)
  if (text === null) return null
  const records = parseKeys(text)
  // An error made further down would keep up to 64 MB of the file alive by the functions on its stack.
  if (typeof records === 'string') throw new KeysFileError(`${path}: ${records}`)
  return records
}

/** Null for a missing file. @throws KeysFileError for one that cannot be read */
export function readText(path: string): string | null {
  try {
    return readRegularFileSync(path, MAX_FILE_BYTES).toString('utf8')
  } catch (error) {
    if (error instanceof UnfitFile) throw new KeysFileError(`${path}: ${error.message}`)
    if (errorCode(error) === 'ENOENT') return null
    throw new KeysFileError(`${path}: cannot be read ${codeInWords(error)}`)
  }
}

function stampAt(path: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true })
    return `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`
  } catch (error) {
    return errorCode(error)
  }
}

export function parseKeys(text: string): KeyRecord[] | string {
  let content: unknown
  try {
    content = JSON.parse(text)
  } catch {
    // The parser's own message would quote the text around the error.
    return 'not valid JSON'
  }
  if (typeof content !== 'object' || content === null) return 'not a JSON object'
  const { format, keys } = content as Record<string, unknown>
  if (format !== FORMAT) return `"format" is not ${FORMAT}`
  if (!Array.isArray(keys)) return '"keys" is not an array'
  if (keys.length > MAX_KEYS) return `more than ${MAX_KEYS} keys`
  const seen = { id: new Set<string>(), owner: new Set<string>(), hash: new Set<string>() }
  for (const [at, item] of keys.entries()) {
    const fault = recordFault(item)
    if (fault !== null) return `keys[${at}]: ${fault}`
    const record = item as KeyRecord
    for (const field of ['id', 'owner', 'hash'] as const) {
      if (seen[field].has(record[field])) return `keys[${at}]: the same "${field}" as an earlier key`
      seen[field].add(record[field])
    }
  }
  return keys as KeyRecord[]
}

/** The text of a keys file. @param more members before the keys, as `"name":value,` */
export function keysText(records: readonly KeyRecord[], more = ''): string {
  // One line per key: a difference between two versions shows the key that changed.
  const lines = records.map((record) => JSON.stringify(record))
  return `{"format":${FORMAT},${more}"keys":[\n${lines.join(',\n')}\n]}\n`
}

/**
 * Changes the keys file under its lock: `change` gets the records, and returns the new ones and a result.
 * @throws KeysFileError, and whatever `change` throws; the file is unchanged then.
 */
export function changeKeys<Result>(
  path: string,
  change: (records: readonly KeyRecord[]) => Changed<Result>,
): Result {
  const target = followed(path)
  const held = lockFile(target)
  try {
    removeLeftovers(target)
    const [records, result] = change(loadKeys(target))
    const text = keysText(records)
    if (Buffer.byteLength(text) > MAX_FILE_BYTES)
      throw new KeysFileError(`${path}: is unchanged: it would become larger than 64 MiB`)
    try {
      replaceFile(target, text, held.folder)
    } catch (error) {
      throw new KeysFileError(
        existsSync(held.folder)
          ? `${path}: cannot be written (${errorCode(error)})`
          : `${path}: is unchanged: another command took its lock over while this one was stalled; run it again`,
      )
    }
    return result
  } finally {
    held.release()
  }
}

/** @throws KeyCommandError, KeysFileError */
export function issueKey(path: string, request: KeyRequest): IssuedKey {
  return changeKeys(path, (records) => issued(records, request))
}

export interface KeyStore {
  all(): Promise<readonly KeyRecord[]>
  /** Changes one record: `change` gets all, and returns the new list, with a result. */
  change<Result>(change: (records: readonly KeyRecord[]) => Changed<Result>): Promise<Result>
  /** Calls in the hour of `now`, by id; null where only each server knows its own. */
  used(now: number): ReadonlyMap<string, number> | null
  close(): void
}

export function fileStore(path: string): KeyStore {
  return {
    all: async () => loadKeys(path),
    change: async (change) => changeKeys(path, change),
    used: (now) => readUsage(usagePath(path), now).counts,
    close: () => {},
  }
}

function lockFile(target: string): Lock {
  try {
    return lock(`${target}.lock`, { patienceMs: LOCK_PATIENCE_MS })
  } catch (error) {
    if (!(error instanceof LockError)) throw error
    if (!existsSync(dirname(target))) {
      throw new KeysFileError(`${target}: cannot be written: there is no folder ${dirname(target)}`)
    }
    throw new KeysFileError(error.message)
  }
}

/** The target of a link: it is replaced, and the link stays. */
function followed(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** The keys at one time, and the mark of this version of them: an ETag, or the stamp of a file. */
export interface FoundKeys {
  readonly records: KeyRecord[]
  readonly etag: string | null
}

/** The place that a server reads its keys from, again and again. */
export interface KeySource {
  readonly kind: 'file' | 'bucket' | 'web'
  /** Its path or address. */
  readonly address: string
  /**
   * The keys: null without any, `'unchanged'` while they have the ETag.
   * @throws RequestFault; KeysFileError for anything but a whole keys file
   */
  read(etag: string | null, signal?: AbortSignal): Promise<FoundKeys | 'unchanged' | null>
  close(): void
}

/** Null for a missing file. @throws KeysFileError as `loadKeys` does */
export function readVersion(path: string): FoundKeys | null {
  // Taken before the file is read: its content is this version or a later one, which has another stamp.
  const etag = stampAt(path)
  const records = readKeys(path)
  return records && { records, etag }
}

export function fileSource(path: string): KeySource {
  let bad: { stamp: string; error: unknown } | null = null
  return {
    kind: 'file',
    address: path,
    async read(etag) {
      const stamp = stampAt(path)
      if (stamp === etag) return 'unchanged'
      if (stamp === bad?.stamp) throw bad.error
      try {
        return readVersion(path)
      } catch (error) {
        bad = { stamp, error }
        throw error
      }
    },
    close: () => {},
  }
}
