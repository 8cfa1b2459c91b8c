/** The end of a command by signals: the first ends it in good order, the second at once. */
import type { Signals, StopSignal } from './signals.ts'

/** The exit codes that a shell reports of a process that such a signal has ended. */
const EXIT_CODES: { readonly [signal in StopSignal]: number } = { SIGINT: 130, SIGTERM: 143 }

/** A server that cannot go on. The process has to end, whatever still runs in it. */
export class ServerFailure extends Error {}

export class Stops {
  /** Resolves to the first signal. */
  readonly asked: Promise<StopSignal>
  readonly #asking = new AbortController()
  readonly #before: (() => Promise<boolean>)[] = []
  #ending: Promise<never> | null = null

  constructor(signals: Signals) {
    this.asked = new Promise((resolve) => {
      signals.onStop((signal, number) => {
        if (number > 1) return void this.end(EXIT_CODES[signal])
        this.#asking.abort()
        resolve(signal)
      })
    })
  }

  /** Aborted at the first signal. */
  get signal(): AbortSignal {
    return this.#asking.signal
  }

  /** Calls `act` before the process ends at once. It resolves to whether `process.exit` works then. */
  beforeEnd(act: () => Promise<boolean>): void {
    this.#before.push(act)
  }

  /** Ends the process with `code`, once. */
  end(code: number): Promise<never> {
    this.#ending ??= this.#end(code)
    return this.#ending
  }

  async #end(code: number): Promise<never> {
    const done = await Promise.all(this.#before.map((act) => act().catch(() => false)))
    if (done.every((each) => each)) process.exit(code)
    Stops.endAbruptly()
  }

  /** Ends the process with a thread in native code: `process.exit` would wait, or abort with a core file. */
  static endAbruptly(): never {
    process.kill(process.pid, 'SIGKILL')
    // The first process of a container cannot be killed from within.
    process.abort()
  }
}
