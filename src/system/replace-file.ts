/** Replaces files so that nobody ever reads half of one. */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Names of temporary files, so that two processes never write to the same one. */
export function randomName(): string {
  return randomBytes(8).toString('hex')
}

const LEFTOVER = /^\.[0-9a-f]{16}\.tmp$/

/**
 * Replaces a file so that a reader sees the whole old or the whole new one, also after a crash. Mode 0600.
 * When root replaces it, it stays with the account that owned it: that account's server has to read it.
 * Throws the error of the file system, and then leaves the old file.
 * @param folder where the new file is written first, on the same file system; that of a lock guards it
 */
export function replaceFile(path: string, text: string, folder = dirname(path)): void {
  const temporary = join(folder, `${basename(path)}.${randomName()}.tmp`)
  const before = process.geteuid?.() === 0 ? statSync(path, { throwIfNoEntry: false }) : undefined
  try {
    const file = openSync(temporary, 'wx', 0o600)
    try {
      // The mask of the process may have taken away too much.
      fchmodSync(file, 0o600)
      if (before !== undefined) fchownSync(file, before.uid, before.gid)
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  const holding = openSync(dirname(path), 'r')
  try {
    fsyncSync(holding)
  } finally {
    closeSync(holding)
  }
}

/** Removes files that killed writers of `path` left. Only the process that may write now may call it. */
export function removeLeftovers(path: string): void {
  const name = basename(path)
  let entries: string[]
  try {
    entries = readdirSync(dirname(path))
  } catch {
    // The write that follows fails likewise, and reports it.
    return
  }
  for (const entry of entries) {
    if (entry.startsWith(name) && LEFTOVER.test(entry.slice(name.length))) {
      rmSync(join(dirname(path), entry), { force: true })
    }
  }
}
