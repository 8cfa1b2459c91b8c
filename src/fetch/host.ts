/** One host that files are fetched from, and how gently it is treated. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostLimits } from '../sources/configuration.ts'
import { DownloadError } from './download.ts'

/** After so many downloads in a row without an answer a host is left alone. */
const MAX_UNANSWERED = 3

/** Requests to one host: few at a time, not too close together, and none any more once it does not answer. */
export class Host {
  readonly #limits: HostLimits
  readonly #waiting: (() => void)[] = []
  #running = 0
  #nextStart = 0
  #unanswered = 0

  constructor(limits: HostLimits) {
    this.#limits = limits
  }

  /** @throws DownloadError of `task`, or since the host is left alone */
  async run<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#limits.connections) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#running++
    try {
      if (this.#unanswered >= MAX_UNANSWERED) throw new DownloadError('the host does not answer')
      signal.throwIfAborted()
      await this.#keepGap()
      signal.throwIfAborted()
      const result = await task()
      this.#unanswered = 0
      return result
    } catch (error) {
      const isUnanswered = error instanceof DownloadError && error.status === null && error.passing
      if (isUnanswered) this.#unanswered++
      throw error
    } finally {
      // The next in the queue takes over the slot.
      const next = this.#waiting.shift()
      if (next === undefined) this.#running--
      else next()
    }
  }

  async #keepGap(): Promise<void> {
    const now = performance.now()
    const start = Math.max(now, this.#nextStart)
    this.#nextStart = start + this.#limits.gapMs
    if (start > now) await sleep(start - now)
  }
}
