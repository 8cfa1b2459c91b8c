/** A lasting connection to one Redis, with bounds in time, checks of answers, and reports of its state. */
import { createHash } from 'node:crypto'
import { timestampText } from '../../sea/time.ts'
import type { RedisAddress } from './redis-address.ts'
import { faultOf, GARBLED, RedisFault, type FaultKind } from './redis-fault.ts'
import { factsOf, openLink, type Link, type Reply, type TlsFiles } from './redis-link.ts'
import type { LogLine } from '../../system/log.ts'

/** Redis may still carry out a call that takes longer. */
const CALL_TIMEOUT_MS = 250
const RETRY_FIRST_MS = 50
const RETRY_LONGEST_MS = 2000
const LOOK_INTERVAL_MS = 1000
/** Redis counts as slow when answers were late for this long: on a busy machine one may be late. */
const SLOW_AFTER_MS = 1000
/**
 * A connection ends when answers were late for this long: a peer that vanished does not close it, and after
 * one that left out an answer each call would get that of the call before it.
 */
const GIVE_UP_AFTER_MS = 5000
/** Replicas with clocks that differ by more may disagree about the hour. */
const MAX_SKEW_S = 1

export interface ConnectionOptions {
  readonly address: RedisAddress
  readonly tls: TlsFiles
  readonly log: LogLine
  readonly clock: () => number
  readonly random: () => number
}

/** Lua that runs inside Redis as one indivisible step. */
export class RedisScript {
  readonly source: string
  readonly hash: string

  constructor(source: string) {
    this.source = source
    this.hash = createHash('sha1').update(source).digest('hex')
  }
}

export interface ScriptCall<T> {
  script: RedisScript
  /** At least one name; in a cluster all of one hash tag. */
  keys: readonly string[]
  args: readonly string[]
  timeoutMs?: number | undefined
  /** Throws for an answer that the script cannot have given. */
  read: (reply: Reply) => T
}

export interface ConnectionState {
  readonly state: 'connected' | FaultKind
  /** Epoch seconds. */
  readonly since: number
  /** A sentence without a subject; null when connected. */
  readonly fault: string | null
}

export class RedisConnection {
  readonly address: RedisAddress
  /** Resolves after the first try to connect, also a failed one. */
  readonly tried: Promise<void>
  readonly #options: ConnectionOptions
  readonly #subscriptions = new Map<string, (message: string) => void>()
  /** Channels that the user may not subscribe to. */
  readonly #unheard = new Set<string>()
  readonly #readyListeners: (() => void)[] = []
  readonly #looks: NodeJS.Timeout
  #link: Link | null = null
  #isPrimary = false
  #state: ConnectionState
  #hasSpoken = false
  #skew: number | null = null
  #hasWarnedOfSkew = false
  #lastAnswer = 0
  #hostAt = 0
  #failures = 0
  /** No answer could be read since an unreadable one. */
  #isGarbled = false
  #retry: NodeJS.Timeout | null = null
  #isClosed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.address = options.address
    this.#state = { state: 'away', since: options.clock(), fault: 'is not connected yet' }
    this.tried = this.#connect()
    this.#looks = setInterval(() => void this.#look(), LOOK_INTERVAL_MS).unref()
  }

  get state(): ConnectionState {
    return this.#state
  }

  get isReady(): boolean {
    return this.#link !== null
  }

  /** Redis answers; it may be a copy that takes no writes. */
  get isAnswering(): boolean {
    return this.#link !== null && (this.#state.state === 'connected' || this.#state.state === 'read-only')
  }

  get isWritable(): boolean {
    return this.#link !== null && this.#isPrimary
  }

  /** Seconds by which Redis's clock is ahead of ours; null before it was asked. */
  get skew(): number | null {
    return this.#skew
  }

  status(): object {
    const { state, since, fault } = this.#state
    return {
      address: this.address.name,
      state,
      since: timestampText(since),
      fault,
      clock_ahead_seconds: this.#skew === null ? null : Number(this.#skew.toFixed(3)),
    }
  }

  /** Calls `listener` now if connected, and after each connection. */
  onReady(listener: () => void): void {
    this.#readyListeners.push(listener)
    if (this.isReady) listener()
  }

  /**
   * Sends one command.
   * @param key the name that decides the node of a cluster; null for any node.
   * @throws RedisFault; after one of kind `away` or `slow` Redis may have carried the command out.
   */
  async send(key: string | null, command: readonly string[], timeoutMs = CALL_TIMEOUT_MS): Promise<Reply> {
    const link = this.#link
    if (link === null) throw new RedisFault(this.#stateKind(), this.#state.fault ?? 'is not connected')
    return this.#bounded(link, link.send(key, command), timeoutMs)
  }

  /**
   * Sends one command and checks its answer.
   * @throws RedisFault as `send`. An answer that `read` refuses ends the connection, which cannot be trusted
   * any more.
   */
  async ask<T>(
    key: string | null,
    command: readonly string[],
    read: (reply: Reply) => T,
    timeoutMs?: number,
  ): Promise<T> {
    const link = this.#link
    return this.#checked(link, await this.send(key, command, timeoutMs), read)
  }

  /** Sends the script where Redis does not have it. @throws RedisFault as `ask` */
  async runScript<T>({ script, keys, args, timeoutMs, read }: ScriptCall<T>): Promise<T> {
    const rest = [String(keys.length), ...keys, ...args]
    try {
      return await this.ask(keys[0], ['EVALSHA', script.hash, ...rest], read, timeoutMs)
    } catch (error) {
      if (!(error instanceof RedisFault && error.answer.startsWith('NOSCRIPT'))) throw error
      return this.ask(keys[0], ['EVAL', script.source, ...rest], read, timeoutMs)
    }
  }

  #checked<T>(link: Link | null, reply: Reply, read: (reply: Reply) => T): T {
    let value: T
    try {
      value = read(reply)
    } catch {
      const fault = new RedisFault('garbled', GARBLED)
      if (link !== null && link === this.#link) {
        this.#isGarbled = true
        this.#failures++
        this.#onEnd(link, fault)
      }
      throw fault
    }
    if (this.#isGarbled && link === this.#link) {
      this.#isGarbled = false
      this.#failures = 0
      this.#enter(this.#isPrimary ? null : new RedisFault('read-only', 'is a read-only copy'))
    }
    return value
  }

  /** Hands over messages of a channel, also after reconnections. Some may be lost; a refusal is logged. */
  async subscribe(channel: string, listener: (message: string) => void): Promise<void> {
    this.#subscriptions.set(channel, listener)
    if (this.#link !== null) await this.#subscribeOn(this.#link, channel, listener)
  }

  async #subscribeOn(link: Link, channel: string, listener: (message: string) => void): Promise<void> {
    const answer = link.subscribe(channel, listener)
    // A refusal that comes late is said, too.
    answer.catch((error: unknown) => {
      if (faultOf(error).kind !== 'forbidden' || this.#unheard.has(channel)) return
      this.#unheard.add(channel)
      this.#say(
        `Redis ${this.address.name}: its user may not subscribe to ${channel}: changes are found by polling alone`,
        'warning',
      )
    })
    await this.#bounded(link, answer, CALL_TIMEOUT_MS).catch(() => {})
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#looks)
    if (this.#retry !== null) clearTimeout(this.#retry)
    this.#link?.close()
    this.#link = null
  }

  async #connect(): Promise<void> {
    const { address, tls } = this.#options
    const host = address.hosts[this.#hostAt % address.hosts.length]
    try {
      const link = await openLink(address, host, tls)
      if (this.#isClosed) return link.close()
      // A copy is used only when none of the hosts is a primary.
      if (!link.isPrimary && !link.isCluster && this.#failures < address.hosts.length - 1) {
        link.close()
        throw new RedisFault('read-only', 'is a read-only copy')
      }
      this.#begin(link)
    } catch (error) {
      if (this.#isClosed) return
      this.#hostAt++
      // If all hosts fail, the last one's fault is reported.
      if (++this.#failures >= address.hosts.length) this.#enter(faultOf(error))
      this.#connectLater()
    }
  }

  #begin(link: Link): void {
    this.#link = link
    this.#isPrimary = link.isPrimary
    if (!this.#isGarbled) this.#failures = 0
    this.#lastAnswer = performance.now()
    void link.ended.then((error) => this.#onEnd(link, error))
    // A peer with unreadable answers counts as healthy only once an answer could be read.
    if (!this.#isGarbled)
      this.#enter(link.isPrimary ? null : new RedisFault('read-only', 'is a read-only copy'), link.version)
    for (const [channel, listener] of this.#subscriptions) {
      void this.#subscribeOn(link, channel, listener)
    }
    for (const listener of this.#readyListeners) listener()
    void this.#measureSkew()
  }

  #onEnd(link: Link, error: unknown): void {
    if (this.#link !== link || this.#isClosed) return
    this.#link = null
    link.close()
    this.#enter(error instanceof Error ? faultOf(error) : new RedisFault('away', 'closed the connection'))
    this.#connectLater()
  }

  #connectLater(): void {
    const { random, address } = this.#options
    // Half of each pause is left to chance: replicas must not come back all at once.
    const rounds = Math.floor(this.#failures / address.hosts.length)
    const longest = Math.min(RETRY_LONGEST_MS, RETRY_FIRST_MS * 2 ** Math.min(rounds, 10))
    const pause = longest * (0.5 + random() / 2)
    this.#retry = setTimeout(() => void this.#connect(), pause)
  }

  #bounded<T>(link: Link, answer: Promise<T>, timeoutMs: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let isLate = false
      const timer = setTimeout(() => {
        isLate = true
        reject(new RedisFault('slow', `does not answer within ${timeoutMs} ms`))
        this.#onSilence(link)
      }, timeoutMs)
      answer.then(
        (reply) => {
          clearTimeout(timer)
          if (!isLate) this.#onAnswer(link, null)
          resolve(reply)
        },
        (error: unknown) => {
          clearTimeout(timer)
          const fault = faultOf(error)
          if (!isLate) this.#onAnswer(link, fault)
          reject(fault)
        },
      )
    })
  }

  #onAnswer(link: Link, fault: RedisFault | null): void {
    if (link !== this.#link || fault?.kind === 'away') return
    this.#lastAnswer = performance.now()
    if (fault !== null && fault.kind === 'loading') this.#enter(fault)
    else if (this.#state.state === 'slow')
      this.#enter(this.#isPrimary ? null : new RedisFault('read-only', 'is a read-only copy'))
  }

  #onSilence(link: Link): void {
    if (link !== this.#link) return
    const silence = performance.now() - this.#lastAnswer
    if (silence > GIVE_UP_AFTER_MS) this.#onEnd(link, new RedisFault('slow', 'has stopped answering'))
    else if (silence > SLOW_AFTER_MS) this.#enter(new RedisFault('slow', 'answers late or not at all'))
  }

  async #look(): Promise<void> {
    const link = this.#link
    if (link === null) return
    try {
      if (!link.isCluster) {
        // A primary may have become a copy.
        const { isPrimary } = await this.ask(null, ['HELLO'], factsOf)
        if (link !== this.#link) return
        this.#isPrimary = isPrimary
        if (!isPrimary) this.#enter(new RedisFault('read-only', 'is a read-only copy'))
        else if (this.#state.state === 'read-only' || this.#state.state === 'loading') this.#enter(null)
      }
      await this.#measureSkew()
    } catch {
      // The call has reported what is wrong.
    }
  }

  async #measureSkew(): Promise<void> {
    const { clock } = this.#options
    const before = clock()
    let time: number
    try {
      time = await this.ask(null, ['TIME'], timeOf)
    } catch {
      // The call has reported what is wrong.
      return
    }
    this.#skew = time - (before + clock()) / 2
    const isOff = Math.abs(this.#skew) > MAX_SKEW_S
    if (isOff === this.#hasWarnedOfSkew) return
    this.#hasWarnedOfSkew = isOff
    const clocks = `Redis ${this.address.name}: its clock and that of this machine`
    if (!isOff) return this.#say(`${clocks} agree again`)
    const seconds = Math.abs(this.#skew).toFixed(1)
    this.#say(`${clocks} differ by ${seconds} s: set both by NTP`, 'warning')
  }

  #stateKind(): FaultKind {
    return this.#state.state === 'connected' ? 'away' : this.#state.state
  }

  #enter(fault: RedisFault | null, version = ''): void {
    const state = fault === null ? 'connected' : fault.kind
    const text = fault === null ? null : fault.message
    if (state === this.#state.state && this.#hasSpoken) {
      this.#state = { ...this.#state, fault: text }
      return
    }
    this.#hasSpoken = true
    this.#state = { state, since: this.#options.clock(), fault: text }
    const { name } = this.address
    if (text !== null) this.#say(`Redis ${name}: ${text}`, 'warning')
    else this.#say(`Redis ${name}: connected${version === '' ? ' again' : `, ${version}`}`)
  }

  #say(...event: Parameters<LogLine>): void {
    if (!this.#isClosed) this.#options.log(...event)
  }
}

/** Epoch seconds. @throws TypeError for an answer that is not one to `TIME` */
function timeOf(reply: Reply): number {
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : []
  const time = seconds + micros / 1e6
  if (!Number.isFinite(time)) throw new TypeError('no time')
  return time
}
