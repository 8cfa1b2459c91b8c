/** How much of a long piece of work is done, and how long the rest may take. */
import { lstatSync, readdirSync, statSync, type Dirent } from 'node:fs'
import { join } from 'node:path'

/** So early nothing can be said about the rest. */
const EARLY_MS = 3000
/** Entries of a folder that are counted; the largest mirror has a tenth of them. */
const MAX_ENTRIES = 500_000

/** Work of a known size, in any unit. */
export class Work {
  readonly #total: number
  readonly #began: number
  #done = 0

  /** `now` in milliseconds. */
  constructor(total: number, now: number) {
    this.#total = total
    this.#began = now
  }

  add(amount: number): void {
    this.#done += amount
  }

  /** Done and to do: `12 of 45`. */
  get count(): string {
    return `${this.#done} of ${Math.max(this.#total, this.#done)}`
  }

  /** Share and time left: `34 %, about 2 min left`; empty where that cannot be said. */
  left(now: number): string {
    if (this.#total <= 0 || this.#done <= 0) return ''
    // Files may have grown since they were measured, and some are read twice.
    const share = Math.min(0.99, this.#done / this.#total)
    const percent = `${Math.floor(share * 100)} %`
    const took = now - this.#began
    return took < EARLY_MS ? percent : `${percent}, about ${durationText((took * (1 - share)) / share)} left`
  }
}

function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 100) return `${seconds} s`
  const minutes = Math.ceil(seconds / 60)
  return minutes < 100 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`
}

/**
 * Bytes of the regular files below a folder, those that links point to among them; 0 where it cannot be read.
 */
export function bytesBelow(folder: string): number {
  let bytes = 0
  let entries = 0
  const waiting = [folder]
  while (waiting.length > 0) {
    const below = waiting.pop()!
    for (const entry of entriesOf(below)) {
      if (++entries > MAX_ENTRIES) return bytes
      const path = join(below, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else if (!entry.name.startsWith('.')) bytes += bytesOf(path)
    }
  }
  return bytes
}

/** Bytes of a regular file, or of the file that a link points to; 0 for all else. */
export function bytesOf(path: string): number {
  const own = lstatSync(path, { throwIfNoEntry: false })
  const info = own?.isSymbolicLink() === true ? statSync(path, { throwIfNoEntry: false }) : own
  return info?.isFile() === true ? info.size : 0
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}
