/** Finds the command of a command line, runs it, and sets the exit code. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { Command as Parser, CommanderError } from 'commander'
import { KeysFileError } from '../access/keys-file.ts'
import type { LOG_SETTINGS } from '../server/serve-settings.ts'
import { UsageError, type ConfigOf } from '../server/setting.ts'
import { hasOwner } from '../system/faults.ts'
import { isAddress } from '../access/keys-object.ts'
import {
  asUsageError,
  describe,
  helpWidth,
  valuesOf,
  variableOf,
  type Command,
  type Service,
} from './command.ts'
import { expectFolder, usualDataFolder } from './data-folder.ts'
import { expectedFault } from './faults.ts'
import type { Signals } from './signals.ts'
import { ServerFailure, Stops } from './stops.ts'
import { logSettings, note, noteEnd, print, programVersion, setLog } from './surroundings.ts'

interface NamedCommand {
  readonly summary: string
  /** Loading all commands takes ten times as long as Node itself does to start. */
  readonly load: () => Promise<Command | Service>
}

const keysCommand =
  (name: string): NamedCommand['load'] =>
  async () =>
    (await import('./keys.ts')).KEYS_COMMANDS[name]

const folderCommand =
  (name: string): NamedCommand['load'] =>
  async () =>
    (await import('./folders.ts')).FOLDER_COMMANDS[name]

/** The commands by their names, in the order of `--help`. */
export const COMMANDS: { readonly [name: string]: NamedCommand } = {
  build: {
    summary: 'fetch what the configuration names, build a snapshot from source files and publish it',
    load: async () => (await import('./build.ts')).build,
  },
  publish: {
    summary: 'copy the snapshot of a folder to a bucket, s3://BUCKET/PREFIX, for replicas to mirror',
    load: async () => (await import('./build.ts')).publish,
  },
  serve: {
    summary: 'serve the snapshot of a folder, or of a bucket or web server that it mirrors',
    load: async () => (await import('./serve.ts')).serve,
  },
  run: {
    summary: 'build a snapshot and issue a key where there is none, then serve and build on schedule',
    load: async () => (await import('./run.ts')).run,
  },
  init: {
    summary: 'write a commented configuration of sources to start from',
    load: async () => (await import('./init.ts')).init,
  },
  doctor: {
    summary: 'look for anything that would prevent a start, and say what to do',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  health: {
    summary: 'ask the server on this machine whether it is ready; the exit code is 0 when it is',
    load: async () => (await import('./health.ts')).health,
  },
  mcp: {
    summary:
      'let an assistant ask an API: a server of the Model Context Protocol over standard input and output',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  inspect: {
    summary: 'show what a snapshot holds',
    load: folderCommand('inspect'),
  },
  check: {
    summary: 'read every part that a kept snapshot names, and say what is wrong',
    load: folderCommand('check'),
  },
  report: {
    summary: 'print the report of the newest build: what was read, fetched, refused and found suspect',
    load: folderCommand('report'),
  },
  list: {
    summary: 'list the snapshots that a folder keeps',
    load: folderCommand('list'),
  },
  export: {
    summary:
      'write the readings of a snapshot as files, one for each network and year, for each month of the newest year, and all buoys',
    load: async () => (await import('./build.ts')).exportCommand,
  },
  pin: { summary: 'keep a snapshot until it is unpinned', load: folderCommand('pin') },
  unpin: {
    summary: 'let builds remove a pinned snapshot when it is old enough',
    load: folderCommand('unpin'),
  },
  rollback: {
    summary: 'publish the snapshot before the current one again, and hold back later ones',
    load: folderCommand('rollback'),
  },
  resume: {
    summary: 'end a rollback: publish the newest kept snapshot, and later ones as they are built',
    load: folderCommand('resume'),
  },
  'keys issue': { summary: 'issue a key; it is shown once', load: keysCommand('keys issue') },
  'keys list': { summary: "list keys with this hour's use", load: keysCommand('keys list') },
  'keys show': { summary: 'show one key', load: keysCommand('keys show') },
  'keys rotate': {
    summary:
      'replace a key: the old one stops working within a second (five, where keys are in a bucket); its id and usage are kept',
    load: keysCommand('keys rotate'),
  },
  'keys revoke': {
    summary: 'stop a key from working, within a second (five, where keys are in a bucket)',
    load: keysCommand('keys revoke'),
  },
  'keys set-quota': { summary: 'change the hourly quota of a key', load: keysCommand('keys set-quota') },
}

const GROUPS: { readonly [name: string]: string } = {
  keys: 'issue, list, replace and revoke API keys, and set their quotas',
}

const HELP = /^(-h|--help|help)$/
/** What the program does when no command is named: it shows itself. */
const FIRST_COMMAND = 'run'

/** Exit codes: 1 where the command failed, 2 where its command line cannot be understood. */
const FAILED = 1
const MISUSED = 2

/** @param argv what follows the program's name @param isJson as far as known before `argv` is read */
export async function runCommand(argv: readonly string[], isJson: boolean, signals: Signals): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedOutput)
  process.on('uncaughtException', onUncaught)
  if (isJson) logAsJson()
  try {
    await dispatch(argv, signals)
  } catch (error) {
    if (error instanceof ServerFailure) Stops.endAbruptly()
    const fault = expectedFault(error)
    if (fault === null) {
      if (logSettings.format === 'text') throw error
      note(`${error instanceof Error ? error.stack : String(error)}`, 'error')
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
  process.on('warning', ({ name, message }) => note(`${name}: ${message}`, 'warning'))
}

/** What nobody caught ends the process, unless it belongs to work that fails with it: the rest goes on. */
function onUncaught(error: unknown): void {
  const stack = (error instanceof Error ? error.stack : undefined) ?? String(error)
  if (hasOwner(error)) {
    // The message is left out, since it may quote an address with a key in it.
    note(
      `${error instanceof Error ? error.name : 'a value'} out of turn${stack.slice(stack.indexOf('\n    at '))}`,
      'error',
    )
    return
  }
  // A server that serves ends in good order, by a listener of its own.
  if (process.listenerCount('uncaughtException') > 1) return
  if (logSettings.format === 'json') note(stack, 'error')
  else process.stderr.write(`${stack}\n`)
  process.exit(FAILED)
}

/** A reader such as `head` may have read enough. The work goes on without it. */
function ignoreClosedOutput(error: NodeJS.ErrnoException): void {
  // EIO: the terminal was closed.
  if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error
}

async function dispatch(argv: readonly string[], signals: Signals): Promise<void> {
  const [first = '', ...rest] = argv
  const isNamed = first !== '' && (!first.startsWith('-') || /^(-v|--version)$/.test(first))
  const words = HELP.test(first)
    ? [...rest, '--help']
    : first === 'version'
      ? ['--version']
      : isNamed
        ? argv
        : [FIRST_COMMAND, ...argv]
  const program = new Parser('groundswell')
    .version(`groundswell ${programVersion()}`, '-v, --version', 'show the version')
    .helpOption('-h, --help', 'show this help')
    .helpCommand(false)
    .exitOverride()
    .enablePositionalOptions()
    .configureOutput({
      writeOut: (text) => print(text.replace(/\n$/, '')),
      writeErr: (text) => print(text.replace(/\n$/, '')),
      outputError: () => {},
      getOutHelpWidth: helpWidth,
      getErrHelpWidth: helpWidth,
    })
    .addHelpText(
      'after',
      '\nEach option of a command can also come from the environment: GROUNDSWELL_ and\nits name in capitals, with _ for -, as in GROUNDSWELL_KEYS=keys.json.',
    )
  /** The command that was found, for the message about its arguments. */
  let usage = ''
  const groups = new Map<string, Parser>()
  const load = async (_parent: Parser, found: Parser): Promise<void> => {
    const group = found.parent === program ? '' : `${found.parent?.name()} `
    const name = `${group}${found.name()}`
    if (!Object.hasOwn(COMMANDS, name)) return
    const loaded = await COMMANDS[name].load()
    describe(found.allowExcessArguments(), loaded)
    usage = found.createHelp().commandUsage(found)
    found.action(() => runFound(found, usage, loaded, signals))
  }
  program.hook('preSubcommand', load)
  for (const [name, { summary }] of Object.entries(COMMANDS)) {
    const [group, word] = name.split(' ')
    if (word === undefined) {
      program.command(name).description(summary)
      continue
    }
    if (!groups.has(group))
      groups.set(
        group,
        program.command(group).description(GROUPS[group]).helpCommand(false).hook('preSubcommand', load),
      )
    groups.get(group)!.command(word).description(summary)
  }
  try {
    await program.parseAsync(separated(words), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version have been shown. A group alone shows its commands.
    if (/^commander\.(help|helpDisplayed|version)$/.test(error.code)) return
    throw asUsageError(error, usage)
  }
}

/** `--name=value` as two words: commander suggests nothing for an unknown option with a value. */
function separated(argv: readonly string[]): string[] {
  const end = argv.includes('--') ? argv.indexOf('--') : argv.length
  return argv.flatMap((word, i) => {
    const at = /^--[^=]+=/.exec(word)?.[0].length ?? 0
    return i < end && at > 0 ? [word.slice(0, at - 1), word.slice(at)] : [word]
  })
}

async function runFound(
  parser: Parser,
  usage: string,
  found: Command | Service,
  signals: Signals,
): Promise<void> {
  const { config, given } = valuesOf(parser, found.settings, usualDataFolder)
  const { 'log-format': format, 'log-level': level } = config as Partial<ConfigOf<typeof LOG_SETTINGS>>
  if (format !== undefined && level !== undefined) setLog(format, level, true)
  const isEndless = parser.registeredArguments.some(({ variadic }) => variadic)
  const surplus = isEndless ? undefined : parser.args.at(parser.registeredArguments.length)
  if (surplus !== undefined) {
    const isCommand = Object.keys(COMMANDS).some((name) => name.split(' ')[0] === surplus)
    const first = isCommand ? ': a command comes first and alone, before its options' : ''
    throw new UsageError(`unexpected argument "${surplus}"${first}; usage: ${usage}`)
  }
  if (found.takes?.startsWith('<DIR>') === true) expectFolder(parser.args[0])
  warnOfPasswords(config, given)
  if (found.existing !== undefined) expectFile(found.existing, config, given, 'run' in found)
  if ('run' in found) {
    signals.letGo()
    await found.run(config as never, parser.args)
    return
  }
  const stops = new Stops(signals)
  await found.serve(config as never, stops, signals)
  // All is saved. What still waits for something does not keep the process.
  await stops.end(0)
}

/** Every user of the machine can read the arguments of a process; its environment only its own user can. */
function warnOfPasswords(config: object, given: ReadonlyMap<string, string>): void {
  for (const [option, value] of Object.entries(config) as [string, unknown][]) {
    const isKey = option === 'key'
    if (given.get(option) !== `--${option}` || !(isKey || holdsPassword(value))) continue
    note(
      `--${option} holds a ${isKey ? 'key' : 'password'}, which every user of this machine can see: give ${isKey ? 'it' : 'the address'} in ${variableOf(option)}`,
      'warning',
    )
  }
}

/** Whether a setting that was read is an address of Redis with a password. */
function holdsPassword(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'hasPassword' in value && value.hasPassword === true
}

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
