/**
 * Opens files that others made, and makes folders. A pipe would wait for a writer for ever, and a device may
 * give bytes without end or act when opened: so only regular files are read, up to a bound.
 */
import { closeSync, constants, fstatSync, mkdirSync, openSync, readSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** O_NONBLOCK: a pipe may have taken the file's place since the check. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0)

/** Files below /proc give a size of 0. */
const LEAST_ROOM_BYTES = 4096

/** Thrown for the kind or size of a file. Faults of the system (`ENOENT`) are thrown as Node makes them. */
export class UnfitFile extends Error {
  override name = 'UnfitFile'
  readonly code: 'NOT_REGULAR' | 'TOO_LARGE'

  constructor(code: UnfitFile['code'], message: string) {
    super(message)
    this.code = code
  }
}

function notRegular(): UnfitFile {
  return new UnfitFile('NOT_REGULAR', 'is not a regular file')
}

function tooLarge(maxBytes: number): UnfitFile {
  return new UnfitFile('TOO_LARGE', `is larger than ${maxBytes} bytes`)
}

/** The descriptor of a regular file, or of a link to one, to be read. @throws UnfitFile for anything else */
export function openRegularFileSync(path: string): number {
  // Some devices act when they are opened, so the check comes first.
  if (!statSync(path).isFile()) throw notRegular()
  const file = openSync(path, FLAGS)
  try {
    if (!fstatSync(file).isFile()) throw notRegular()
  } catch (error) {
    closeSync(file)
    throw error
  }
  return file
}

/** @throws UnfitFile also for a file of more than `maxBytes`, even if it grows meanwhile */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  const file = openRegularFileSync(path)
  try {
    let bytes = roomFor(fstatSync(file).size, maxBytes)
    for (let length = 0; ;) {
      const count = readSync(file, bytes, length, bytes.length - length, null)
      length += count
      if (length > maxBytes) throw tooLarge(maxBytes)
      if (count === 0) return bytes.subarray(0, length)
      if (length === bytes.length) bytes = longer(bytes, maxBytes)
    }
  } finally {
    closeSync(file)
  }
}

/** One byte more than the file has: a read that leaves it free shows the end of the file. */
function roomFor(size: number, maxBytes: number): Buffer {
  if (size > maxBytes) throw tooLarge(maxBytes)
  return Buffer.allocUnsafeSlow(Math.max(size + 1, Math.min(LEAST_ROOM_BYTES, maxBytes + 1)))
}

function longer(bytes: Buffer, maxBytes: number): Buffer {
  const room = Buffer.allocUnsafeSlow(Math.min(bytes.length * 2, maxBytes + 1))
  bytes.copy(room)
  return room
}

/**
 * Makes a folder, and the missing folders above it. Node's own `recursive` loops for ever in a folder that
 * refuses new ones with ENOENT, as /proc does. Throws the error of the file system.
 */
export function makeFolder(path: string): void {
  try {
    mkdirSync(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && isFolder(path)) return
    const above = dirname(path)
    if (code !== 'ENOENT' || above === path || isFolder(above)) throw error
    makeFolder(above)
    makeFolder(path)
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}
