/** Where a build writes while it works: progress that is written over, and lines that stay. */

/** At most so often comes a line of progress where nobody watches a terminal, and where somebody does. */
const PLAIN_INTERVAL_MS = 2000
const TERMINAL_INTERVAL_MS = 100

export interface TerminalOptions {
  write: (text: string) => void
  /** A terminal gets one line that is written over; anything else gets plain lines. */
  terminal: boolean
  /** Milliseconds. */
  clock: () => number
}

export class Terminal {
  readonly #options: TerminalOptions
  #lastProgressMs = -Infinity

  constructor(options: TerminalOptions) {
    this.#options = options
  }

  /** Says how far the work is, unless it did so a moment ago. */
  progress(message: string): void {
    const { write, terminal, clock } = this.#options
    const now = clock()
    if (now - this.#lastProgressMs < (terminal ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS)) return
    this.#lastProgressMs = now
    write(terminal ? `\r\x1b[K${message}` : `${message}\n`)
  }

  /** Says what must not be lost. */
  line(message: string): void {
    const { write, terminal } = this.#options
    write(terminal ? `\r\x1b[K${message}\n` : `${message}\n`)
  }
}
