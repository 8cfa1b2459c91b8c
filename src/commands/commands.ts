/** The commands: alone read arguments and environment, and set the exit code. One function each. */
import type { Signals } from '../begin.mjs'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { dirname, join } from 'node:path'
import {
  BUILD_SETTINGS,
  ISSUE_SETTINGS,
  KEYS_FILE_SETTINGS,
  parseQuota,
  readCommandLine,
  REPORT_SETTINGS,
  ROLLBACK_SETTINGS,
  RUN_SETTINGS,
  SERVE_SETTINGS,
  settingsHelp,
  UsageError,
  type ConfigOf,
  type ServeConfig,
  type Settings,
} from '../process/config.ts'
import { expectedFault } from './faults.ts'
import { inspectSnapshot } from '../snapshot/inspect.ts'
import {
  findKey,
  issueKey,
  KeysFileError,
  loadKeys,
  revokeKey,
  rotateKey,
  setQuota,
  type IssuedKey,
  type KeyRecord,
} from '../access/keys.ts'
import { readUsage, usagePath } from '../access/quota.ts'
import { endChildren, runBuild } from '../process/build-child.ts'
import { Stops } from '../process/stops.ts'
import { Schedule, type ScheduleState } from '../process/schedule.ts'
import { StoppedEarly, startServer, type RunningServer } from '../process/server.ts'
import { buildSnapshot } from '../build/build.ts'
import { checkFolder, listKept, resume, rollback, setPinned } from '../build/history.ts'
import { SnapshotError } from '../snapshot/format.ts'
import { holdText, readHold } from '../build/hold.ts'
import { readManifest } from '../snapshot/read.ts'
import { BuildReport, newestReport, reportLines, writeReport } from '../build/report.ts'
import type { Configuration } from '../sources/configuration.ts'
import { KIND_HELP, openSource } from '../sources/kinds.ts'
import { type Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import { suggestion } from '../process/suggest.ts'
import { timestampText } from '../sea/time.ts'

interface Command {
  /** What stands behind the command's name. */
  readonly usage: string
  readonly summary: string
  readonly settings: Settings
  readonly positionals: number
  /** Whether the first positional is a folder, which then has to be there. */
  readonly inFolder: boolean
  /** An option of a file that has to be there where the operator names it; the default one may be missing. */
  readonly existing: string | null
  /** More for `--help`. */
  readonly more: string
  run(config: never, positionals: string[]): Promise<void>
}

/** A command that goes on until it is told to stop; any other is ended by a signal as usual. */
interface Service {
  readonly usage: string
  readonly summary: string
  readonly settings: Settings
  readonly positionals: 0
  readonly inFolder: false
  readonly existing: string | null
  readonly more: string
  serve(config: never, stops: Stops, signals: Signals): Promise<void>
}

function command<const S extends Settings>(definition: {
  usage: string
  summary: string
  settings: S
  positionals?: number
  inFolder?: boolean
  existing?: keyof S & string
  more?: string
  run(config: ConfigOf<S>, positionals: string[]): Promise<void>
}): Command {
  return { positionals: 0, inFolder: false, existing: null, more: '', ...definition }
}

function service<const S extends Settings>(definition: {
  usage: string
  summary: string
  settings: S
  existing?: keyof S & string
  more?: string
  serve(config: ConfigOf<S>, stops: Stops, signals: Signals): Promise<void>
}): Service {
  return { positionals: 0, inFolder: false, existing: null, more: '', ...definition }
}

const clock = (): number => Date.now() / 1000
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const note = (line: string): void => void process.stderr.write(`${line}\n`)

const COMMANDS: { readonly [name: string]: Command | Service } = {
  build: command({
    usage: '--source KIND:PATH [--source …] | --config FILE [--out DIR] [--as-of TIME] [--dry-run]',
    summary: 'fetch what the configuration says, build a snapshot from source files and publish it',
    settings: BUILD_SETTINGS,
    more: kindsHelp(),
    run: build,
  }),
  serve: service({
    usage: '[--snapshots DIR] [--port PORT] [--keys FILE] [options]',
    summary: 'serve the snapshot of a folder',
    settings: SERVE_SETTINGS,
    existing: 'keys',
    serve: (config, stops, signals) => serve(config, stops, signals),
  }),
  run: service({
    usage: '[--source KIND:PATH] [--config FILE] [--every 30m] [options]',
    summary: 'build a snapshot and issue a key where there is none, then serve and build on schedule',
    settings: RUN_SETTINGS,
    more: kindsHelp(),
    serve: runAll,
  }),
  inspect: command({
    usage: 'DIR',
    summary: 'tell what a snapshot holds',
    settings: {},
    positionals: 1,
    inFolder: true,
    run: async (_config, [dir]) => {
      for (const line of await inspectSnapshot(dir)) print(line)
    },
  }),
  check: command({
    usage: 'DIR',
    summary: 'read every part that a kept snapshot names, and say what is wrong',
    settings: {},
    positionals: 1,
    inFolder: true,
    run: async (_config, [dir]) => {
      const faults = await checkFolder(dir)
      for (const fault of faults) note(fault)
      if (faults.length > 0) throw new SnapshotError(`${dir}: ${faults.length} faults`)
      print(`${dir}: every part of every kept snapshot is whole`)
    },
  }),
  report: command({
    usage: 'DIR [--json]',
    summary: 'print the report of the newest build: what was read, fetched, refused and doubted',
    settings: REPORT_SETTINGS,
    positionals: 1,
    inFolder: true,
    run: async ({ json }, [dir]) => {
      const document = newestReport(dir)
      if (json) print(JSON.stringify(document))
      else for (const line of reportLines(document)) print(line)
    },
  }),
  list: command({
    usage: 'DIR',
    summary: 'list the snapshots that a folder keeps',
    settings: {},
    positionals: 1,
    inFolder: true,
    run: async (_config, [dir]) => {
      for (const line of keptLines(dir)) print(line)
    },
  }),
  pin: command({
    usage: 'DIR ID',
    summary: 'keep a snapshot until it is unpinned',
    settings: {},
    positionals: 2,
    inFolder: true,
    run: async (_config, [dir, id]) => setPinned(dir, id, true),
  }),
  unpin: command({
    usage: 'DIR ID',
    summary: 'let a pinned snapshot go in its turn',
    settings: {},
    positionals: 2,
    inFolder: true,
    run: async (_config, [dir, id]) => setPinned(dir, id, false),
  }),
  rollback: command({
    usage: 'DIR [--to ID]',
    summary: 'announce the snapshot before the current one again, and hold back later ones',
    settings: ROLLBACK_SETTINGS,
    positionals: 1,
    inFolder: true,
    run: async ({ to }, [dir]) => {
      const { id, asOf, held } = await rollback(dir, to, clock())
      print(`announced snapshot ${id}, data as of ${timestampText(asOf)}`)
      if (held) print(`builds are kept and not announced, until: groundswell resume ${dir}`)
    },
  }),
  resume: command({
    usage: 'DIR',
    summary: 'end what a rollback holds: announce the newest kept snapshot, and later ones as they are built',
    settings: {},
    positionals: 1,
    inFolder: true,
    run: async (_config, [dir]) => {
      const announced = await resume(dir)
      if (announced === null) print(`no rollback holds ${dir}`)
      else print(`announced snapshot ${announced.id}, data as of ${timestampText(announced.asOf)}`)
    },
  }),
  'keys issue': command({
    usage: '--owner NAME [--keys FILE] [--quota N] [--json]',
    summary: 'issue a key; it is shown once',
    settings: ISSUE_SETTINGS,
    run: async ({ keys, owner, quota, json }) =>
      printIssued(issueKey(keys, { owner, quota, now: clock() }), json),
  }),
  'keys list': command({
    usage: '[--keys FILE] [--json]',
    summary: "list keys with this hour's use",
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    run: async ({ keys, json }) => {
      for (const line of keyLines(keys, loadKeys(keys), json)) print(line)
    },
  }),
  'keys show': command({
    usage: 'ID [--keys FILE] [--json]',
    summary: 'show one key',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 1,
    run: async ({ keys, json }, [id]) => {
      for (const line of keyLines(keys, [findKey(loadKeys(keys), id)], json)) print(line)
    },
  }),
  'keys rotate': command({
    usage: 'ID [--keys FILE] [--json]',
    summary: 'replace a key; the old one ends within a second, id and count stay',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 1,
    run: async ({ keys, json }, [id]) => printIssued(rotateKey(keys, id, clock()), json),
  }),
  'keys revoke': command({
    usage: 'ID [--keys FILE] [--json]',
    summary: 'end a key within a second',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 1,
    run: async ({ keys, json }, [id]) => {
      const { owner } = revokeKey(keys, id)
      print(json ? JSON.stringify({ id, owner, revoked: true }) : `Key ${id} of ${owner} is revoked.`)
    },
  }),
  'keys set-quota': command({
    usage: 'ID N [--keys FILE] [--json]',
    summary: 'change the hourly quota of a key',
    settings: KEYS_FILE_SETTINGS,
    existing: 'keys',
    positionals: 2,
    run: async ({ keys, json }, [id, text]) => {
      const { owner, quota } = setQuota(keys, id, parseQuota(text))
      print(
        json
          ? JSON.stringify({ id, owner, quota })
          : `Key ${id} of ${owner} has ${quota} requests an hour now.`,
      )
    },
  }),
}

function keptLines(dir: string): string[] {
  const kept = listKept(dir)
  if (kept.length === 0) return ['no snapshots']
  const lines = kept.map(({ id, manifest, builtAt, current, waiting, pinned }) => {
    const about =
      manifest === null ? 'broken' : `as of ${timestampText(manifest.asOf)}  ${manifest.parts.length} parts`
    const marks = [current && 'current', waiting && 'not announced', pinned && 'pinned']
    return [id, `built ${timestampText(builtAt)}`, about, ...marks.filter((mark) => mark !== false)].join(
      '  ',
    )
  })
  const hold = readHold(dir)
  return hold === null ? lines : [...lines, holdText(hold, dir)]
}

function printIssued({ record: { id, owner, quota }, key }: IssuedKey, json: boolean): void {
  if (json) print(JSON.stringify({ id, key, owner, quota }))
  else {
    print(`Key ${id} for ${owner}, ${quota} requests an hour. It is shown this once:`)
    print(key)
  }
}

/** Keys with what they used of this hour's quota, as the servers last saved it (every two seconds). */
function keyLines(path: string, records: readonly KeyRecord[], json: boolean): string[] {
  const { counts } = readUsage(usagePath(path), clock())
  const rows = records.map(({ id, owner, quota, created, rotated }) => ({
    id,
    owner,
    quota,
    used: counts.get(id) ?? 0,
    created,
    rotated: rotated ?? null,
  }))
  if (json) return rows.map((row) => JSON.stringify(row))
  if (rows.length === 0) return ['no keys']
  return rows.map(
    ({ id, owner, quota, used, created, rotated }) =>
      `${id}  ${used} of ${quota} used this hour  issued ${created}${rotated === null ? '' : `, rotated ${rotated}`}  ${owner}`,
  )
}

/** Seconds by which a network's clock may be ahead of ours. */
const CLOCK_TOLERANCE = 3600

async function build(config: ConfigOf<typeof BUILD_SETTINGS>): Promise<void> {
  const configuration = config.config === null ? null : await configurationOf(config.config)
  const sources = [
    ...openSources(config.source),
    ...(configuration?.sources.map(({ source }) => source) ?? []),
  ]
  if (sources.length === 0) throw new UsageError('--source or --config is required')
  if (config['dry-run']) {
    for (const { kind, argument } of config.source) print(`would read ${kind} ${argument}`.trimEnd())
    if (configuration !== null) for (const line of await dryRunLines(configuration)) print(line)
    print(`would publish in ${config.out}`)
    return
  }
  const report = new BuildReport({
    maxBadShare: config['max-bad'],
    write: (text) => void process.stderr.write(text),
    terminal: process.stderr.isTTY,
    clock: Date.now,
  })
  if (configuration !== null) {
    const { fetchSources } = await import('../fetch/mirror.ts')
    const outcomes = await fetchSources(configuration, { clock, random: Math.random, report })
    for (const outcome of outcomes) report.fetched(outcome)
  }
  await buildSnapshot({
    sources,
    out: config.out,
    asOf: config['as-of'],
    now: clock(),
    latest: clock() + CLOCK_TOLERANCE,
    report,
    fresh: config.fresh,
    allowLoss: config['allow-loss'],
    keep: config.keep,
    ...(configuration !== null && {
      prefer: configuration.prefer,
      sameWithinKm: configuration.sameWithinKm,
    }),
  })
  writeReport(config.out, report.document())
}

/**
 * The HTTP client and the schemas are loaded by builds that need them alone: they take as long as a small
 * build.
 */
async function configurationOf(path: string): Promise<Configuration> {
  const { readConfiguration } = await import('../sources/configuration.ts')
  return readConfiguration(path, process.env)
}

/** Addresses of one source that a dry run names one by one. */
const ADDRESSES_SHOWN = 20

async function dryRunLines(configuration: Configuration): Promise<string[]> {
  const { dueFiles, planFiles } = await import('../fetch/mirror.ts')
  return configuration.sources.flatMap((configured) => {
    const { name, kind, folder } = configured
    const reading = `${name}: would read ${kind} ${folder}`.trimEnd()
    const planned = planFiles(configured, clock())
    if (planned.length === 0) return [reading]
    const due = dueFiles(configured, clock())
    return [
      `${name}: would fetch ${due.length} of ${planned.length} files`,
      ...due.slice(0, ADDRESSES_SHOWN).map(({ url, to }) => `  ${url} to ${to}`),
      ...(due.length > ADDRESSES_SHOWN ? [`  and ${due.length - ADDRESSES_SHOWN} more`] : []),
      reading,
    ]
  })
}

/**
 * @throws UsageError for an unknown kind or an argument that the kind refuses: both stand on the command
 * line.
 */
function openSources(sources: { kind: string; argument: string }[]): Source[] {
  try {
    return sources.map(({ kind, argument }) => openSource(kind, argument))
  } catch (error) {
    throw error instanceof BuildError ? new UsageError(error.message, { cause: error }) : error
  }
}

/** What a server ends with that cannot go on; the process has to be ended whatever still runs in it. */
class ServerFailure extends Error {}

interface ServeHooks {
  /** Told the address of the API. */
  onListening?: (address: string) => void
  moreStatus?: () => object
  /** Seconds between two scheduled builds, 0 where none are scheduled. */
  refreshEvery?: number
}

/** Serves until it is told to stop. @throws ServerFailure, after it has drained what still works. */
async function serve(
  config: ServeConfig,
  stops: Stops,
  signals: Signals,
  { onListening = () => {}, moreStatus = () => ({}), refreshEvery = 0 }: ServeHooks = {},
): Promise<void> {
  const starting = startServer(config, {
    log: note,
    clock,
    refreshEvery,
    moreStatus,
    signal: stops.signal,
  })
  // One that does not serve yet ends at once by itself.
  const started = starting.then(
    (server) => server,
    () => null,
  )
  stops.beforeEnd(async () => (await started)?.stopAtOnce() ?? true)
  process.on('uncaughtException', (error) => {
    note(error.stack ?? String(error))
    void stops.end(1)
  })
  let server: RunningServer
  try {
    server = await starting
  } catch (error) {
    if (error instanceof StoppedEarly) return
    throw error
  }
  const host = server.host.includes(':') ? `[${server.host}]` : server.host
  const address = `http://${host}:${server.port}${server.basePath}`
  print(`groundswell listening on ${address}`)
  if (server.adminPort !== null) note(`admin port on http://${config['admin-host']}:${server.adminPort}`)
  onListening(address)
  signals.onReload(() => void server.reload())
  const failure = await Promise.race([stops.asked.then(() => null), server.failed])
  note(failure === null ? 'stopping' : `fault: ${failure}: stopping, to be started anew`)
  const haveEnded = await server.stop()
  if (failure !== null) throw new ServerFailure(failure)
  if (!haveEnded) throw new ServerFailure('a worker does not end')
}

/** What `npm start` does: everything a service needs, in one command. */
async function runAll(config: ConfigOf<typeof RUN_SETTINGS>, stops: Stops, signals: Signals): Promise<void> {
  const nothingGiven = config.source.length === 0 && config.config === null
  const given = nothingGiven ? [{ kind: 'demo', argument: '' }] : config.source
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  const options = [
    `--max-bad=${percent(config['max-bad'])}`,
    `--allow-loss=${percent(config['allow-loss'])}`,
    `--keep=${config.keep}`,
  ]
  // Ended last, when nobody is served any more.
  const ending = new AbortController()
  stops.beforeEnd(() => endChildren())
  const buildNow = (signal: AbortSignal): Promise<void> =>
    runBuild({
      sources: given,
      configuration: config.config,
      out: config.snapshots,
      options,
      limit: config['build-timeout'],
      signal,
    })
  const announced = await readManifest(config.snapshots)
  let failedFirst: string | null = null
  if (announced === null) {
    try {
      await buildNow(stops.signal)
    } catch (error) {
      if (stops.signal.aborted) return
      // What the arguments are to blame for, or nobody would try again, ends it; a source that is away may
      // come back.
      if (!(error instanceof BuildError) || config.every === 0) throw error
      failedFirst = error.message
      note(`warning: the first build failed: ${failedFirst}; it will be tried again`)
    }
  }
  const key =
    loadKeys(config.keys).length === 0 ? issueKey(config.keys, { owner: 'demo', now: clock() }).key : null
  const schedule =
    config.every === 0
      ? null
      : new Schedule({
          every: config.every,
          jitter: config.jitter,
          lastBuilt: announced?.publishedAt ?? null,
          failedFirst,
          clock,
          random: Math.random,
          build: () => buildNow(ending.signal),
          log: note,
        })
  try {
    await serve(config, stops, signals, {
      onListening: (address) => {
        const explorer = new URL('/', address).href
        if (key === null) {
          print(`the explorer is at ${explorer}`)
          return
        }
        print('')
        print(`A key was issued for "demo" and is shown this once: ${key}`)
        // A fragment stays in the browser, which also takes it off the address bar at once.
        print(`  look around: ${explorer}#key=${key}`)
        print(`  curl -H 'Authorization: Bearer ${key}' '${address}/buoys?per_page=3'`)
        print(`  curl '${address}/buoys/nearest?lat=43.5&lng=-1.6'`)
      },
      moreStatus: () =>
        schedule === null ? {} : { build: buildStatus(schedule.state, config['build-timeout']) },
      refreshEvery: config.every,
    })
  } finally {
    schedule?.stop()
    ending.abort()
    await endChildren()
  }
}

function buildStatus(state: ScheduleState, limit: number): object {
  const text = (time: number | null): string | null => (time === null ? null : timestampText(time))
  return {
    ...state,
    next_at: text(state.next_at),
    running_since: text(state.running_since),
    last_at: text(state.last_at),
    limit_seconds: limit,
  }
}

const HELP = /^(-h|--help|help)$/
const VERSION = /^(-v|--version|version)$/

/** @param argv what stands behind the program's name */
export async function runCommand(argv: readonly string[], signals: Signals): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreEnd)
  try {
    await dispatch(argv, signals)
  } catch (error) {
    if (error instanceof ServerFailure) Stops.endAbruptly()
    const fault = expectedFault(error)
    if (fault === null) throw error
    note(`groundswell: ${fault}`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
}

/**
 * Whoever reads what is written, such as `head`, may have read enough: the work goes on, and nobody is told.
 */
function ignoreEnd(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error
}

async function dispatch(argv: readonly string[], signals: Signals): Promise<void> {
  if (argv.length === 0 || HELP.test(argv[0])) {
    print(overview(''))
    return
  }
  if (VERSION.test(argv[0])) {
    print(`groundswell ${programVersion()}`)
    return
  }
  const names = Object.keys(COMMANDS)
  const isGroup = names.some((name) => name.startsWith(`${argv[0]} `))
  if (isGroup && argv.slice(1).every((argument) => HELP.test(argument))) {
    print(overview(`${argv[0]} `))
    return
  }
  const words = isGroup && !argv[1].startsWith('-') ? 2 : 1
  const name = argv.slice(0, words).join(' ')
  const found = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null
  if (found === null) {
    const group = isGroup ? `${argv[0]} ` : ''
    throw new UsageError(
      `unknown command "${name}"${suggestion(name, names)}; groundswell ${group}--help lists the commands`,
    )
  }
  const rest = argv.slice(words)
  const { config, positionals, help, given } = readCommandLine(found.settings, rest, process.env)
  if (help) {
    const usage = `groundswell ${name} ${found.usage}`
    const parts = [usage, found.summary, found.more, settingsHelp(found.settings)]
    print(parts.filter((part) => part !== '').join('\n\n'))
    return
  }
  if (positionals.length !== found.positionals) {
    throw new UsageError(
      positionals.length > found.positionals
        ? `unexpected argument "${positionals[found.positionals]}"; usage: groundswell ${name} ${found.usage}`
        : `an argument is missing; usage: groundswell ${name} ${found.usage}`,
    )
  }
  if (found.inFolder) expectFolder(positionals[0])
  if (found.existing !== null) expectFile(found.existing, config, given)
  if ('run' in found) {
    signals.letGo()
    await found.run(config as never, positionals)
    return
  }
  const stops = new Stops(signals)
  await found.serve(config as never, stops, signals)
  // Whatever still waits for something: all is saved.
  await stops.end(0)
}

/** @throws BuildError */
function expectFolder(dir: string): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found === undefined) throw new BuildError(`${dir}: there is no such folder`)
  if (!found.isDirectory()) throw new BuildError(`${dir}: is no folder`)
}

/** @throws KeysFileError */
function expectFile(option: string, config: object, given: ReadonlyMap<string, string>): void {
  const name = given.get(option)
  const path = String((config as { [option: string]: unknown })[option])
  if (name !== undefined && !existsSync(path)) {
    throw new KeysFileError(`${path}: there is no such file (${name}); "keys issue" makes one`)
  }
}

/** That of the package which this file lies in. */
function programVersion(): string {
  for (let dir = dirname(fileURLToPath(import.meta.url)); ; dir = dirname(dir)) {
    const file = join(dir, 'package.json')
    if (existsSync(file)) return (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version
    if (dir === dirname(dir)) return 'of an unknown version'
  }
}

/** @param group what the names of a group's commands begin with (`keys `); empty for all */
function overview(group: string): string {
  const rows = Object.entries(COMMANDS)
    .filter(([name]) => name.startsWith(group))
    .map(([name, { summary }]) => `  ${name.padEnd(17)}${summary}`)
  return [
    `groundswell ${group}COMMAND [options]`,
    '',
    ...rows,
    '',
    `groundswell ${group}COMMAND --help tells its options. Each can also come from the environment: GROUNDSWELL_`,
    'and its name in capitals, with _ for -, as in GROUNDSWELL_KEYS=keys.json. groundswell --version tells the version.',
  ].join('\n')
}

function kindsHelp(): string {
  const rows = Object.entries(KIND_HELP).map(([kind, text]) => `  ${kind.padEnd(13)}${text}`)
  return ['Kinds of sources, each as KIND:PATH:', ...rows].join('\n')
}
