/**
 * The last good keys from Redis in a private file, for a start without Redis. It is a keys file like any
 * other, so `keys import` and `--keys` take it; its first line says in addition where the keys come from.
 */
import { closeSync, existsSync, readSync } from 'node:fs'
import { openRegularFileSync } from '../system/files.ts'
import { replaceFile } from '../system/replace-file.ts'
import { KeysFileError, keysText, loadKeys, type KeyRecord } from './keys-file.ts'
import type { Cursor } from './keys-table.ts'

/** Bytes. The first line has less: an address and {@link KEPT_STAMPS} stamps. */
const MAX_HEAD_BYTES = 16_384
/** Newest changes that the file remembers, to find its place in a copy of the database that lags. */
const KEPT_STAMPS = 100
const STAMP_PATTERN = /^[0-9A-Za-z]{1,40}$/

export interface KeysCopy {
  readonly records: readonly KeyRecord[]
  readonly cursor: Cursor
  /** Version and stamp of the newest changes, the oldest first. */
  readonly recent: readonly { readonly version: number; readonly stamp: string }[]
  /** Whether Redis has lost changes that the records have. */
  readonly isForked: boolean
}

/**
 * The copy of the keys of an address; null where there is none yet, or one of another address.
 *
 * @throws KeysFileError for a file that cannot be read, and for a keys file that is no copy: it must not be
 * replaced.
 */
export function readCopy(path: string, address: string): KeysCopy | null {
  if (!existsSync(path)) return null
  const head = headOf(path)
  if (head === null) {
    throw new KeysFileError(
      `${path}: is not a copy of keys from Redis, and would be replaced by one: give another file by --keys-copy`,
    )
  }
  const { address: source, ...place } = head
  return source === address ? { ...place, records: loadKeys(path) } : null
}

/** @throws Error of the file system */
export function writeCopy(path: string, address: string, copy: KeysCopy): void {
  const head = { address, ...copy.cursor, forked: copy.isForked, recent: copy.recent.slice(-KEPT_STAMPS) }
  replaceFile(path, keysText(copy.records, `"copy_of":${JSON.stringify(head)},`))
}

type Head = Omit<KeysCopy, 'records'> & { readonly address: string }

function headOf(path: string): Head | null {
  let line: string
  try {
    line = firstLine(path)
    const { copy_of: head } = JSON.parse(`${line}]}`) as { copy_of?: unknown }
    return checkedHead(head)
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw new KeysFileError(
      `${path}: cannot be read (${(error as NodeJS.ErrnoException).code ?? 'not a regular file'})`,
    )
  }
}

function firstLine(path: string): string {
  const file = openRegularFileSync(path)
  try {
    const bytes = Buffer.alloc(MAX_HEAD_BYTES)
    const text = bytes.subarray(0, readSync(file, bytes, 0, MAX_HEAD_BYTES, 0)).toString('utf8')
    return text.slice(0, text.indexOf('\n') + 1)
  } finally {
    closeSync(file)
  }
}

function checkedHead(head: unknown): Head | null {
  if (typeof head !== 'object' || head === null) return null
  const { address, generation, version, stamp, forked, recent } = head as Record<string, unknown>
  const isStamp = (value: unknown): value is string => typeof value === 'string' && STAMP_PATTERN.test(value)
  const isVersion = (value: unknown): value is number => Number.isSafeInteger(value)
  if (typeof address !== 'string' || !isStamp(generation) || !isVersion(version) || !isStamp(stamp))
    return null
  if (!Array.isArray(recent)) return null
  const kept = (recent as { version?: unknown; stamp?: unknown }[]).flatMap((change) =>
    isVersion(change.version) && isStamp(change.stamp)
      ? { version: change.version, stamp: change.stamp }
      : [],
  )
  return { address, cursor: { generation, version, stamp }, recent: kept, isForked: forked === true }
}
