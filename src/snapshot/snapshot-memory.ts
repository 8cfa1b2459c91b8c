/** How much memory a snapshot may cost, estimated before any is taken and again when all is known. */
import { totalmem } from 'node:os'
import { SnapshotError, type PartEntry } from './snapshot-format.ts'
import type { LoadedSnapshot } from './read-snapshot.ts'

export interface MemoryLimit {
  bytes: number
  /** What set the limit, in words. */
  name: string
}

/** `--max-memory`, or all that the machine or container has: a manifest can claim any number of bytes. */
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

/** A snapshot to be loaded: its parts, and what each thread will make of it. */
export interface Cost {
  id: string
  parts: readonly PartEntry[]
  threadBytes: number
}

/**
 * Refuses what would pass the limit while loading: parts in memory and new ones, and what each of `threads`
 * makes of the snapshots in memory and the new one.
 * @throws SnapshotError with the sums
 */
export function refuseOverLimit(
  next: Cost,
  inMemory: readonly LoadedSnapshot[],
  threads: number,
  limit: MemoryLimit,
): void {
  const held = new Map(
    inMemory.flatMap(({ parts }) => parts.map(({ entry }) => [entry.file, entry.bytes] as const)),
  )
  const heldBytes = [...held.values()].reduce((sum, bytes) => sum + bytes, 0)
  const newBytes = next.parts.reduce((sum, { file, bytes }) => (held.has(file) ? sum : sum + bytes), 0)
  const heldThreadBytes = inMemory.reduce((sum, { threadBytes }) => sum + threadBytes, 0)
  const total = heldBytes + newBytes + threads * (heldThreadBytes + next.threadBytes)
  if (total <= limit.bytes) return
  const worker = `${threads} ${threads === 1 ? 'worker' : 'workers'}`
  const isServing = inMemory.length > 0
  const served = inMemory.length > 1 ? `${inMemory.length} served snapshots` : 'the served snapshot'
  const sums = [
    ...(isServing ? [`${heldBytes} of the parts that are served`] : []),
    `${newBytes} of new parts`,
    ...(isServing ? [`${worker} with ${heldThreadBytes} each for ${served}`] : []),
    `${worker} with ${next.threadBytes} each for this one`,
  ]
  throw new SnapshotError(
    `snapshot ${next.id} would take ${total} bytes of memory while it is loaded, the limit is ${limit.bytes} (${limit.name}): ${sums.join(', ')}`,
  )
}
