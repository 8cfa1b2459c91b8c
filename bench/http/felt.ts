/**
 * What others feel: latencies of light requests while snapshots are swapped, and while one client asks for
 * nothing but the longest answers; each against the same load without, in turn.
 */
import { until } from '../attack/crowd.ts'
import { seriesPath } from '../attack/crowds.ts'
import type { BenchData, SwapFolder } from './data.ts'
import { saturate, type Load } from './load.ts'
import { startSwapping, swapEvery, clientRow, type Section } from './mixture-run.ts'
import { writeLists, type LearntMixture } from './mixture.ts'
import { openLoop, type OpenSample } from './open-loop.ts'
import { table, type LimitRow } from './report.ts'
import { processCpuMicros, type Product, type Server } from './servers.ts'
import { median, medians, quantile } from './statistics.ts'

/** A revision of the product with its data and what it answers. */
export interface Contender {
  label: string
  product: Product
  swaps: SwapFolder
  learnt: LearntMixture
}

export interface FeltContext {
  contenders: readonly Contender[]
  data: BenchData
  rounds: number
  /** Of each part of a round. */
  seconds: number
  connections: number
  processes: number
  /** Requests a second, where they are given and not a share of the capacity. */
  rate: number | null
  say: (text: string) => void
}

const SWAP_SHARE = 0.43
const SWAP_BAR = 1.3
/** After the last is due. */
const SWAP_LATE_MS = 5000
/** A busy machine takes seconds for what else takes a tenth of one. */
const SWAP_LIMIT_MS = 60_000
/** Of the capacity: what is left is the neighbour's. */
const NEIGHBOUR_SHARE = 0.1
const NEIGHBOUR_BAR = 2
const NEIGHBOUR_FLOOR_MS = 5
/** Distinct series of the neighbour: more than a server keeps. */
const SERIES = 1000

interface Part {
  sample: OpenSample
  /** Of the server, µs. */
  cpu: number
}

/** What happens meanwhile; returns how it ends. */
type Meanwhile = (server: Server, contender: Contender) => () => Promise<string>

/**
 * p99 at 43 % of the capacity without swaps, with a swap a second and without; and the capacity with one.
 */
export const measureSwaps = (context: FeltContext): Promise<Section> =>
  measureFelt(context, {
    name: 'a swap a second',
    share: SWAP_SHARE,
    bar: `at most ${SWAP_BAR} times`,
    ofCapacity: true,
    holds: (without, beside) => beside <= SWAP_BAR * without,
    meanwhile(server, { swaps }) {
      const from = server.output().length
      const swapping = swapEvery(swaps, 1)
      return async () => {
        swapping.stop()
        const served = () =>
          [...server.output().slice(from).matchAll(SWAPPED)].map(([, read, over]) => ({
            read: Number(read),
            over: Number(over),
          }))
        // The last one may still be on its way. Where a server that is asked as much as it takes was shown none
        // but this one, and it is the one that it serves, the next is due.
        await until(() => served().length > 0, SWAP_LATE_MS)
        if (served().length === 0) swapping.next()
        await until(() => served().length > 0, SWAP_LIMIT_MS)
        const took = served()
        if (took.length === 0) throw new Error(`no swap was served:\n${server.output().slice(-1000)}`)
        const of = (what: 'read' | 'over'): string => median(took.map((one) => one[what])).toFixed(3)
        return `${took.length} of ${swapping.count()} swaps served, read in ${of('read')} s and taken over in ${of('over')} s (medians)`
      }
    },
  })

/** As the server's log has it. */
const SWAPPED = /was read in ([\d.]+) s and taken over in ([\d.]+) s/g

/**
 * p99 at a tenth of the capacity, beside one client that asks for hourly series over 13 seasons and without.
 */
export const measureNeighbour = (context: FeltContext): Promise<Section> =>
  measureFelt(context, {
    name: 'a client with hourly series over 13 seasons',
    share: NEIGHBOUR_SHARE,
    bar: `at most ${NEIGHBOUR_BAR} times, or ${NEIGHBOUR_FLOOR_MS} ms`,
    holds: (without, beside) => beside <= Math.max(NEIGHBOUR_BAR * without, NEIGHBOUR_FLOOR_MS),
    meanwhile(server, { product }) {
      const buoys = context.data.buoys.filter(({ record }) => !record.virtual).map(({ id }) => String(id))
      const requests = Array.from({ length: SERIES }, (_, n) => ({
        target: seriesPath(buoys, n),
        lines: [`Authorization: Bearer ${product.key}`],
        kind: 0,
        statuses: [200],
      }))
      const { closedFile } = writeLists(requests, 'neighbour')
      const load: Load = { file: closedFile, headers: [], depth: 1, seconds: context.seconds, connections: 1 }
      const asking = saturate(server, load)
      asking.catch(() => {})
      return async () => {
        const { rate, bytes } = await asking
        return `${rate.toFixed(1)} series a second of ${(bytes / 1e6).toFixed(1)} MB`
      }
    },
  })

interface Felt {
  name: string
  share: number
  bar: string
  holds: (withoutMs: number, besideMs: number) => boolean
  /** Whether what the server can do beside it is measured, too. */
  ofCapacity?: boolean
  meanwhile: Meanwhile
}

async function measureFelt(context: FeltContext, felt: Felt): Promise<Section> {
  const { contenders, rounds, seconds, say } = context
  const section: Section = { limits: [], tables: [] }
  const rows: string[][] = []
  for (const contender of contenders) {
    const { label, product, swaps, learnt } = contender
    const server = await startSwapping(product, swaps, { more: ['--log-level', 'debug'] })
    const rate = context.rate ?? felt.share * (await capacityOf(context, server, learnt))
    // The code is compiled before it counts, also where no capacity was measured.
    if (context.rate !== null) await part(context, server, learnt, rate)
    let said = ''
    const partBeside = async (): Promise<Part> => {
      const end = felt.meanwhile(server, contender)
      const one = await part(context, server, learnt, rate)
      said = await end()
      return one
    }
    // So is that of what happens meanwhile; what it costs until then has a row of its own.
    const first = await partBeside()
    const [without, beside]: [Part[], Part[]] = [[], []]
    for (let round = 0; round < rounds; round++) {
      without.push(await part(context, server, learnt, rate))
      beside.push(await partBeside())
    }
    const capacity = felt.ofCapacity === true ? await measureCapacity(context, felt, server, contender) : null
    await server.stop()
    const of = (parts: readonly Part[], q: number): number =>
      median(parts.map(({ sample }) => quantile(sample.all, q)))
    const cpu = (parts: readonly Part[]): number => median(parts.map((one) => one.cpu)) / 1e6 / seconds
    for (const [name, parts] of [
      ['without', without],
      ['beside', beside],
      ['beside, the first time', [first]],
    ] as const) {
      const lag = median(parts.map(({ sample }) => sample.lag))
      const quantiles = [0.5, 0.99, 0.999].map((q) => of(parts, q).toFixed(2))
      rows.push([label, name, ...quantiles, cpu(parts).toFixed(2), lag.toFixed(2)])
    }
    const ratio = of(beside, 0.99) / of(without, 0.99)
    section.limits.push(
      {
        name: `${felt.name}: p99 of light requests over the p99 without (${label})`,
        value: ratio,
        unit: 'times',
        bar: felt.bar,
        holds: felt.holds(of(without, 0.99), of(beside, 0.99)),
        note: `${of(beside, 0.99).toFixed(2)} ms and ${of(without, 0.99).toFixed(2)} ms at ${Math.round(rate)}/s; ${said}`,
      },
      clientRow(beside.at(-1)!.sample, `${felt.name} (${label})`),
    )
    say(`${felt.name} (${label}): p99 ${ratio.toFixed(2)} times; ${section.limits.at(-2)!.note}`)
    if (capacity === null) continue
    section.limits.push(capacity)
    say(`${capacity.name}: ${capacity.value.toFixed(2)} times; ${capacity.note}`)
  }
  section.tables.push(
    `${felt.name}, ${rounds} rounds of ${seconds} s each, medians:\n\n` +
      table(['revision', '', 'p50 ms', 'p99 ms', 'p99.9 ms', 'CPU, cores', 'client late, ms'], rows),
  )
  return section
}

/** In which a capacity is taken, and answers are kept before one is. */
const CAPACITY_S = 3

const loadOf = ({ seconds, connections }: FeltContext, { closedFile, refused }: LearntMixture): Load => ({
  file: closedFile,
  headers: [],
  depth: 1,
  seconds: Math.min(CAPACITY_S, seconds),
  connections,
  refused,
})

/** Requests a second of CPU time. */
async function capacityOf(context: FeltContext, server: Server, learnt: LearntMixture): Promise<number> {
  const load = loadOf(context, learnt)
  // The code is compiled before it counts.
  await saturate(server, load)
  return 1e6 / (await saturate(server, load)).cpu
}

interface Capacity {
  /** Requests a second. */
  rate: number
  /** Of all threads, µs a request. */
  cpu: number
}

/**
 * What the server can do beside what happens over what it can do without, in turn: as much as it is asked.
 */
async function measureCapacity(
  context: FeltContext,
  felt: Felt,
  server: Server,
  contender: Contender,
): Promise<LimitRow> {
  const warm = loadOf(context, contender.learnt)
  // Long enough for several swaps: a server that is asked as much as it takes reads one for seconds.
  const load = { ...warm, seconds: context.seconds }
  const asked = async (): Promise<Capacity> => {
    // Threads that load end with the swap: the process counts their time, too.
    const before = processCpuMicros(server.pid)
    const { rate } = await saturate(server, load)
    return { rate, cpu: (processCpuMicros(server.pid) - before) / (rate * load.seconds) }
  }
  const [without, beside]: [Capacity[], Capacity[]] = [[], []]
  let said = ''
  for (let round = 0; round < context.rounds; round++) {
    // The code is compiled, and answers are kept, before it counts.
    await saturate(server, warm)
    without.push(await asked())
    const end = felt.meanwhile(server, contender)
    beside.push(await asked())
    said = await end()
  }
  const [a, b] = [medians(without), medians(beside)]
  const text = ({ rate, cpu }: Capacity): string =>
    `${Math.round(rate)} requests/s at ${cpu.toFixed(1)} µs of CPU a request`
  return {
    name: `${felt.name}: capacity over that without, by CPU time (${contender.label})`,
    value: median(without.map(({ cpu }, round) => cpu / beside[round].cpu)),
    unit: 'times',
    bar: '',
    holds: true,
    note: `beside ${text(b)}, without ${text(a)}; ${said}`,
  }
}

async function part(
  { seconds, connections, processes }: FeltContext,
  server: Server,
  { openFile }: LearntMixture,
  rate: number,
): Promise<Part> {
  const before = processCpuMicros(server.pid)
  const load = { port: server.port, file: openFile, rate, seconds, connections, processes, cores: '1' }
  const sample = await openLoop(load)
  return { sample, cpu: processCpuMicros(server.pid) - before }
}
