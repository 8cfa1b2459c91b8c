/** What all workers of a server begin with: shared memory and settings. */
import { createHash } from 'node:crypto'
import { AddressCounters } from '../access/address-counters.ts'
import type { AnonymousAccess } from '../http/admission.ts'
import { Connections, connectionsWithin } from '../http/connections.ts'
import { openFilesLimit } from '../system/open-files.ts'
import type { Format, LogLine } from '../system/log.ts'
import type { Supply } from './supply.ts'
import { WorkerFiguresRow } from './worker-figures.ts'
import { ROUTED } from '../routes.ts'
import { RequestCounts, routeNames } from '../http/request-counts.ts'
import { Counters } from '../http/counters.ts'
import { isLoopback, type ServeConfig } from './serve-settings.ts'
import { startSite } from './site-files.ts'
import type { WorkerStart } from './worker-thread.ts'

export interface Surroundings {
  log: LogLine
  /** Of the program, as assistants are told. */
  version?: string
  clock: () => number
  random?: () => number
  /** Variables `AWS_…`, for keys in a bucket. */
  environment?: { readonly [name: string]: string | undefined }
  /** One Float64: seconds by which workers' clocks are ahead, so that a test can bring a new hour. */
  clockShift?: SharedArrayBuffer
  logFormat?: Format
  /** Writes lines of the access log, and calls back when they have left. Without it there is no such log. */
  writeAccess?: (lines: Uint8Array, written: () => void) => void
  /** Without it, whatever is published in the folder. */
  supply?: Supply
  /** Aborted when the server is no longer wanted before it serves. */
  signal?: AbortSignal
}

/** All that does not change while the server runs. */
export type CommonStart = Omit<WorkerStart, 'thread' | 'snapshots' | 'changes' | 'keys' | 'heartbeat'>

/** Allocates the memory that all workers share. @param quota calls counted for each key */
export function commonStart(
  config: ServeConfig,
  {
    log,
    clockShift = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT),
    writeAccess,
    logFormat = 'text',
  }: Surroundings,
  { refreshEvery, isDemo }: { readonly refreshEvery: number; readonly isDemo: boolean },
  workers: number,
  quota: SharedArrayBuffer,
): CommonStart {
  const routes = routeNames(ROUTED, config['base-path']).length
  const hasProxies = config['trusted-proxy'].length > 0
  const anonymousAccess = anonymousAccessOf(config.explorer, { host: config.host, isDemo, hasProxies })
  return {
    config,
    quota,
    addresses: AddressCounters.allocate(),
    counters: Counters.allocate(workers),
    requests: RequestCounts.allocate(workers, routes),
    workerFigures: WorkerFiguresRow.allocate(workers),
    connections: Connections.allocate(workers),
    site: startSite(config, anonymousAccess, { log, refreshEvery }),
    accessLog:
      config['access-log'] === 'none' || writeAccess === undefined
        ? null
        : { logged: config['access-log'], format: logFormat },
    clockShift,
    isLoopback: isLoopback(config.host),
    anonymousAccess,
    ...connectionsWithin(
      { connections: config['max-connections'], listeners: config['max-listeners'] },
      workers,
      openFilesLimit(),
      log,
    ),
    refreshEvery,
    settingsTag: settingsTag(config),
  }
}

/**
 * What `auto` is. A demo is open: its data are not a secret. A loopback address is open for whoever sits at
 * the machine, but not for what a proxy there forwards. Everything else is keyed.
 */
export function anonymousAccessOf(
  choice: ServeConfig['explorer'],
  { host, isDemo, hasProxies }: { host: string; isDemo: boolean; hasProxies: boolean },
): AnonymousAccess {
  if (choice !== 'auto') return choice
  if (isDemo) return 'demo'
  return isLoopback(host) && !hasProxies ? 'direct' : 'keyed'
}

/** A short hash of the settings that decide an answer together with the snapshot and the query. */
function settingsTag(config: ServeConfig): string {
  return createHash('sha256').update(String(config['active-within'])).digest('hex').slice(0, 6)
}
