/**
 * Figures that workers report of themselves, one row a worker in shared memory. Gauges begin at 0 with each
 * worker; counts go on where a replaced one left them.
 */
import { performance, type EventLoopUtilization } from 'node:perf_hooks'
import { getHeapStatistics } from 'node:v8'

const GAUGES = ['heap_bytes', 'heap_limit_bytes', 'long_waiting', 'long_begun'] as const
const COUNTS = ['busy_seconds', 'not_held', 'dropped_lines'] as const

export type WorkerFigureName = (typeof GAUGES)[number] | (typeof COUNTS)[number]
const NAMES: readonly WorkerFigureName[] = [...GAUGES, ...COUNTS]
/** Rows begin on cache lines of their own. */
const ROW_CELLS = Math.ceil(NAMES.length / 8) * 8

type WorkerFigures = { readonly [name in WorkerFigureName]: number }

type WorkerGauges = Pick<WorkerFigures, 'long_waiting' | 'long_begun'>

export class WorkerFiguresRow {
  readonly #cells: Float64Array
  #utilization: EventLoopUtilization = performance.eventLoopUtilization()

  static allocate(workers: number): SharedArrayBuffer {
    return new SharedArrayBuffer(workers * ROW_CELLS * Float64Array.BYTES_PER_ELEMENT)
  }

  constructor(buffer: SharedArrayBuffer, worker: number) {
    this.#cells = new Float64Array(buffer, worker * ROW_CELLS * Float64Array.BYTES_PER_ELEMENT, ROW_CELLS)
    this.#cells.fill(0, 0, GAUGES.length)
  }

  tick(gauges: WorkerGauges): void {
    const utilization = performance.eventLoopUtilization()
    this.count('busy_seconds', performance.eventLoopUtilization(utilization, this.#utilization).active / 1000)
    this.#utilization = utilization
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    this.#set('heap_bytes', used)
    this.#set('heap_limit_bytes', limit)
    for (const name of Object.keys(gauges) as (keyof WorkerGauges)[]) this.#set(name, gauges[name])
  }

  count(name: (typeof COUNTS)[number], amount: number): void {
    this.#cells[NAMES.indexOf(name)] += amount
  }

  #set(name: WorkerFigureName, value: number): void {
    this.#cells[NAMES.indexOf(name)] = value
  }
}

export function readWorkers(buffer: SharedArrayBuffer): WorkerFigures[] {
  const cells = new Float64Array(buffer)
  return Array.from({ length: cells.length / ROW_CELLS }, (_, worker) => {
    const named = NAMES.map((name, i) => [name, cells[worker * ROW_CELLS + i]])
    return Object.fromEntries(named) as WorkerFigures
  })
}
