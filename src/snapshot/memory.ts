/** How much memory a snapshot may cost: estimated before any of it is taken, and again when all is known. */
import { totalmem } from 'node:os'
import { SnapshotError, type PartEntry } from './format.ts'
import type { LoadedSnapshot } from './read.ts'

export interface MemoryLimit {
  bytes: number
  /** What set it, in words. */
  name: string
}

/**
 * What `--max-memory` says, or without it all that the machine or its container has: a manifest can claim any
 * number of bytes, and what could never be held is not begun.
 */
export function memoryLimit(
  maxMemory: number,
  machine: number = totalmem(),
  constrained: number = process.constrainedMemory() ?? 0,
): MemoryLimit {
  if (maxMemory > 0) return { bytes: maxMemory, name: '--max-memory' }
  return constrained > 0 && constrained < machine
    ? { bytes: constrained, name: 'the memory of this container; set one with --max-memory' }
    : { bytes: machine, name: 'the memory of this machine; set one with --max-memory' }
}

/** A snapshot that is to be loaded: its parts, and what each thread will make of it. */
export interface Cost {
  id: string
  parts: readonly PartEntry[]
  threadBytes: number
}

/**
 * Refuses what would pass the limit while it is loaded: the parts in memory and the new ones, and for each of
 * `threads` what it makes of the snapshot that is served and, beside it, of the new one.
 * @throws SnapshotError that gives the sums
 */
export function refuseOverLimit(
  next: Cost,
  served: LoadedSnapshot | null,
  threads: number,
  limit: MemoryLimit,
): void {
  const held = new Map(served?.parts.map(({ entry }) => [entry.file, entry.bytes]))
  const heldBytes = [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
  const newBytes = next.parts.reduce((sum, { file, bytes }) => (held.has(file) ? sum : sum + bytes), 0)
  const served1 = served?.threadBytes ?? 0
  const total = heldBytes + newBytes + threads * (served1 + next.threadBytes)
  if (total <= limit.bytes) return
  const worker = `${threads} ${threads === 1 ? 'worker' : 'workers'}`
  const sums = [
    ...(served === null ? [] : [`${heldBytes} of the parts that are served`]),
    `${newBytes} of new parts`,
    ...(served === null ? [] : [`${worker} with ${served1} each for the served snapshot`]),
    `${worker} with ${next.threadBytes} each for this one`,
  ]
  throw new SnapshotError(
    `snapshot ${next.id} would take ${total} bytes of memory while it is loaded, the limit is ${limit.bytes} (${limit.name}): ${sums.join(', ')}`,
  )
}
