/**
 * Builds again and again, aligned to the clock: `every` 30 minutes means at :00 and :30. A build that fails
 * is tried again after longer and longer times, and at the latest at the next regular time.
 */
import { timestampText } from '../sea/time.ts'
import type { LogLine } from '../system/log.ts'

/** The first retry comes after this; each further one after twice the time. */
const FIRST_RETRY_S = 15
/** Longest sleep before the clock is looked at again: somebody may have set it, or the machine was asleep. */
const LONGEST_SLEEP_S = 60

interface ScheduleOptions {
  /** Seconds. */
  every: number
  /** Seconds. Each build begins late by a random part of it, so that servers do not ask a source at once. */
  jitter: number
  /** Epoch seconds; null for none. A build that is overdue begins at once. */
  lastBuilt: number | null
  /** When the configuration was changed, epoch seconds; null for none. A change begins a build at once. */
  changedAt?: () => number | null
  /** Nobody waits for a demo's next build, so its time is not logged. */
  isDemo?: boolean
  /** The build before the schedule, and why it failed; null for none. */
  first?: { readonly failure: string | null } | null
  clock: () => number
  random: () => number
  build: () => Promise<void>
  log: LogLine
}

/** Times are epoch seconds. */
export interface ScheduleState {
  next_at: number
  /** Null when no build runs. */
  running_since: number | null
  last_at: number | null
  last_error: string | null
  failures_in_row: number
  built: number
  failed: number
}

/**
 * When the next build is due, in epoch seconds: the next full `every` after `now`, or sooner after failures.
 * @param late seconds by which a regular build begins late
 */
export function nextBuild(now: number, every: number, failures: number, late: number): number {
  const regular = (Math.floor(now / every) + 1) * every + late
  return failures === 0 ? regular : Math.min(regular, now + FIRST_RETRY_S * 2 ** (failures - 1))
}

export class Schedule {
  readonly state: ScheduleState
  readonly #options: ScheduleOptions
  #timer: NodeJS.Timeout | null = null
  #stopped = false
  /** The newest change of the configuration that a build has seen. */
  #seen: number

  constructor(options: ScheduleOptions) {
    this.#options = options
    const { clock, lastBuilt, first = null } = options
    const error = first?.failure ?? null
    const failed = error === null ? 0 : 1
    this.state = {
      next_at: 0,
      running_since: null,
      last_at: first === null ? null : clock(),
      last_error: error,
      failures_in_row: failed,
      built: first === null ? 0 : 1 - failed,
      failed,
    }
    this.#seen = first === null ? (lastBuilt ?? Infinity) : clock()
    this.#plan(Math.min(clock(), lastBuilt ?? Infinity))
  }

  stop(): void {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #plan(after: number): void {
    const { every, jitter, random, clock, log, isDemo = false } = this.#options
    this.state.next_at = nextBuild(after, every, this.state.failures_in_row, jitter * random())
    if (!isDemo && this.state.next_at > clock())
      log(`the next build is at ${timestampText(Math.floor(this.state.next_at))}`)
    this.#wait()
  }

  #wait(): void {
    const { clock, every, jitter, log, changedAt = () => null } = this.#options
    const now = clock()
    const left = this.state.next_at - now
    const changed = changedAt() ?? -Infinity
    const hasChanged = changed > this.#seen
    if (hasChanged) log('the configuration is newer than the snapshot: a build begins')
    this.#seen = Math.max(this.#seen, changed)
    if (left <= 0 || hasChanged) void this.#build()
    else if (left > every + jitter) {
      // The clock was set back.
      this.#plan(now)
    } else this.#timer = setTimeout(() => this.#wait(), Math.min(left, LONGEST_SLEEP_S) * 1000)
  }

  async #build(): Promise<void> {
    const { build, clock, log } = this.#options
    const { state } = this
    state.running_since = clock()
    try {
      await build()
      state.built++
      state.failures_in_row = 0
      state.last_error = null
    } catch (error) {
      if (this.#stopped) return
      state.failures_in_row++
      state.failed++
      state.last_error = (error as Error).message
      log(`build failed (${state.failures_in_row} in a row): ${state.last_error}`, 'warning')
    }
    state.last_at = clock()
    state.running_since = null
    if (!this.#stopped) this.#plan(clock())
  }
}

/** The member `build` of `/status`. @param limit seconds that a build may take */
export function buildStatus(state: ScheduleState, limit: number): object {
  const text = (time: number | null): string | null => (time === null ? null : timestampText(time))
  return {
    ...state,
    next_at: text(state.next_at),
    running_since: text(state.running_since),
    last_at: text(state.last_at),
    limit_seconds: limit,
  }
}
