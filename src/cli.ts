#!/usr/bin/env node
/** The command line: alone reads arguments and environment, and sets the exit code. One function per command. */
import { pathToFileURL } from 'node:url'
import { realpathSync } from 'node:fs'
import {
  BUILD_SETTINGS,
  ISSUE_SETTINGS,
  readCommandLine,
  RUN_SETTINGS,
  SERVE_SETTINGS,
  settingsHelp,
  UsageError,
  type ConfigOf,
  type ServeConfig,
  type Settings,
} from './config.ts'
import { inspectSnapshot } from './inspect.ts'
import { issueKey, KeyCommandError, KeysFileError, loadKeys } from './keys.ts'
import { startServer } from './server.ts'
import { buildSnapshot } from './snapshot/build.ts'
import { SnapshotError } from './snapshot/format.ts'
import { readManifest } from './snapshot/read.ts'
import { BuildReport } from './snapshot/report.ts'
import { openSource } from './sources/kinds.ts'
import { BuildError } from './sources/source.ts'

interface Command {
  /** What stands behind the command's name. */
  readonly usage: string
  readonly summary: string
  readonly settings: Settings
  readonly positionals: number
  run(config: never, positionals: string[]): Promise<void>
}

function command<const S extends Settings>(definition: {
  usage: string
  summary: string
  settings: S
  positionals?: number
  run(config: ConfigOf<S>, positionals: string[]): Promise<void>
}): Command {
  return { positionals: 0, ...definition }
}

const clock = (): number => Date.now() / 1000
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const note = (line: string): void => void process.stderr.write(`${line}\n`)

const COMMANDS: { readonly [name: string]: Command } = {
  build: command({
    usage: '--source KIND:PATH [--source …] [--out DIR] [--as-of TIME]',
    summary: 'build a snapshot from source files and publish it',
    settings: BUILD_SETTINGS,
    run: (config) => build(config.source, config.out, config['as-of'], config['max-bad']),
  }),
  serve: command({
    usage: '[--snapshots DIR] [--port PORT] [--keys FILE] [options]',
    summary: 'serve the snapshot of a folder',
    settings: SERVE_SETTINGS,
    run: (config) => serve(config),
  }),
  run: command({
    usage: '[--source KIND:PATH] [options]',
    summary: 'build a snapshot and issue a key where there is none, then serve',
    settings: RUN_SETTINGS,
    run: async (config) => {
      const manifest = await readManifest(config.snapshots)
      if (manifest === null) await build(config.source, config.snapshots, null, 0.1)
      const key =
        loadKeys(config.keys).length === 0 ? issueKey(config.keys, { owner: 'demo', now: clock() }).key : null
      await serve(config, (address) => {
        if (key === null) return
        print('')
        print(`A key was issued for "demo" and is shown this once: ${key}`)
        print(`  curl -H 'Authorization: Bearer ${key}' '${address}/buoys?per_page=3'`)
        print(`  curl '${address}/buoys/nearest?lat=43.5&lng=-1.6'`)
      })
    },
  }),
  inspect: command({
    usage: 'DIR',
    summary: 'tell what a snapshot holds',
    settings: {},
    positionals: 1,
    run: async (_config, [dir]) => {
      for (const line of await inspectSnapshot(dir)) print(line)
    },
  }),
  'keys issue': command({
    usage: '--owner NAME [--keys FILE] [--quota N] [--json]',
    summary: 'issue a key; it is shown once',
    settings: ISSUE_SETTINGS,
    run: async ({ keys, owner, quota, json }) => {
      const { record, key } = issueKey(keys, { owner, quota, now: clock() })
      const { id } = record
      if (json) print(JSON.stringify({ id, key, owner: record.owner, quota: record.quota }))
      else {
        print(`Key ${id} for ${record.owner}, ${record.quota} requests an hour. It is shown this once:`)
        print(key)
      }
    },
  }),
}

async function build(
  sources: { kind: string; argument: string }[],
  out: string,
  asOf: number | null,
  maxBadShare: number,
): Promise<void> {
  const report = new BuildReport({
    maxBadShare,
    write: (text) => void process.stderr.write(text),
    terminal: process.stderr.isTTY,
    clock: Date.now,
  })
  await buildSnapshot({
    sources: sources.map(({ kind, argument }) => openSource(kind, argument)),
    out,
    asOf,
    now: clock(),
    report,
  })
}

/** Serves until a signal; `onListening` is told the address of the API. */
async function serve(config: ServeConfig, onListening: (address: string) => void = () => {}): Promise<void> {
  const server = await startServer(config, { log: note, clock })
  const host = server.host.includes(':') ? `[${server.host}]` : server.host
  const address = `http://${host}:${server.port}${server.basePath}`
  print(`groundswell listening on ${address}`)
  onListening(address)
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve())
  })
  note('stopping')
  await server.stop()
}

const HELP = /^(-h|--help|help)$/

/** @param argv what stands behind the program's name */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await dispatch(argv)
  } catch (error) {
    if (!isExpected(error)) throw error
    note(`groundswell: ${error.message}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

async function dispatch(argv: readonly string[]): Promise<void> {
  if (argv.length === 0 || HELP.test(argv[0])) {
    print(overview())
    return
  }
  const words = argv[0] === 'keys' && argv.length > 1 && !argv[1].startsWith('-') ? 2 : 1
  const name = argv.slice(0, words).join(' ')
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null
  if (found === null) {
    if (name === 'keys' && argv.slice(1).some((argument) => HELP.test(argument))) {
      print(overview())
      return
    }
    throw new UsageError(`unknown command "${name}"; groundswell --help lists the commands`)
  }
  const { config, positionals, help } = readCommandLine(found.settings, argv.slice(words), process.env)
  if (help) {
    print(
      `groundswell ${name} ${found.usage}\n\n${found.summary}\n\n${settingsHelp(found.settings)}`.trimEnd(),
    )
    return
  }
  if (positionals.length !== found.positionals) {
    throw new UsageError(
      positionals.length > found.positionals
        ? `unexpected argument "${positionals[found.positionals]}"; usage: groundswell ${name} ${found.usage}`
        : `an argument is missing; usage: groundswell ${name} ${found.usage}`,
    )
  }
  await found.run(config as never, positionals)
}

function overview(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(14)}${summary}`)
  return [
    'groundswell COMMAND [options]',
    '',
    ...rows,
    '',
    'groundswell COMMAND --help tells its options.',
  ].join('\n')
}

/** Faults of input, files and surroundings are told in a line; anything else is a fault of ours and keeps its stack. */
function isExpected(error: unknown): error is Error {
  return (
    error instanceof UsageError ||
    error instanceof BuildError ||
    error instanceof SnapshotError ||
    error instanceof KeysFileError ||
    error instanceof KeyCommandError ||
    (error instanceof Error && ('code' in error || error.message.startsWith('cannot listen on')))
  )
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  await main(process.argv.slice(2))
}
