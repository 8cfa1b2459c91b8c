/** What a command has of the process around it: output, environment, clock and chance. */

/** Writes one line to standard output: what the operator asked for. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Writes one line to standard error: what happens meanwhile, warnings and faults. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`)

export const environment: { readonly [name: string]: string | undefined } = process.env

/** Epoch seconds. */
export const clock = (): number => Date.now() / 1000

/** A number in [0, 1). */
export const random: () => number = Math.random
