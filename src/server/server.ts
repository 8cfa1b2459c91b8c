/** The main thread: follows snapshots and keys, looks after workers, answers the operator, serves nothing. */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { AddressCounters } from '../access/address-counters.ts'
import type { AnonymousAccess } from '../http/admission.ts'
import { prepareHours } from '../access/hours.ts'
import { QuotaCounters } from '../access/quota.ts'
import { redisCounts, type SharedCounts } from '../access/redis.ts'
import { QuotaExchange } from '../access/quota-exchange.ts'
import { holdText, shownHold } from '../snapshot/retained.ts'
import { countConnections } from '../http/connections.ts'
import { loadEngine, type EngineChoice } from '../http/engines/engine.ts'
import { openPort } from '../http/port.ts'
import { routeNames } from '../http/request-counts.ts'
import { ROUTED } from '../routes.ts'
import { collectSoon } from '../system/thread.ts'
import { timestampText } from '../sea/time.ts'
import { Counters } from '../http/counters.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import type { Changes } from '../snapshot/row-changes.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import { openAdminPort, type AdminPort } from './admin.ts'
import { commonStart, type CommonStart, type Surroundings } from './worker-settings.ts'
import { startKeys, type KeyService } from './key-service.ts'
import { Reloader } from './reload.ts'
import { API_ADDRESS, settingsWarnings, type ServeConfig } from './serve-settings.ts'
import { arePagesMade, startSite, waitForPages } from './site-files.ts'
import type { ReportDocument } from '../builder/report-document.ts'
import { LongThread, ToolThread } from './side-threads.ts'
import { METRICS } from './metrics-table.ts'
import { metricsText, reportOf } from './metrics.ts'
import { notReady, statusOf, type Observed } from './status.ts'
import { accepts, folderSupply, type Supply } from './supply.ts'
import { Workers } from './workers.ts'

/** A probe for readiness this recently still watches; those of Kubernetes come every ten seconds. */
const WATCHED_MS = 60_000

/** At most a quarter of the drain time: balancers first need two intervals of their checks. */
const LAST_ANSWERS_MS = 500

const POLL_INTERVAL_MS = 20
/** Polls in a row that find no connection: clients that still ask open the next one sooner. */
const EMPTY_POLLS = 5

/** The server was no longer wanted before it served. */
export class StoppedEarly extends Error {
  override name = 'StoppedEarly'
}

/**
 * Resolves when the port is open, with the folder's snapshot, or 503 where none can be served.
 * @throws Error when a port is taken or the engine cannot be loaded, KeysFileError, StoppedEarly.
 */
export async function startServer(config: ServeConfig, surroundings: Surroundings): Promise<RunningServer> {
  const engine = loadEngine(config.engine)
  if (engine.warning !== null) surroundings.log(engine.warning, 'warning')
  for (const { found, advice } of settingsWarnings(config)) surroundings.log(`${found}; ${advice}`, 'warning')
  const store = config['quota-store']
  const { random = () => 0.5, supply = folderSupply(config.snapshots) } = surroundings
  const server = new RunningServer(
    config,
    surroundings,
    { supply, isDemo: await isDemo(supply) },
    engine,
    store === null ? null : await redisCounts(store, random),
  )
  await server.start()
  return server
}

/** Whether the snapshot to load is a demo, or will be. One that cannot be read is reported later. */
async function isDemo(supply: Supply): Promise<boolean> {
  const manifest = await supply.look().catch(() => null)
  return manifest === null ? supply.demo === 'expected' : manifest.demo === true && accepts(supply, manifest)
}

export class RunningServer {
  readonly host: string
  readonly basePath: string
  /** The reason why this process should be stopped, ended whatever still runs in it, and started anew. */
  readonly failed: Promise<string>
  readonly #config: ServeConfig
  readonly #surroundings: Surroundings
  readonly #supply: Supply
  readonly #engine: EngineChoice
  readonly #count: number
  readonly #keys: KeyService
  /** Null where this server counts alone. */
  readonly #quotas: QuotaExchange | null
  readonly #hours: { stop(): void }
  readonly #counters: Counters
  readonly #common: CommonStart
  readonly #workers: Workers
  readonly #long: LongThread
  readonly #tools: ToolThread
  readonly #reloader: Reloader
  readonly #report: () => ReportDocument | null
  /** Whether pages were still being made at the start. */
  readonly #lacksPages: boolean
  #admin: AdminPort | null = null
  readonly #served: Promise<void>
  #onServed: () => void = () => {}
  #onFailed: (reason: string) => void = () => {}
  #readinessAskedAt = -Infinity
  #port = 0
  #isOpen = false
  #hasKeys = false
  #isDraining = false
  #hasClosed = false
  #failure: string | null = null
  /** Ids up to the newest snapshot that is known, oldest first. */
  #known: readonly string[] = []
  #stopping: Promise<boolean> | null = null

  /** Only the keys file and the clock are followed from here on. */
  constructor(
    config: ServeConfig,
    surroundings: Surroundings,
    { supply, isDemo }: { readonly supply: Supply; readonly isDemo: boolean },
    engine: EngineChoice,
    redis: SharedCounts | null,
  ) {
    const count = Math.min(config.workers, engine.maxWorkers)
    const { log, clock, random = () => 0.5, environment = {}, version = 'unknown' } = surroundings
    this.host = config.host
    this.basePath = config['base-path']
    this.#config = config
    this.#surroundings = surroundings
    this.#supply = supply
    this.#engine = engine
    this.#count = count
    const quota = QuotaCounters.allocate()
    const counters = new QuotaCounters(quota)
    this.#keys = startKeys(config, counters, { log, clock, random, environment })
    const isRequired = config['quota-store-required']
    this.#quotas = redis && new QuotaExchange({ redis, counters, isRequired, log, clock })
    this.#lacksPages = arePagesMade()
    const { refreshEvery } = supply
    const common = commonStart(config, surroundings, { refreshEvery, isDemo }, count, quota)
    this.#common = common
    const addresses = new AddressCounters(common.addresses)
    this.#hours = prepareHours([counters, addresses], clock)
    this.#counters = new Counters(common.counters, 0)
    this.#served = new Promise((resolve) => (this.#onServed = resolve))
    this.failed = new Promise((resolve) => (this.#onFailed = resolve))
    this.#workers = this.#makeWorkers(common)
    const side = { log, workers: () => this.#workers.threads }
    this.#long = new LongThread(side)
    this.#tools = new ToolThread(side, { version, clockShift: common.clockShift })
    this.#reloader = this.#makeReloader(common)
    this.#report = reportOf(config.snapshots)
  }

  #makeWorkers(common: CommonStart): Workers {
    const { log, writeAccess = () => {} } = this.#surroundings
    return new Workers({
      count: this.#count,
      startOf: (thread, snapshots, changes) => ({
        ...common,
        thread,
        keys: this.#keys.ring(),
        snapshots,
        changes,
      }),
      log,
      writeAccess,
      onReady: (worker) => {
        this.#long.connect(worker)
        this.#tools.connect(worker)
      },
      onTools: () => this.#tools.wake(),
      // The new worker began with the keys and pages of that moment.
      onReplaced: () => {
        this.#workers.send({ type: 'keys', keys: this.#keys.ring() })
        this.#workers.send({ type: 'site', site: common.site })
        this.#workers.send({ type: 'known', ids: this.#known })
      },
      routes: routeNames(ROUTED, this.basePath),
      onStalled: (what) => {
        this.#failure = what
        this.#onFailed(what)
      },
    })
  }

  #makeReloader({ counters }: CommonStart): Reloader {
    const { log, clock } = this.#surroundings
    return new Reloader({
      dir: this.#config.snapshots,
      activeWithin: this.#config['active-within'],
      supply: this.#supply,
      hold: this.#config['hold-snapshots'],
      maxMemory: this.#config['max-memory'],
      threads: this.#count,
      counters,
      onSeen: (manifest) => this.#know(manifest),
      clock,
      log,
      serve: (held, changes, fresh) => this.#serve(held, changes, fresh),
      letGo: async (held) => {
        await this.#workers.letGo(held)
        this.#long.hold(held)
      },
      collect: (last) => this.#workers.collect([() => this.#long.collect(), collectSoon, last]),
    })
  }

  /** @throws Error for a port that cannot open or a worker that cannot start, StoppedEarly; all has ended */
  async start(): Promise<void> {
    const { log, signal } = this.#surroundings
    const { host, port, snapshots } = this.#config
    const giveUp = (): void => void this.#close(true)
    signal?.addEventListener('abort', giveUp)
    try {
      // 1. The workers load the program, and get the keys that have changed meanwhile.
      signal?.throwIfAborted()
      this.#long.start()
      await this.#workers.start()
      this.#keys.onChange((ring) => {
        this.#quotas?.setKeys(this.#keys.entries())
        this.#workers.send({ type: 'keys', keys: ring })
      })
      // 2. The operator's port opens, and can be asked while the first snapshot loads.
      signal?.throwIfAborted()
      this.#admin = await this.#openAdminPort()
      // 3. The first snapshot comes, is loaded and got ready.
      await orStopped(
        this.#supply.first((manifest) => this.#know(manifest)),
        signal,
      )
      signal?.throwIfAborted()
      await this.#reloader.poll()
      signal?.throwIfAborted()
      if (this.#reloader.snapshot === null) {
        if (this.#supply.follow === undefined) {
          throw new SnapshotError(this.#reloader.state.error ?? 'the snapshot cannot be served')
        }
        if (this.#supply.waits) {
          log('no snapshot to serve yet: the port opens when the mirror has fetched one')
          this.#reloader.start()
          await orStopped(this.#served, signal)
        } else if (this.#reloader.state.error === null) {
          log(`${snapshots} holds no snapshot; answering 503 until one is published there`, 'warning')
        }
      }
      // 4. The keys are known: a bucket may have to answer first.
      await orStopped(this.#keys.known, signal)
      signal?.throwIfAborted()
      this.#hasKeys = true
      // 5. The port opens to clients.
      this.#port = await openPort(host, port, (free) => this.#workers.listen(free), API_ADDRESS)
      this.#isOpen = true
      // 6. From now on the folder is followed, and pages that are still made are served when they are there.
      signal?.throwIfAborted()
      this.#reloader.start()
      if (this.#lacksPages) void this.#takePages()
    } catch (error) {
      await this.#close(true)
      throw signal?.aborted === true ? new StoppedEarly() : error
    } finally {
      signal?.removeEventListener('abort', giveUp)
    }
  }

  async #takePages(): Promise<void> {
    await waitForPages(() => this.#isDraining)
    if (this.#isDraining) return
    const common = this.#common
    common.site = startSite(this.#config, common.anonymousAccess, this.#surroundings)
    this.#workers.send({ type: 'site', site: common.site })
  }

  #know({ id, earlier = [] }: Manifest): void {
    if (this.#known.at(-1) === id) return
    this.#known = [...earlier, id]
    this.#workers.send({ type: 'known', ids: this.#known })
  }

  get port(): number {
    return this.#port
  }

  get anonymousAccess(): AnonymousAccess {
    return this.#common.anonymousAccess
  }

  get adminPort(): number | null {
    return this.#admin?.port ?? null
  }

  /** Looks for a snapshot now, and again at one that was refused. */
  async reload(): Promise<void> {
    await orStopped(this.#supply.fetch(), this.#surroundings.signal)
    await this.#reloader.poll(true)
  }

  /**
   * Stops in good order: readiness ends, answers close connections, workers finish, counts are saved.
   * @returns whether all threads have ended; with one that has not, `process.exit` would wait or abort.
   */
  stop(): Promise<boolean> {
    return (this.#stopping ??= this.#drainAndClose())
  }

  /** As `stop`, and also while it runs, but waits for no connection. */
  stopAtOnce(): Promise<boolean> {
    return this.#close(true)
  }

  async #serve(
    held: readonly IndexedSnapshot[],
    changes: readonly Changes[],
    fresh: IndexedSnapshot,
  ): Promise<void> {
    const before = this.#long.held
    await this.#long.open(fresh, changes)
    try {
      await this.#workers.serve(held, changes, fresh)
    } catch (error) {
      this.#long.hold(before)
      throw error
    }
    this.#long.hold(held)
    this.#onServed()
    if (fresh !== held.at(-1)) {
      this.#surroundings.log(`snapshot ${fresh.id} is held for pinned reads again`, 'debug')
      return
    }
    const { snapshots } = this.#config
    const hold = shownHold(snapshots)
    const rolledBack = hold === null ? '' : `, ${holdText(hold, snapshots)}`
    const { id, asOf, demo } = held.at(-1)!
    const last = this.#reloader.snapshot?.asOf ?? asOf
    const isOlder = asOf < last ? ', older than the one before: a rollback' : ''
    const madeUp = demo ? ' (demo: its data are made up)' : ''
    this.#surroundings.log(
      `serving snapshot ${id}, data as of ${timestampText(asOf)}${madeUp}${rolledBack || isOlder}`,
    )
  }

  #openAdminPort(): Promise<AdminPort | null> {
    const { log } = this.#surroundings
    return openAdminPort(this.#config, log, {
      notReady: () => {
        this.#readinessAskedAt = performance.now()
        return this.#notReady()
      },
      status: () => ({
        ...statusOf(this.#observed()),
        keys: this.#keys.status(),
        ...(this.#quotas === null ? {} : { quotas: this.#quotas.status() }),
        ...this.#supply.status().members,
      }),
      metrics: metricsText(METRICS, () => this.#observed()),
      reload: () => this.reload(),
      onFault: (path, error) =>
        log(`${path}: ${error instanceof Error ? error.stack : String(error)}`, 'error'),
    })
  }

  #notReady(): string | null {
    const why = notReady(this.#observed())
    const isWaiting = this.#reloader.snapshot === null && this.#supply.waits && !this.#isDraining
    return why !== null && isWaiting ? `${why}: waiting for the source of the mirror` : why
  }

  #observed(): Observed {
    return {
      now: this.#surroundings.clock(),
      supply: this.#supply.status(),
      snapshot: this.#reloader.snapshot,
      held: this.#reloader.held,
      reload: this.#reloader.state,
      engine: this.#engine,
      workers: {
        wanted: this.#count,
        serving: this.#workers.alive,
        replaced: this.#workers.replaced,
      },
      counters: this.#counters,
      common: this.#common,
      report: this.#report,
      keys: this.#keys.figures(),
      quota: this.#quotas?.figures() ?? { backend: 'memory', isUp: true },
      isDraining: this.#isDraining,
      isOpen: this.#isOpen,
      hasKeys: this.#hasKeys,
      failure: this.#failure,
    }
  }

  /**
   * Goes on until no connection is left, at the latest after the drain time. Only where nobody watches does
   * the port close early: a balancer that has not asked yet would find it closed.
   */
  async #drainAndClose(): Promise<boolean> {
    const { connections } = this.#common
    const drainMs = this.#config['drain-time'] * 1000
    const isWatched = performance.now() - this.#readinessAskedAt < WATCHED_MS
    this.#isDraining = true
    this.#reloader.stop()
    this.#workers.drain()
    const lastAnswersMs = Math.min(LAST_ANSWERS_MS, drainMs / 4)
    let empty = 0
    const isEmpty = (): boolean => {
      const { open, streamsByThread } = countConnections(connections)
      empty = open === 0 && streamsByThread.every((streams) => streams === 0) ? empty + 1 : 0
      return empty >= EMPTY_POLLS
    }
    await until(() => isEmpty() && !isWatched, drainMs - lastAnswersMs)
    this.#workers.send({ type: 'stop-listening' })
    await until(isEmpty, lastAnswersMs)
    return this.#close(false)
  }

  async #close(atOnce: boolean): Promise<boolean> {
    this.#isDraining = true
    this.#reloader.stop()
    const supplied = this.#supply.stop()
    const allEnded = await this.#workers.close(atOnce)
    await Promise.all([this.#long.close(), this.#tools.close()])
    if (!atOnce) await supplied
    await this.#quotas?.close()
    if (!this.#hasClosed) {
      this.#hasClosed = true
      this.#hours.stop()
      this.#keys.close()
      this.#admin?.close()
    }
    return allEnded
  }
}

/** Waits for `done` until the server is no longer wanted. */
async function orStopped(done: Promise<void>, stopping = new AbortController().signal): Promise<void> {
  const waiting = new AbortController()
  const stopped = once(stopping, 'abort', { signal: waiting.signal }).catch(() => {})
  await Promise.race([done, stopping.aborted ? Promise.resolve() : stopped]).finally(() => waiting.abort())
}

async function until(holds: () => boolean, ms: number): Promise<void> {
  const end = performance.now() + ms
  while (performance.now() < end && !holds()) {
    await sleep(Math.min(POLL_INTERVAL_MS, Math.max(0, end - performance.now())))
  }
}
