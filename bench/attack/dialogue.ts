/** One connection on which anything is said, in pieces of any size, and every answer is heard. */
import { connect, type Socket } from 'node:net'
import { AnswerReader, type RawReply } from '../http/raw.ts'
import { until } from './crowd.ts'

export class Dialogue {
  readonly #socket: Socket
  readonly #reader: AnswerReader
  readonly replies: RawReply[] = []
  /** The server ended the connection, or reset it. */
  ended = false
  /** What came is not an HTTP/1 answer. */
  garbled: string | null = null
  #settle: () => void = () => {}

  constructor(port: number) {
    this.#reader = new AnswerReader({
      onAnswer: (reply) => {
        this.replies.push(reply)
        this.#settle()
      },
    })
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => {
      if (this.garbled !== null) return
      try {
        this.#reader.push(chunk)
      } catch (error) {
        this.garbled = (error as Error).message
        this.#settle()
      }
    })
    // What follows it is the end.
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      if (!this.ended) this.#reader.end()
      this.ended = true
      this.#settle()
    })
    // Half-open connections have nothing more to tell.
    this.#socket.on('end', () => {
      this.#reader.end()
      this.ended = true
      this.#settle()
    })
  }

  /** The server began an answer and stopped within it. */
  get isCut(): boolean {
    return this.ended && this.#reader.isWithin
  }

  /** `isHead`, for each request in `bytes`, whether its answer has no body. */
  write(bytes: Buffer | string, isHead: readonly boolean[] = []): void {
    for (const head of isHead) this.#reader.asked(head)
    this.#socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes)
  }

  /**
   * Resolves when so many answers are there, the connection is over, or the time. Tells whether the answers
   * are there.
   */
  async heard(count: number, limitMs: number): Promise<boolean> {
    const isOver = (): boolean => this.replies.length >= count || this.ended || this.garbled !== null
    if (!isOver()) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, limitMs)
        this.#settle = () => {
          if (!isOver()) return
          clearTimeout(late)
          resolve()
        }
      })
      this.#settle = () => {}
    }
    return this.replies.length >= count
  }

  /** Resolves when the server has ended the connection, or after the time; says which. */
  over(limitMs: number): Promise<boolean> {
    return until(() => this.ended, limitMs)
  }

  close(): void {
    this.#socket.destroy()
  }
}
