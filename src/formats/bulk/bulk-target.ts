/** Where an export goes: a folder or a bucket, under the same names, and a file on its way there. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { decodeList, LIST_FILE, type FileList } from '../../snapshot/file-list.ts'
import { BuildError } from '../../system/build-error.ts'
import { whyNotWritten } from '../../system/file-faults.ts'

export interface TargetFile {
  /** The path from the target's own folder, with slashes. */
  path: string
  bytes: number
  sha256: string
}

/** One export to a target: `begin`, `add` for each new file, `publish`, and `end` whatever happened. */
export interface Target {
  /** The address as the operator wrote it. */
  readonly address: string
  /** The address for clients; null for a folder. */
  readonly publicAddress: string | null
  readonly staging: string
  /** The list of the export before, or null. @throws BuildError or StoreError for a busy or bad target */
  begin(): Promise<FileList | null>
  /** Whether a file of the export before is there in its size, and will stay. */
  has(file: TargetFile): boolean
  /** Takes a staged file, which only who knows its name can see. */
  add(file: TargetFile, staged: StagedFile): Promise<void>
  /** Makes a list and its files visible. @throws BuildError or StoreError */
  publish(list: Buffer, files: readonly TargetFile[]): Promise<void>
  /** Removes old files that are not named. Never throws for what stores do: the next export collects. */
  collect(named: ReadonlySet<string>): Promise<void>
  end(): Promise<void>
}

/** @throws BuildError where the bytes are not a list of ours */
export function listBefore(bytes: Uint8Array | null, address: string): FileList | null {
  return bytes === null ? null : decodeList(bytes, `${address}/${LIST_FILE}`)
}

export interface StagedFile {
  path: string
  bytes: number
  sha256: string
}

/** Writes and hashes a file where nobody looks; the file is named when it is whole. */
export class StagedFileWriter {
  readonly #path: string
  readonly #file: number
  readonly #hash = createHash('sha256')
  #bytes = 0
  #isOpen = true

  /** @throws BuildError where it cannot be made */
  constructor(folder: string, name: string) {
    this.#path = join(folder, name)
    this.#file = faultsAt(this.#path, () => openSync(this.#path, 'w', 0o644))
  }

  /** @throws BuildError, on a full disk above all; then the file is gone */
  write(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    faultsAt(this.#path, () => {
      for (let at = 0; at < bytes.length;) at += writeSync(this.#file, bytes, at)
    })
    this.#bytes += bytes.length
  }

  /** Ends the file, with bytes that may not be on the disk yet. @throws BuildError */
  end(): StagedFile {
    faultsAt(this.#path, () => closeSync(this.#file))
    this.#isOpen = false
    return { path: this.#path, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  /** Removes the file. */
  drop(): void {
    if (this.#isOpen) closeSync(this.#file)
    rmSync(this.#path, { force: true })
  }
}

/** Runs `task`. @throws BuildError that names the path, for what the file system refuses */
export function faultsAt<T>(path: string, task: () => T): T {
  try {
    return task()
  } catch (error) {
    throw faultAt(path, error)
  }
}

/** What the file system refuses, in words; other errors as they are. */
export function faultAt(path: string, error: unknown): unknown {
  // Faults of the file system are those with a number.
  if (!(error instanceof Error) || !('errno' in error)) return error
  return new BuildError(
    `${path}: cannot be written: ${whyNotWritten(error)}; the export before this one stays as it was`,
  )
}
