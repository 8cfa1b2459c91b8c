/** Signals from the first moment of the program on. */

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** The listeners for signals; a new listener takes the place of the one before. */
export interface Signals {
  /** The first signal is number 1. Signals that have come before call back at once. */
  onStop(listener: (signal: StopSignal, number: number) => void): void
  /** Calls back for each SIGHUP, and at once if one has come before. */
  onReload(listener: () => void): void
  /** From now on signals end the process at once, as they do any other; so do those that came before. */
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
