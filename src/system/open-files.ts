/** How many files this process may have open: connections count as files. */
import { readFileSync } from 'node:fs'

/** RLIMIT_NOFILE; null where the system has no such limit to read. */
export function openFilesLimit(): number | null {
  try {
    const match = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
    return match === null ? null : Number(match[1])
  } catch {
    return null
  }
}
