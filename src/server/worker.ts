/** A worker: a serving thread with its own engine on the shared port, over shared snapshots and counters. */
import { parentPort, workerData } from 'node:worker_threads'
import { AddressCounters } from '../access/address-counters.ts'
import { TrustedProxies } from '../access/trusted-proxies.ts'
import { OpenedViews, type IndexedSnapshot, type View } from '../dataset/view.ts'
import { LongAnswers } from '../http/long-answers.ts'
import { Connections } from '../http/connections.ts'
import { loadEngine } from '../http/engines/engine.ts'
import { KeyRing } from '../access/key-ring.ts'
import { QuotaCounters } from '../access/quota.ts'
import { Listeners } from '../http/listeners.ts'
import { RequestPath } from '../http/request.ts'
import { OPERATIONS, ROUTED, STREAM } from '../routes.ts'
import { Site } from '../http/static-site.ts'
import { ToolDoor } from '../http/tool-door.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import { collectSoon } from '../system/thread.ts'
import { faultText } from '../system/text.ts'
import { finish, finishInSlices, type Steps } from '../system/steps.ts'
import { AccessLog } from '../http/access-log.ts'
import { WorkerFiguresRow } from './worker-figures.ts'
import {
  OTHER_ROUTES,
  RequestCounts,
  RequestRecorder,
  routeNames,
  type Lines,
} from '../http/request-counts.ts'
import { Counters } from '../http/counters.ts'
import { Heartbeat } from './watchdog.ts'
import type { FromWorker, ToWorker, WorkerStart } from './worker-thread.ts'

/** A snapshot is prepared in slices of this length; longer ones raise the p99 during a swap. */
const SLICE_MS = 0.1
/** A worker that has to end answers the requests that reached it before; usually it is done at once. */
const LAST_ANSWERS_MS = 2000
/** Time between two signs of life of an idle event loop. */
const IDLE_INTERVAL_MS = 250

const start = workerData as WorkerStart
const { config } = start
const main = parentPort!
const heartbeat = new Heartbeat(start.heartbeat)
const shift = new Float64Array(start.clockShift)
const send = (message: FromWorker): void => main.postMessage(message)

// Node would write a warning past the log.
process.removeAllListeners('warning')
process.on('warning', ({ name, message }) => send({ type: 'warning', message: `${name}: ${message}` }))

const clock = (): number => Date.now() / 1000 + shift[0]
const counters = new Counters(start.counters, start.thread)
const routes = routeNames(ROUTED, config['base-path'])
const counts = new RequestCounts(start.requests, routes.length, start.thread)
const figures = new WorkerFiguresRow(start.workerFigures, start.thread)
const long = new LongAnswers()

const connections = new Connections(start.connections, start.thread, {
  connections: start.maxConnections,
  streams: start.maxListeners,
  streamsOfOne: config['max-listeners-per-key'],
})
const listeners = new Listeners({ onSent: (events) => counters.count('events', events) })

const site = new Site(start.site)
let ring = new KeyRing(start.keys)
const access =
  start.accessLog === null
    ? null
    : new AccessLog({
        ...start.accessLog,
        worker: start.thread,
        clock,
        // Copied: once a thread has detached a buffer, V8 checks each store, which makes long pages slower.
        hand: (bytes) => main.postMessage({ type: 'lines', lines: bytes } satisfies FromWorker),
        onDropped: (count) => figures.count('dropped_lines', count),
      })
const lines: Lines | null = access && {
  log: access,
  routes,
  operations: [...ROUTED.map(({ name }) => name), ...OTHER_ROUTES],
  keyId: (row) => ring.id(row),
}
const recorder = new RequestRecorder(counts, routes.length, lines)
const proxies = new TrustedProxies(config['trusted-proxy'])
const tools =
  config.mcp === 'off'
    ? null
    : new ToolDoor({
        publicUrl: config['public-url'],
        origins: config['mcp-origin'],
        isLoopback: start.isLoopback,
        basePath: config['base-path'],
        proxies,
        recorder,
        handle: (exchange) => requests.handle(exchange),
        charge: (exchange) => requests.charge(exchange),
        wake: () => send({ type: 'tools' }),
        onFault: (error) => send({ type: 'fault', message: faultText(error) }),
      })

const requests = new RequestPath(
  {
    operations: OPERATIONS,
    basePath: config['base-path'],
    quota: new QuotaCounters(start.quota),
    addresses: new AddressCounters(start.addresses),
    proxies,
    anonymousQuota: config['anonymous-quota'],
    anonymousAccess: start.anonymousAccess,
    explorerQuota: config['explorer-quota'],
    answerCache: config['answer-cache'],
    settingsTag: start.settingsTag,
    refreshEvery: start.refreshEvery,
    isReplica: config.from !== null,
    counters,
    long,
    stream: { operation: STREAM, listeners, connections },
    site,
    ...(tools !== null && { tools }),
    ...(config.edr === 'on' && { edr: { publicUrl: config['public-url'] } }),
    clock,
    onWarning: (message) => send({ type: 'warning', message }),
    onFault: (fault, operation) => send({ type: 'fault', message: `${operation}: ${fault}` }),
  },
  ring,
)

const views = new OpenedViews(start.changes)
/** The view that was prepared, until it is served. */
let prepared: View | null = null

/** Opens a snapshot; each step is a sign of life. @throws SnapshotError */
function* opened(snapshot: IndexedSnapshot): Steps<View> {
  const steps = views.open(snapshot)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
    heartbeat.advance()
    yield
  }
}

async function prepare(snapshot: IndexedSnapshot): Promise<void> {
  try {
    prepared = await finishInSlices(opened(snapshot), SLICE_MS)
    send({ type: 'prepared' })
  } catch (error) {
    send({ type: 'refused', message: error instanceof SnapshotError ? error.message : faultText(error) })
  }
}

/** Takes over the prepared view, if there is one, and serves the last of `held`: ids, oldest first. */
function serve(held: readonly string[]): void {
  if (prepared !== null) views.add(prepared)
  prepared = null
  const all = views.hold(held)
  // A worker that has just come may have no views yet.
  if (all.length > 0) requests.hold(all, config['hold-snapshots'])
}

for (const snapshot of start.snapshots) views.add(finish(opened(snapshot)))
serve(start.snapshots.map(({ id }) => id))

const engine = loadEngine(config.engine).create((exchange) => requests.handle(exchange), {
  connections,
  serving: heartbeat.serving,
  recorder,
  onProgress: () => heartbeat.advance(),
  onNotBuffered: () => figures.count('not_held', 1),
  onThrow: (error) => send({ type: 'fault', message: faultText(error) }),
})

// The process would abort if the thread ended with its engine open.
process.on('uncaughtException', (error) => {
  send({ type: 'fault', message: faultText(error) })
  engine.close()
  process.exit(1)
})

main.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'listen':
      void listen(message.port)
      break
    case 'prepare':
      void prepare(message.snapshot)
      break
    case 'switch':
      views.changes = message.changes
      serve(message.held)
      send({ type: 'switched' })
      break
    case 'discard':
      prepared = null
      break
    case 'long':
      long.connect(message.port)
      break
    case 'tools':
      tools?.connect(message.port)
      break
    case 'collect':
      collectSoon()
      break
    case 'keys':
      ring = new KeyRing(message.keys)
      requests.setKeys(ring)
      break
    case 'site':
      site.take(message.site)
      break
    case 'known':
      requests.know(message.ids)
      break
    case 'drain':
      engine.drain()
      listeners.drain()
      break
    case 'stop-listening':
      void engine.stopListening()
      break
    case 'close':
      listeners.close()
      void engine.finish(LAST_ANSWERS_MS).then(() => {
        engine.close()
        access?.close()
        // The event loop releases closed sockets in this turn. A snapshot half ready does not delay the end.
        setImmediate(() => process.exit(0))
      })
      break
    case 'written':
      access?.written(message.bytes)
      break
  }
})

async function listen(port: number): Promise<void> {
  try {
    await engine.listen(config.host, port)
    send({ type: 'listening' })
  } catch (error) {
    engine.close()
    send({ type: 'not-listening', message: (error as Error).message })
  }
}

function tick(): void {
  heartbeat.advance()
  const { waiting, begun } = long.counts
  figures.tick({ long_waiting: waiting, long_begun: begun })
}

setInterval(tick, IDLE_INTERVAL_MS)
send({ type: 'ready' })
