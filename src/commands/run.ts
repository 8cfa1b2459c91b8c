/** `run`: builds, issues a first key, serves, and builds again on schedule. */
import { accessSync, constants, statSync } from 'node:fs'
import type { Signals, Stops } from './signals.ts'
import { type IssuedKey, KeyCommandError } from '../access/key-records.ts'
import { issueKey, loadKeys } from '../access/keys-file.ts'
import { isMadeUp } from '../builder/build-base.ts'
import { buildSupply, type Supply } from '../server/supply.ts'
import { endChildren, runBuild } from '../server/build-child.ts'
import { Schedule, type ScheduleState } from '../server/build-schedule.ts'
import { type ConfigOf, UsageError } from '../server/setting.ts'
import { RUN_SETTINGS } from './build-settings.ts'
import { isAddress } from '../access/keys-object.ts'
import type { AnonymousAccess } from '../http/admission.ts'
import { openSources } from './build.ts'
import { readManifest } from '../snapshot/read-snapshot.ts'
import { KIND_HELP } from '../sources/kinds.ts'
import { BuildError } from '../system/build-error.ts'
import { command } from './command.ts'
import { OTHER_FOLDER, otherSources } from './other-sources.ts'
import { makeDataFolder } from './data-folder.ts'
import { findFreePort } from '../http/port.ts'
import { API_ADDRESS } from '../server/serve-settings.ts'
import { clock, isTerminal, logSettings, note, print, random } from './surroundings.ts'

type RunConfig = ConfigOf<typeof RUN_SETTINGS>
type Build = (signal: AbortSignal) => Promise<void>

const run = command({
  settings: RUN_SETTINGS,
  more: ['Kinds of sources, each as KIND:PATH:', KIND_HELP],
  serve: runAll,
})
export const COMMANDS = { run }

async function runAll(config: RunConfig, stops: Stops, signals: Signals): Promise<void> {
  if (config.every > 0 && config.jitter > config.every) {
    throw new UsageError(
      '--jitter: expected no more than --every: a build that is later than that would replace the next one',
    )
  }
  if (config.from !== null) expectNoSources(config)
  // A broken configuration and a taken port are found before anything is built, and before a key is issued.
  const { sources, configuration } = await openSources(config)
  await findFreePort(config.host, config.port, API_ADDRESS)
  makeDataFolder(config.data)
  if (config.from !== null) {
    await serveWithKey(config, stops, signals)
    return
  }
  const others = configuration && otherSources(config.snapshots, configuration.sources)
  if (others !== null) note(`${others}; ${OTHER_FOLDER}`, 'warning')
  const isDemo = sources.every(({ isMadeUp }) => isMadeUp === true)
  const servesDemo = sources.length === 0 || isMadeUp(sources)
  const build = buildOf(config, isDemo)
  stops.beforeEnd(() => endChildren())
  const found = await readManifest(config.snapshots)
  // A demo that was built here before is not what the operator asks for.
  const published = found?.demo === true && !servesDemo ? null : found
  if (published === null && config.data !== null) accessSync(config.data, constants.W_OK)
  if (published === null && isDemo) note('building the demo, whose data are made up')
  // Builds end last, when nobody is served any more.
  const ending = new AbortController()
  const signal = AbortSignal.any([stops.signal, ending.signal])
  let schedule = null as Schedule | null
  const begin = async (): Promise<void> => {
    const first = published === null ? await buildFirst(build, config, signal) : null
    if (config.every === 0 || signal.aborted) return
    schedule = new Schedule({
      every: config.every,
      jitter: config.jitter,
      lastBuilt: published?.publishedAt ?? null,
      changedAt: () => changedAt(config.config),
      isDemo,
      first,
      clock,
      random,
      build: () => build(ending.signal),
      log: note,
    })
  }
  const firstBuild = begin()
  // The server is loaded while the first build runs. A build of real buoys may fail, and then there is no key
  // yet.
  await Promise.all([isDemo ? null : firstBuild, import('./serve.ts')])
  if (stops.signal.aborted) return
  try {
    const { snapshots, every, 'build-timeout': limit } = config
    const demo = servesDemo ? 'expected' : 'refused'
    const state = (): ScheduleState | null => schedule?.state ?? null
    const supply = buildSupply(snapshots, { every, limit, demo, first: firstBuild, state })
    await serveWithKey(config, stops, signals, supply)
  } finally {
    schedule?.stop()
    ending.abort()
    await endChildren()
  }
}

/** When a configuration was written last, epoch seconds; null without one, or while it is away. */
function changedAt(path: string | null): number | null {
  const written = path === null ? undefined : statSync(path, { throwIfNoEntry: false })
  return written === undefined ? null : Math.floor(written.mtimeMs / 1000)
}

/** Nothing is built here with `--from`. @throws UsageError for sources in addition to it */
function expectNoSources(config: RunConfig): void {
  for (const option of ['source', 'config', 'publish', 'export'] as const) {
    if ((config[option]?.length ?? 0) === 0) continue
    throw new UsageError(`--${option} and --from cannot be used together: with --from nothing is built here`)
  }
}

/** Issues a key where there is none and serves. A key that nobody has seen is shown at the end. */
async function serveWithKey(
  config: RunConfig,
  stops: Stops,
  signals: Signals,
  supply?: Supply,
): Promise<void> {
  const key = firstKey(config.keys, supply?.demo === 'expected' ? 'demo' : 'operator')
  let isShown = false
  const { serveUntilStopped } = await import('./serve.ts')
  try {
    await serveUntilStopped(config, stops, signals, supply, (address, anonymousAccess) => {
      isShown = true
      greet(address, key, config.keys, anonymousAccess)
    })
  } finally {
    if (key !== null && !isShown) print(keyText(key, config.keys))
  }
}

/** Builds in a process of its own. @param isDemo whether all data are made up */
function buildOf(config: RunConfig, isDemo: boolean): Build {
  const isUnnamed = config.source.length === 0 && config.config === null
  // The demo has no files to count, and after the first build the server names the news. Bad lines are
  // warnings. Structured logs have it all.
  let isFirst = true
  const isQuiet = (): boolean =>
    (isDemo || !isFirst) && logSettings.format === 'text' && logSettings.level === 'info'
  const percent = (share: number): string => `${(share * 100).toFixed(3)}%`
  return (signal) => {
    const level = isQuiet() ? 'warning' : logSettings.level
    isFirst = false
    return runBuild({
      sources: isUnnamed ? [{ kind: 'demo', argument: '' }] : config.source,
      configuration: config.config,
      out: config.snapshots,
      options: [
        `--max-bad=${percent(config['max-bad'])}`,
        `--allow-loss=${percent(config['allow-loss'])}`,
        `--keep=${config.keep}`,
        `--keep-spectra=${config['keep-spectra'] === Infinity ? 'all' : `${config['keep-spectra']}d`}`,
        `--log-format=${logSettings.format}`,
        `--log-level=${level}`,
        ...(config.export === null ? [] : [`--export=${config.export}`]),
        ...(config.publish === null ? [] : [`--publish=${config.publish}`]),
        ...(config['single-writer'] ? ['--single-writer'] : []),
      ],
      limit: config['build-timeout'],
      signal,
      clock,
    })
  }
}

/**
 * Builds the first snapshot of a folder. Resolves to why it failed, if it is to be tried again.
 * @throws Error where trying again later is of no use: the arguments are wrong, or no build is scheduled.
 */
async function buildFirst(
  build: Build,
  { every }: RunConfig,
  signal: AbortSignal,
): Promise<{ failure: string | null }> {
  try {
    await build(signal)
    return { failure: null }
  } catch (error) {
    if (signal.aborted) return { failure: null }
    // A source that cannot be reached now may come back.
    if (!(error instanceof BuildError) || every === 0) throw error
    note(`the first build failed: ${error.message}; the build is tried again`, 'warning')
    return { failure: error.message }
  }
}

/** A new key, or null where the keys file has keys already. */
function firstKey(path: string, owner: string): IssuedKey | null {
  // Keys that servers share are the operator's: after a loss, a first key would begin another set of them.
  if (isAddress(path)) return null
  if (loadKeys(path).length > 0) return null
  try {
    return issueKey(path, { owner, now: clock() })
  } catch (error) {
    // Another start has issued it at the same moment, and shows it.
    if (error instanceof KeyCommandError && loadKeys(path).length > 0) return null
    throw error
  }
}

/** A terminal shows a key, a log never: whoever reads logs later must not have it. */
const showsKeys = (): boolean => logSettings.format === 'text' && isTerminal()

const keyText = ({ key, record: { id, owner } }: IssuedKey, file: string): string =>
  showsKeys()
    ? `A key was issued for "${owner}" and is shown only once: ${key}`
    : `the key ${id} was issued for "${owner}" and is not shown in a log: "groundswell keys rotate ${id} --keys ${file}" replaces it and prints the new one`

/** The same way to the explorer at the first start and at every later one. */
function greet(
  address: string,
  issued: IssuedKey | null,
  file: string,
  anonymousAccess: AnonymousAccess,
): void {
  const explorer = new URL('/', address).href
  const isSeen = issued !== null && showsKeys()
  const fragment = isSeen && anonymousAccess === 'keyed' ? `#key=${issued.key}` : ''
  // A fragment stays in the browser, which also takes it off the address bar at once.
  print(
    logSettings.format === 'json' ? `the explorer is at ${explorer}` : `look around: ${explorer}${fragment}`,
  )
  if (issued !== null) print(keyText(issued, file))
  else if (!isAddress(file))
    print(
      `keys are in ${file}: "groundswell keys issue --owner NAME --keys ${file}" issues one more, "keys rotate ID" replaces a lost one`,
    )
  if (isSeen) print(`  curl -H 'Authorization: Bearer ${issued.key}' '${address}/buoys?per_page=3'`)
}
