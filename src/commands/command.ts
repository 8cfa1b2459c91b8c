/** A command, and how commander reads its options: from the command line, else the environment. */
import { join } from 'node:path'
import { Command as Parser, CommanderError, Option } from 'commander'
import type { Signals, Stops } from './signals.ts'
import { UsageError, type ConfigOf, type Setting, type Settings } from '../server/setting.ts'
import { environment } from './surroundings.ts'

interface Described {
  readonly settings: Settings
  /** Arguments as in `<DIR> [ID]`. A first one called DIR is a folder that has to exist. */
  readonly takes?: string
  /** The option that names a file. A file that the operator names has to exist, the default one need not. */
  readonly existing?: string
  /** More text for `--help`: a title, and a list of names with what they mean. */
  readonly more?: readonly [title: string, meanings: { readonly [name: string]: string }]
}

/**
 * `run` ends by itself: a signal ends it as it ends any other process. `serve` goes on until a signal stops
 * it.
 */
type Running<Config> =
  | { run(config: Config, positionals: string[]): Promise<void> }
  | { serve(config: Config, stops: Stops, signals: Signals): Promise<void> }

export type Command = Described & Running<never>

export function command<const S extends Settings>(
  definition: Described & { readonly settings: S } & Running<ConfigOf<S>>,
): Command {
  return definition
}

/** The environment variable of an option: `GROUNDSWELL_BASE_PATH` of `--base-path`. */
export function variableOf(option: string): string {
  return `GROUNDSWELL_${option.toUpperCase().replaceAll('-', '_')}`
}

/** Gives `parser` the arguments and options of a command. */
export function describe(parser: Parser, { settings, takes, more }: Described): void {
  if (takes !== undefined) parser.arguments(takes)
  for (const [name, { flag, placeholder, help, parse, ...setting }] of Object.entries(settings)) {
    const { variable } = setting
    const variables = [variableOf(name), ...(variable === undefined ? [] : [variable])].join(', else ')
    const notes = [parse.range ?? '', defaultText(setting), variables].filter((note) => note !== '')
    const option = new Option(
      flag === true ? `--${name}` : `--${name} <${placeholder}>`,
      `${help} (${notes.join('; ')})`,
    )
    option.env(variableOf(name)).argParser((text: string | undefined, before: unknown) => {
      if (text?.startsWith('--') === true) throw new UsageError(`--${name} needs a value`)
      // The value of `--no-NAME` begins as true.
      return [...(Array.isArray(before) ? (before as string[]) : []), text ?? 'true']
    })
    parser.addOption(option)
  }
  // The description of an option is complete.
  parser.configureHelp({ optionDescription: ({ description }) => description })
  if (more === undefined) return
  const [title, meanings] = more
  parser.addHelpText('after', () => {
    const helper = parser.createHelp()
    helper.prepareContext({ helpWidth: helpWidth() })
    const width = Math.max(...Object.keys(meanings).map((name) => name.length))
    const rows = Object.entries(meanings).map(([name, text]) => helper.formatItem(name, width, text, helper))
    return ['', title, ...rows].join('\n')
  })
}

function defaultText({
  required,
  under,
  default: fallback = '',
}: Pick<Setting<unknown>, 'required' | 'under' | 'default'>): string {
  if (required === true) return 'required'
  if (under !== undefined) return `default ${under} in the data folder`
  return fallback === '' ? '' : `default ${fallback}`
}

/** The width of the terminal. A pipe gets the same text whatever the window that it is typed in. */
export const helpWidth = (): number => process.stdout.columns || 80

export interface CommandLine<S extends Settings> {
  config: ConfigOf<S>
  /** The options that were given, each with the name the operator used: the option's or the variable's. */
  given: ReadonlyMap<string, string>
}

/**
 * The values of a command's settings. An option counts before a variable, and that before the default; an
 * empty variable counts as not set. `usualFolder` is called if a default is in the data folder and
 * `--data` is not given. `config.data` is null if no default is in the data folder.
 * @throws UsageError naming the option or variable.
 */
export function valuesOf<S extends Settings>(
  parser: Parser,
  settings: S,
  usualFolder: (config: string) => string,
): CommandLine<S> {
  const given = new Map<string, string>()
  const textsOf = (name: string): string[] => {
    const option = parser.options.find(({ long }) => long === `--${name}`)!
    const source = parser.getOptionValueSource(option.attributeName())
    const usual = settings[name].variable
    const isOwn = usual === undefined || (environment[variableOf(name)] ?? '') !== ''
    const variable = isOwn ? variableOf(name) : usual
    const value = source === 'cli' ? '' : (environment[variable] ?? '')
    if (source !== 'cli' && value === '') return []
    given.set(name, source === 'cli' ? `--${name}` : variable)
    if (source === 'cli') return parser.getOptionValue(option.attributeName()) as string[]
    return settings[name].multiple === true ? value.trim().split(/\s+/) : [value]
  }
  const texts = new Map(Object.keys(settings).map((name) => [name, textsOf(name)]))
  let folder = texts.get('data')?.at(-1) ?? ''
  let isFolderUsed = false
  const defaultOf = ({ under, default: fallback }: Setting<unknown>): string[] => {
    if (under === undefined) return fallback === undefined ? [] : [fallback]
    isFolderUsed = true
    if (folder === '') folder = usualFolder(texts.get('config')?.at(-1) ?? settings['config']?.default ?? '')
    return [join(folder, under)]
  }
  const config: { [name: string]: unknown } = {}
  for (const [name, setting] of Object.entries(settings)) {
    const found = texts.get(name)!
    const label = given.get(name) ?? `--${name}`
    if (found.length === 0 && setting.required === true) throw new UsageError(`--${name} is required`)
    if (found.length > 1 && setting.multiple !== true)
      throw new UsageError(`${label} is given more than once`)
    const wanted = found.length === 0 ? defaultOf(setting) : found
    try {
      config[name] = setting.parse(wanted)
    } catch (error) {
      throw new UsageError(`${label}: expected ${(error as Error).message}`)
    }
  }
  if ('data' in config) config['data'] = isFolderUsed ? folder : null
  return { config: Object.freeze(config) as ConfigOf<S>, given }
}

/** Reads the options of a command without running it, as another program or a test may. */
export function readOptions<S extends Settings>(settings: S, argv: readonly string[]): CommandLine<S> {
  const parser = new Parser().exitOverride().configureOutput({ outputError: () => {} })
  describe(parser, { settings })
  try {
    parser.parse(argv, { from: 'user' })
  } catch (error) {
    throw asUsageError(error)
  }
  return valuesOf(parser, settings, () => 'data')
}

/** The error of commander for a command line, in one line. @param usage of the command, where it is known */
export function asUsageError(error: unknown, usage = ''): unknown {
  if (!(error instanceof CommanderError)) return error
  const message = error.message.replace(/^error: /, '').replaceAll('\n', ' ')
  return new UsageError(
    error.code === 'commander.missingArgument' && usage !== '' ? `${message}; usage: ${usage}` : message,
  )
}
