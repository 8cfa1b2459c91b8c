/**
 * Quotas that several replicas share: carries calls of the lease book to Redis and back on the main thread,
 * wakes waiting requests, and reports faults.
 */
import { randomInt } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { randomBase62 } from '../access/key-records.ts'
import { LeaseBook, type LeaseCall, type LeaseKey } from '../access/lease-book.ts'
import type { LeaseCounters } from '../access/lease-counters.ts'
import { LEASE_SCRIPT, leaseCall, readLeaseReply } from '../access/lease-script.ts'
import type { RedisAddress } from '../access/redis/redis-address.ts'
import { RedisConnection, RedisScript } from '../access/redis/redis-connection.ts'
import { faultOf } from '../access/redis/redis-fault.ts'
import type { TlsFiles } from '../access/redis/redis-link.ts'
import { timestampText } from '../sea/time.ts'
import { WAIT_BOUNDS_MS, type TotalName } from '../http/totals.ts'
import type { LogLine } from '../system/log.ts'

const SCRIPT = new RedisScript(LEASE_SCRIPT)
const LOOK_INTERVAL_MS = 20
/** A call fails after this many looks: after a pause of this thread an answer may be there, and unread. */
const PATIENT_LOOKS = 50
/** The connection is given up after this time without an answer. */
const CALL_TIMEOUT_MS = 5000
/** A fault that is over sooner is not worth a line. */
const PATIENCE_MS = 500
/** A starting server waits this long for a Redis that is new, or has lost data, to begin to lease. */
const START_PATIENCE_MS = 4000
/** A stopping server tries this long to give its leases back. */
const LEAVE_PATIENCE_MS = 1000
const REPLICA_BYTES = 9
const REPLICA_LETTERS = 12
const CHANCES = 2 ** 32
const FOREIGN = 'has names of quotas that are used by another program, or by another version'

export interface QuotaStoreOptions {
  readonly address: RedisAddress
  readonly tls: TlsFiles
  readonly counters: LeaseCounters
  readonly fallback: 'share' | 'closed'
  /** The least number of replicas to assume. */
  readonly replicas: number
  /** Gets slots and hours, in turn, for which waiting requests should try again. */
  readonly wake: (woken: readonly number[]) => void
  readonly log: LogLine
  readonly clock: () => number
}

export interface QuotaFigures {
  /** `memory`, or a backend that replicas share. */
  backend: string
  isUp: boolean
  /** Null where calls are counted in memory. */
  leases: { replicas: number; calls: number; failedCalls: number; admittedAlone: number } | null
}

export class QuotaStore {
  readonly #options: QuotaStoreOptions
  readonly #book: LeaseBook
  readonly #connection: RedisConnection
  readonly #looks: NodeJS.Timeout
  readonly #replica = randomBase62(REPLICA_BYTES, REPLICA_LETTERS)
  /** The call under way, and the looks that it has seen. */
  #call: LeaseCall | null = null
  #looksOfCall = 0
  #calls = 0
  /** Calls that only ask whether Redis is whole; `#calls` counts them too. */
  #idleCalls = 0
  #failedCalls = 0
  /** Since when calls fail, ms and epoch seconds, and whether that was logged. */
  #fault: { at: number; since: number; message: string; isLogged: boolean } | null = null
  #hasTried = false
  #isClosed = false

  constructor(options: QuotaStoreOptions) {
    const { address, tls, counters, fallback, replicas, log, clock } = options
    this.#options = options
    this.#book = new LeaseBook({ counters, fallback, replicas, clock })
    this.#connection = new RedisConnection({
      address,
      tls,
      log,
      clock,
      random: () => randomInt(CHANCES) / CHANCES,
    })
    this.#connection.onReady(() => {
      this.#book.reconnected()
      this.#go()
    })
    void this.#connection.tried.then(() => (this.#hasTried = true))
    this.#looks = setInterval(() => {
      if (this.#call !== null && ++this.#looksOfCall > PATIENT_LOOKS)
        this.#fail(this.#call, `does not answer within ${(PATIENT_LOOKS * LOOK_INTERVAL_MS) / 1000} s`)
      this.#book.look(performance.now())
      this.#go()
      this.#report()
    }, LOOK_INTERVAL_MS)
  }

  setKeys(keys: Iterable<LeaseKey>): void {
    this.#book.setKeys(keys)
    this.#go()
  }

  wanted(slot: number, hour: number, count: number): void {
    this.#book.wanted(slot, hour, count, performance.now())
    this.#go()
  }

  /** Resolves when Redis leases, does not answer, or has leased nothing for long. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    await this.#connection.tried
    const until = performance.now() + START_PATIENCE_MS
    const isOver = (now: number): boolean =>
      this.#isClosed || signal?.aborted === true || now > until || this.#book.isReady(now)
    while (!isOver(performance.now()) && this.#connection.isReady && this.#fault === null) {
      await sleep(LOOK_INTERVAL_MS)
    }
  }

  /** `totals`: what the workers have counted. */
  status(totals: { readonly [name in TotalName]: number }): object {
    const book = this.#book
    const now = performance.now()
    const state = this.#fault !== null || book.isAway ? 'away' : book.isSettling(now) ? 'learning' : 'leasing'
    return {
      state,
      since: this.#fault === null ? null : timestampText(this.#fault.since),
      fault: this.#fault?.message ?? null,
      fallback: this.#options.fallback,
      replicas: book.replicas,
      keys: book.size,
      calls: this.#calls,
      idle_calls: this.#idleCalls,
      failed_calls: this.#failedCalls,
      leased_alone: book.admittedAlone,
      requests: {
        waited: totals.parked,
        waited_in_vain: totals.parked_late,
        refused_while_away: totals.quota_away,
        waits_ms: Object.fromEntries([
          ...WAIT_BOUNDS_MS.map((bound) => [`up_to_${bound}`, totals[`wait_${bound}`]]),
          ['longer', totals.wait_more],
        ]),
      },
      redis: this.#connection.status(),
    }
  }

  figures(): QuotaFigures {
    return {
      backend: 'redis',
      isUp: this.#fault === null && !this.#book.isAway,
      leases: {
        replicas: this.#book.replicas,
        calls: this.#calls,
        failedCalls: this.#failedCalls,
        admittedAlone: this.#book.admittedAlone,
      },
    }
  }

  /** Gives everything back, when no request is admitted any more. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#book.leave(performance.now())
    const until = performance.now() + LEAVE_PATIENCE_MS
    this.#go()
    while (!this.#book.hasLeft && this.#connection.isReady && performance.now() < until) {
      await sleep(LOOK_INTERVAL_MS)
    }
    clearInterval(this.#looks)
    this.#connection.close()
  }

  #go(): void {
    if (!this.#hasTried) return
    const now = performance.now()
    const call = this.#book.next(now)
    if (call !== null) void this.#send(call)
    const woken = this.#book.takeWoken()
    if (woken.length > 0) this.#options.wake(woken)
  }

  async #send(call: LeaseCall): Promise<void> {
    this.#calls++
    if (call.requests.length === 0) this.#idleCalls++
    this.#call = call
    this.#looksOfCall = 0
    try {
      const reply = await this.#connection.runScript({
        script: SCRIPT,
        ...leaseCall(this.#options.address.prefix, this.#replica, call),
        timeoutMs: CALL_TIMEOUT_MS,
        read: (answer) => readLeaseReply(answer, call.requests),
      })
      // An answer that comes after its call was given up counts as lost.
      if (this.#call !== call) return
      this.#call = null
      this.#book.answered(call, reply, performance.now())
      this.#recover()
    } catch (error) {
      const { message, answer } = faultOf(error)
      this.#fail(call, answer.startsWith('GSWFOREIGN') ? FOREIGN : message)
    }
    this.#go()
  }

  #fail(call: LeaseCall, message: string): void {
    if (this.#call !== call) return
    this.#call = null
    this.#failedCalls++
    this.#book.failed(call, performance.now())
    const { at, since, isLogged } = this.#fault ?? {
      at: performance.now(),
      since: this.#options.clock(),
      isLogged: false,
    }
    this.#fault = { at, since, isLogged, message }
  }

  #report(): void {
    const fault = this.#fault
    if (fault === null || fault.isLogged || performance.now() - fault.at < PATIENCE_MS) return
    fault.isLogged = true
    const { address, fallback, log } = this.#options
    const { replicas } = this.#book
    const meanwhile =
      fallback === 'closed'
        ? 'requests beyond what is leased are answered 503 (--quota-fallback closed)'
        : `each key may use 1/${replicas} of its hourly quota on this replica (--quota-fallback share)`
    log(`quotas: Redis ${address.name} ${fault.message}: meanwhile ${meanwhile}`, 'warning')
  }

  #recover(): void {
    const fault = this.#fault
    if (fault === null) return
    this.#fault = null
    if (!fault.isLogged) return
    const { address, log } = this.#options
    const seconds = ((performance.now() - fault.at) / 1000).toFixed(1)
    log(`quotas: Redis ${address.name} leases again after ${seconds} s; calls admitted without it count`)
  }
}
