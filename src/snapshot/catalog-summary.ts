/**
 * Facts about a loaded snapshot in addition to its parts: figures of `/status`, and how much memory it may
 * cost, estimated before any is taken and again when all is known.
 */
import type { Catalog } from './catalog.ts'
import { type PartEntry, SnapshotError } from './snapshot-format.ts'
import type { MonthRows } from '../index/segments.ts'
import { totalmem } from 'node:os'

export interface Summary {
  /** Time of the newest reading of each source, epoch seconds; −1 where it has none. */
  newest: readonly (readonly [source: string, time: number])[]
  /** What each serving thread takes: fragments, scratch memory, and a share of the indexes. */
  threadBytes: number
}

/*
 * Bytes of a thread for each of these, rounded up. Shared memory is counted for each thread, so that the
 * sum also holds for one thread.
 */
const BYTES_A_THREAD = 1024 * 1024
const BYTES_A_BUOY = 7 * 1024
const BYTES_A_SEGMENT = 24
const BYTES_A_PASS = 1024
const BYTES_A_HARBOUR = 512
export const BYTES_A_FORECAST_POINT = 64
const BYTES_A_SPOT = 256
/** A name is in ten fragments, and the buffer that they are rendered into doubles when it is full. */
const COPIES_OF_A_TEXT = 20
const TEXT_BYTES_A_BUOY = 120

/** The least `threadBytes`, known from the manifest alone before anything is read. */
export function leastThreadBytes(parts: readonly PartEntry[]): number {
  const rows = (kind: PartEntry['kind']): number =>
    parts.reduce((sum, part) => (part.kind === kind ? sum + part.rows : sum), 0)
  return (
    BYTES_A_THREAD +
    rows('catalog') * BYTES_A_BUOY +
    rows('passes') * BYTES_A_PASS +
    rows('tides') * BYTES_A_HARBOUR
  )
}

/** The facts kept of a checked part, for the summary of the snapshots that have it. */
export interface PartSummary {
  /** A catalogue: the names of its sources, ids of its buoys, and the source of each. */
  catalog?: { sources: readonly string[]; id: Uint32Array; source: Uint16Array }
  /** A month of readings: its buoys, and the time of each one's newest row. */
  newest?: { buoys: Uint32Array; time: Uint32Array }
  /** A year of aggregates: the monthly parts it was made from, as `madeFrom` gives them. */
  madeFrom?: string
  /** Bytes that a thread makes of the part, in addition to the bytes that follow from its count of rows. */
  threadBytes: number
}

// Copies, so that no part stays in memory for its summary.

export function catalogSummary(catalog: Catalog): PartSummary {
  return {
    catalog: {
      sources: catalog.sources.map(({ name }) => name),
      id: catalog.id.slice(),
      source: catalog.source.slice(),
    },
    threadBytes: catalog.spots.length * BYTES_A_SPOT + longTextBytes(catalog),
  }
}

export function monthSummary(kind: PartEntry['kind'], { buoys, start, time }: MonthRows): PartSummary {
  const threadBytes = buoys.length * BYTES_A_SEGMENT
  if (kind !== 'readings') return { threadBytes }
  return {
    newest: { buoys: buoys.slice(), time: Uint32Array.from(buoys, (_, i) => time[start[i + 1] - 1]) },
    threadBytes,
  }
}

export function summaryOf(parts: readonly { entry: PartEntry; summary: PartSummary }[]): Summary {
  const newest = new Map<number, number>()
  let threadBytes = leastThreadBytes(parts.map(({ entry }) => entry))
  for (const { summary } of parts) {
    threadBytes += summary.threadBytes
    summary.newest?.buoys.forEach((buoy, i) => {
      const time = summary.newest!.time[i]
      if (time > (newest.get(buoy) ?? -1)) newest.set(buoy, time)
    })
  }
  const catalog = parts.find(({ summary }) => summary.catalog !== undefined)?.summary.catalog
  const bySource = (catalog?.sources ?? []).map((name): [string, number] => [name, -1])
  catalog?.id.forEach((id, ordinal) => {
    const entry = bySource[catalog.source[ordinal]]
    entry[1] = Math.max(entry[1], newest.get(id) ?? -1)
  })
  return { newest: bySource, threadBytes }
}

/** Bytes of texts that are longer than usual, as JSON: a control character takes six. */
function longTextBytes({ names, slugs, identifiers, timezones, sources, source, spots }: Catalog): number {
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
  const labels = sources.map(({ name, label }) => bytesOf(label ?? name))
  let bytes = [names, slugs, identifiers, timezones].reduce((sum, texts) => sum + bytesOf(texts), 0)
  for (const index of source) bytes += labels[index]
  const long = Math.max(0, bytes - names.length * TEXT_BYTES_A_BUOY)
  return long * COPIES_OF_A_TEXT + 2 * bytesOf(spots.map(({ name }) => name))
}

interface MemoryLimit {
  bytes: number
  /** What sets the limit, in words. */
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

/** A snapshot in memory. */
interface Held {
  parts: readonly { entry: PartEntry }[]
  threadBytes: number
}

/** A snapshot to be loaded: its parts, and what each thread will make of it. */
interface Cost {
  id: string
  parts: readonly PartEntry[]
  threadBytes: number
}

/**
 * Refuses a load that would pass the limit: parts in memory and new ones, and what each of `threads` makes of
 * the snapshots in memory and the new one.
 * @throws SnapshotError with the sums
 */
export function refuseOverLimit(
  next: Cost,
  inMemory: readonly Held[],
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
  throw new SnapshotError(
    `snapshot ${next.id} would take ${total} bytes of memory while it is loaded, the limit is ${limit.bytes} (${limit.name}): ${heldBytes} of parts in memory, ${newBytes} of new ones, and for each of ${threads} workers ${heldThreadBytes} for what is served and ${next.threadBytes} for the new snapshot`,
  )
}
