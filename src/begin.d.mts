/** Types of `begin.mjs`. */

export type StopSignal = 'SIGINT' | 'SIGTERM'

/** The listeners for signals; a new listener takes the place of the one before. */
export interface Signals {
  /** Calls back for each signal that asks for an end, the first being number 1; for those that have come before at once. */
  onStop(listener: (signal: StopSignal, number: number) => void): void
  /** Calls back for each SIGHUP, and at once if one has come before. */
  onReload(listener: () => void): void
  /** From now on, and for those that have come before, signals do what they do to any process: end it at once. */
  letGo(): void
}

/** What to tell who runs this with a Node that is too old; null with any other. */
export function oldNodeFault(): string | null

/** Catches the signals that ask for an end or a reload. Signals that come before a listener wait for it. */
export function catchSignals(): Signals

/** Whether the log is to be JSON, as far as arguments and environment show before they are read. */
export function wantsJson(argv: readonly string[]): boolean

/** Whether the log is to have more than warnings and errors, as far as that is known before arguments are read. */
export function wantsInfo(argv: readonly string[]): boolean

/**
 * Writes lines to standard error that come before the program's own log, as JSON objects where they are to be.
 * @param level of the objects, `error` by default
 */
export function writeEarly(text: string, isJson: boolean, level?: 'error' | 'info'): void
