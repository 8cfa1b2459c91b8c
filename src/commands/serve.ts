/** `serve`: serves the snapshot of a folder until a signal stops it. */
import { ServerFailure, type Signals, type Stops } from './signals.ts'
import { StoppedEarly, startServer, type RunningServer } from '../server/server.ts'
import type { AnonymousAccess } from '../http/admission.ts'
import { fixedSupply, folderSupply, mirrorSupply, type Supply } from '../server/supply.ts'
import { API_ADDRESS, SERVE_SETTINGS, type ServeConfig } from '../server/serve-settings.ts'
import { type ConfigOf, last, orNull, setting, UsageError } from '../server/setting.ts'
import { endOf, parseTimestamp } from '../sea/time.ts'
import { keptSnapshot, type Wanted } from '../snapshot/retained.ts'
import { StoreError } from '../snapshot/store/store.ts'
import { inUrl } from '../system/text.ts'
import { hasOwner } from '../system/faults.ts'
import { command } from './command.ts'
import { findFreePort } from '../http/port.ts'
import { expectFolder } from './data-folder.ts'
import {
  clock,
  environment,
  logSettings,
  note,
  noteEnd,
  print,
  random,
  programVersion,
} from './surroundings.ts'

/** The mirror itself looks at the source again, and reports failures. */
const STORE_ATTEMPTS = 2

/** Settings of `serve` alone: a process that also builds serves its own snapshots. */
const SERVE_ALONE_SETTINGS = {
  ...SERVE_SETTINGS,
  'as-of': setting(
    'ID_OR_TIME',
    'serve this kept snapshot and no later one: its id, or the last with data not newer than a time',
    '',
    orNull((texts): Wanted => {
      const wanted = last(texts)
      if (/^[0-9a-f]{24}$/.test(wanted)) return { id: wanted }
      const time = parseTimestamp(wanted)
      if (time === null)
        throw new Error('the id of a snapshot, or an ISO 8601 time such as 2026-03-27T09:00:00Z')
      return { time: Math.floor(endOf(time)) }
    }),
  ),
} as const

const serve = command({
  settings: SERVE_ALONE_SETTINGS,
  existing: 'keys',
  serve: async (config, stops, signals) => {
    if (config.from === null) expectFolder(config.snapshots, ', and --from mirrors one from elsewhere')
    await findFreePort(config.host, config.port, API_ADDRESS)
    return serveUntilStopped(config, stops, signals, fixedBy(config))
  },
})
export const COMMANDS = { serve }

/** The kept snapshot that `--as-of` names, if it does. @throws BuildError, UsageError */
function fixedBy(config: ConfigOf<typeof SERVE_ALONE_SETTINGS>): Supply | undefined {
  const { 'as-of': wanted, from, snapshots } = config
  if (wanted === null) return undefined
  if (from !== null)
    throw new UsageError('--as-of serves a snapshot that the folder keeps: it cannot be used with --from')
  const fixed = keptSnapshot(snapshots, wanted)
  note(`--as-of: only the kept snapshot ${fixed.id} is served, later ones are ignored`)
  return fixedSupply(snapshots, fixed)
}

/**
 * Serves from `supply`, else from the folder, which `--from` has a mirror fill. `onListening` is called with
 * the URL of the API, and who may look at the pages without a key.
 * @throws ServerFailure, after it has drained what still works
 */
export async function serveUntilStopped(
  config: ServeConfig,
  stops: Stops,
  signals: Signals,
  supply?: Supply,
  onListening: (address: string, anonymousAccess: AnonymousAccess) => void = () => {},
): Promise<void> {
  const starting = startServer(config, {
    log: note,
    logFormat: logSettings.format,
    writeAccess: (lines, written) => void process.stdout.write(lines, () => written()),
    version: programVersion(),
    clock,
    random,
    environment,
    supply: supply ?? (await openSupply(config)),
    signal: stops.signal,
  })
  // A server that does not serve yet ends at once by itself.
  const started = starting.catch(() => null)
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
  const [signal, failure] = await Promise.race([
    stops.asked.then((signal) => [signal, null] as const),
    server.failed.then((failure) => [null, failure] as const),
  ])
  if (failure === null) note(`${signal}: stopping`)
  else note(`${failure}: stopping, to be restarted`, 'error')
  const haveEnded = await server.stop()
  if (failure !== null) throw new ServerFailure(failure)
  if (!haveEnded) throw new ServerFailure('a worker cannot be ended')
}

/**
 * The client of stores is loaded only where a mirror needs it.
 * @throws UsageError for an address that cannot be one, BuildError for a folder that cannot be a mirror
 */
async function openSupply({ from, poll, snapshots: dir }: ServeConfig): Promise<Supply> {
  if (from === null) return folderSupply(dir)
  const { openReadable } = await import('../snapshot/store/store-address.ts')
  const { Mirror } = await import('../snapshot/mirror/mirror.ts')
  try {
    const source = openReadable(from, { environment, random, limits: { attempts: STORE_ATTEMPTS } })
    return mirrorSupply(dir, new Mirror({ source, dir, poll, clock, random, log: note }))
  } catch (error) {
    if (error instanceof StoreError) throw new UsageError(`--from: ${error.message}`, { cause: error })
    throw error
  }
}
