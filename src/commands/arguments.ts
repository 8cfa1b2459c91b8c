/** Arguments and environment of a command, read against the table of its settings. */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { ConfigOf, Setting, Settings } from '../process/settings/setting.ts'
import { UsageError } from '../process/usage-error.ts'
import { suggestion } from './suggest.ts'

/** The environment variable of an option: `GROUNDSWELL_BASE_PATH` of `--base-path`. */
export function variableOf(option: string): string {
  return `GROUNDSWELL_${option.toUpperCase().replaceAll('-', '_')}`
}

/**
 * Marks an argument that begins with a hyphen but is not an option. An argument cannot contain this
 * character.
 */
const NO_OPTION = '\0'

export interface CommandLine<S extends Settings> {
  config: ConfigOf<S>
  positionals: string[]
  help: boolean
  /**
   * The options that were given, each with the name the operator used: that of the option or of the variable.
   */
  given: ReadonlyMap<string, string>
}

/**
 * Reads a command's settings. An option counts before a variable of the environment, and that before the
 * default. An empty variable counts as not set. `usualFolder` is asked for the data folder when a default
 * lies in it and `--data` is not given. `config.data` is the data folder, or null where no default lies in
 * it.
 * @throws UsageError naming the option or variable.
 */
export function readCommandLine<S extends Settings>(
  settings: S,
  argv: readonly string[],
  environment: { readonly [name: string]: string | undefined },
  usualFolder: () => string = () => 'data',
): CommandLine<S> {
  const options = Object.fromEntries(
    Object.entries(settings).map(([option, { flag }]) => [
      option,
      { type: flag === true ? ('boolean' as const) : ('string' as const), multiple: true },
    ]),
  )
  const { values, positionals } = parseOptions(argv, {
    ...options,
    help: { type: 'boolean', multiple: true, short: 'h' },
  })
  if (values.help !== undefined)
    return { config: {} as ConfigOf<S>, positionals, help: true, given: new Map() }
  const named = new Map<string, string>()
  let folder = values.data?.map(String).at(-1) ?? environment[variableOf('data')] ?? ''
  let isFolderUsed = false
  const defaultOf = ({ under, default: fallback }: Setting<unknown>): string[] => {
    if (under === undefined) return fallback === undefined ? [] : [fallback]
    isFolderUsed = true
    if (folder === '') folder = usualFolder()
    return [join(folder, under)]
  }
  const config = Object.fromEntries(
    Object.entries(settings).map(([option, setting]) => {
      const given = values[option]?.map(String)
      const variable = environment[variableOf(option)] ?? ''
      const [texts, name] =
        given !== undefined
          ? [given, `--${option}`]
          : variable !== ''
            ? [setting.multiple === true ? variable.trim().split(/\s+/) : [variable], variableOf(option)]
            : [defaultOf(setting), `--${option}`]
      if (given !== undefined || variable !== '') named.set(option, name)
      if (texts.length === 0 && setting.required === true) throw new UsageError(`--${option} is required`)
      if (texts.length > 1 && setting.multiple !== true)
        throw new UsageError(`${name} is given more than once`)
      try {
        return [option, setting.parse(texts)]
      } catch (error) {
        throw new UsageError(`${name}: expected ${(error as Error).message}`)
      }
    }),
  )
  if ('data' in config) config['data'] = isFolderUsed ? folder : null
  return { config: Object.freeze(config) as ConfigOf<S>, positionals, help: false, given: named }
}

type OptionTable = NonNullable<NonNullable<Parameters<typeof parseArgs>[0]>['options']>

function parseOptions(
  argv: readonly string[],
  options: OptionTable,
): { values: { [option: string]: (string | boolean)[] | undefined }; positionals: string[] } {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  for (const argument of argv.slice(0, end)) {
    const name = /^--([^=]+)/.exec(argument)?.[1]
    if (name !== undefined && !Object.hasOwn(options, name)) {
      const meant = suggestion(
        `--${name}`,
        Object.keys(options).map((option) => `--${option}`),
      )
      throw new UsageError(`unknown option "--${name}"${meant}`)
    }
  }
  try {
    const { values, positionals } = parseArgs({
      args: withNegatives(argv, options),
      options,
      allowPositionals: true,
      strict: true,
    })
    return {
      values: values as { [option: string]: (string | boolean)[] | undefined },
      positionals: positionals.map((text) => (text.startsWith(NO_OPTION) ? text.slice(1) : text)),
    }
  } catch (error) {
    throw new UsageError(syntaxFault((error as Error).message, argv.slice(0, end), Object.keys(options)))
  }
}

/** What Node says of arguments, in words of ours where an operator meets them often. */
function syntaxFault(message: string, argv: readonly string[], known: readonly string[]): string {
  const withoutValue = /^Option '(?:-\w, )?(--[\w-]+) <value>' argument missing/.exec(message)?.[1]
  if (withoutValue !== undefined) return `${withoutValue} needs a value`
  const short = argv.find((argument) => /^-[A-Za-z]/.test(argument))?.replace(/=.*/, '')
  if (short !== undefined && message.startsWith("Unknown option '-")) {
    const options = known.map((option) => `--${option}`)
    // One letter is near to anything.
    return `unknown option "${short}"${short.length > 2 ? suggestion(`-${short}`, options) : ''}`
  }
  // The first sentence names the option. The rest is advice about the syntax of arguments in general.
  return message.split(/\. |\.?\n/)[0]
}

/** Makes a negative number the value of the option before it, or else a positional argument. */
function withNegatives(argv: readonly string[], options: OptionTable): string[] {
  const joined: string[] = []
  let areOptions = true
  for (const argument of argv) {
    const before = joined.at(-1) ?? ''
    areOptions &&= before !== '--'
    if (!areOptions || !/^-\.?[0-9]/.test(argument)) joined.push(argument)
    else if (/^--[^=]+$/.test(before) && options[before.slice(2)]?.type === 'string') {
      joined[joined.length - 1] = `${before}=${argument}`
    } else joined.push(`${NO_OPTION}${argument}`)
  }
  return joined
}
