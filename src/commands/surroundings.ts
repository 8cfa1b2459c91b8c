/** The process around a command: output, environment, clock, randomness, and its package. */
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Log, type Format, type Level, type LogLine } from '../system/log.ts'

/** Writes one line of the command's result to standard output. */
export const print = (line: string): void => {
  if (printed === null) process.stdout.write(`${line}\n`)
  else if (line.trim() !== '') printed.always(line.trim(), 'info')
}

/** Writes one event to standard error: what happens meanwhile, warnings and faults. */
export const note: LogLine = (...event) => noted.line(...event)

/** Writes why the program ends to standard error, whatever the level. */
export const noteEnd = (text: string): void => noted.always(text, 'error', '')

/** The log that printed lines go to; null where they go out as they are. */
let printed: Log | null = null
let noted = logTo(process.stderr, 'text', 'info')

/** @param isService whether standard output is a log, too, and not the command's result */
export function setLog(format: Format, level: Level, isService: boolean): void {
  noted = logTo(process.stderr, format, level)
  printed = isService && format === 'json' ? logTo(process.stdout, format, level) : null
}

/** Whether a person sees the printed lines, and no log keeps them. */
export const isTerminal = (): boolean => process.stdout.isTTY

export const logSettings = {
  get format(): Format {
    return noted.format
  },
  get level(): Level {
    return noted.level
  },
  set level(level: Level) {
    noted.level = level
  },
}

function logTo(stream: NodeJS.WriteStream, format: Format, level: Level): Log {
  return new Log({ format, level, write: (text) => void stream.write(text), clock })
}

// The AWS SDK warns on Node 20 that later editions need a newer Node. The pinned edition does not.
process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true'

export const environment: { readonly [name: string]: string | undefined } = process.env

export function clock(): number {
  return Date.now() / 1000
}

/** The folder of the package or clone that this program runs from, without a slash at its end. */
export const packageFolder: string = folderAbove(fileURLToPath(import.meta.url))

function folderAbove(path: string): string {
  const folder = dirname(path)
  return folder === path || existsSync(join(folder, 'package.json')) ? folder : folderAbove(folder)
}

/** The version in its package.json. */
export function programVersion(): string {
  const file = join(packageFolder, 'package.json')
  if (!existsSync(file)) return 'of an unknown version'
  return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
}

export const random: () => number = Math.random
