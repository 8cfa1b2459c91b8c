/**
 * Texts of `--help`: the list of the commands, and the usage and options of each. They have one line for each
 * command and option; `folded` makes them fit a terminal.
 */
import type { Setting, Settings } from '../process/settings/setting.ts'
import { KIND_HELP } from '../sources/kinds.ts'
import { variableOf } from './arguments.ts'
import type { Command, Service } from './command.ts'

/** Columns that names of commands and of source kinds take in their lists. */
const NAME_COLUMNS = 17
const KIND_COLUMNS = 13

/** Width where there is no terminal, as in a pipe: the same text whatever the window that it is typed in. */
const USUAL_WIDTH = 80
/** A narrower terminal breaks lines itself: one word below the other would be worse. */
const LEAST_WORDS_WIDTH = 30

/**
 * A text of `--help` with lines of at most `columns` characters, broken between words. What does not fit goes
 * on below where the second column begins, so that `grep` finds a command or an option with the beginning of
 * what it means. A word that is longer, such as a variable's name, is not broken.
 * @param columns of the terminal; undefined where there is none
 */
export function folded(text: string, columns = USUAL_WIDTH): string {
  return text
    .split('\n')
    .map((line) => foldedLine(line, columns))
    .join('\n')
}

function foldedLine(line: string, columns: number): string {
  const left = /^ +\S.*? {2,}/.exec(line)?.[0] ?? ''
  const width = Math.max(columns, left.length + LEAST_WORDS_WIDTH)
  const lines: string[] = []
  let current = left
  for (const word of line.slice(left.length).split(' ')) {
    if (current.length > left.length && current.length + 1 + word.length > width) {
      lines.push(current)
      current = ' '.repeat(left.length)
    }
    current += current.length > left.length ? ` ${word}` : word
  }
  return [...lines, current].join('\n')
}

/**
 * The list of the commands.
 * @param group what the names of a group's commands begin with (`keys `); empty for all
 */
export function overview(
  commands: { readonly [name: string]: { readonly summary: string } },
  group: string,
): string {
  const rows = Object.entries(commands)
    .filter(([name]) => name.startsWith(group))
    .map(([name, { summary }]) => `  ${name.padEnd(NAME_COLUMNS)}${summary}`)
  return [
    `groundswell ${group}COMMAND [options]`,
    '',
    ...rows,
    '',
    `groundswell ${group}COMMAND --help shows its options. Each can also come from the environment: GROUNDSWELL_ and its name in capitals, with _ for -, as in GROUNDSWELL_KEYS=keys.json. groundswell --version shows the version.`,
  ].join('\n')
}

export function commandHelp(
  name: string,
  summary: string,
  { usage, more, settings }: Command | Service,
): string {
  return [`groundswell ${name} ${usage}`, summary, more, settingsHelp(settings)]
    .filter((part) => part !== '')
    .join('\n\n')
}

/** The options of a command, one per line. */
export function settingsHelp(settings: Settings): string {
  const rows = Object.entries(settings).map(([option, setting]) => {
    const notes = [setting.parse.range ?? '', defaultText(setting), variableOf(option)].filter(
      (note) => note !== '',
    )
    return [
      `  --${option} ${setting.placeholder}`.trimEnd(),
      `${setting.help} (${notes.join('; ')})`,
    ] as const
  })
  const width = Math.max(...rows.map(([left]) => left.length)) + 2
  return rows.map(([left, right]) => `${left.padEnd(width)}${right}`).join('\n')
}

function defaultText({ required, under, default: fallback = '' }: Setting<unknown>): string {
  if (required === true) return 'required'
  if (under !== undefined) return `default ${under} in the data folder`
  return fallback === '' ? '' : `default ${fallback}`
}

export function kindsHelp(): string {
  const rows = Object.entries(KIND_HELP).map(([kind, text]) => `  ${kind.padEnd(KIND_COLUMNS)}${text}`)
  return ['Kinds of sources, each as KIND:PATH:', ...rows].join('\n')
}
