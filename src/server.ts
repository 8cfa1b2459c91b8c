/** The main thread of a server: loads snapshots, starts the workers, hands them what changes, and stops them. It serves nothing itself. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { Worker } from 'node:worker_threads'
import { AddressCounters } from './addresses.ts'
import type { ServeConfig } from './config.ts'
import { loadEngine } from './http/engine.ts'
import { findFreePort } from './http/port.ts'
import { KeyRing, watchKeys, type KeyRecord } from './keys.ts'
import { keepUsage, KeySlots, QuotaCounters, readUsage, usagePath } from './quota.ts'
import { loadSnapshot, readManifest, type LoadedSnapshot } from './snapshot/read.ts'
import { startThread } from './thread.ts'
import { timestampText } from './time.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker.ts'

/** Seconds between two snapshots (contract: "Readings are refreshed about every 30 minutes"). */
const REFRESH_EVERY = 1800
/** Milliseconds between two looks at the manifest. */
const MANIFEST_INTERVAL = 1000
/** Milliseconds between two looks at the clock for the hour that comes next. */
const PREPARE_INTERVAL = 10_000
/** Milliseconds that connections have to finish once the server stops. */
const DRAIN_TIME = 1000

export interface RunningServer {
  host: string
  port: number
  basePath: string
  /** Lets requests under way finish, then stops the workers and saves the counts. */
  stop(): Promise<void>
}

export interface Surroundings {
  /** One line for the operator. */
  log: (line: string) => void
  /** Epoch seconds. */
  clock: () => number
}

/** @throws Error when the port is taken or the engine cannot be loaded, KeysFileError, SnapshotError for a broken snapshot. */
export async function startServer(config: ServeConfig, { log, clock }: Surroundings): Promise<RunningServer> {
  const engine = loadEngine(config.engine)
  if (engine.warning !== null) log(`warning: ${engine.warning}`)
  const workerCount = Math.min(config.workers, engine.maxWorkers)
  const port = await findFreePort(config.host, config.port)

  let snapshot: LoadedSnapshot | null = null
  if ((await readManifest(config.snapshots)) === null) {
    log(`warning: ${config.snapshots} holds no snapshot; answering 503 until one is published there`)
  } else {
    snapshot = await loadSnapshot(config.snapshots)
  }

  const keys = startKeys(config.keys, log, clock)
  const start: Omit<WorkerStart, 'port' | 'snapshot' | 'keys'> = {
    host: config.host,
    engine: config.engine,
    basePath: config['base-path'],
    activeWithin: config['active-within'],
    anonymousQuota: config['anonymous-quota'],
    trustedProxies: config['trusted-proxy'],
    answerCache: config['answer-cache'],
    refreshEvery: REFRESH_EVERY,
    settingsTag: settingsTag(config),
    quota: keys.counters,
    addresses: AddressCounters.allocate(),
  }
  // Zeroing the counters of the hour to come is a millisecond's work that no request should meet at the top of an hour.
  const counters = [new QuotaCounters(start.quota), new AddressCounters(start.addresses)]
  const prepare = (): void => counters.forEach((counter) => counter.prepare(clock()))
  prepare()
  const preparing = setInterval(prepare, PREPARE_INTERVAL)
  const workers: Worker[] = []
  try {
    for (let i = 0; i < workerCount; i++) {
      workers.push(await startWorker({ ...start, port, snapshot, keys: keys.ring() }, log))
    }
  } catch (error) {
    clearInterval(preparing)
    await stopWorkers(workers)
    keys.close()
    throw error
  }
  const toAll = (message: ToWorker): void => {
    for (const worker of workers) worker.postMessage(message)
  }
  keys.onChange((ring) => toAll({ type: 'keys', keys: ring }))
  if (snapshot !== null) log(`snapshot ${snapshot.id}, data as of ${timestampText(snapshot.asOf)}`)

  const watch = watchManifest(config.snapshots, snapshot, log, (next) => {
    snapshot = next
    toAll({ type: 'snapshot', snapshot: next })
    log(`snapshot ${next.id}, data as of ${timestampText(next.asOf)}`)
  })

  let stopping: Promise<void> | null = null
  const stop = async (): Promise<void> => {
    clearInterval(watch)
    clearInterval(preparing)
    toAll({ type: 'drain' })
    await new Promise((resolve) => setTimeout(resolve, DRAIN_TIME))
    await stopWorkers(workers)
    keys.close()
  }
  return { host: config.host, port, basePath: config['base-path'], stop: () => (stopping ??= stop()) }
}

/** What beside snapshot and query decides an answer. */
function settingsTag(config: ServeConfig): string {
  return createHash('sha256').update(String(config['active-within'])).digest('hex').slice(0, 6)
}

/** Resolves when the worker listens. */
function startWorker(start: WorkerStart, log: (line: string) => void): Promise<Worker> {
  const worker = startThread('./worker', start)
  return new Promise((resolve, reject) => {
    worker.once('error', reject)
    worker.on('message', (message: FromWorker) => {
      if (message.type === 'listening') resolve(worker)
      if (message.type === 'fault') log(`fault in ${message.message}`)
    })
  })
}

async function stopWorkers(workers: readonly Worker[]): Promise<void> {
  await Promise.all(
    workers.map(
      (worker) =>
        new Promise<void>((resolve) => {
          worker.once('exit', () => resolve())
          worker.postMessage({ type: 'close' } satisfies ToWorker)
        }),
    ),
  )
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
  if (!existsSync(path))
    log(`warning: no keys in ${path}: every keyed operation answers 401 until one is issued`)
  const usage = readUsage(usagePath(path), clock())
  if (usage.warning !== null) log(`warning: ${usage.warning}`)
  slots.restore(usage.counts, clock())
  const keeper = keepUsage(usagePath(path), slots, clock, (error) => log(`warning: ${error.message}`))
  return {
    counters,
    ring: () => ring,
    onChange(listener: (ring: SharedArrayBuffer) => void) {
      tell = listener
    },
    close() {
      watch.close()
      keeper.close()
    },
  }
}

/** Loads every snapshot that is announced after `current`; one that cannot be loaded leaves the old one in place. */
function watchManifest(
  dir: string,
  current: LoadedSnapshot | null,
  log: (line: string) => void,
  onSnapshot: (snapshot: LoadedSnapshot) => void,
): NodeJS.Timeout {
  let snapshot = current
  let refused = ''
  let looking = false
  const look = async (): Promise<void> => {
    const manifest = await readManifest(dir)
    if (manifest === null || manifest.id === snapshot?.id || manifest.id === refused) return
    refused = manifest.id
    snapshot = await loadSnapshot(dir, snapshot ?? undefined)
    onSnapshot(snapshot)
  }
  return setInterval(() => {
    if (looking) return
    looking = true
    look()
      .catch((error: unknown) => log(`warning: ${(error as Error).message}; the old snapshot keeps serving`))
      .finally(() => {
        looking = false
      })
  }, MANIFEST_INTERVAL)
}
