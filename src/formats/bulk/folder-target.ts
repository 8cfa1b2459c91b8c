/**
 * A folder as the target of an export. Files have temporary names until all are whole, then all are renamed,
 * the list last. So a look at the folder finds each month once, but for the moment of renaming.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { TEMPORARY_PREFIX, syncFolder, writeDurably } from '../../snapshot/write-snapshot.ts'
import { BuildError } from '../../system/build-error.ts'
import { makeFolder, readRegularFileSync, UnfitFile } from '../../system/regular-files.ts'
import { errorCode } from '../../system/file-faults.ts'
import { lock, LockError, type Lock } from '../../system/lock.ts'
import { randomName } from '../../system/random-name.ts'
import { isContent, LIST_FILE, MAX_LIST_BYTES, type FileList } from '../../snapshot/file-list.ts'
import {
  faultAt,
  faultsAt,
  listBefore,
  type StagedFile,
  type Target,
  type TargetFile,
} from './bulk-target.ts'

const LOCK_FILE = 'export.lock'
/** The wait for another export, which may be about to end. */
const LOCK_PATIENCE_MS = 1000
/** Seconds that a file stays: a reader may be about to open what the list named a moment ago. */
const GRACE_S = 120

/** Files that are on their way to the disk at a time. */
const SYNCS = 8

/** @throws BuildError */
async function synced(path: string): Promise<void> {
  try {
    const file = await open(path, 'r+')
    try {
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw faultAt(path, error)
  }
}

export class FolderTarget implements Target {
  readonly address: string
  readonly publicAddress = null
  staging = ''
  readonly #now: number
  #lock: Lock | null = null
  #staged: { path: string; from: string }[] = []
  #syncs: Promise<void>[] = Array.from({ length: SYNCS }, () => Promise.resolve())

  constructor(dir: string, now: number) {
    this.address = dir
    this.#now = now
  }

  begin(): Promise<FileList | null> {
    faultsAt(this.address, () => makeFolder(this.address))
    this.#lock = this.#locked()
    for (const name of readdirSync(this.address)) {
      if (name.startsWith(TEMPORARY_PREFIX)) rmSync(this.#at(name), { recursive: true, force: true })
    }
    const before = listBefore(this.#listBytes(), this.address)
    this.staging = this.#at(`${TEMPORARY_PREFIX}${randomName()}-export`)
    faultsAt(this.staging, () => mkdirSync(this.staging))
    return Promise.resolve(before)
  }

  #locked(): Lock {
    try {
      return lock(this.#at(LOCK_FILE), { patienceMs: LOCK_PATIENCE_MS, longWork: true })
    } catch (error) {
      if (error instanceof LockError) throw new BuildError(error.message)
      throw error
    }
  }

  #listBytes(): Buffer | null {
    try {
      return readRegularFileSync(this.#at(LIST_FILE), MAX_LIST_BYTES)
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null
      const why = error instanceof UnfitFile ? error.message : `cannot be read (${errorCode(error)})`
      throw new BuildError(`${this.#at(LIST_FILE)}: ${why}`)
    }
  }

  #at(path: string): string {
    return join(this.address, ...path.split('/'))
  }

  has({ path, bytes }: TargetFile): boolean {
    const info = statSync(this.#at(path), { throwIfNoEntry: false })
    return info?.isFile() === true && info.size === bytes
  }

  async add({ path }: TargetFile, staged: StagedFile): Promise<void> {
    this.#staged.push({ path, from: staged.path })
    // A disk may take seconds to sync a file; the next file is made meanwhile.
    await this.#syncs.shift()
    const sync = synced(staged.path)
    sync.catch(() => {})
    this.#syncs.push(sync)
  }

  async publish(list: Buffer): Promise<void> {
    await Promise.all(this.#syncs)
    const held = this.#lock!
    if (!held.isHeld()) {
      throw new BuildError(`${this.address}: another export took over while this one stood still`)
    }
    faultsAt(this.address, () => {
      const folders = new Set(this.#staged.map(({ path }) => dirname(this.#at(path))))
      for (const folder of folders) makeFolder(folder)
      for (const { path, from } of this.#staged) renameSync(from, this.#at(path))
      for (const folder of folders) syncFolder(folder)
    })
    this.#staged = []
    writeDurably(this.address, LIST_FILE, list, held.folder)
    syncFolder(this.address)
  }

  collect(named: ReadonlySet<string>): Promise<void> {
    for (const path of this.#contents()) {
      if (named.has(path) || !this.#lock!.isHeld()) continue
      const info = statSync(this.#at(path), { throwIfNoEntry: false })
      if (info !== undefined && this.#now - info.mtimeMs / 1000 > GRACE_S)
        rmSync(this.#at(path), { force: true })
    }
    return Promise.resolve()
  }

  #contents(): string[] {
    const readings = this.#at('readings')
    const below = existsSync(readings) ? readdirSync(readings, { recursive: true }) : []
    return [
      ...readdirSync(this.address),
      ...below.map((path) => `readings/${String(path).split(sep).join('/')}`),
    ].filter(isContent)
  }

  async end(): Promise<void> {
    await Promise.allSettled(this.#syncs)
    if (this.staging !== '') rmSync(this.staging, { recursive: true, force: true })
    this.#lock?.release()
    this.#lock = null
  }
}
