/** Signals from the first moment of the program on: the first ends a command cleanly, the second at once. */

type StopSignal = 'SIGINT' | 'SIGTERM'

/** The listeners for signals; a new listener takes the place of the one before. */
export interface Signals {
  /** The first signal is number 1. Signals that have come before call back at once. */
  onStop(listener: (signal: StopSignal, number: number) => void): void
  /** Calls back for each SIGHUP, and at once if one has come before. */
  onReload(listener: () => void): void
  /** Signals end the process at once from now on, as they do any other; an earlier signal does, too. */
  letGo(): void
}

/** Catches the signals that ask for an end or a reload. Signals that come before a listener wait for it. */
export function catchSignals(): Signals {
  const stops: StopSignal[] = []
  let reloads = 0
  let onStop: ((signal: StopSignal, number: number) => void) | null = null
  let onReload: (() => void) | null = null
  const stop = (signal: NodeJS.Signals): void => {
    stops.push(signal as StopSignal)
    onStop?.(signal as StopSignal, stops.length)
  }
  const reload = (): void => {
    reloads++
    onReload?.()
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', reload)
  return {
    onStop(listener) {
      onStop = listener
      stops.forEach((signal, i) => listener(signal, i + 1))
    },
    onReload(listener) {
      onReload = listener
      if (reloads > 0) listener()
    },
    letGo() {
      process.off('SIGINT', stop)
      process.off('SIGTERM', stop)
      process.off('SIGHUP', reload)
      if (stops.length > 0) process.kill(process.pid, stops[0])
      else if (reloads > 0) process.kill(process.pid, 'SIGHUP')
    },
  }
}

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
