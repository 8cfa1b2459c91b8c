/**
 * A thread that does nothing but show, every second, that its process lives: it writes a number that goes up
 * into each file that it is given.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

const HEARTBEAT_MS = 1000
/** Each write has the same length and place, so a full disk has room for it. */
const DIGITS = 12

const files = new Set<string>()
let count = 0

function beat(): void {
  count++
  for (const file of files) {
    try {
      // The file is never made anew: a file that is gone was taken away with the lock.
      const handle = openSync(file, 'r+')
      try {
        writeSync(handle, String(count).padStart(DIGITS, '0'), 0)
      } finally {
        closeSync(handle)
      }
    } catch {
      // The disk may work again by the next heartbeat.
    }
  }
}

parentPort!.on('message', ({ add, remove }: { add?: string; remove?: string }) => {
  if (add !== undefined) files.add(add)
  if (remove !== undefined) files.delete(remove)
})
setInterval(beat, HEARTBEAT_MS)
