/** Measures the mixture: throughput against the ceiling, latencies below it, two workers, new connections. */
import { setTimeout as wait } from 'node:timers/promises'
import { publish, type SwapFolder } from './data.ts'
import { CONNECTIONS, saturate, type Load, type Sample } from './load.ts'
import { measureParts } from './mixture-parts.ts'
import { connectionLists, type LearntMixture, type Mixture } from './mixture.ts'
import { openLoop, type OpenLoad, type OpenSample } from './open-loop.ts'
import { table, type LimitRow } from './report.ts'
import {
  familyMegabytes,
  processCpuMicros,
  startProduct,
  type Ceiling,
  type Product,
  type Server,
} from './servers.ts'
import { median, quantile } from './statistics.ts'

export interface MixtureContext {
  product: Product
  ceiling: Ceiling
  mixture: Mixture
  learnt: LearntMixture
  swaps: SwapFolder
  rounds: number
  /** A swap comes once in so many seconds, and so long is a part of the run. */
  swapSeconds: number
  connections: number
  processes: number
  /** Requests a second of the open loop, where they are given and not a share of the capacity. */
  rate: number | null
  say: (text: string) => void
}

export interface Section {
  limits: LimitRow[]
  tables: string[]
}

/** Share of the capacity at which latencies are taken. */
const STEADY_SHARE = 0.7
const SHARE_BAR = 0.85
const WORKERS_BAR = 1.85
/** A client that is later than this measures itself, ms. */
export const LATEST_CLIENT_MS = 1
/** Seconds in which a server without swaps is measured. */
const SHORT_S = 5
const WARM_S = 3
const MOST_LOOKS = 300
const BETWEEN_LOOKS_MS = 100
const SAMPLE_MS = 100

/** The product on a folder that swaps, at its last snapshot. */
export async function startSwapping(
  product: Product,
  swaps: SwapFolder,
  options: Parameters<typeof startProduct>[1] = {},
): Promise<Server> {
  publish(swaps, swaps.manifests.length - 1)
  return await startProduct({ ...product, snapshots: swaps.folder }, options)
}

/**
 * Has the server serve the last snapshot, whose answers were learnt. @throws Error where it does not in half
 * a minute
 */
async function beAtLast(swaps: SwapFolder, server: Server): Promise<void> {
  const last = publish(swaps, swaps.manifests.length - 1)
  for (let looks = 0; looks < MOST_LOOKS; looks++) {
    const { headers } = await fetch(`http://127.0.0.1:${server.port}/v2/countries`)
    if (headers.get('x-snapshot-id') === last) return
    await wait(BETWEEN_LOOKS_MS)
  }
  throw new Error(`${server.name} does not serve snapshot ${last}`)
}

/** Publishes the next snapshot every `seconds`, first after half of that, until it is stopped. */
export function swapEvery(
  swaps: SwapFolder,
  seconds: number,
): { count: () => number; next: () => void; stop: () => void } {
  let count = 0
  const next = (): void => void publish(swaps, count++ % swaps.manifests.length)
  let timer = setTimeout(function again() {
    next()
    timer = setTimeout(again, seconds * 1000).unref()
  }, seconds * 500).unref()
  return { count: () => count, next, stop: () => clearTimeout(timer) }
}

export async function measureMixture(context: MixtureContext): Promise<Section> {
  const { ceiling, learnt, product, swaps, say } = context
  const section: Section = { limits: [], tables: [] }
  // A swap lies in the middle of what is measured.
  const halves = [...learnt.order, ...learnt.orderAfter]
  await ceiling.answerInTurn(learnt.answers, halves)
  const server = await startSwapping(product, swaps)
  const memory = watchMemory(server.pid)
  const { limit, capacity } = await measureThroughput(context, server)
  section.limits.push(limit)
  await beAtLast(swaps, server)
  section.tables.push(await measureParts(context, server))
  await ceiling.answerInTurn(learnt.answers, halves)
  section.tables.push(await measureKinds(context, server, capacity, section.limits))
  section.limits.push(memory.stop())
  await server.stop()
  section.limits.push(await measureWorkers(context))
  section.limits.push(...(await measureNewConnections(context)))
  for (const { name, value, unit, note } of section.limits) {
    say(`${name}: ${Number(value.toPrecision(3))} ${unit} (${note ?? ''})`)
  }
  return section
}

const loadOf = ({ learnt, connections }: MixtureContext, seconds: number, cores = '1'): Load => ({
  file: learnt.closedFile,
  headers: [],
  depth: 1,
  seconds,
  cores,
  connections,
  refused: learnt.refused,
})

/**
 * As much as the server takes, with its swaps, and the ceiling. Returns the requests a second of one core.
 */
async function measureThroughput(
  context: MixtureContext,
  server: Server,
): Promise<{ limit: LimitRow; capacity: number }> {
  const { ceiling, rounds, swapSeconds, swaps, say } = context
  const [ours, theirs]: [Sample[], Sample[]] = [[], []]
  for (let round = 0; round < rounds; round++) {
    await beAtLast(swaps, server)
    // The code is compiled, and answers are kept, before it counts.
    await saturate(server, loadOf(context, Math.min(WARM_S, swapSeconds)))
    const swapping = swapEvery(swaps, swapSeconds)
    // Threads that load end with the swap: the process counts their time, too, in hundredths of a second.
    const before = processCpuMicros(server.pid)
    const sample = await saturate(server, loadOf(context, swapSeconds))
    const cpu = (processCpuMicros(server.pid) - before) / (sample.rate * swapSeconds)
    swapping.stop()
    ours.push({ ...sample, cpu })
    theirs.push(await saturate(ceiling.spread, loadOf(context, Math.min(SHORT_S, swapSeconds))))
    const [a, b] = [ours.at(-1)!, theirs.at(-1)!]
    say(
      `mixture: ${Math.round(a.rate)}/s of ${Math.round(b.rate)}/s, ${a.cpu.toFixed(1)} of ${b.cpu.toFixed(1)} µs, busy ${a.busy.toFixed(2)} and ${b.busy.toFixed(2)}, bytes ${Math.round(a.bytes)} and ${Math.round(b.bytes)}`,
    )
  }
  const of = (samples: readonly Sample[], what: keyof Sample): number =>
    median(samples.map((sample) => sample[what]))
  const share = median(theirs.map(({ cpu }, i) => cpu / ours[i].cpu))
  const plain = median(ours.map(({ rate }, i) => rate / theirs[i].rate))
  return {
    capacity: 1e6 / of(ours, 'cpu'),
    limit: {
      name: 'mixture, share of its ceiling by CPU time',
      value: share,
      unit: 'times',
      bar: `at least ${SHARE_BAR}`,
      holds: share >= SHARE_BAR,
      note:
        `${of(ours, 'cpu').toFixed(1)} µs a request, ceiling ${of(theirs, 'cpu').toFixed(1)}; ` +
        `${Math.round(of(ours, 'rate'))} requests/s of ${Math.round(of(theirs, 'rate'))} (${plain.toFixed(2)}); ` +
        `${Math.round(of(ours, 'bytes'))} bytes an answer, ceiling ${Math.round(of(theirs, 'bytes'))}; ` +
        `server busy ${of(ours, 'busy').toFixed(2)}, ceiling ${of(theirs, 'busy').toFixed(2)}; ` +
        `${context.connections} connections, a swap every ${swapSeconds} s`,
    },
  }
}

/** Latencies of the kinds at a share of the capacity, with a swap, and those of the ceiling. */
async function measureKinds(
  context: MixtureContext,
  server: Server,
  capacity: number,
  limits: LimitRow[],
): Promise<string> {
  const { ceiling, learnt, mixture, swapSeconds, swaps, connections, processes, say } = context
  const rate = Math.round(context.rate ?? capacity * STEADY_SHARE)
  const load: Omit<OpenLoad, 'port'> = {
    file: learnt.openFile,
    rate,
    seconds: swapSeconds,
    connections,
    processes,
    cores: '1',
  }
  const before = processCpuMicros(server.pid)
  const swapping = swapEvery(swaps, swapSeconds)
  const ours = await openLoop({ ...load, port: server.port })
  swapping.stop()
  const cpu = processCpuMicros(server.pid) - before
  const theirs = await openLoop({
    ...load,
    port: ceiling.spread.port,
    seconds: Math.min(SHORT_S, swapSeconds),
    // Its answers come in their own order.
    anyStatus: true,
  })
  const rows = [
    ...mixture.kinds.map(({ name, weight }, kind) =>
      latencyRow(name, `${weight} %`, ours.latencies[kind] ?? new Float64Array()),
    ),
    latencyRow('all', '', ours.all),
    latencyRow('all, of the ceiling at this rate', '', theirs.all),
  ]
  limits.push(clientRow(ours, 'mixture'))
  const answers = Object.entries(ours.statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
  say(`mixture at ${rate}/s: ${answers}, ${ours.reconnected} new connections`)
  return [
    `At ${Math.round((100 * rate) / capacity)} % of the capacity: ${Math.round(ours.rate)} requests/s of ${connections} connections for ` +
      `${swapSeconds} s, ${swapping.count()} swaps, ${ours.reconnected} new connections, ${answers}; ` +
      `server ${(cpu / 1e6 / swapSeconds).toFixed(2)} of a core, ${(cpu / (ours.rate * swapSeconds)).toFixed(1)} µs a request:`,
    table(['kind', 'share', 'p50 ms', 'p99 ms', 'p99.9 ms'], rows),
  ].join('\n\n')
}

const latencyRow = (name: string, share: string, times: Float64Array): string[] => [
  name,
  share,
  ...[0.5, 0.99, 0.999].map((q) => (times.length === 0 ? '' : quantile(times, q).toFixed(2))),
]

/** How late the client itself was: where it was, its latencies are its own. */
export function clientRow({ lag, busy }: OpenSample, of: string): LimitRow {
  return {
    name: `${of}: delay of the client itself, p99`,
    value: lag,
    unit: 'ms',
    bar: `below ${LATEST_CLIENT_MS}`,
    holds: lag < LATEST_CLIENT_MS,
    note: `the client's busiest process worked ${Math.round(100 * busy)} % of the time`,
  }
}

/** Resident memory of the server before, at most and at the end. */
function watchMemory(pid: number): { stop: () => LimitRow } {
  const before = familyMegabytes(pid)
  let most = before
  const timer = setInterval(() => (most = Math.max(most, familyMegabytes(pid))), SAMPLE_MS)
  timer.unref()
  return {
    stop() {
      clearInterval(timer)
      const after = familyMegabytes(pid)
      return {
        name: 'mixture: resident memory at most',
        value: most,
        unit: 'MB',
        bar: '',
        holds: true,
        note: `${Math.round(before)} MB at its start, ${Math.round(after)} at its end`,
      }
    },
  }
}

/** Two workers on two cores against one on one: requests for a second of their own CPU time. */
async function measureWorkers(context: MixtureContext): Promise<LimitRow> {
  const { product, rounds, swapSeconds } = context
  const seconds = Math.min(SHORT_S, swapSeconds)
  const one = await startProduct(product, {})
  const two = await startProduct(product, { workers: 2, cores: '0,1' })
  const [ratios, plain]: [number[], number[]] = [[], []]
  await saturate(one, loadOf(context, Math.min(WARM_S, swapSeconds)))
  await saturate(two, loadOf(context, Math.min(WARM_S, swapSeconds), '0,1'))
  for (let round = 0; round < rounds; round++) {
    const single = await saturate(one, loadOf(context, seconds))
    const double = await saturate(two, loadOf(context, seconds, '0,1'))
    ratios.push((2 * single.cpu) / double.cpu)
    plain.push(double.rate / single.rate)
  }
  await one.stop()
  await two.stop()
  const value = median(ratios)
  return {
    name: 'mixture: two workers on two cores over one',
    value,
    unit: 'times',
    bar: `at least ${WORKERS_BAR}`,
    holds: value >= WORKERS_BAR,
    note: `by CPU time; ${median(plain).toFixed(2)} times the requests/s with the load generator on the same two cores`,
  }
}

/** CPU time of a connection that is opened for one small request and closed, beyond that of the request. */
async function measureNewConnections(context: MixtureContext): Promise<LimitRow[]> {
  const { product, ceiling, learnt, rounds, swapSeconds } = context
  const server = await startProduct(product, {})
  const lists = connectionLists(context.product.key)
  const small = learnt.answers.find(({ head }) => head.startsWith('200'))!.head
  await ceiling.answerInTurn([{ head: small, length: SMALL_BYTES }], [0])
  const of = async (target: Server, file: string): Promise<number> => {
    const load = { file, headers: [], depth: 1, seconds: Math.min(2, swapSeconds), connections: CONNECTIONS }
    return (await saturate(target, load)).cpu
  }
  const rows: number[][] = []
  for (let round = 0; round < rounds; round++) {
    const row: number[] = []
    for (const target of [server, ceiling.spread]) {
      for (const file of [lists.kept, lists.closed]) row.push(await of(target, file))
    }
    rows.push(row)
  }
  await server.stop()
  const [kept, closed, ceilingKept, ceilingClosed] = [0, 1, 2, 3].map((i) =>
    median(rows.map((row) => row[i])),
  )
  return [
    {
      name: 'CPU time of a new connection',
      value: closed - kept,
      unit: 'µs',
      bar: '',
      holds: true,
      note:
        `detail over kept connections ${kept.toFixed(1)} µs, over a new one each ${closed.toFixed(1)}; ` +
        `ceiling ${ceilingKept.toFixed(1)} and ${ceilingClosed.toFixed(1)}: ${(ceilingClosed - ceilingKept).toFixed(1)}`,
    },
  ]
}

/** Of an answer to `detail`. */
const SMALL_BYTES = 560
