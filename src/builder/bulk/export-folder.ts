/**
 * The folder of an export. Files have temporary names until all are whole, then all are renamed, the list
 * last. So a look at the folder finds each month once, but for the moment of renaming.
 */
import { createHash } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { isContent, LIST_FILE, readListFile, type FileList } from '../../snapshot/file-list.ts'
import { TEMPORARY_PREFIX, lockOf, syncFolder, writeDurably } from '../../snapshot/write-snapshot.ts'
import { BuildError } from '../../system/build-error.ts'
import { isSystemFault, whyNotWritten } from '../../system/file-faults.ts'
import type { Lock } from '../../system/lock.ts'
import { randomName } from '../../system/replace-file.ts'
import { makeFolder } from '../../system/regular-files.ts'

const LOCK_FILE = 'export.lock'
/** Seconds that a file stays: a reader may be about to open a file that the last list names. */
const GRACE_S = 120

export class ExportFolder {
  /** The list of the export before; null without one. */
  readonly before: FileList | null
  readonly #dir: string
  readonly #lock: Lock
  readonly #staging: string
  readonly #staged: { path: string; from: string }[] = []

  /** @throws BuildError where another export is at work, or the list is not one of ours */
  constructor(dir: string) {
    this.#dir = dir
    faultsAt(dir, () => makeFolder(dir))
    this.#lock = lockOf(dir, LOCK_FILE)
    this.#staging = join(dir, `${TEMPORARY_PREFIX}${randomName()}-export`)
    try {
      for (const name of readdirSync(dir)) {
        if (name.startsWith(TEMPORARY_PREFIX)) rmSync(join(dir, name), { recursive: true, force: true })
      }
      this.before = readListFile(join(dir, LIST_FILE))
      faultsAt(this.#staging, () => mkdirSync(this.#staging))
    } catch (error) {
      this.#lock.release()
      throw error
    }
  }

  /** Whether a file of the export before is there in its size. */
  has({ path, bytes }: { path: string; bytes: number }): boolean {
    const info = statSync(join(this.#dir, path), { throwIfNoEntry: false })
    return info?.isFile() === true && info.size === bytes
  }

  /** A new file, under a temporary name that no list has. */
  create(): StagedFile {
    return new StagedFile(join(this.#staging, randomName()))
  }

  /** Gives an ended file the path that it has from `publish` on. */
  add({ path: from }: StagedFile, path: string): void {
    this.#staged.push({ path, from })
  }

  /** @throws BuildError; the earlier list then stays */
  publish(list: Buffer): void {
    if (!this.#lock.isHeld())
      throw new BuildError(`${this.#dir}: another export took over while this one stood still`)
    faultsAt(this.#dir, () => {
      const folders = new Set(this.#staged.map(({ path }) => dirname(join(this.#dir, path))))
      for (const folder of folders) makeFolder(folder)
      for (const { path, from } of this.#staged) renameSync(from, join(this.#dir, path))
      for (const folder of folders) syncFolder(folder)
    })
    writeDurably(this.#dir, LIST_FILE, list, this.#lock.folder)
    syncFolder(this.#dir)
  }

  /** Removes old files that are not named. @param now epoch seconds */
  collect(named: ReadonlySet<string>, now: number): void {
    const readings = join(this.#dir, 'readings')
    const below = existsSync(readings) ? readdirSync(readings, { recursive: true }) : []
    const paths = below.map((path) => `readings/${String(path).split(sep).join('/')}`)
    for (const path of [...readdirSync(this.#dir), ...paths].filter(isContent)) {
      if (named.has(path) || !this.#lock.isHeld()) continue
      const info = statSync(join(this.#dir, path), { throwIfNoEntry: false })
      if (info !== undefined && now - info.mtimeMs / 1000 > GRACE_S)
        rmSync(join(this.#dir, path), { force: true })
    }
  }

  close(): void {
    rmSync(this.#staging, { recursive: true, force: true })
    this.#lock.release()
  }
}

/** A file that is written and hashed before it has a name. */
export class StagedFile {
  readonly path: string
  readonly #file: number
  readonly #hash = createHash('sha256')
  #bytes = 0
  #isOpen = true

  /** @throws BuildError where it cannot be made */
  constructor(path: string) {
    this.path = path
    this.#file = faultsAt(path, () => openSync(path, 'w', 0o644))
  }

  /** @throws BuildError, on a full disk above all */
  readonly write = (bytes: Uint8Array): void => {
    this.#hash.update(bytes)
    faultsAt(this.path, () => writeFileSync(this.#file, bytes))
    this.#bytes += bytes.length
  }

  /** Brings the file to the disk. @throws BuildError */
  end(): { bytes: number; sha256: string } {
    faultsAt(this.path, () => fsyncSync(this.#file))
    this.close()
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') }
  }

  close(): void {
    if (this.#isOpen) closeSync(this.#file)
    this.#isOpen = false
  }
}

/** Runs `task`. @throws BuildError that names the path, for a fault of the file system */
function faultsAt<T>(path: string, task: () => T): T {
  try {
    return task()
  } catch (error) {
    if (!isSystemFault(error)) throw error
    throw new BuildError(
      `${path}: cannot be written: ${whyNotWritten(error)}; the export before this one stays as it was`,
    )
  }
}
