/** The main thread of a server: keeps up with snapshots and keys, looks after the workers, answers the operator. It serves nothing itself. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setTimeout } from 'node:timers/promises'
import { AddressCounters, ProxyWarnings } from '../access/address-counters.ts'
import { isLoopback, readToken, startAdmin, type AdminOptions } from './admin.ts'
import type { ServeConfig } from './settings.ts'
import { Connections, countConnections } from '../http/connections.ts'
import { loadEngine } from '../http/engine.ts'
import { connectionsWithin, openFilesLimit } from '../http/files.ts'
import { findFreePort, openPort } from '../http/port.ts'
import { KeyRing } from '../access/key-ring.ts'
import { watchKeys, type KeyRecord } from '../access/keys-file.ts'
import { descriptionFiles } from '../openapi/files.ts'
import { keepUsage, readUsage, usagePath } from '../access/usage-file.ts'
import { KeySlots, QuotaCounters } from '../access/quota.ts'
import { snapshotStatus } from '../snapshot/inspect.ts'
import { OPERATIONS } from '../routes.ts'
import { readSite, shareSite, type SharedSite } from '../serving/site.ts'
import { silentSources } from '../build/given.ts'
import { holdStatus } from '../build/rollback.ts'
import { holdText, readHold } from '../build/hold.ts'
import type { LoadedSnapshot } from '../snapshot/read.ts'
import { Reloader } from './reload.ts'
import { timestampText } from '../sea/time.ts'
import { Totals } from '../serving/totals.ts'
import type { WorkerStart } from './worker.ts'
import { Workers } from './workers.ts'

/** Milliseconds between two looks at the clock for the hour that comes next. */
const PREPARE_INTERVAL = 10_000
/** Milliseconds, or a quarter of the drain time, in which a stopping server only answers those who have connected before. */
const LAST_ANSWERS = 500

export interface RunningServer {
  host: string
  port: number
  /** Null when there is no admin port. */
  adminPort: number | null
  basePath: string
  /** Looks for a new snapshot now, also for one that was refused before. */
  reload(): Promise<void>
  /** Resolves with the reason when this process cannot go on: it should be stopped, ended whatever still runs, and started anew. */
  failed: Promise<string>
  /** Makes a worker fail as a bug would. */
  failWorker(thread: number): void
  /**
   * Not ready from now on; answers close their connections; then the workers stop and the counts are saved.
   * Resolves to whether all threads have ended: with one that has not, `process.exit` would wait for it or abort.
   */
  stop(): Promise<boolean>
  /** As `stop`, also during one, but waits for no connection. */
  stopAtOnce(): Promise<boolean>
}

export interface Surroundings {
  /** One line for the operator. */
  log: (line: string) => void
  /** Epoch seconds. */
  clock: () => number
  /** One Float64: seconds that the workers' clocks are ahead of the machine's, so that a test can turn the hour under load. */
  clockShift?: SharedArrayBuffer
  /** Seconds between two scheduled builds, 0 where none are scheduled. */
  refreshEvery?: number
  /** More members of `/status`. */
  moreStatus?: () => object
  /** Aborted when the server is not wanted any more although it does not serve yet. */
  signal?: AbortSignal
}

/** It was not wanted any more before it served. */
export class StoppedEarly extends Error {
  override name = 'StoppedEarly'
}

/**
 * Resolves when it serves the snapshot of its folder, or, where that has none it can serve, answers 503: the port opens then.
 * @throws Error when a port is taken or the engine cannot be loaded, KeysFileError, StoppedEarly.
 */
export async function startServer(
  config: ServeConfig,
  {
    log,
    clock,
    clockShift = new SharedArrayBuffer(8),
    refreshEvery = 0,
    moreStatus = () => ({}),
    signal,
  }: Surroundings,
): Promise<RunningServer> {
  const engine = loadEngine(config.engine)
  if (engine.warning !== null) log(`warning: ${engine.warning}`)
  const count = Math.min(config.workers, engine.maxWorkers)
  // Told before anything is loaded; whether it is still free is found out when it opens.
  await findFreePort(config.host, config.port)
  const keys = startKeys(config.keys, log, clock)
  const shared = {
    quota: keys.counters,
    addresses: AddressCounters.allocate(),
    totals: Totals.allocate(count),
    connections: Connections.allocate(count),
    site: startSite(config['base-path'], log),
  }
  const addresses = new AddressCounters(shared.addresses)
  const hours = startHours(
    [new QuotaCounters(shared.quota), addresses, new ProxyWarnings(addresses, log)],
    clock,
  )
  const common: Omit<WorkerStart, 'thread' | 'snapshot' | 'keys' | 'pulse' | 'refused'> = {
    ...shared,
    clockShift,
    host: config.host,
    engine: config.engine,
    basePath: config['base-path'],
    activeWithin: config['active-within'],
    anonymousQuota: config['anonymous-quota'],
    trustedProxies: config['trusted-proxy'],
    maxConnections: connectionsWithin(config['max-connections'], count, openFilesLimit(), log),
    maxConnectionsPerAddress: config['max-connections-per-address'],
    answerCache: config['answer-cache'],
    refreshEvery,
    settingsTag: settingsTag(config),
  }
  let draining = false
  let isOpen = false
  let failure: string | null = null
  let fail: (reason: string) => void = () => {}
  const failed = new Promise<string>((resolve) => (fail = resolve))
  let admin: Awaited<ReturnType<typeof startAdmin>> | null = null
  const reloader = new Reloader({
    dir: config.snapshots,
    maxMemory: config['max-memory'],
    threads: count,
    refusedForGood: (id) => workers.stoppedBy(id),
    clock,
    log,
    serve: async (snapshot) => {
      await workers.serve(snapshot)
      const hold = readHold(config.snapshots)
      const held = hold === null ? '' : `, ${holdText(hold, config.snapshots)}`
      log(`serving snapshot ${snapshot.id}, data as of ${timestampText(snapshot.asOf)}${held}`)
    },
  })
  const workers = new Workers({
    count,
    startOf: (thread, snapshot) => ({ ...common, thread, keys: keys.ring(), snapshot }),
    log,
    // The new one began with the keys of then.
    onReplaced: () => workers.tell({ type: 'keys', keys: keys.ring() }),
    requestsOf: (thread) => totals.countOf('requests', thread),
    onStuck: (thread) => {
      failure = `worker ${thread} hangs`
      fail(failure)
    },
  })
  const totals = new Totals(shared.totals, 0)
  const silentOf = silentSources(config.snapshots)
  let hasClosed = false
  const close = async (atOnce: boolean): Promise<boolean> => {
    draining = true
    reloader.stop()
    const allEnded = await workers.close(atOnce)
    if (!hasClosed) {
      hasClosed = true
      hours.stop()
      keys.close()
      admin?.close()
    }
    return allEnded
  }
  // What is being loaded or got ready is given up.
  const giveUp = (): void => void close(true)
  signal?.addEventListener('abort', giveUp)
  let port: number
  try {
    signal?.throwIfAborted()
    await workers.start()
    keys.onChange((ring) => workers.tell({ type: 'keys', keys: ring }))
    signal?.throwIfAborted()
    admin = await startAdminPort(config, log, {
      notReady: () => failure ?? notReady(draining, isOpen, reloader.snapshot, workers, count),
      status: () => ({
        ...snapshotStatus(reloader.snapshot, clock()),
        silent_sources: reloader.snapshot === null ? [] : silentOf(reloader.snapshot.id, clock()),
        hold: holdStatus(config.snapshots),
        reload: reloadStatus(reloader),
        workers: { wanted: count, serving: workers.alive, replaced: workers.replaced },
        memory: process.memoryUsage(),
        answered: totals.sums(),
        connections: countConnections(shared.connections),
        draining,
        ...moreStatus(),
      }),
      reload: () => reloader.look(true),
      onFault: (error) => log(`fault: /status: ${error instanceof Error ? error.stack : String(error)}`),
    })
    await reloader.look()
    signal?.throwIfAborted()
    if (reloader.snapshot === null && reloader.state.error === null) {
      log(`warning: ${config.snapshots} holds no snapshot; answering 503 until one is published there`)
    }
    port = await openPort(config.host, config.port, (free) => workers.listen(free))
    isOpen = true
    signal?.throwIfAborted()
    reloader.start()
  } catch (error) {
    await close(true)
    throw signal?.aborted === true ? new StoppedEarly() : error
  } finally {
    signal?.removeEventListener('abort', giveUp)
  }

  const stop = async (): Promise<boolean> => {
    draining = true
    reloader.stop()
    workers.drain()
    const drain = config['drain-time'] * 1000
    const lastAnswers = Math.min(LAST_ANSWERS, drain / 4)
    await setTimeout(drain - lastAnswers)
    workers.tell({ type: 'stop-listening' })
    await setTimeout(lastAnswers)
    return close(false)
  }
  let stopping: Promise<boolean> | null = null
  return {
    host: config.host,
    port,
    adminPort: admin?.port ?? null,
    basePath: config['base-path'],
    reload: () => reloader.look(true),
    failed,
    failWorker: (thread) => workers.fail(thread),
    stop: () => (stopping ??= stop()),
    stopAtOnce: () => close(true),
  }
}

function notReady(
  draining: boolean,
  isOpen: boolean,
  snapshot: LoadedSnapshot | null,
  workers: Workers,
  wanted: number,
): string | null {
  if (draining) return 'stopping'
  // A snapshot is the served one only after each worker has answered questions about it.
  if (snapshot === null) return 'no snapshot is loaded'
  if (!isOpen) return 'the port is not open yet'
  return workers.alive === 0 ? `0 of ${wanted} workers are serving` : null
}

function reloadStatus({ state }: Reloader): object {
  return {
    last_at: state.at === null ? null : timestampText(state.at),
    last_error: state.error,
    last_seconds: state.took,
    loaded: state.loaded,
    refused: state.refused,
    loading:
      state.loading === null ? null : { id: state.loading.id, since: timestampText(state.loading.since) },
  }
}

/** The default port may be somebody else's; one that was asked for may not. */
async function startAdminPort(
  config: ServeConfig,
  log: (line: string) => void,
  options: Pick<AdminOptions, 'notReady' | 'status' | 'reload' | 'onFault'>,
): Promise<Awaited<ReturnType<typeof startAdmin>> | null> {
  const wanted = config['admin-port']
  if (wanted === 'off') return null
  const host = config['admin-host']
  const token = config['admin-token-file'] === null ? null : readToken(config['admin-token-file'])
  if (token === null && !isLoopback(host)) {
    log(
      `warning: the admin port listens on ${host} without a token: whoever reaches it sees the status and asks for reloads; give it one with --admin-token-file`,
    )
  }
  try {
    return await startAdmin({
      ...options,
      host,
      names: config['admin-name'],
      token,
      port: wanted === 'auto' ? DEFAULT_ADMIN_PORT : wanted,
    })
  } catch (error) {
    if (wanted !== 'auto') throw error
    log(`warning: no admin port: ${(error as Error).message}; choose one with --admin-port`)
    return null
  }
}

const DEFAULT_ADMIN_PORT = 8081

/** Beside the compiled code; without the pages the operations are served all the same. */
const SITE_FOLDER = fileURLToPath(new URL('../site/', import.meta.url))

function startSite(basePath: string, log: (line: string) => void): SharedSite {
  const described = descriptionFiles(OPERATIONS, basePath)
  try {
    const files = readSite(SITE_FOLDER, basePath)
    if (!files.some(({ path }) => path === '/')) log('warning: no explorer at /: it was not built')
    return shareSite([...described, ...files])
  } catch (error) {
    log(`warning: no pages: ${(error as Error).message}`)
    return shareSite(described)
  }
}

/** What beside snapshot and query decides an answer. */
function settingsTag(config: ServeConfig): string {
  return createHash('sha256').update(String(config['active-within'])).digest('hex').slice(0, 6)
}

/** Zeroing the counters of the hour to come is a millisecond's work that no request should meet at the top of an hour. */
function startHours(
  counters: readonly { prepare(now: number): void }[],
  clock: () => number,
): { stop(): void } {
  const prepare = (): void => counters.forEach((counter) => counter.prepare(clock()))
  prepare()
  const timer = setInterval(prepare, PREPARE_INTERVAL)
  return { stop: () => clearInterval(timer) }
}

function startKeys(path: string, log: (line: string) => void, clock: () => number) {
  const counters = QuotaCounters.allocate()
  const slots = new KeySlots(new QuotaCounters(counters))
  let ring = KeyRing.build([])
  let tell: (ring: SharedArrayBuffer) => void = () => {}
  const watch = watchKeys(
    path,
    (records: KeyRecord[]) => {
      ring = KeyRing.build(slots.assign(records))
      tell(ring)
    },
    (error) => log(`warning: ${error.message}; the last good keys stay in force`),
  )
  if (!existsSync(path)) {
    log(`warning: no keys in ${path}: every keyed operation answers 401 until one is issued`)
  }
  const usage = readUsage(usagePath(path), clock())
  if (usage.warning !== null) log(`warning: ${usage.warning}`)
  slots.restore(usage.counts, clock())
  const keeper = keepUsage(usagePath(path), slots, clock, (error) => log(`warning: ${error.message}`))
  return {
    counters,
    ring: () => ring,
    onChange(listener: (ring: SharedArrayBuffer) => void) {
      tell = listener
      // Keys may have changed since the first worker began with those of then.
      listener(ring)
    },
    close() {
      watch.close()
      keeper.close()
    },
  }
}
