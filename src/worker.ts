/** A serving thread: its own engine on the shared port, over snapshots and counters in memory that all threads share. */
import { parentPort, workerData } from 'node:worker_threads'
import { AddressCounters, TrustedProxies } from './addresses.ts'
import { openDataset } from './dataset.ts'
import { loadEngine } from './http/engine.ts'
import { KeyRing } from './keys.ts'
import { QuotaCounters } from './quota.ts'
import { RequestPath } from './request.ts'
import { OPERATIONS } from './routes.ts'
import { renderShapes } from './shapes.ts'
import type { LoadedSnapshot } from './snapshot/read.ts'

/** What the main thread gives a worker to begin with. */
export interface WorkerStart {
  host: string
  port: number
  engine: 'auto' | 'uws' | 'node'
  basePath: string
  activeWithin: number
  anonymousQuota: number
  trustedProxies: readonly string[]
  answerCache: number
  refreshEvery: number
  settingsTag: string
  quota: SharedArrayBuffer
  addresses: SharedArrayBuffer
  keys: SharedArrayBuffer
  snapshot: LoadedSnapshot | null
}

export type ToWorker =
  | { type: 'snapshot'; snapshot: LoadedSnapshot }
  | { type: 'keys'; keys: SharedArrayBuffer }
  | { type: 'drain' }
  | { type: 'close' }

export type FromWorker =
  | { type: 'listening' }
  | { type: 'serving'; snapshotId: string }
  | { type: 'fault'; message: string }

const start = workerData as WorkerStart
const main = parentPort!
const tell = (message: FromWorker): void => main.postMessage(message)

const requests = new RequestPath(
  {
    operations: OPERATIONS,
    basePath: start.basePath,
    quota: new QuotaCounters(start.quota),
    addresses: new AddressCounters(start.addresses),
    proxies: new TrustedProxies(start.trustedProxies),
    anonymousQuota: start.anonymousQuota,
    answerCache: start.answerCache,
    settingsTag: start.settingsTag,
    refreshEvery: start.refreshEvery,
    clock: () => Date.now() / 1000,
    onFault: (error, operation) => tell({ type: 'fault', message: `${operation}: ${faultText(error)}` }),
  },
  new KeyRing(start.keys),
)

/** Where a fault happened, without what a request held: messages of errors may quote their input. */
function faultText(error: unknown): string {
  if (!(error instanceof Error)) return 'something was thrown that is no Error'
  const frames = (error.stack ?? '').split('\n').filter((line) => line.trimStart().startsWith('at '))
  return [error.name, ...frames.slice(0, 6)].join('\n')
}

function serve(snapshot: LoadedSnapshot): void {
  const dataset = openDataset(snapshot, start.activeWithin)
  requests.setView({ dataset, shapes: renderShapes(dataset) })
  tell({ type: 'serving', snapshotId: snapshot.id })
}

if (start.snapshot !== null) serve(start.snapshot)

const engine = loadEngine(start.engine).create((exchange) => requests.handle(exchange), {
  onThrow: (error) => tell({ type: 'fault', message: faultText(error) }),
})

main.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'snapshot':
      serve(message.snapshot)
      break
    case 'keys':
      requests.setKeys(new KeyRing(message.keys))
      break
    case 'drain':
      engine.stopListening()
      engine.drain()
      break
    case 'close':
      engine.close()
      main.close()
      break
  }
})

await engine.listen(start.host, start.port)
tell({ type: 'listening' })
