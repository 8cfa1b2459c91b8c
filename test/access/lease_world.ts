/** Replicas, a Redis and a network, all of them bad when a test wants it, in a time of their own. */
import assert from 'node:assert/strict'
import { hourOf } from '../../src/access/hours.ts'
import { LeaseBook, type LeaseCall } from '../../src/access/lease-book.ts'
import { ASK, LeaseCounters, LONGEST_LEASE_WAIT_MS, REFUSED } from '../../src/access/lease-counters.ts'
import type { LeaseReply } from '../../src/access/lease-script.ts'
import { ModelRedis } from './lease_model.ts'

const KEY = 'k_0123456789'
const CALL_TIMEOUT_MS = 250
const BEGIN = Date.parse('2026-03-27T12:10:00Z') / 1000

export interface Replica {
  readonly name: string
  readonly counters: LeaseCounters
  readonly book: LeaseBook
  /** Since when requests wait, ms. */
  waiting: number[]
  sent: Map<LeaseCall, number>
  admitted: number
}

type Message =
  | { to: 'redis'; from: Replica; call: LeaseCall }
  | { to: 'replica'; from: Replica; call: LeaseCall; reply: LeaseReply }

export class World {
  quota: number
  readonly redis = new ModelRedis()
  readonly replicas: Replica[] = []
  readonly dead: Replica[] = []
  messages: Message[] = []
  admitted = 0
  /** Requests that waited in vain. */
  late = 0
  /** Waits that ended in a call, ms. */
  waits: number[] = []
  isRedisAway = false
  /** By how much the clock of the replicas is set forward. */
  shiftS = 0
  readonly #fallback: 'share' | 'closed'
  readonly #assumed: number
  #started = 0
  #copy: { data: ReturnType<ModelRedis['copy']>; leased: number } | null = null

  constructor(quota: number, replicas: number, fallback: 'share' | 'closed' = 'closed') {
    this.quota = quota
    this.#fallback = fallback
    this.#assumed = replicas
    for (let i = 0; i < replicas; i++) this.start()
  }

  get now(): number {
    return this.redis.now
  }

  get clock(): number {
    return BEGIN + this.shiftS + this.now / 1000
  }

  get tag(): string {
    return `${hourOf(this.clock)}:${KEY}`
  }

  start(): void {
    const name = `r${this.#started++}`
    const counters = new LeaseCounters(LeaseCounters.allocate(1))
    const book = new LeaseBook({
      counters,
      replicas: this.#assumed,
      fallback: this.#fallback,
      clock: () => this.clock,
    })
    book.setKeys([{ id: KEY, slot: 0, quota: this.quota }])
    this.replicas.push({
      name,
      counters,
      book,
      waiting: [],
      sent: new Map(),
      admitted: 0,
    })
  }

  crash(i: number): void {
    const [replica] = this.replicas.splice(i % this.replicas.length, 1)
    this.dead.push(replica)
    // What it had sent may still arrive.
    this.messages = this.messages.filter(({ to, from }) => to === 'redis' || from !== replica)
  }

  /** One request at a replica. */
  ask(i: number): void {
    if (this.replicas.length === 0) return
    const replica = this.replicas[i % this.replicas.length]
    if (this.#take(replica) === ASK) {
      replica.waiting.push(this.now)
      replica.book.wanted(0, hourOf(this.clock), 1, this.now)
      this.pump(replica)
    }
  }

  #take(replica: Replica): number {
    const left = replica.counters.take(0, this.quota, this.clock)
    if (left >= 0) {
      this.admitted++
      replica.admitted++
    } else if (left === REFUSED) {
      this.checkRefusal()
    }
    return left
  }

  /** Nobody is refused for the rest of the hour before 98 % of the quota was admitted or died with a replica. */
  checkRefusal = (): void => {
    const dead = this.dead.reduce(
      (sum, { name, admitted }) => sum + this.redis.taken(this.tag, name) - admitted,
      0,
    )
    const least = Math.floor(this.quota * 0.98) - dead
    assert.ok(this.admitted >= least, `refused after ${this.admitted} of ${this.quota}`)
  }

  pump(replica: Replica): void {
    const { book, sent } = replica
    for (let call = book.next(this.now); call !== null; call = book.next(this.now)) {
      sent.set(call, this.now)
      this.messages.push({ to: 'redis', from: replica, call })
    }
    const woken = book.takeWoken()
    if (woken.length === 0) return
    const waiting = replica.waiting
    replica.waiting = []
    for (const since of waiting) {
      if (this.#take(replica) === ASK) replica.waiting.push(since)
      else this.waits.push(this.now - since)
    }
    if (replica.waiting.length > 0) book.wanted(0, hourOf(this.clock), replica.waiting.length, this.now)
    this.pump(replica)
  }

  /** Time goes on by up to 20 ms, and every replica looks at its leases. */
  pass(ms: number): void {
    this.redis.now += ms
    for (const replica of this.replicas) {
      for (const [call, since] of replica.sent) {
        if (this.now - since <= CALL_TIMEOUT_MS) continue
        replica.sent.delete(call)
        replica.book.failed(call, this.now)
      }
      const late = replica.waiting.filter((since) => this.now - since > LONGEST_LEASE_WAIT_MS)
      this.late += late.length
      replica.waiting = replica.waiting.filter((since) => this.now - since <= LONGEST_LEASE_WAIT_MS)
      replica.book.look(this.now)
      this.pump(replica)
    }
  }

  /** The message at a position arrives; `stays`: and once more later. */
  deliver(i: number, stays = false): void {
    if (this.messages.length === 0) return
    const at = i % this.messages.length
    const message = this.messages[at]
    if (!stays || message.to !== 'redis') this.messages.splice(at, 1)
    const { from } = message
    if (message.to === 'redis') {
      if (this.isRedisAway) return
      const reply = this.redis.call(from.name, message.call)
      if (reply !== null) this.messages.push({ to: 'replica', from, call: message.call, reply })
      return
    }
    if (from.sent.delete(message.call)) from.book.answered(message.call, message.reply, this.now)
    if (this.replicas.includes(from)) this.pump(from)
  }

  lose(i: number): void {
    if (this.messages.length > 0) this.messages.splice(i % this.messages.length, 1)
  }

  /** All messages arrive, also those that follow from them. */
  settle(): void {
    for (let count = 0; this.messages.length > 0; count++) {
      assert.ok(count < 10_000, 'the messages do not end')
      this.deliver(0)
    }
  }

  /** A good network for a while. */
  run(ms: number, ask: (at: number) => void = () => {}): void {
    for (let at = 0; at < ms; at++) {
      ask(at)
      this.pass(1)
      this.settle()
    }
  }

  save(): void {
    this.#copy = { data: this.redis.copy(), leased: this.redis.leased }
  }

  /** A copy of Redis from before takes its place. @returns calls leased since then; null without a copy */
  failOver(): number | null {
    if (this.#copy === null) return null
    const { data, leased } = this.#copy
    this.redis.data = structuredClone(data)
    this.#copy = null
    return this.redis.leased - leased
  }
}
