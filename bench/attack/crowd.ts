/** Many connections at once, which read or do not, and are dropped together. */
import { Socket } from 'node:net'

/** Connections that are being opened at a time: more would wait in the kernel's queue. */
const OPENING = 256
/** A connection that is not open after this long counts as refused. */
const CONNECT_LIMIT_MS = 5000

export interface Visit {
  /** Where false nothing is ever read, and the kernel's buffers fill up. */
  reads: boolean
  onOpen?: (socket: Socket) => void
  onData?: (socket: Socket, chunk: Buffer) => void
  onClose?: (socket: Socket) => void
}

export class Crowd {
  readonly #port: number
  readonly #sockets = new Set<Socket>()
  #isDismissed = false
  opened = 0
  refused = 0
  /** Connections that the server ended. One that does not read learns nothing of it. */
  closed = 0
  /** Bytes that were read. */
  received = 0

  constructor(port: number) {
    this.#port = port
  }

  get open(): number {
    return this.#sockets.size
  }

  /** Resolves when each of `count` more is open or refused. */
  async enter(count: number, visit: Visit): Promise<void> {
    let left = count
    const next = async (): Promise<void> => {
      while (left > 0 && !this.#isDismissed) {
        left--
        await this.#connect(visit)
      }
    }
    await Promise.all(Array.from({ length: Math.min(count, OPENING) }, next))
  }

  /** Resets all connections. */
  dismiss(): void {
    this.#isDismissed = true
    for (const socket of this.#sockets) socket.resetAndDestroy()
    this.#sockets.clear()
  }

  #connect({ reads, onOpen, onData, onClose }: Visit): Promise<void> {
    return new Promise((resolve) => {
      const socket = new Socket()
      if (reads) {
        socket.on('data', (chunk: Buffer) => {
          this.received += chunk.length
          onData?.(socket, chunk)
        })
      } else {
        socket.pause()
      }
      let isOpen = false
      const slow = setTimeout(() => socket.destroy(), CONNECT_LIMIT_MS)
      socket.once('connect', () => {
        clearTimeout(slow)
        isOpen = true
        this.opened++
        this.#sockets.add(socket)
        onOpen?.(socket)
        resolve()
      })
      // What follows an error is the end, and that is counted.
      socket.on('error', () => {})
      socket.once('close', () => {
        clearTimeout(slow)
        if (isOpen) {
          if (this.#sockets.delete(socket)) this.closed++
          onClose?.(socket)
        } else {
          this.refused++
        }
        resolve()
      })
      socket.connect(this.#port, '127.0.0.1')
    })
  }
}

/** Resolves when `holds`, or after `limitMs`; says which. */
export async function until(holds: () => boolean, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs
  while (!holds()) {
    if (performance.now() >= end) return false
    await new Promise((resolve) => {
      setTimeout(resolve, 20)
    })
  }
  return true
}
