/**
 * uWebSockets.js does not tell on which connection a request came. So each engine has several apps on its
 * port, among which the kernel spreads connections: requests in a row by one app are most likely of one.
 */
import type { UwsApp, UwsListenToken, UwsResponse } from './uws-binding.ts'
import {
  BODYLESS_LIMIT_BYTES,
  UNREAD_LIMIT_BYTES,
  UNREAD_REFUSALS_BYTES,
  type BufferedBytes,
} from './limits.ts'

/** A write offset that no answer reaches marks a connection. */
const MARK = new ArrayBuffer(64 * 1024 * 1024)
/** Every answer has fewer bytes than this. */
export const ANSWER_LIMIT_BYTES = MARK.byteLength

/** Connections of an acceptor for which bytes are kept: they are searched with each answer. */
const MOST_UNREAD = 256

/** An app of an engine, and its connections. */
export class Acceptor {
  readonly app: UwsApp
  token: UwsListenToken | null = null
  /** Objects that live as long as their connections, each with its slot in the counts. */
  readonly #connections: UwsResponse[] = []
  readonly #slots: number[] = []
  /** Slot of a connection that is being closed from here. */
  #leaving: number | null = null
  #streams = 0
  /** Guess of where the next connection to close is: behind the last that closed. */
  #next = 0
  /** Bytes of answers without a body, and how many end the connection that gets the next one. */
  #bodyless = 0
  #bodylessLimit = BODYLESS_LIMIT_BYTES
  /** Bytes that the engine keeps for connections until it is known that they are out. */
  readonly #unread = new Map<UwsResponse, number>()
  readonly #buffered: BufferedBytes

  constructor(app: UwsApp, buffered: BufferedBytes) {
    this.app = app
    this.#buffered = buffered
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

  /** `closed` is another object for the connection than the one known. @returns its slot */
  closed(closed: UwsResponse): number {
    if (this.#leaving !== null) return this.#leaving
    if (this.#connections.length === 1) return this.#forget(0)
    // The mark would end a stream, and the engine would then not report that its client has gone.
    if (this.#streams > 0) return this.#forget(this.#withoutAddress())
    // Bytes written to a closed connection only move its write offset, which both objects show.
    closed.cork(() => closed.tryEnd(new Uint8Array(MARK), Number.MAX_SAFE_INTEGER))
    const at = this.#find((connection) => connection.getWriteOffset() >= MARK.byteLength)
    // Behind a stream that has ended, the offset does not move.
    return this.#forget(at === -1 ? this.#withoutAddress() : at)
  }

  /** The connection that has just closed is the only one without an address; asking takes 1 µs for each. */
  #withoutAddress(): number {
    return Math.max(
      0,
      this.#find((connection) => connection.getRemoteAddressAsText().byteLength === 0),
    )
  }

  /** −1 if not found. Clients that go together mostly go as they came; of others the newest go first. */
  #find(isClosed: (connection: UwsResponse) => boolean): number {
    const connections = this.#connections
    for (const at of [this.#next, this.#next - 1]) {
      if (at >= 0 && at < connections.length && isClosed(connections[at])) return at
    }
    return connections.findLastIndex(isClosed)
  }

  close(connection: UwsResponse): void {
    const at = this.#connections.indexOf(connection)
    if (at < 0) return
    // The object dies first and must not be asked any more.
    this.#leaving = this.#forget(at)
    connection.close()
    this.#leaving = null
  }

  #forget(at: number): number {
    this.#next = at + 1
    this.#forgetUnread(this.#connections[at])
    const slot = this.#slots[at]
    this.#connections[at] = this.#connections.at(-1)!
    this.#slots[at] = this.#slots.at(-1)!
    this.#connections.pop()
    this.#slots.pop()
    // Nobody with unread answers is left.
    if (this.#connections.length === 0) this.#bodyless = 0
    return slot
  }

  /** Finds the connection of which `advance` moves the write offset from `from`; null if it has gone. */
  findMoved(
    from: number,
    advance: () => void,
    among = (): Iterable<UwsResponse> => this.#connections,
  ): UwsResponse | null {
    const candidates = new Set<UwsResponse>()
    for (const connection of among()) if (connection.getWriteOffset() === from) candidates.add(connection)
    advance()
    for (const connection of among())
      if (candidates.has(connection) && connection.getWriteOffset() > from) return connection
    return null
  }

  /** Connections for which the engine keeps bytes. */
  get unread(): number {
    return this.#unread.size
  }

  /** Whether the engine may keep `bytes` more of answers for `connection`. */
  mayKeep(connection: UwsResponse, bytes: number): boolean {
    const unread = this.#unread.get(connection) ?? 0
    return unread + bytes <= UNREAD_LIMIT_BYTES - UNREAD_REFUSALS_BYTES && this.#buffered.hasSpare(bytes)
  }

  /**
   * Has the engine keep the last `bytes` of an answer: `end` moves its connection's write offset from `from`.
   * @returns that connection, null if unknown; false if nothing more may be kept, and `end` was not called
   */
  keep(from: number, bytes: number, end: () => void, isRefusal: boolean): UwsResponse | null | false {
    const most = UNREAD_LIMIT_BYTES - (isRefusal ? 0 : UNREAD_REFUSALS_BYTES)
    if (bytes > most || this.#unread.size >= MOST_UNREAD) return false
    for (const [connection, unread] of this.#unread)
      if (unread + bytes > most && connection.getWriteOffset() === from) return false
    if (!(isRefusal ? this.#buffered.take(bytes) : this.#buffered.takeSpare(bytes))) return false
    const connection = this.findMoved(from, end)
    if (connection === null) this.#buffered.giveBack(bytes)
    else this.#unread.set(connection, (this.#unread.get(connection) ?? 0) + bytes)
    return connection
  }

  /** Forgets what was kept for the connection of which `advance` moves the write offset: all of it is out. */
  settle(advance: () => void): void {
    const settled = this.findMoved(0, advance, () => this.#unread.keys())
    if (settled !== null) this.#forgetUnread(settled)
  }

  #forgetUnread(connection: UwsResponse): void {
    this.#buffered.giveBack(this.#unread.get(connection) ?? 0)
    this.#unread.delete(connection)
  }

  /** Whether the connection that gets an answer without a body has to end: too many bytes may wait unread. */
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
