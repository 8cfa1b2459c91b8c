/** Warnings about peers that look like proxies and are not trusted. */
import type { AddressCounters } from './address-counters.ts'
import { hourOf } from './hours.ts'

/** Warns of an untrusted proxy once an hour at most: its clients share one quota. Not for serving threads. */
export class ProxyWarnings {
  readonly #counters: AddressCounters
  readonly #log: (line: string) => void
  #warnedIn = -1

  constructor(counters: AddressCounters, log: (line: string) => void) {
    this.#counters = counters
    this.#log = log
  }

  prepare(now: number): void {
    const peer = this.#counters.sightedProxy()
    const hour = hourOf(now)
    if (peer === null || hour === this.#warnedIn) return
    this.#warnedIn = hour
    this.#log(
      `warning: ${peer} has used half of its hour's requests without a key, and sends X-Forwarded-For or Forwarded: all clients of a proxy share one quota until it is trusted (--trusted-proxy ${peer})`,
    )
  }
}
