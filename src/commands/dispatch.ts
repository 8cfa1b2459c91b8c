/** Finds the command of a command line, runs it, and sets the exit code. */
import { existsSync } from 'node:fs'
import { Command as Parser, CommanderError } from 'commander'
import { KeyCommandError } from '../access/key-records.ts'
import { KeysFileError } from '../access/keys-file.ts'
import { ListenError } from '../http/port.ts'
import { AdminTokenError } from '../server/admin.ts'
import type { LOG_SETTINGS } from '../server/serve-settings.ts'
import { UsageError, type ConfigOf } from '../server/setting.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { RequestFault } from '../snapshot/store/web-request.ts'
import { BuildError } from '../system/build-error.ts'
import { hasOwner } from '../system/faults.ts'
import { inWords, isSystemFault } from '../system/file-faults.ts'
import { isAddress } from '../access/keys-object.ts'
import { asUsageError, describe, helpWidth, valuesOf, variableOf, type Command } from './command.ts'
import { expectFolder, usualDataFolder } from './data-folder.ts'
import { ServerFailure, Stops, type Signals } from './signals.ts'
import { logSettings, note, noteEnd, print, programVersion, setLog } from './surroundings.ts'

/** Loading all commands takes ten times as long as Node itself does to start. */
type Module = () => Promise<{ readonly COMMANDS: { readonly [name: string]: Command } }>

const building: Module = () => import('./build.ts')
const folders: Module = () => import('./folders.ts')
const keys: Module = () => import('./keys.ts')
const within = 'within a second (five if the keys are in a bucket)'

/** The commands by their names, in the order of `--help`. */
export const COMMANDS: { readonly [name: string]: readonly [module: Module, summary: string] } = {
  build: [building, 'fetch what the configuration names, build a snapshot from source files and publish it'],
  publish: [
    building,
    'copy the snapshot of a folder to a bucket, s3://BUCKET/PREFIX, for replicas to mirror',
  ],
  serve: [
    () => import('./serve.ts'),
    'serve the snapshot of a folder, or of a bucket or web server that it mirrors',
  ],
  run: [
    () => import('./run.ts'),
    'build a snapshot and issue a key where there is none, then serve and build on schedule',
  ],
  init: [() => import('./init.ts'), 'write a commented configuration of sources to start from'],
  doctor: [() => import('./doctor.ts'), 'look for anything that would prevent a start, and say what to do'],
  health: [
    () => import('./health.ts'),
    'ask the server on this machine whether it is ready; the exit code is 0 when it is',
  ],
  mcp: [
    () => import('./mcp.ts'),
    'let an assistant ask an API: a server of the Model Context Protocol over standard input and output',
  ],
  inspect: [folders, 'show the contents of a snapshot'],
  check: [folders, 'read every part that a kept snapshot names, and list the faults'],
  report: [
    folders,
    'print the report of the newest build: what was read, fetched, refused and found suspect',
  ],
  list: [folders, 'list the snapshots that a folder keeps'],
  export: [
    building,
    'write the readings of a snapshot as files, one for each network and year, for each month of the newest year, and all buoys',
  ],
  pin: [folders, 'keep a snapshot until it is unpinned'],
  unpin: [folders, 'let builds remove a pinned snapshot when it is old enough'],
  rollback: [folders, 'publish the snapshot before the current one again, and hold back later ones'],
  resume: [folders, 'end a rollback: publish the newest kept snapshot, and later ones as they are built'],
  'keys issue': [keys, 'issue a key; it is shown once'],
  'keys list': [keys, "list keys with this hour's use"],
  'keys rotate': [keys, `replace a key: the old one stops working ${within}; its id and usage are kept`],
  'keys revoke': [keys, `stop a key from working, ${within}`],
  'keys set-quota': [keys, 'change the hourly quota of a key'],
}

const GROUPS: { readonly [name: string]: string } = {
  keys: 'issue, list, replace and revoke API keys, and set their quotas',
}

const HELP = /^(-h|--help|help)$/
/** Without a command the program shows itself. */
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

/** An uncaught error ends the process, unless it belongs to work that fails with it: the rest goes on. */
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
  // A server that serves ends cleanly, by a listener of its own.
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
  let words = isNamed ? argv : [FIRST_COMMAND, ...argv]
  if (HELP.test(first)) words = [...rest, '--help']
  else if (first === 'version') words = ['--version']
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
    const loaded = (await COMMANDS[name][0]()).COMMANDS[name]
    describe(found.allowExcessArguments(), loaded)
    usage = found.createHelp().commandUsage(found)
    found.action(() => runFound(found, usage, loaded, signals))
  }
  program.hook('preSubcommand', load)
  for (const [name, [, summary]] of Object.entries(COMMANDS)) {
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
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Help and version have been shown. A group alone shows its commands.
    if (/^commander\.(help|helpDisplayed|version)$/.test(error.code)) return
    throw asUsageError(error, usage)
  }
}

async function runFound(parser: Parser, usage: string, found: Command, signals: Signals): Promise<void> {
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
  if (found.existing !== undefined) expectFile(found.existing, config, given)
  if ('run' in found) {
    signals.letGo()
    await found.run(config as never, parser.args)
    return
  }
  const stops = new Stops(signals)
  await found.serve(config as never, stops, signals)
  // All is saved. Pending work does not keep the process.
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

function expectFile(option: string, config: object, given: ReadonlyMap<string, string>): void {
  const name = given.get(option)
  const path = String((config as { [option: string]: unknown })[option])
  if (name !== undefined && !isAddress(path) && !existsSync(path)) {
    throw new KeysFileError(`${path}: there is no such file (${name}); "keys issue" makes one`)
  }
}

/** Faults of input, files and surroundings; all others keep their stack. */
const EXPECTED = [
  AdminTokenError,
  UsageError,
  ListenError,
  BuildError,
  SnapshotError,
  RequestFault,
  KeysFileError,
  KeyCommandError,
]

/** The sentence for an operator; null for a fault of the program. */
export function expectedFault(error: unknown): string | null {
  if (EXPECTED.some((kind) => error instanceof kind)) return (error as Error).message
  if (!isSystemFault(error)) return null
  if (error.code === 'EEXIST' && error.syscall === 'mkdir') return `${error.path}: is not a folder`
  return error.path === undefined ? error.message : `${error.path}: ${inWords(error)}`
}
