/**
 * The lines that a process writes for its operator, as text or as JSON. Text begins with its level: `fault`,
 * `warning: `, `debug: `, and nothing for all else. Nothing in a message can end its line, or steer a
 * terminal.
 */

/** From the most serious on. A level shows its own lines and those before it. */
export const LEVELS = ['error', 'warning', 'info', 'debug'] as const
export type Level = (typeof LEVELS)[number]
export const FORMATS = ['text', 'json'] as const
export type Format = (typeof FORMATS)[number]

export interface LogOptions {
  format: Format
  level: Level
  write: (text: string) => void
  /** Epoch seconds. */
  clock: () => number
}

const LINE_END = /\s*[\r\n\u2028\u2029]+\s*/g
/** What steers a terminal, or changes the direction of what follows. */
const INVISIBLE = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

/** One JSON object and the end of its line. @param now epoch seconds */
export function jsonLine(now: number, level: Level, fields: { [name: string]: unknown }): string {
  return `${JSON.stringify({ time: new Date(now * 1000).toISOString(), level, ...fields })}\n`
}

export function levelOf(line: string): Level {
  if (line.startsWith('fault')) return 'error'
  if (line.startsWith('warning: ')) return 'warning'
  return line.startsWith('debug: ') ? 'debug' : 'info'
}

export class Log {
  level: Level
  readonly format: Format
  readonly #write: (text: string) => void
  readonly #clock: () => number

  constructor({ format, level, write, clock }: LogOptions) {
    this.format = format
    this.level = level
    this.#write = write
    this.#clock = clock
  }

  /** Writes an event unless the level leaves it out. */
  line(text: string): void {
    const level = levelOf(text)
    if (LEVELS.indexOf(level) <= LEVELS.indexOf(this.level)) this.always(text, level)
  }

  always(text: string, level: Level = levelOf(text)): void {
    if (this.format === 'json') {
      const message = text.replace(/^(fault|warning|debug): /, '')
      this.#write(jsonLine(this.#clock(), level, { message }))
    } else this.#write(`${oneLine(text)}\n`)
  }
}

function oneLine(text: string): string {
  return text
    .replaceAll(LINE_END, ' | ')
    .replaceAll(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}
