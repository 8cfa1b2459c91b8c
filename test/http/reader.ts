/** A reply as a client sees it, which takes `room` writes at a time and then waits to be asked for more. */
import assert from 'node:assert/strict'
import { headText, type LaterEvents, type LaterReply, type Retried } from '../../src/http/exchange.ts'

export class Reader implements LaterReply {
  readonly events: LaterEvents
  room: number
  readonly isHead: boolean
  isOver = false
  head = ''
  /** Of the body; null where it was not said. */
  length: number | null = null
  readonly pieces: Buffer[] = []
  /** How the reply ended: `refused` is one that came in one piece. */
  ending: 'end' | 'cut' | 'refused' | null = null

  constructor(events: LaterEvents, room: number, isHead = false) {
    this.events = events
    this.room = room
    this.isHead = isHead
  }

  send(head: string | Uint8Array, body: Uint8Array): void {
    assert.equal(this.head, '', 'begun twice')
    this.head = headText(head)
    this.length = body.length
    this.pieces.push(Buffer.from(body))
    this.#over('refused')
  }

  begin(head: string | Uint8Array, length: number | null): void {
    assert.equal(this.head, '', 'begun twice')
    this.head = headText(head)
    this.length = length
    if (this.isHead) this.isOver = true
  }

  write(bytes: Uint8Array): boolean {
    assert.ok(!this.isOver && this.head !== '')
    assert.ok(bytes.length > 0, 'nothing is written, when all of it may be out and the response gone')
    assert.ok(this.room > 0, 'written where there is no room')
    this.pieces.push(Buffer.from(bytes))
    return --this.room > 0
  }

  /** What a look at the client shows. */
  retried: Retried = { isRead: false, mayWrite: false }
  /** Writes that it has room for after a look that allows one. */
  retriedRoom = 1

  retry(): Retried {
    assert.ok(!this.isOver)
    if (this.retried.mayWrite) this.room = this.retriedRoom
    return this.retried
  }

  end(): void {
    if (this.length !== null) assert.equal(this.bytes, this.length)
    this.#over('end')
  }

  cut(): void {
    this.#over('cut')
  }

  /** The client takes `room` more writes. */
  take(room: number): void {
    this.room = room
    this.events.onRoom()
  }

  /** The client goes. */
  go(): void {
    this.isOver = true
    this.events.onGone()
  }

  get bytes(): number {
    return this.pieces.reduce((sum, { length }) => sum + length, 0)
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString()
  }

  #over(how: 'end' | 'cut' | 'refused'): void {
    assert.ok(!this.isOver)
    this.isOver = true
    this.ending = how
  }
}
