/**
 * A thread that does nothing but write, every second, that its process lives: one number each into the files
 * it is told.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'

const BEAT_MS = 1000
/** Always as many bytes, in the same place: a full disk has room for them. */
const DIGITS = 12

const files = new Set<string>()
let beats = 0

function beat(): void {
  beats++
  for (const file of files) {
    try {
      // Not made anew: it has been taken away when it is not there.
      const handle = openSync(file, 'r+')
      try {
        writeSync(handle, String(beats).padStart(DIGITS, '0'), 0)
      } finally {
        closeSync(handle)
      }
    } catch {
      // A disk may be well again by the next beat.
    }
  }
}

parentPort!.on('message', ({ add, remove }: { add?: string; remove?: string }) => {
  if (add !== undefined) files.add(add)
  if (remove !== undefined) files.delete(remove)
})
setInterval(beat, BEAT_MS)
