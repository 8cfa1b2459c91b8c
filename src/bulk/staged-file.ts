/** A file on its way: written where nobody looks, hashed meanwhile, and named when it is whole. */
import { createHash } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { BuildError } from '../system/build-error.ts'
import { whyNotWritten } from '../system/file-faults.ts'

export interface StagedFile {
  path: string
  bytes: number
  sha256: string
}

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

  /** Ends the file. Its bytes may not be on the disk yet. @throws BuildError */
  end(): StagedFile {
    faultsAt(this.#path, () => closeSync(this.#file))
    this.#isOpen = false
    return { path: this.#path, bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  /** Leaves nothing of it. */
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
  // Only the file system's own faults have a number.
  if (!(error instanceof Error) || !('errno' in error)) return error
  return new BuildError(
    `${path}: cannot be written: ${whyNotWritten(error)}; the export before this one stays as it was`,
  )
}
