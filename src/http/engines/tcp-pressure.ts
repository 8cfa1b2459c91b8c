/** Resets clients that do not read when they fill the system's TCP memory: it then drops what others send. */
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'

const LOOK_INTERVAL_MS = 250
/** Looks in a row at which a connection has taken nothing: a second. */
const STALLED_LOOKS = 4
/** One in this many stalled connections is reset at a look: the memory of the others may suffice. */
const RESET_SHARE = 4

/** Beyond the second number of `tcp_mem` (tcp(7)); false if unreadable: not Linux, or a network namespace. */
export function isTcpMemoryTight(): boolean {
  try {
    const pressurePages = Number(readFileSync('/proc/sys/net/ipv4/tcp_mem', 'latin1').split(/\s+/)[1])
    const pages = Number(/^TCP:.* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'latin1'))?.[1])
    return pages > pressurePages
  } catch {
    return false
  }
}

interface Progress {
  written: number
  waiting: number
  /** Looks without progress. */
  looks: number
}

/** Resets connections that take nothing, as long as the system's TCP memory is tight. */
export class TcpPressure {
  readonly #sockets = new Set<Socket>()
  readonly #progress = new Map<Socket, Progress>()
  readonly #isTight: () => boolean
  readonly #onReset: () => void
  #timer: NodeJS.Timeout | null = null

  constructor(onReset: () => void, isTight = isTcpMemoryTight) {
    this.#onReset = onReset
    this.#isTight = isTight
  }

  watch(socket: Socket): void {
    this.#sockets.add(socket)
    this.#timer ??= setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref()
    socket.once('close', () => {
      this.#sockets.delete(socket)
      this.#progress.delete(socket)
    })
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
  }

  #look(): void {
    if (this.#sockets.size === 0) {
      this.stop()
      return
    }
    if (!this.#isTight()) {
      this.#progress.clear()
      return
    }
    const stalled = [...this.#sockets].filter((socket) => this.#isStalled(socket))
    // A mere end would leave unsent bytes in the kernel.
    for (const socket of stalled.slice(0, Math.ceil(stalled.length / RESET_SHARE))) {
      socket.resetAndDestroy()
      this.#onReset()
    }
  }

  #isStalled(socket: Socket): boolean {
    const { bytesWritten: written, writableLength: waiting } = socket
    const before = this.#progress.get(socket)
    const isStill = waiting > 0 && before?.written === written && before.waiting === waiting
    const looks = isStill ? before.looks + 1 : 0
    this.#progress.set(socket, { written, waiting, looks })
    return looks >= STALLED_LOOKS
  }
}
