/** The slots of keys, and the file next to the keys file that carries an hour's counts over a restart. */
import { codeInWords, errorCode } from '../system/file-faults.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { removeLeftovers, replaceFile } from '../system/replace-file.ts'
import { HOUR_S, hourOf } from './hours.ts'
import type { KeyRecord } from './key-records.ts'
import type { KeyEntry } from './key-ring.ts'
import type { QuotaCounters } from './quota.ts'

const WRITE_INTERVAL_MS = 2000
const USAGE_FORMAT = 1
// 100,000 ids of 12 characters with counts of 10 digits are 3 MB.
const MAX_USAGE_BYTES = 16 * 1024 * 1024
const MAX_COUNT = 0x7fff_ffff

/** Slots of keys, for the main thread. An id keeps its slot and count over reloads and rotations. */
export class KeySlots {
  readonly #counters: QuotaCounters
  readonly #live = new Map<string, number>()
  // Slots of revoked keys by id, oldest revocation first.
  readonly #retired = new Map<string, number>()
  #unused = 0

  constructor(counters: QuotaCounters) {
    this.#counters = counters
  }

  /** Retires the slots of keys that are gone. @throws RangeError for more records than slots */
  assign(records: readonly KeyRecord[]): KeyEntry[] {
    const ids = new Set<string>()
    for (const { id } of records) ids.add(id)
    for (const [id, slot] of this.#live) {
      if (ids.has(id)) continue
      this.#live.delete(id)
      this.#retired.set(id, slot)
    }
    // Keys that come back go first, or a new key could get their slot.
    for (const id of ids) {
      const slot = this.#retired.get(id)
      if (slot === undefined) continue
      this.#retired.delete(id)
      this.#live.set(id, slot)
    }
    return records.map(({ id, hash, quota }) => ({ id, hash, quota, slot: this.#slot(id) }))
  }

  /** Calls counted in the hour of `now`, by id, without the keys that made none. */
  usage(now: number): Map<string, number> {
    const counts = new Map<string, number>()
    for (const [id, slot] of this.#live) {
      const used = this.#counters.used(slot, now)
      if (used > 0) counts.set(id, used)
    }
    return counts
  }

  /** Puts back counts of the usage file. Ids without a slot are skipped. */
  restore(counts: ReadonlyMap<string, number>, now: number): void {
    for (const [id, count] of counts) {
      const slot = this.#live.get(id)
      if (slot !== undefined) this.#counters.raiseElsewhere(slot, count, now)
    }
  }

  #slot(id: string): number {
    let slot = this.#live.get(id)
    if (slot !== undefined) return slot
    if (this.#unused < this.#counters.slots) {
      slot = this.#unused++
    } else {
      const oldest = this.#retired.entries().next()
      if (oldest.done === true) throw new RangeError('more keys than quota slots')
      this.#retired.delete(oldest.value[0])
      slot = oldest.value[1]
      this.#counters.clear(slot)
    }
    this.#live.set(id, slot)
    return slot
  }
}

export function usagePath(keysPath: string): string {
  return `${keysPath}.usage`
}

function hourText(now: number): string {
  return new Date(hourOf(now) * HOUR_S * 1000).toISOString().slice(0, 13)
}

interface Usage {
  readonly counts: ReadonlyMap<string, number>
  /** Why the file was ignored, or null. Keys then start the hour with their full quota. */
  readonly warning: string | null
}

/** The counts in the usage file if they belong to the hour of `now`, else none. Never throws. */
export function readUsage(path: string, now: number): Usage {
  try {
    const text = readRegularFileSync(path, MAX_USAGE_BYTES).toString('utf8')
    return { counts: parseUsage(text, now), warning: null }
  } catch (error) {
    const warning = `${path}: cannot be read as a usage file; this hour's counts of all keys start at 0`
    return { counts: new Map(), warning: errorCode(error) === 'ENOENT' ? null : warning }
  }
}

/** @throws TypeError or SyntaxError for anything but a usage file */
function parseUsage(text: string, now: number): Map<string, number> {
  const { format, hour, counts } = JSON.parse(text) as { [name: string]: unknown }
  const entries = Object.entries(counts as { [id: string]: number })
  const isCount = (count: unknown): boolean =>
    Number.isInteger(count) && (count as number) >= 0 && (count as number) <= MAX_COUNT
  if (format !== USAGE_FORMAT || !entries.every(([, count]) => isCount(count)))
    throw new TypeError('not a usage file')
  return new Map(hour === hourText(now) ? entries : [])
}

/**
 * Writes the counts to `path` every `intervalMs`: the most that a crash gives back. To be started after
 * {@link KeySlots.restore}, and closed when no thread counts any more. A failure is reported once until a
 * write succeeds; serving goes on.
 */
export function keepUsage(
  path: string,
  slots: KeySlots,
  clock: () => number,
  onError: (error: Error) => void,
  intervalMs = WRITE_INTERVAL_MS,
): { flush(): void; close(): void } {
  let written = ''
  let failing = false
  removeLeftovers(path)
  const flush = (): void => {
    const now = clock()
    const counts = Object.fromEntries(slots.usage(now))
    const text = `${JSON.stringify({ format: USAGE_FORMAT, hour: hourText(now), counts })}\n`
    if (text === written) return
    try {
      replaceFile(path, text)
      written = text
      failing = false
    } catch (error) {
      if (!failing) {
        const what = `${path}: cannot be written ${codeInWords(error)}`
        onError(
          new Error(`${what}; a restart forgets the calls of this hour until it can be written`, {
            cause: error,
          }),
        )
      }
      failing = true
    }
  }
  const timer = setInterval(flush, intervalMs).unref()
  const close = (): void => {
    clearInterval(timer)
    flush()
  }
  return { flush, close }
}
