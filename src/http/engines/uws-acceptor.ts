/**
 * The connections of the engine on uWebSockets.js, which does not tell on which one a request came. So each
 * engine has several apps, all listening on its port, among which the kernel spreads connections at random:
 * what comes in a row by one app is most likely from one connection.
 */
import type { UwsApp, UwsListenToken, UwsResponse } from './uws-binding.ts'
import { BODYLESS_LIMIT_BYTES } from './limits.ts'

/** A write offset that no answer reaches, to know a connection by. */
const MARK = new ArrayBuffer(64 * 1024 * 1024)
/** Every answer has fewer bytes than this. */
export const ANSWER_LIMIT_BYTES = MARK.byteLength

/** One of an engine's apps, and its connections. */
export class Acceptor {
  readonly app: UwsApp
  token: UwsListenToken | null = null
  /** Objects that are good as long as their connections are, each with its slot in the counts. */
  readonly #connections: UwsResponse[] = []
  readonly #slots: number[] = []
  /** The slot of a connection that is just being closed from here. */
  #leaving: number | null = null
  #streams = 0
  /** Guess of where the connection is that was opened behind the last one that closed. */
  #next = 0
  /** Bytes of answers without a body, and how many of them end the connection that gets the next one. */
  #bodyless = 0
  #bodylessLimit = BODYLESS_LIMIT_BYTES

  constructor(app: UwsApp) {
    this.app = app
  }

  get open(): number {
    return this.#connections.length
  }

  opened(connection: UwsResponse, slot: number): void {
    this.#connections.push(connection)
    this.#slots.push(slot)
  }

  streamBegan(): void {
    this.#streams++
  }

  streamEnded(): void {
    this.#streams--
  }

  /** Forgets the connection that `closed`, another object, stands for too. @returns its slot */
  closed(closed: UwsResponse): number {
    if (this.#leaving !== null) return this.#leaving
    if (this.#connections.length === 1) return this.#forget(0)
    // The mark would end a stream, and the engine would then not report that its client has gone.
    if (this.#streams > 0) return this.#forget(this.#withoutAddress())
    // Written to a connection that is closed, bytes only move its write offset, which both objects show.
    closed.cork(() => closed.tryEnd(new Uint8Array(MARK), Number.MAX_SAFE_INTEGER))
    const at = this.#find((connection) => connection.getWriteOffset() >= MARK.byteLength)
    // Behind a stream that has ended, the offset does not move.
    return this.#forget(at === -1 ? this.#withoutAddress() : at)
  }

  /** Where the connection is that has just closed: it alone has no address now, but asking takes 1 µs. */
  #withoutAddress(): number {
    return Math.max(
      0,
      this.#find((connection) => connection.getRemoteAddressAsText().byteLength === 0),
    )
  }

  /**
   * Where a connection is that is being closed, −1 where it is not found. Clients that go together mostly do
   * so in the order in which they came, and of others the newest go first: many ask once and close.
   */
  #find(isClosed: (connection: UwsResponse) => boolean): number {
    const connections = this.#connections
    for (const at of [this.#next, this.#next - 1]) {
      if (at >= 0 && at < connections.length && isClosed(connections[at])) return at
    }
    return connections.findLastIndex(isClosed)
  }

  /** Closes `connection` if it is still there. */
  close(connection: UwsResponse): void {
    const at = this.#connections.indexOf(connection)
    if (at < 0) return
    // The object dies first, so it must not be asked any more.
    this.#leaving = this.#forget(at)
    connection.close()
    this.#leaving = null
  }

  #forget(at: number): number {
    this.#next = at + 1
    const slot = this.#slots[at]
    this.#connections[at] = this.#connections.at(-1)!
    this.#slots[at] = this.#slots.at(-1)!
    this.#connections.pop()
    this.#slots.pop()
    // Nobody is left who has not read them.
    if (this.#connections.length === 0) this.#bodyless = 0
    return slot
  }

  /**
   * Does `advance`, which moves the write offset of one connection from `from` to `to`. @returns that
   * connection
   */
  findMoved(from: number, to: number, advance: () => void): UwsResponse | undefined {
    const candidates = this.#connections.filter((connection) => connection.getWriteOffset() === from)
    advance()
    return candidates.find((connection) => connection.getWriteOffset() === to)
  }

  /**
   * Whether the connection that gets an answer without a body of `bytes` has to end, so that not too many of
   * them wait unread.
   */
  isFull(bytes: number): boolean {
    this.#bodyless += bytes
    if (this.#bodyless <= this.#bodylessLimit) return false
    this.#bodyless = 0
    // The limit varies: if clients that share an acceptor knew it, one could let another pay.
    const microseconds = Math.floor(performance.now() * 1000)
    this.#bodylessLimit = BODYLESS_LIMIT_BYTES + (microseconds % (BODYLESS_LIMIT_BYTES / 3))
    return true
  }
}
