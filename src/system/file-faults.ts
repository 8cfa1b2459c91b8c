/** Faults of the file system, in words for an operator. */
import { UnfitFile } from './regular-files.ts'

/** The code of a fault of the file system (`ENOENT`) for a message. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** Faults of the system have an error number; Node's own errors have a code only. */
export function isSystemFault(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    'errno' in error &&
    typeof error.errno === 'number' &&
    'syscall' in error &&
    // A descriptor that is not open is a fault of the program.
    error.code !== 'EBADF'
  )
}

const WORDS: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a file is where a folder should be',
  EISDIR: 'a folder is where a file should be',
  EEXIST: 'something of that name is there already',
  EACCES: 'access is denied',
  EPERM: 'that is not permitted',
  EROFS: 'the file system cannot be written to',
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the quota of the disk is used up',
  EMFILE: 'too many files are open',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'links lead in a circle',
}

export function inWords(error: unknown): string {
  return WORDS[errorCode(error)] ?? `cannot be used (${errorCode(error)})`
}

/** The code of a fault with what it means: `(ENOENT): there is no such file or folder`. */
export function codeInWords(error: unknown): string {
  const code = errorCode(error)
  return Object.hasOwn(WORDS, code) ? `(${code}): ${WORDS[code]}` : `(${code})`
}

/** No room on the disk, or the user's share of it is used up. */
export function isDiskFull(error: unknown): boolean {
  return errorCode(error) === 'ENOSPC' || errorCode(error) === 'EDQUOT'
}

/** A full disk in words, all else by its code. */
export function whyNotWritten(error: unknown): string {
  const code = errorCode(error)
  return isDiskFull(error) ? `no space is left on the disk (${code})` : code
}

/** Why a file that others made is not read. */
export function whyNotRead(error: unknown): string {
  if (error instanceof UnfitFile) return error.message
  return errorCode(error) === 'ENOENT' ? 'is missing' : `cannot be read ${codeInWords(error)}`
}
