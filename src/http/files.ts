/** How many connections fit among the files that a process may open. */

import { readFileSync } from 'node:fs'

/**
 * For snapshots, sources, logs, the admin port and what Node itself has open; and for connections that
 * are refused.
 */
const OTHER_FILES = 128
/** What one thread has open before any connection: its engine listens 8 times, and its loop has a few. */
const FILES_PER_THREAD = 24

/** Where not all fits, so much of it is for streams of events, and what other connections leave. */
const LISTENERS_SHARE = 1 / 4
/** The rest of what was wanted is not worth a warning: the status shows the limit. */
const ENOUGH = 1 / 2

/** Connections at a time: those on which requests come, and those that carry streams of events. */
export interface WantedConnections {
  connections: number
  listeners: number
}

/**
 * As many as are wanted, or as there can be before accepting one fails: a loop whose next connection cannot
 * be accepted spins, since the connection goes on waiting.
 * @param openFiles what this process may have open, null where that is unknown
 */
export function connectionsWithin(
  { connections, listeners }: WantedConnections,
  threads: number,
  openFiles: number | null,
  log: (line: string) => void,
): { maxConnections: number; maxListeners: number } {
  if (openFiles === null) return { maxConnections: connections, maxListeners: listeners }
  const possible = Math.max(2, openFiles - OTHER_FILES - threads * FILES_PER_THREAD)
  if (connections + listeners <= possible) return { maxConnections: connections, maxListeners: listeners }
  const spared = Math.max(Math.floor(possible * LISTENERS_SHARE), possible - connections)
  const maxListeners = Math.max(1, Math.min(listeners, spared))
  const maxConnections = Math.min(connections, possible - maxListeners)
  if (maxConnections === connections && maxListeners >= listeners * ENOUGH)
    return { maxConnections, maxListeners }
  const reduced = [
    ...(maxConnections < connections
      ? [`--max-connections ${connections} is taken as ${maxConnections}`]
      : []),
    ...(maxListeners < listeners ? [`--max-listeners ${listeners} as ${maxListeners}`] : []),
  ]
  log(`warning: ${reduced.join(' and ')}: this process may have ${openFiles} files open (ulimit -n)`)
  return { maxConnections, maxListeners }
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
