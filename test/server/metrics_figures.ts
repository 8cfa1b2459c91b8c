/** Figures of an imagined server in which every metric has a value. */
import type { Figures } from '../../src/server/metrics.ts'
import { DURATION_BOUNDS_S } from '../../src/http/request-counts.ts'
import { Counters } from '../../src/http/counters.ts'

const NOW = 1_774_602_000

const SNAPSHOT = {
  id: 'a'.repeat(24),
  asOf: NOW - 1800,
  publishedAt: NOW - 60,
} as unknown as NonNullable<Figures['snapshot']>

const REPORT = {
  built_at: '2026-03-27T09:00:00Z',
  seconds: 9,
  rows: 10,
  bad_lines: 1,
  losses: { buoys: 1, readings: 20, first: [] },
  sources: [
    {
      name: 'ndbc',
      refused: 'gone',
      rows: 10,
      bad_lines: 1,
      fetch: { seconds: 3, bytes: 500, fetched: 1, unchanged: 0, not_due: 0, failed: 2, removed: 0 },
    },
  ],
} as unknown as NonNullable<Figures['report']>

const COMMON = { maxConnections: 100 } as unknown as Figures['common']

export function someFigures(changes: Partial<Figures> = {}): Figures {
  const row = {
    heap_bytes: 1,
    heap_limit_bytes: 2,
    long_waiting: 4,
    long_begun: 5,
    busy_seconds: 8,
    not_held: 9,
    dropped_lines: 10,
  }
  const counters = new Counters(Counters.allocate(1), 0).sums()
  return {
    now: NOW,
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
    counters,
    workers: { wanted: 2, serving: 1, replaced: 3, rows: [row, row] },
    common: COMMON,
    connections: { open: 10, refused: 2, streamsByThread: [3, 4] },
    snapshot: SNAPSHOT,
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
    supply: {
      members: {},
      builds: {
        next_at: NOW + 60,
        running_since: NOW,
        last_at: NOW - 80,
        last_error: 'no',
        failures_in_row: 1,
        built: 3,
        failed: 1,
      },
      isUp: true,
    },
    isHeld: false,
    keys: { backend: 'file', count: 4, isUp: true },
    quota: {
      backend: 'redis',
      isUp: true,
    },
    ...changes,
  }
}
