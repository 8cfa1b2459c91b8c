/** Figures of an imagined server in which every metric has a value. */
import type { Figures } from '../../src/metrics/figures.ts'
import { DURATION_BOUNDS_S } from '../../src/metrics/requests.ts'
import { DELAY_BOUNDS_S } from '../../src/metrics/worker-figures.ts'

const NOW = 1_774_602_000

export function someFigures(changes: Partial<Figures> = {}): Figures {
  const row = {
    heap_bytes: 1,
    heap_limit_bytes: 2,
    cache_bytes: 3,
    long_waiting: 4,
    long_begun: 5,
    bodies_waiting: 6,
    held_bytes: 7,
    busy_seconds: 8,
    not_held: 9,
    dropped_lines: 10,
    delay_seconds: 11,
    delays: Array.from({ length: DELAY_BOUNDS_S.length + 1 }, (_, i) => i),
  }
  return {
    now: NOW,
    version: '1.2.3',
    isReady: true,
    requests: [
      {
        route: '/v2/buoys',
        method: 'GET',
        status: '200',
        buckets: Array.from({ length: DURATION_BOUNDS_S.length + 1 }, (_, i) => i),
        seconds: 1.5,
        bytes: 1000,
      },
    ],
    requestsByWorker: [40, 51],
    totals: {
      unauthorized: 5,
      bad_keys: 2,
      rate_limited: 7,
      rate_limited_addresses: 3,
      explorer_reads: 12,
      explorer_refused: 1,
      faults: 1,
      kept: 8,
      made: 9,
      long: 4,
      long_refused: 2,
      parked: 6,
      parked_late: 1,
    },
    workers: { wanted: 2, serving: 1, replaced: 3, rows: [row, row] },
    connections: { open: 10, limit: 100, refusedInAll: 2, refusedByAddress: 1, reset: 4 },
    snapshot: {
      id: 'a'.repeat(24),
      asOf: NOW - 1800,
      publishedAt: NOW - 60,
      parts: 2,
      bytes: 12_345,
      rows: [['catalog', 3]],
    },
    reload: {
      served: 2,
      refused: 1,
      isRefused: false,
      isLoading: false,
      loadSeconds: 0.25,
      swapSeconds: 0.5,
    },
    networks: [{ name: 'NDBC', newest: NOW - 600, suspect: [['the same wave values', 4]] }],
    sources: [
      {
        name: 'ndbc',
        isSilent: true,
        rows: 10,
        badLines: 1,
        fetch: { at: NOW - 90, seconds: 3, bytes: 500, files: [['failed', 2]] },
      },
    ],
    built: { at: NOW - 80, seconds: 9, rows: 10, badLines: 1 },
    builds: { published: 3, failed: 1, failedInRow: 1, isRunning: true, nextAt: NOW + 60 },
    snapshotsHeld: 2,
    isHeld: false,
    mirror: { isUp: true, lastSuccess: NOW - 4, fetchedBytes: 777 },
    keys: { backend: 'file', count: 4, isUp: true },
    quota: {
      backend: 'redis',
      isUp: true,
      leases: { replicas: 2, calls: 10, failedCalls: 1, admittedAlone: 3 },
    },
    process: {
      startedAt: NOW - 999,
      cpuSeconds: 12,
      residentBytes: 1e8,
      memoryBytes: 1e9,
      heapBytes: 1e7,
      openFiles: 30,
      maxFiles: 1024,
      shared: [['snapshot', 12_345]],
    },
    log: { dropped: 0 },
    ...changes,
  }
}
