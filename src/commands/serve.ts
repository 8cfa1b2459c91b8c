/** `serve`: serves the snapshot of a folder until a signal stops it. */
import type { Signals } from '../begin.mjs'
import { StoppedEarly, startServer, type RunningServer } from '../process/server.ts'
import type { AnonymousAccess } from '../access/anonymous-access.ts'
import type { BuildFigures } from '../metrics/figures.ts'
import { SERVE_SETTINGS, type ServeConfig } from '../process/settings/serve.ts'
import type { ConfigOf, Setting } from '../process/settings/setting.ts'
import { last } from '../process/settings/values.ts'
import { UsageError } from '../process/usage-error.ts'
import { endOf, parseTimestamp } from '../sea/time.ts'
import type { PublishedManifest } from '../snapshot/read.ts'
import { keptSnapshot, type Wanted } from '../build/retained.ts'
import { inUrl } from '../system/in-url.ts'
import { hasOwner } from '../system/stray-faults.ts'
import { ServerFailure, type Stops } from './stops.ts'
import { service } from './command.ts'
import { expectFolder } from './data-folder.ts'
import { expectFreePort } from './free-port.ts'
import { openMirror } from './mirror.ts'
import { clock, logSettings, note, noteEnd, print, programVersion, random } from './surroundings.ts'

/** Of `serve` alone: who builds, too, serves what is built. */
const SERVE_ALONE_SETTINGS = {
  ...SERVE_SETTINGS,
  'as-of': {
    placeholder: 'ID_OR_TIME',
    help: 'serve this kept snapshot and no later one: its id, or the last whose data are not newer than a time',
    default: '',
    parse: (texts) => {
      const wanted = last(texts)
      if (wanted === '') return null
      if (/^[0-9a-f]{24}$/.test(wanted)) return { id: wanted }
      const time = parseTimestamp(wanted)
      if (time === null)
        throw new Error('the id of a snapshot, or an ISO 8601 time such as 2026-03-27T09:00:00Z')
      return { time: Math.floor(endOf(time)) }
    },
  } satisfies Setting<Wanted | null>,
} as const

export const serve = service({
  usage: '[--snapshots DIR] [--from ADDRESS] [--port PORT] [--keys FILE] [options]',
  settings: SERVE_ALONE_SETTINGS,
  existing: 'keys',
  serve: async (config, stops, signals) => {
    if (config.from === null) expectFolder(config.snapshots, ', and --from mirrors one from elsewhere')
    await expectFreePort(config)
    return serveUntilStopped(config, stops, signals, fixedBy(config))
  },
})

/** The kept snapshot that `--as-of` names. @throws BuildError, UsageError */
function fixedBy({ 'as-of': wanted, from, snapshots }: ConfigOf<typeof SERVE_ALONE_SETTINGS>): ServeHooks {
  if (wanted === null) return {}
  if (from !== null) throw new UsageError('--as-of serves a snapshot that the folder keeps: leave --from out')
  const fixed = keptSnapshot(snapshots, wanted)
  note(`--as-of: only the kept snapshot ${fixed.id} is served, the folder is not followed`)
  return { fixed }
}

export interface ServeHooks {
  /** Called with the URL of the API, and who may look at the pages without a key. */
  onListening?: (address: string, anonymousAccess: AnonymousAccess) => void
  /** More members of `/status`. */
  moreStatus?: () => object
  /** Builds that this process starts, for the metrics; null where it starts none. */
  builds?: () => BuildFigures | null
  /** Seconds between two scheduled builds, 0 where none are scheduled. */
  refreshEvery?: number
  /** Serves this snapshot of the folder and never another one. */
  fixed?: PublishedManifest
  /** Whether snapshots of a demo are served. */
  servesDemo?: boolean
}

/** @throws ServerFailure, after it has drained what still works. */
export async function serveUntilStopped(
  config: ServeConfig,
  stops: Stops,
  signals: Signals,
  {
    onListening = () => {},
    moreStatus = () => ({}),
    builds = () => null,
    refreshEvery = 0,
    fixed,
    servesDemo = true,
  }: ServeHooks = {},
): Promise<void> {
  const mirror = await openMirror(config)
  const starting = startServer(config, {
    log: note,
    logLevel: logSettings,
    logFormat: logSettings.format,
    writeAccess: (lines, written) => void process.stdout.write(lines, () => written()),
    clock,
    random,
    refreshEvery,
    fixed: fixed ?? null,
    servesDemo,
    moreStatus: () => ({ ...(mirror !== null && { mirror: mirror.status() }), ...moreStatus() }),
    mirror,
    builds,
    version: programVersion(),
    signal: stops.signal,
  })
  // A server that does not serve yet ends at once by itself.
  const started = starting.then(
    (server) => server,
    () => null,
  )
  stops.beforeEnd(async () => (await started)?.stopAtOnce() ?? true)
  process.on('uncaughtException', (error) => {
    if (hasOwner(error)) return
    noteEnd(error.stack ?? String(error))
    void stops.end(1)
  })
  let server: RunningServer
  try {
    server = await starting
  } catch (error) {
    if (error instanceof StoppedEarly) return
    throw error
  }
  const address = `http://${inUrl(server.host)}:${server.port}${server.basePath}`
  print(`groundswell listening on ${address}`)
  if (server.adminPort !== null)
    note(`admin port on http://${inUrl(config['admin-host'])}:${server.adminPort}`)
  onListening(address, server.anonymousAccess)
  signals.onReload(() => void server.reload())
  const failure = await Promise.race([stops.asked.then(() => null), server.failed])
  note(failure === null ? 'stopping' : `fault: ${failure}: stopping, to be started anew`)
  const haveEnded = await server.stop()
  if (failure !== null) throw new ServerFailure(failure)
  if (!haveEnded) throw new ServerFailure('a worker does not end')
}
