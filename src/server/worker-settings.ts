/** The start of all workers of a server: shared memory and settings. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { AddressCounters } from '../access/address-counters.ts'
import type { AnonymousAccess } from '../http/admission.ts'
import { Connections } from '../http/connections.ts'
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
  /** Default: the snapshots published in the folder. */
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
 * The meaning of `auto`. A demo is open: its data are not a secret. A loopback address is open for whoever
 * sits at the machine, but not for what a proxy there forwards. Everything else is keyed.
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

/** For snapshots, sources, logs, the admin port, Node itself and refused connections. */
const OTHER_FILES = 128
/** Files of one thread before any connection: its port, and what its loop has. */
const FILES_PER_THREAD = 16

/**
 * Fewer connections than wanted if files would run out: a loop that cannot accept the next connection spins.
 * @param openFiles what this process may have open, null if unknown
 */
export function connectionsWithin(
  { connections, listeners }: { connections: number; listeners: number },
  threads: number,
  openFiles: number | null,
  log: LogLine,
): { maxConnections: number; maxListeners: number } {
  const possible = (openFiles ?? Infinity) - OTHER_FILES - threads * FILES_PER_THREAD
  const share = Math.min(1, possible / (connections + listeners))
  const [maxConnections, maxListeners] = [connections, listeners].map((each) =>
    Math.max(1, Math.floor(each * share)),
  )
  // Somewhat fewer are not worth a warning.
  if (share <= 0.9) {
    const taken = `--max-connections ${connections} is taken as ${maxConnections} and --max-listeners ${listeners} as ${maxListeners}`
    log(`${taken}: this process may have ${openFiles} files open (ulimit -n)`, 'warning')
  }
  return { maxConnections, maxListeners }
}

/** RLIMIT_NOFILE; null where the system has no such limit to read. */
export function openFilesLimit(): number | null {
  try {
    const match = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))
    return match === null ? null : Number(match[1])
  } catch {
    return null
  }
}
