/** The lines of a process for its operator, as text or JSON: nothing in a message can end its line. */

import { jsonLine } from './text.ts'

/** From the most serious on. A level shows its own lines and the lines of levels before it. */
export const LEVELS = ['error', 'warning', 'info', 'debug'] as const
export type Level = (typeof LEVELS)[number]
/** First words of a line of text, by level. */
const WORDS: { readonly [level in Level]: string } = {
  error: 'fault: ',
  warning: 'warning: ',
  info: '',
  debug: 'debug: ',
}
export const FORMATS = ['text', 'json'] as const
export type Format = (typeof FORMATS)[number]

/**
 * Takes an event, at the level `info` unless another one is given.
 * @param word the first word of a line of text, in place of the level
 */
export type LogLine = (message: string, level?: Level, word?: string) => void

interface LogOptions {
  format: Format
  level: Level
  write: (text: string) => void
  clock: () => number
}

/** Characters of a line: more than any message of our own has. */
const MOST_CHARACTERS = 4000
const LINE_END = /\s*[\r\n\u2028\u2029]+\s*/g
/** Characters that steer a terminal, or change the direction of text. */
const INVISIBLE = /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu

export const lineText: (...event: Parameters<LogLine>) => string = (
  message,
  level = 'info',
  word = WORDS[level],
) => word + message

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
  line(message: string, level: Level = 'info', word?: string): void {
    if (LEVELS.indexOf(level) <= LEVELS.indexOf(this.level)) this.always(message, level, word)
  }

  always(message: string, level: Level, word?: string): void {
    const cut = cutText(message, MOST_CHARACTERS)
    if (this.format === 'json') this.#write(jsonLine(this.#clock(), level, { message: cut }))
    else this.#write(`${oneLine(lineText(cut, level, word))}\n`)
  }
}

function oneLine(text: string): string {
  return text
    .replaceAll(LINE_END, ' | ')
    .replaceAll(INVISIBLE, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
}

/** Control characters but the end of a line. */
const CONTROLS = /(?!\n)\p{Cc}(?:(?!\n)\p{Cc})*/gu

/**
 * A text that may hold any part of what came from outside, as messages have it: of a long one its beginning
 * and its end, which may say what to do, some `most` characters in all. Control characters in a row count as
 * one.
 */
export function cutText(text: string, most: number): string {
  const { length } = text
  const end = Math.floor(most / 3)
  const shown =
    length <= most
      ? text
      : `${text.slice(0, most - end)}… (${length - most} characters more) …${text.slice(-end)}`
  return shown.replaceAll(CONTROLS, (run) => run[0])
}
