/** A thread that writes a growing number into each given file, every second, while its process lives. */
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
      // A file that is gone was taken away with the lock, so it is never made again.
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
