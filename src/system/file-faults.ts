/** What the file system refuses, in words for an operator. */

/** The code of a fault of the file system (`ENOENT`) for a message. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** Whether the disk has no room, or the user's share of it is used up. */
export function isDiskFull(error: unknown): boolean {
  return errorCode(error) === 'ENOSPC' || errorCode(error) === 'EDQUOT'
}

/** Why something cannot be written: a full disk in words, all else by its code. */
export function whyNotWritten(error: unknown): string {
  const code = errorCode(error)
  return isDiskFull(error) ? `no space is left on the disk (${code})` : code
}
