/** Who asks for readiness, and whether the drain time is long enough for how often they do. */
import { LAST_ANSWERS_MS } from './drain.ts'

/** Whoever has asked within this time has not left; the probes of Kubernetes come every ten seconds. */
const WATCHED_MS = 60_000
/** Checks of a balancer come at so regular intervals, unlike the calls of a person. */
const GAPS = 5
const REGULAR = 1.25
/** Intervals are measured, so the rule is held against a little less. */
const TOLERANCE = 0.95
/** Addresses that are remembered; with more, the oldest is forgotten. */
const MOST_ADDRESSES = 32
/** A balancer may have asked just before the drain began, and one answer may be lost. */
const CHECKS = 2

const MS_PER_S = 1000

interface Probe {
  last: number
  /** Milliseconds between the last calls. */
  gaps: number[]
}

export class ReadinessProbes {
  readonly #drainMs: number
  readonly #log: (line: string) => void
  readonly #now: () => number
  readonly #probes = new Map<string, Probe>()
  #hasWarned = false

  /** `now`: milliseconds that never go back. */
  constructor(drainMs: number, log: (line: string) => void, now: () => number) {
    this.#drainMs = drainMs
    this.#log = log
    this.#now = now
  }

  /** Whether somebody has asked lately. */
  get isWatched(): boolean {
    const since = this.#now() - WATCHED_MS
    return [...this.#probes.values()].some(({ last }) => last >= since)
  }

  /** Counts a call from `address`. Warns once where calls come too seldom for the drain time. */
  asked(address: string): void {
    const now = this.#now()
    const probe = this.#probes.get(address)
    this.#probes.delete(address)
    const gaps = probe === undefined ? [] : [...probe.gaps, now - probe.last].slice(-GAPS)
    this.#probes.set(address, { last: now, gaps })
    if (this.#probes.size > MOST_ADDRESSES) this.#probes.delete(this.#probes.keys().next().value!)
    const isRegular = gaps.length === GAPS && Math.max(...gaps) <= REGULAR * Math.min(...gaps)
    if (isRegular && !this.#hasWarned) this.#hold(address, gaps.reduce((sum, gap) => sum + gap) / GAPS)
  }

  #hold(address: string, intervalMs: number): void {
    const drainMs = this.#drainMs
    if (drainMs >= CHECKS * intervalMs * TOLERANCE + LAST_ANSWERS_MS) return
    this.#hasWarned = true
    // The option takes whole seconds.
    const needed = Math.ceil((CHECKS * intervalMs * TOLERANCE + LAST_ANSWERS_MS) / MS_PER_S)
    const longest = (drainMs - LAST_ANSWERS_MS) / CHECKS
    const orOftener = longest > 0 ? `, or have it ask every ${seconds(longest)}` : ''
    this.#log(
      `warning: ${address} asks for readiness every ${seconds(intervalMs)}, too seldom for --drain-time ` +
        `${seconds(drainMs)}: it may still send requests when this server has stopped; ` +
        `give --drain-time ${needed}s or more${orOftener}`,
    )
  }
}

/** With a tenth, where it has one. */
function seconds(ms: number): string {
  return `${Math.round((ms / MS_PER_S) * 10) / 10}s`
}
