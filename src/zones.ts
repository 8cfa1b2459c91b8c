/**
 * Civil time of IANA zones as numbers. The only source of rules is the tz database inside the engine's ICU (`Intl`), which
 * answers about one question a microsecond: too slow per sample, so each zone keeps the offsets it has asked for.
 */
import { DAY, HOUR, MINUTE, civilFromDays } from './time.ts'

/** Zones are kept per thread; there are about 600 names, and one holds some 45 KB, nearly all of it ICU's formatter. */
const KEPT_ZONES = 64
const NAME = /^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/

// ICU knows more three-letter names than the tz database, and they mislead: its BST is Dhaka, not London in summer.
const THREE_LETTERS = /^[A-Za-z]{3}$/
const IANA_THREE_LETTERS = 'CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' ')

/** Instants are unsigned 32-bit seconds (1970 to 2106), like the times of readings. */
const INSTANTS = 2 ** 32
/** Offsets are looked up in stretches of about 388 days, when first needed: 0.1 ms each; all 128 would be 15 ms. */
const STRETCH = 2 ** 25
/** Probes are 6.07 days apart; the shortest time between two changes in the tz database since 1970 is 6.96 days. */
const PROBE = 2 ** 19
/** No zone is further than this from UTC in either direction. */
const FURTHEST = 16 * HOUR

/** Offsets within one stretch: `offsets[i]` holds from `starts[i]` on; `starts[0]` is the stretch's first second. */
interface Stretch {
  starts: number[]
  offsets: number[]
}

/** One IANA zone. Times are epoch seconds; "local seconds" are a wall clock's reading counted as if it were UTC. */
export class Zone {
  /** As the tz database spells it where ICU can tell, else as the caller did (`Asia/Kolkata`, an alias to ICU). */
  readonly name: string
  readonly #format: Intl.DateTimeFormat
  readonly #stretches: (Stretch | undefined)[]

  /** @throws RangeError when ICU does not know the name. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
    const canonical = this.#format.resolvedOptions().timeZone
    this.name = canonical.toLowerCase() === name.toLowerCase() ? canonical : name
    this.#stretches = Array.from({ length: INSTANTS / STRETCH })
  }

  /** Seconds that local time is ahead of UTC. Instants outside 1970 to 2106 get the offset of the nearer end. */
  offsetAt(epoch: number): number {
    const { starts, offsets } = this.#stretchAt(epoch)
    let i = starts.length - 1
    while (i > 0 && starts[i] > epoch) i--
    return offsets[i]
  }

  /** An instant after `epoch` up to which the offset certainly stays what it is at `epoch`. */
  steadyUntil(epoch: number): number {
    const { starts } = this.#stretchAt(epoch)
    for (const start of starts) if (start > epoch) return start
    const next = starts[0] + STRETCH
    return next < INSTANTS ? next : Infinity
  }

  /**
   * The first instant at which the zone's wall clock shows `local` or later: a time that the clock skips gives the first
   * instant after the gap, one that it shows twice the first of the two.
   */
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

// In order of last use: the first is the one that has to go.
const kept = new Map<string, Zone>()

/**
 * The zone of an IANA name (canonical or alias, in any case), or null for anything else; UTC offsets like `+02:00` are no
 * names. Known zones cost a look-up; a new one 0.1 ms, plus 0.1 ms for each year that is then looked at.
 */
export function zone(name: string): Zone | null {
  let found = kept.get(name)
  if (found === undefined) {
    if (!NAME.test(name) || /^SystemV\//i.test(name)) return null
    if (THREE_LETTERS.test(name) && !IANA_THREE_LETTERS.includes(name.toUpperCase())) return null
    try {
      found = new Zone(name)
    } catch (error) {
      if (error instanceof RangeError) return null
      throw error
    }
    if (kept.size >= KEPT_ZONES) kept.delete(kept.keys().next().value!)
  } else {
    kept.delete(name)
  }
  kept.set(name, found)
  return found
}

/** Bytes that `writeLocalTime` writes. */
export const LOCAL_TIME_LENGTH = 25

/**
 * Writes `2026-03-29T00:00:00+01:00` (UTC is `+00:00`) at `at`, for an instant in years 0 to 9999, and returns the position
 * behind it. The form has no seconds of an offset: such an offset (Liberia until 1972) is rounded to the minute and the
 * local time with it, so that the text still means the same instant.
 */
export function writeLocalTime(target: Uint8Array, at: number, epoch: number, offset: number): number {
  const shift = Math.round(offset / MINUTE)
  const local = epoch + shift * MINUTE
  const days = Math.floor(local / DAY)
  const { year, month, day } = civilFromDays(days)
  const second = local - days * DAY
  writePair(target, at, Math.floor(year / 100))
  writePair(target, at + 2, year % 100)
  target[at + 4] = 0x2d
  writePair(target, at + 5, month)
  target[at + 7] = 0x2d
  writePair(target, at + 8, day)
  target[at + 10] = 0x54
  writePair(target, at + 11, Math.floor(second / HOUR))
  target[at + 13] = 0x3a
  writePair(target, at + 14, Math.floor(second / MINUTE) % 60)
  target[at + 16] = 0x3a
  writePair(target, at + 17, second % 60)
  const ahead = Math.abs(shift)
  target[at + 19] = shift < 0 ? 0x2d : 0x2b
  writePair(target, at + 20, Math.floor(ahead / 60))
  target[at + 22] = 0x3a
  writePair(target, at + 23, ahead % 60)
  return at + LOCAL_TIME_LENGTH
}

const MONTHS = new TextEncoder().encode('JanFebMarAprMayJunJulAugSepOctNovDec')

/** Writes `Apr 01`, or with `hour` `Apr 01 05:00` (the full hour), and returns the position behind it. */
export function writeDayLabel(target: Uint8Array, at: number, local: number, hour: boolean): number {
  const days = Math.floor(local / DAY)
  const { month, day } = civilFromDays(days)
  for (let i = 0; i < 3; i++) target[at + i] = MONTHS[(month - 1) * 3 + i]
  target[at + 3] = 0x20
  writePair(target, at + 4, day)
  if (!hour) return at + 6
  target[at + 6] = 0x20
  writePair(target, at + 7, Math.floor((local - days * DAY) / HOUR))
  target[at + 9] = 0x3a
  writePair(target, at + 10, 0)
  return at + 12
}

function writePair(target: Uint8Array, at: number, value: number): void {
  target[at] = 0x30 + Math.floor(value / 10)
  target[at + 1] = 0x30 + (value % 10)
}
