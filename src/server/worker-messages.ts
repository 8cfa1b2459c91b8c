/** The messages between the main thread and its workers. */
import type { MessagePort } from 'node:worker_threads'
import type { AnonymousAccess } from '../http/anonymous-access.ts'
import type { IndexedSnapshot } from '../dataset/view.ts'
import type { AccessLogged } from '../http/access-log.ts'
import type { Format } from '../system/log.ts'
import type { SharedSite } from '../http/static-site.ts'
import type { ServeConfig } from './serve-settings.ts'
import type { Changes } from '../snapshot/row-changes.ts'

export interface WorkerStart {
  /** Number of the worker, from 0. */
  thread: number
  config: ServeConfig
  anonymousAccess: AnonymousAccess
  /** Connections at a time, and streams of events, of all workers; and shared memory of their counts. */
  maxConnections: number
  connections: SharedArrayBuffer
  maxListeners: number
  listeners: SharedArrayBuffer
  /** Seconds between two scheduled builds; 0 where none are scheduled. */
  refreshEvery: number
  settingsTag: string
  /** Counts of calls of each key. */
  quota: SharedArrayBuffer
  addresses: SharedArrayBuffer
  totals: SharedArrayBuffer
  /** Counts of requests, and what workers report of themselves. */
  requests: SharedArrayBuffer
  workerFigures: SharedArrayBuffer
  keys: SharedArrayBuffer
  heartbeat: SharedArrayBuffer
  site: SharedSite
  /** Which requests the access log shows, and how; null for none. */
  accessLog: { logged: AccessLogged; format: Format } | null
  /** One Float64: seconds by which its clock is ahead of the machine's. */
  clockShift: SharedArrayBuffer
  /** Oldest first; the last is served. */
  snapshots: readonly IndexedSnapshot[]
  /** Between any two snapshots, one way round. */
  changes: readonly Changes[]
}

/** A snapshot is taken over in two steps, so that all threads switch together or none does. */
export type ToWorker =
  | { type: 'listen'; port: number }
  | { type: 'prepare'; snapshot: IndexedSnapshot }
  /** Serves the last of these snapshots, and holds the others: ids, oldest first. */
  | { type: 'switch'; held: readonly string[]; changes: readonly Changes[] }
  | { type: 'discard' }
  /** The end of a channel to the thread that makes long answers. */
  | { type: 'long'; port: MessagePort }
  | { type: 'collect' }
  | { type: 'keys'; keys: SharedArrayBuffer }
  | { type: 'site'; site: SharedSite }
  | { type: 'drain' }
  | { type: 'stop-listening' }
  | { type: 'close' }
  | { type: 'written'; bytes: number }

export type FromWorker =
  | { type: 'ready' }
  | { type: 'listening' }
  | { type: 'not-listening'; message: string }
  | { type: 'prepared' }
  | { type: 'refused'; message: string }
  | { type: 'switched' }
  | { type: 'fault'; message: string }
  | { type: 'warning'; message: string }
  | { type: 'lines'; lines: Uint8Array }
