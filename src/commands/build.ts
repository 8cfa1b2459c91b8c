/** `build`: fetches what the configuration names, builds a snapshot and publishes it. */
import { BuildReport } from '../builder/build-report.ts'
import { writeReport } from '../builder/report-document.ts'
import { type ConfigOf, UsageError } from '../server/setting.ts'
import { BUILD_SETTINGS } from './build-settings.ts'
import type { Configuration } from '../sources/configuration.ts'
import { KIND_HELP, openSource } from '../sources/kinds.ts'
import type { Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import { command } from './command.ts'
import { openTarget } from './export.ts'
import { openPublishing } from './publishing.ts'
import { clock, environment, logSettings, note, print, random } from './surroundings.ts'

/** Seconds by which a network's clock may be ahead of ours. */
const CLOCK_TOLERANCE_S = 3600
/** Addresses of one source that a dry run lists; it counts the rest. */
const ADDRESSES_SHOWN = 20

export const build = command({
  settings: BUILD_SETTINGS,
  more: ['Kinds of sources, each as KIND:PATH:', KIND_HELP],
  run: runBuild,
})

export async function runBuild(config: ConfigOf<typeof BUILD_SETTINGS>): Promise<void> {
  const store = config.publish === null ? null : openPublishing('--publish', config.publish)
  const exporting = config.export === null ? null : openTarget('--export', config.export, config.out)
  const { sources, configuration } = await openSources(config)
  if (sources.length === 0) throw new UsageError('--source or --config is required')
  if (config['dry-run']) {
    for (const { kind, argument } of config.source) print(`would read ${kind} ${argument}`.trimEnd())
    if (configuration !== null) for (const line of await dryRunLines(configuration)) print(line)
    print(`would publish in ${config.out}`)
    if (config.publish !== null) print(`would publish to ${config.publish}`)
    if (config.export !== null) print(`would export to ${config.export}`)
    return
  }
  const isTerminal =
    process.stderr.isTTY && logSettings.format === 'text' && ['info', 'debug'].includes(logSettings.level)
  const report = new BuildReport({
    maxBadShare: config['max-bad'],
    write: isTerminal ? (text) => void process.stderr.write(text) : note,
    terminal: isTerminal,
    clock: Date.now,
  })
  if (configuration !== null) {
    const { fetchSources } = await import('../builder/fetch/fetch-sources.ts')
    const outcomes = await fetchSources(configuration, { clock, random, report })
    for (const outcome of outcomes) report.fetched(outcome)
  }
  // `run` builds in a process of its own, and loads none of this.
  const { buildSnapshot } = await import('../builder/run-build.ts')
  await buildSnapshot({
    sources,
    out: config.out,
    asOf: config['as-of'],
    now: clock(),
    latest: clock() + CLOCK_TOLERANCE_S,
    report,
    fresh: config.fresh,
    allowLoss: config['allow-loss'],
    keep: config.keep,
    exportTo: exporting?.target ?? null,
    publishTo: store === null ? null : { store, singleWriter: config['single-writer'] },
    ...(configuration !== null && {
      prefer: configuration.prefer,
      sameWithinKm: configuration.sameWithinKm,
    }),
  })
  await store?.close()
  await exporting?.store?.close()
  writeReport(config.out, report.document())
}

async function dryRunLines(configuration: Configuration): Promise<string[]> {
  const { dueFiles, planFiles } = await import('../builder/fetch/fetch-plan.ts')
  return configuration.sources.flatMap((configured) => {
    const { name, kind, folder } = configured
    const reading = `${name}: would read ${kind} ${folder}`.trimEnd()
    const planned = planFiles(configured, clock())
    if (planned.length === 0) return [reading]
    const due = dueFiles(configured, clock())
    return [
      `${name}: would fetch ${due.length} of ${counted(planned.length, 'file')}`,
      ...due.slice(0, ADDRESSES_SHOWN).map(({ url, to }) => `  ${url} to ${to}`),
      ...(due.length > ADDRESSES_SHOWN ? [`  and ${due.length - ADDRESSES_SHOWN} more`] : []),
      reading,
    ]
  })
}

/**
 * The sources of a command line, opened and not read yet, and its configuration.
 * @throws UsageError for an unknown or refused argument; BuildError for an unreadable configuration
 */
export async function openSources({
  source: named,
  config: path,
}: Pick<ConfigOf<typeof BUILD_SETTINGS>, 'source' | 'config'>): Promise<{
  sources: Source[]
  configuration: Configuration | null
}> {
  let sources: Source[]
  try {
    sources = named.map(({ kind, argument }) => openSource(kind, argument))
  } catch (error) {
    throw error instanceof BuildError ? new UsageError(error.message, { cause: error }) : error
  }
  if (path === null) return { sources, configuration: null }
  // The schema of configurations and its compiler are loaded for a configuration alone.
  const { readConfiguration } = await import('../sources/configuration.ts')
  const configuration = readConfiguration(path, environment)
  return { sources: [...sources, ...configuration.sources.map(({ source }) => source)], configuration }
}
