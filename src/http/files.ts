/** How many connections fit among the files that a process may open. */

import { readFileSync } from 'node:fs'

/**
 * For snapshots, sources, logs, the admin port and what Node itself has open; and for connections that
 * are refused.
 */
const OTHER_FILES = 128
/** What one thread has open before any connection: its engine listens 8 times, and its loop has a few. */
const FILES_PER_THREAD = 24

/**
 * `wanted` connections, or as many as there can be before accepting one fails: a loop whose next connection
 * cannot be accepted spins, since the connection goes on waiting.
 * @param openFiles what this process may have open, null where that is unknown
 */
export function connectionsWithin(
  wanted: number,
  threads: number,
  openFiles: number | null,
  log: (line: string) => void,
): number {
  if (openFiles === null) return wanted
  const possible = Math.max(1, openFiles - OTHER_FILES - threads * FILES_PER_THREAD)
  if (wanted <= possible) return wanted
  log(
    `warning: --max-connections ${wanted} is taken as ${possible}: this process may have ${openFiles} files open (ulimit -n)`,
  )
  return possible
}

/** How many files this process may have open (RLIMIT_NOFILE); null where the system does not tell. */
export function openFilesLimit(): number | null {
  try {
    const match = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
    return match === null ? null : Number(match[1])
  } catch {
    return null
  }
}
