/** Figures of an imagined server in which every metric has a value. */
import type { Figures } from '../../src/server/collect-metrics.ts'
import { DURATION_BOUNDS_S } from '../../src/http/request-counts.ts'
import { Totals } from '../../src/http/totals.ts'
import { DELAY_BOUNDS_S } from '../../src/server/worker-figures.ts'

const NOW = 1_774_602_000

const SNAPSHOT = {
  id: 'a'.repeat(24),
  asOf: NOW - 1800,
  publishedAt: NOW - 60,
  parts: [{ entry: { kind: 'catalog', rows: 3, bytes: 12_345 }, bytes: new Uint8Array(8) }],
} as unknown as NonNullable<Figures['snapshot']>

const REPORT = {
  built_at: '2026-03-27T09:00:00Z',
  seconds: 9,
  rows: 10,
  bad_lines: 1,
  sources: [
    {
      name: 'ndbc',
      refused: 'gone',
      rows: 10,
      bad_lines: 1,
      doubts: [{ what: 'a file is left out whole', times: 2, grave: true, examples: [], remedy: null }],
      fetch: { seconds: 3, bytes: 500, fetched: 1, unchanged: 0, not_due: 0, failed: 2, removed: 0 },
    },
  ],
  networks: [{ name: 'NDBC', doubtful: [{ what: 'the same wave values', times: 4 }] }],
} as unknown as NonNullable<Figures['report']>

const MEMORY = new SharedArrayBuffer(8)
const COMMON = {
  maxConnections: 100,
  maxListeners: 50,
  quota: MEMORY,
  addresses: MEMORY,
  totals: MEMORY,
  connections: MEMORY,
  listeners: MEMORY,
  requests: MEMORY,
  workerFigures: MEMORY,
  site: { memory: MEMORY },
} as unknown as Figures['common']

export function someFigures(changes: Partial<Figures> = {}): Figures {
  const row = {
    heap_bytes: 1,
    heap_limit_bytes: 2,
    cache_bytes: 3,
    long_waiting: 4,
    long_begun: 5,
    bodies_waiting: 6,
    busy_seconds: 8,
    not_held: 9,
    dropped_lines: 10,
    delay_seconds: 11,
    delays: Array.from({ length: DELAY_BOUNDS_S.length + 1 }, (_, i) => i),
  }
  const totals = new Totals(Totals.allocate(1), 0).sums()
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
    totals,
    workers: { wanted: 2, serving: 1, replaced: 3, rows: [row, row] },
    common: COMMON,
    listenersByWorker: [3, 4],
    connections: { open: 10, refused: 2 },
    snapshot: SNAPSHOT,
    held: [SNAPSHOT, SNAPSHOT],
    reload: {
      at: NOW,
      error: null,
      took: 0.75,
      loadTook: 0.25,
      swapTook: 0.5,
      loaded: 2,
      refused: 1,
      loading: null,
    },
    networks: [['NDBC', NOW - 600]],
    report: REPORT,
    builds: {
      next_at: NOW + 60,
      running_since: NOW,
      last_at: NOW - 80,
      last_error: 'no',
      failures_in_row: 1,
      built: 3,
      failed: 1,
    },
    isHeld: false,
    mirror: { isUp: true },
    keys: { backend: 'file', count: 4, isUp: true },
    quota: {
      backend: 'redis',
      isUp: true,
    },
    ...changes,
  }
}
