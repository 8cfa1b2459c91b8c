/**
 * `build` fetches what the configuration names, builds a snapshot and publishes it; `publish` and `export`
 * bring a bucket or a folder of Parquet files up to date.
 */
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { BuildReport } from '../builder/build-report.ts'
import { type ConfigOf, type Setting, text, UsageError } from '../server/setting.ts'
import { clearFailure, noteFailure } from '../snapshot/failure.ts'
import { readManifest } from '../snapshot/read-snapshot.ts'
import { openStore } from '../snapshot/store/store-address.ts'
import { StoreError, type Store } from '../snapshot/store/store.ts'
import { underLock } from '../snapshot/write-snapshot.ts'
import { BUILD_SETTINGS, PUBLISH_SETTINGS } from './build-settings.ts'
import type { Configuration } from '../sources/configuration.ts'
import { KIND_HELP, openSource } from '../sources/kinds.ts'
import type { Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import { command } from './command.ts'
import { clock, environment, note, print, random } from './surroundings.ts'

/** Seconds by which a network's clock may be ahead of ours. */
const CLOCK_TOLERANCE_S = 3600
/** Addresses of one source that a dry run lists; it counts the rest. */
const ADDRESSES_SHOWN = 20

const build = command({
  settings: BUILD_SETTINGS,
  more: ['Kinds of sources, each as KIND:PATH:', KIND_HELP],
  run: runBuild,
})

/** Builds, and notes in the folder why it failed, for those who only see the folder. */
export async function runBuild(config: ConfigOf<typeof BUILD_SETTINGS>): Promise<void> {
  try {
    await buildOnce(config)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    if (!config['dry-run'] && !(error instanceof UsageError)) noteFailure(config.out, reason, clock())
    throw error
  }
  if (!config['dry-run']) clearFailure(config.out)
}

async function buildOnce(config: ConfigOf<typeof BUILD_SETTINGS>): Promise<void> {
  const store = config.publish === null ? null : openPublishing('--publish', config.publish)
  if (config.export !== null) expectApart('--export', config.export, config.out)
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
  const report = new BuildReport({
    maxBadShare: config['max-bad'],
    write: note,
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
    spectraDays: config['keep-spectra'],
    exportTo: config.export,
    publishTo: store === null ? null : { store, singleWriter: config['single-writer'] },
    ...(configuration !== null && {
      prefer: configuration.prefer,
      sameWithinKm: configuration.sameWithinKm,
    }),
  })
  await store?.close()
}

async function dryRunLines(configuration: Configuration): Promise<string[]> {
  const { dueFiles, planFiles } = await import('../builder/fetch/fetch-sources.ts')
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
  // The schema of configurations and its compiler are loaded only for a configuration.
  const { readConfiguration } = await import('../sources/configuration.ts')
  const configuration = readConfiguration(path, environment)
  return { sources: [...sources, ...configuration.sources.map(({ source }) => source)], configuration }
}

const publish = command({
  takes: '<DIR> <URL>',
  settings: { 'single-writer': PUBLISH_SETTINGS['single-writer'] },
  run: async (config, [dir, url]) => {
    const store = openPublishing('URL', url)
    const { Prefix } = await import('../builder/publishing/prefix.ts')
    const publishing = await import('../builder/publishing/publish-to-prefix.ts')
    try {
      await underLock(dir, async (lock) => {
        const prefix = new Prefix(store, config['single-writer'])
        const begun = await publishing.beginPublishing({ dir, prefix, now: clock(), log: note }, lock)
        const pending = publishing.pendingSnapshot(begun)
        if (pending === null) throw noSnapshot(dir, 'publish')
        const outcome = await publishing.publishSnapshot(begun, pending)
        if (outcome !== null) print(`published snapshot ${pending.id}`)
        print(publishing.outcomeText(outcome, prefix.address))
      })
    } finally {
      await store.close()
    }
  },
})

/** @param option how the operator knows the address @throws UsageError for one that cannot be written to */
function openPublishing(option: string, address: string): Store {
  try {
    return openStore(address, { environment, random })
  } catch (error) {
    throw error instanceof StoreError
      ? new UsageError(`${option}: ${error.message}`, { cause: error })
      : error
  }
}

const noSnapshot = (dir: string, what: string): BuildError =>
  new BuildError(`${dir}: there is no snapshot to ${what}; "groundswell build --out ${dir}" makes one`)

const exportCommand = command({
  takes: '<DIR>',
  settings: {
    out: {
      placeholder: 'DIR',
      help: 'folder for the files; files of the same data stay',
      required: true,
      parse: text,
    } satisfies Setting<string>,
  },
  run: async ({ out }, [dir]) => {
    const manifest = await readManifest(dir)
    if (manifest === null) throw noSnapshot(dir, 'export')
    expectApart('--out', out, dir)
    // Other commands do not load the writer of Parquet.
    const { exportSnapshot } = await import('../builder/bulk/bulk-export.ts')
    const { list, written } = await exportSnapshot({ dir, manifest, out, now: clock() })
    print(
      `exported snapshot ${list.snapshot}, data as of ${list.as_of}, to ${out}: ${written.files} of ${counted(list.files.length, 'file')} written, ${counted(written.bytes, 'byte')}`,
    )
  },
})

export const COMMANDS = { build, publish, export: exportCommand }

/** @param option how the operator knows the folder @throws UsageError where an export cannot go there */
function expectApart(option: string, out: string, dir: string): void {
  if (/^[a-z0-9+.-]+:\/\//i.test(out)) {
    throw new UsageError(
      `${option}: ${out} is not a folder; export to a folder, and copy it to a bucket with "aws s3 sync" or rclone, files.json last`,
    )
  }
  const between = relative(resolve(dir), resolve(out))
  const isInside = between !== '..' && !between.startsWith(`..${sep}`) && !isAbsolute(between)
  if (isInside) {
    throw new UsageError(
      `${option}: ${out} is or lies in the folder of snapshots ${dir}; name a folder outside it`,
    )
  }
}
