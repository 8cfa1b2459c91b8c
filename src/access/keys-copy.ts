/** The last good keys from Redis in a private keys file with their source, for a start without Redis. */
import { closeSync, existsSync, mkdirSync, readSync } from 'node:fs'
import { dirname } from 'node:path'
import { openRegularFileSync } from '../system/regular-files.ts'
import { replaceFile } from '../system/replace-file.ts'
import type { KeyRecord } from './key-records.ts'
import { KeysFileError, keysText, loadKeys } from './keys-file.ts'
import type { KeyVersion } from './keys-redis.ts'
import type { LogLine } from '../system/log.ts'

/** Bytes; an address and {@link KEPT_VERSIONS} versions are shorter. */
const MAX_HEAD_BYTES = 16_384
/** Versions that find the file's place in a copy of the database that lags. */
const KEPT_VERSIONS = 500
const NAME_PATTERN = /^[0-9A-Za-z]{1,40}$/

/** For the default folder of data, which may be missing. */
const OWNER_ONLY = 0o700
/** A copy of 100,000 keys takes 0.3 s of the main thread, so slow copies are written less often. */
const LEAST_COPY_PAUSE_MS = 1000
const LONGEST_COPY_PAUSE_MS = 60_000
const COPY_SHARE = 50

export interface KeysCopy {
  readonly records: readonly KeyRecord[]
  readonly set: string
  readonly last: KeyVersion
  /** The oldest first. */
  readonly seen: readonly number[]
  /** Whether Redis has lost changes that the records have. */
  readonly isForked: boolean
}

/** Null for no copy of this address. @throws KeysFileError for a file that is unreadable or not a copy */
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
export function writeCopy(
  path: string,
  address: string,
  { records, set, last, seen, isForked }: KeysCopy,
): void {
  const head = { address, set, last, seen: seen.slice(-KEPT_VERSIONS), forked: isForked }
  replaceFile(path, keysText(records, `"copy_of":${JSON.stringify(head)},`))
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

/** The layout before this one had `generation` for `set`, and no versions. */
function checkedHead(head: unknown): Head | null {
  if (typeof head !== 'object' || head === null) return null
  const { address, generation, set = generation, last, seen, forked } = head as Record<string, unknown>
  if (typeof address !== 'string' || typeof set !== 'string' || !NAME_PATTERN.test(set)) return null
  const isVersion = (value: unknown): value is number => Number.isSafeInteger(value)
  const { id, version } = (last ?? {}) as Partial<KeyVersion>
  return {
    address,
    set,
    last: typeof id === 'string' && isVersion(version) ? { id, version } : { id: '', version: 0 },
    seen: Array.isArray(seen) ? seen.filter(isVersion) : [],
    isForked: forked === true,
  }
}

/** Writes the copy some time after it is asked to, and a last time when it is closed. */
export class CopyKeeper {
  readonly #path: string
  readonly #address: string
  readonly #log: LogLine
  readonly #copy: () => KeysCopy | null
  #timer: NodeJS.Timeout | null = null
  #pauseMs = 0
  #isFailing = false

  constructor(path: string, address: string, log: LogLine, copy: () => KeysCopy | null) {
    this.#path = path
    this.#address = address
    this.#log = log
    this.#copy = copy
  }

  ask(): void {
    this.#timer ??= setTimeout(() => this.#write(), this.#pauseMs).unref()
  }

  close(): void {
    if (this.#timer === null) return
    clearTimeout(this.#timer)
    this.#write()
  }

  #write(): void {
    this.#timer = null
    const copy = this.#copy()
    if (copy === null) return
    const from = performance.now()
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: OWNER_ONLY })
      writeCopy(this.#path, this.#address, copy)
      this.#isFailing = false
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
      if (!this.#isFailing) {
        this.#log(
          `${this.#path}: the copy of the keys cannot be written (${code}): without it, a start needs Redis`,
          'warning',
        )
      }
      this.#isFailing = true
    }
    const pause = (performance.now() - from) * COPY_SHARE
    this.#pauseMs = Math.min(LONGEST_COPY_PAUSE_MS, Math.max(LEAST_COPY_PAUSE_MS, pause))
  }
}
