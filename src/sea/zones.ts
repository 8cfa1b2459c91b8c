/** Civil time of IANA zones; each keeps the offsets it asked of ICU (`Intl`), which is slow per sample. */
import { DAY, endOf, HOUR, MINUTE, type ParsedTime, timestampText } from './time.ts'

/**
 * Zones are kept per thread, some 45 KB each. There are about 600 names; the buoys of all oceans have some 80
 * zones.
 */
const KEPT_ZONES = 256
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

// ICU's other three-letter names mislead: its BST is Dhaka, not London in summer.
const THREE_LETTERS = /^[A-Za-z]{3}$/
const IANA_THREE_LETTERS = 'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' ')

/** Instants are unsigned 32-bit seconds (1970 to 2106). */
const INSTANTS = 2 ** 32
/** Offsets are looked up in stretches of about 388 days, when first needed. */
const STRETCH = 2 ** 25
/** Probes are 6.07 days apart, the closest changes in the tz database since 1970 6.96 days. */
const PROBE = 2 ** 19
/** No zone is further than this from UTC in either direction. */
const FURTHEST = 16 * HOUR

/** `offsets[i]` holds from `starts[i]` on; `starts[0]` is the stretch's first second. */
interface Stretch {
  starts: number[]
  offsets: number[]
}

/**
 * Names that ICU knows: asking takes 70 µs. Their letters may be of either case, so their number is bounded.
 */
const KNOWN_ZONES = new Set<string>()
const MOST_KNOWN = 2000

export function isZone(name: string): boolean {
  if (KNOWN_ZONES.has(name)) return true
  // Nodes from 22 on take offsets ("+01:00") for zones, too.
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
  } catch {
    return false
  }
  if (KNOWN_ZONES.size < MOST_KNOWN) KNOWN_ZONES.add(name)
  return true
}

/** Times are epoch seconds; "local seconds" are a wall clock's reading counted as if it were UTC. */
export class Zone {
  /** As the tz database spells it where ICU knows it, else as the caller did. */
  readonly name: string
  /** Its times end in `Z`. */
  readonly isUtc: boolean
  readonly #format: Intl.DateTimeFormat
  readonly #stretches: (Stretch | undefined)[]

  /** @throws RangeError when ICU does not know the name. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
    const canonical = this.#format.resolvedOptions().timeZone
    this.name = canonical.toLowerCase() === name.toLowerCase() ? canonical : name
    this.isUtc = canonical === 'UTC'
    this.#stretches = Array.from({ length: INSTANTS / STRETCH })
  }

  /** Seconds that local time is ahead of UTC; outside 1970 to 2106 the offset of the nearer end. */
  offsetAt(epoch: number): number {
    const { starts, offsets } = this.#stretchAt(epoch)
    let i = starts.length - 1
    while (i > 0 && starts[i] > epoch) i--
    return offsets[i]
  }

  /** An instant after `epoch` up to which the offset certainly stays what it is at `epoch`. */
  steadyUntil(epoch: number): number {
    const { starts } = this.#stretchAt(epoch)
    for (const start of starts) {
      if (start > epoch) return start
    }
    const next = starts[0] + STRETCH
    return next < INSTANTS ? next : Infinity
  }

  /** The first instant at which the wall clock shows `local` or later: after a gap, or first of two. */
  firstInstant(local: number): number {
    let from = local - FURTHEST
    for (;;) {
      const reached = Math.max(from, local - this.offsetAt(from))
      const until = this.steadyUntil(from)
      if (reached < until) return reached
      from = until
    }
  }

  #stretchAt(epoch: number): Stretch {
    const number = Math.min(this.#stretches.length - 1, Math.max(0, Math.floor(epoch / STRETCH)))
    return (this.#stretches[number] ??= this.#explore(number * STRETCH))
  }

  #explore(first: number): Stretch {
    const starts = [first]
    const offsets = [this.#ask(first)]
    for (let low = first; low < first + STRETCH; low += PROBE) {
      const high = low + PROBE
      const before = offsets.at(-1)
      const after = this.#ask(high)
      if (after === before) continue
      let [last, change] = [low, high]
      while (change - last > 1) {
        const middle = Math.floor((last + change) / 2)
        if (this.#ask(middle) === before) last = middle
        else change = middle
      }
      starts.push(change)
      offsets.push(after)
    }
    return { starts, offsets }
  }

  #ask(epoch: number): number {
    // "1/1/1970, GMT", "3/29/2026, GMT+02:00", or with seconds as in Liberia until 1972.
    const text = this.#format.format(epoch * 1000)
    const sign = text.lastIndexOf('GMT') + 3
    if (sign === text.length) return 0
    const [hours, minutes, seconds = 0] = text
      .slice(sign + 1)
      .split(':')
      .map(Number)
    return (text[sign] === '+' ? 1 : -1) * (hours * HOUR + minutes * MINUTE + seconds)
  }
}

const kept = new Map<string, Zone>()

/**
 * The zone of a canonical name or an alias, in any case; null for anything else, also for offsets like
 * `+02:00`.
 */
export function zone(name: string): Zone | null {
  const known = kept.get(name)
  if (known !== undefined) return known
  if (!NAME.test(name) || /^SystemV\//i.test(name)) return null
  if (THREE_LETTERS.test(name) && !IANA_THREE_LETTERS.includes(name.toUpperCase())) return null
  let found: Zone
  try {
    found = new Zone(name)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
  if (kept.size >= KEPT_ZONES) kept.clear()
  kept.set(name, found)
  return found
}

export const UTC = zone('UTC')!

/** `2026-10-25T00:00:00+02:00` of whole epoch seconds; UTC ends in `Z`. */
export function localText(epoch: number, zone: Zone): string {
  if (zone.isUtc) return timestampText(epoch)
  // An offset with seconds (Liberia until 1972) is rounded, and the time with it.
  const minutes = Math.round(zone.offsetAt(epoch) / MINUTE)
  const clock = timestampText(Math.abs(minutes) * MINUTE).slice(11, 16)
  return `${timestampText(epoch + minutes * MINUTE).slice(0, -1)}${minutes < 0 ? '-' : '+'}${clock}`
}

/** The first second of a range from that time on. A date alone is a day of the zone's clock, or of UTC. */
export function firstOf({ epoch, wholeDay }: ParsedTime, clock: Zone | null): number {
  return wholeDay && clock !== null ? clock.firstInstant(epoch) : epoch
}

/** The last second of a range up to that time. */
export function lastOf(time: ParsedTime, clock: Zone | null): number {
  return time.wholeDay && clock !== null ? clock.firstInstant(time.epoch + DAY) - 1 : endOf(time)
}
