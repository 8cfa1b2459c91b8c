/** Finds the command of a command line, runs it, and sets the exit code. */
import { wantsJson, type Signals } from '../begin.mjs'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { KeysFileError } from '../access/keys-file.ts'
import { ServerFailure, Stops } from './stops.ts'
import type { LOG_SETTINGS } from '../process/settings/logs.ts'
import type { ConfigOf } from '../process/settings/setting.ts'
import { UsageError } from '../process/usage-error.ts'
import { hasOwner } from '../system/stray-faults.ts'
import { isAddress, parseAddress } from '../redis/address.ts'
import { readCommandLine, variableOf } from './arguments.ts'
import { expectFolder, usualDataFolder } from './data-folder.ts'
import { expectedFault } from './faults.ts'
import { commandHelp, folded, overview } from './help.ts'
import { suggestion } from './suggest.ts'
import { environment, logSettings, note, noteEnd, print, programVersion, setLog } from './surroundings.ts'
import { COMMANDS } from './table.ts'

const HELP = /^(-h|--help|help)$/
const VERSION = /^(-v|--version|version)$/
/** What the program does when no command is named: it shows itself. */
const FIRST_COMMAND = 'run'

/** Exit codes: 1 where the command failed, 2 where its command line cannot be understood. */
const FAILED = 1
const MISUSED = 2

/** @param argv what follows the program's name */
export async function runCommand(argv: readonly string[], signals: Signals): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe)
  process.on('uncaughtException', onUncaught)
  if (wantsJson(argv)) logAsJson()
  try {
    await dispatch(argv, signals)
  } catch (error) {
    if (error instanceof ServerFailure) Stops.endAbruptly()
    const fault = expectedFault(error)
    if (fault === null) {
      if (logSettings.format === 'text') throw error
      note(`fault: ${error instanceof Error ? error.stack : String(error)}`)
      process.exitCode = FAILED
      return
    }
    noteEnd(logSettings.format === 'json' ? fault : `groundswell: ${fault}`)
    process.exitCode = error instanceof UsageError ? MISUSED : FAILED
  }
}

/** Takes over what Node itself would write as text, before the command line has been read. */
function logAsJson(): void {
  setLog('json', 'info', false)
  process.removeAllListeners('warning')
  process.on('warning', ({ name, message }) => note(`warning: ${name}: ${message}`))
}

/** What nobody caught ends the process, unless it belongs to work that fails with it: the rest goes on. */
function onUncaught(error: unknown): void {
  const stack = (error instanceof Error ? error.stack : undefined) ?? String(error)
  if (hasOwner(error)) {
    // Without the message, which may quote an address with a key in it.
    note(
      `fault: ${error instanceof Error ? error.name : 'a value'} out of turn${stack.slice(stack.indexOf('\n    at '))}`,
    )
    return
  }
  // A server that serves ends in good order, by a listener of its own.
  if (process.listenerCount('uncaughtException') > 1) return
  if (logSettings.format === 'json') note(`fault: ${stack}`)
  else process.stderr.write(`${stack}\n`)
  process.exit(FAILED)
}

/** A reader such as `head` may have read enough. The work goes on without it. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

async function dispatch(given: readonly string[], signals: Signals): Promise<void> {
  const isNamed =
    given.length > 0 && (!given[0].startsWith('-') || HELP.test(given[0]) || VERSION.test(given[0]))
  const argv = !isNamed
    ? [FIRST_COMMAND, ...given]
    : HELP.test(given[0]) && given.length > 1
      ? [...given.slice(1), '--help']
      : given
  if (HELP.test(argv[0])) {
    printHelp(overview(COMMANDS, ''))
    return
  }
  if (VERSION.test(argv[0])) {
    print(`groundswell ${programVersion()}`)
    return
  }
  const names = Object.keys(COMMANDS)
  const isGroup = names.some((name) => name.startsWith(`${argv[0]} `))
  if (isGroup && argv.slice(1).every((argument) => HELP.test(argument))) {
    printHelp(overview(COMMANDS, `${argv[0]} `))
    return
  }
  const words = isGroup && !argv[1].startsWith('-') ? 2 : 1
  const name = argv.slice(0, words).join(' ')
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null
  if (entry === null) {
    const group = isGroup ? `${argv[0]} ` : ''
    if (isGroup && words === 1) {
      throw new UsageError(
        `"${name}" needs one of its commands before the options; groundswell ${group}--help lists them`,
      )
    }
    throw new UsageError(
      `unknown command "${name}"${suggestion(name, names)}; groundswell ${group}--help lists the commands`,
    )
  }
  const found = await entry.load()
  const {
    config,
    positionals,
    help,
    given: named,
  } = readCommandLine(found.settings, argv.slice(words), environment, usualDataFolder)
  if (help) {
    printHelp(commandHelp(name, entry.summary, found))
    return
  }
  const { 'log-format': format, 'log-level': level } = config as Partial<ConfigOf<typeof LOG_SETTINGS>>
  if (format !== undefined && level !== undefined) setLog(format, level, true)
  expectPositionals(positionals, found.positionals, found.optional, `groundswell ${name} ${found.usage}`)
  if (found.inFolder) expectFolder(positionals[0])
  warnOfPasswords(config, named)
  if (found.existing !== null) expectFile(found.existing, config, named, 'run' in found)
  if ('run' in found) {
    signals.letGo()
    await found.run(config as never, positionals)
    return
  }
  const stops = new Stops(signals)
  await found.serve(config as never, stops, signals)
  // All is saved. What still waits for something does not keep the process.
  await stops.end(0)
}

function printHelp(text: string): void {
  // A terminal that does not know its width, as one of a container may, says 0.
  print(folded(text, process.stdout.columns || undefined))
}

function expectPositionals(
  positionals: readonly string[],
  expected: number,
  optional: number,
  usage: string,
): void {
  const most = expected + optional
  if (positionals.length >= expected && positionals.length <= most) return
  const unexpected = positionals.at(most) ?? ''
  const fault =
    positionals.length <= most
      ? 'an argument is missing'
      : isCommand(unexpected)
        ? `unexpected argument "${unexpected}": a command comes first and alone, before its options`
        : `unexpected argument "${unexpected}"`
  throw new UsageError(`${fault}; usage: ${usage}`)
}

/** Whether a command has this name, or begins with it. */
function isCommand(word: string): boolean {
  return Object.keys(COMMANDS).some((name) => name.split(' ')[0] === word)
}

/** Every user of the machine can read the arguments of a process; its environment only its own user can. */
function warnOfPasswords(config: object, given: ReadonlyMap<string, string>): void {
  for (const [option, value] of Object.entries(config) as [string, unknown][]) {
    if (given.get(option) !== `--${option}` || !holdsPassword(value)) continue
    note(
      `warning: --${option} holds a password, which every user of this machine can see: give the address in ${variableOf(option)}, or the password in a file (--redis-password-file)`,
    )
  }
}

/** Whether a setting is an address of Redis with a password, as a text or read already. */
function holdsPassword(value: unknown): boolean {
  if (typeof value === 'string') return /^rediss?:/i.test(value) && parseAddress(value).password !== null
  return typeof value === 'object' && value !== null && 'password' in value && value.password !== null
}

/** @throws KeysFileError */
function expectFile(
  option: string,
  config: object,
  given: ReadonlyMap<string, string>,
  isOneCommand: boolean,
): void {
  const name = given.get(option)
  const path = String((config as { [option: string]: unknown })[option])
  if (isAddress(path)) return
  if (name !== undefined && !existsSync(path)) {
    throw new KeysFileError(`${path}: there is no such file (${name}); "keys issue" makes one`)
  }
  // A server may begin without its folder. Who asks for keys would be told that there are none.
  const folder = dirname(path)
  if (isOneCommand && name === undefined && given.has('data') && !existsSync(folder))
    throw new KeysFileError(`${folder}: there is no such folder (${given.get('data')})`)
}
