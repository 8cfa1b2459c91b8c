/**
 * What beside requests a second has a bar: latency below saturation, two workers, pauses, garbage, and
 * clients that do not read.
 */
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { BASE_PATH, type Case } from './cases.ts'
import type { BenchData } from './data.ts'
import { missingTool, saturate, steady, type Load } from './load.ts'
import type { LimitRow, ShareRow } from './report.ts'
import { residentMegabytes, startProduct, type Ceiling, type Product, type Server } from './servers.ts'
import { median } from './statistics.ts'

export interface Context {
  product: Product
  /** The header line that carries the key. */
  key: string
  cases: readonly Case[]
  quick: boolean
  rounds: number
  say: (text: string) => void
  /** The file of a case's cold requests. */
  list: (one: Case) => string
  paths: (one: Case) => string[]
  shape: (server: Server, paths: readonly string[]) => Promise<{ head: string; length: number }>
}

const loadOf = ({ key }: Context, file: string, seconds: number, cores = '1'): Load => ({
  file,
  headers: [key],
  depth: 1,
  seconds,
  cores,
})

/** Share of its own saturation rate at which a server is asked. */
const STEADY_SHARE = 0.7
const LATENCY_BAR = 3

/** p99 of every case at a constant rate, against the ceiling's at the same share of its own rate. */
export async function measureLatency(
  context: Context,
  cold: Server,
  ceiling: Ceiling,
  notRun: string[],
): Promise<LimitRow[]> {
  const missing = missingTool('h2load', 'nghttp2-client')
  if (missing !== null) {
    notRun.push(`latency at a constant rate: ${missing}`)
    return []
  }
  const rows: LimitRow[] = []
  const seconds = context.quick ? 1 : 3
  const rounds = context.quick ? 1 : 3
  for (const one of context.cases) {
    const file = context.list(one)
    const shape = await context.shape(cold, context.paths(one))
    await ceiling.answerWith(shape.head, shape.length)
    const most = (await saturate(cold, loadOf(context, file, 1))).rate
    const ceilingMost = (await saturate(ceiling, loadOf(context, file, 1))).rate
    const ratios: number[] = []
    let text = ''
    for (let round = 0; round < rounds; round++) {
      const ours = await steady(cold, loadOf(context, file, seconds), most * STEADY_SHARE)
      const theirs = await steady(ceiling, loadOf(context, file, seconds), ceilingMost * STEADY_SHARE)
      ratios.push(ours.p99 / theirs.p99)
      text = `${ours.p99.toFixed(2)} ms at ${Math.round(ours.rate)}/s, ceiling ${theirs.p99.toFixed(2)} ms at ${Math.round(theirs.rate)}/s`
    }
    const value = median(ratios)
    rows.push({
      name: `p99 at 70 % load over the ceiling's: ${one.name}`,
      value,
      unit: 'times',
      bar: `at most ${LATENCY_BAR}`,
      holds: value <= LATENCY_BAR,
      note: text,
    })
    context.say(`latency ${one.name}: ${value.toFixed(2)} times (${text})`)
  }
  return rows
}

/** Cases for two workers: one whose requests are nearly all kernel, one that the server works at. */
const SCALED = new Set(['detail', 'readings 100'])
const SCALING_BAR = 1.8

/**
 * Two workers on both cores against one on one. On two cores the load generator takes part of what the second
 * worker would have, so that requests for a second of the servers' own CPU time are what doubles or does not.
 */
export async function measureScaling(context: Context): Promise<LimitRow[]> {
  const rows: LimitRow[] = []
  const one = await startProduct(context.product, { answerCache: '0' })
  const two = await startProduct(context.product, { answerCache: '0', workers: 2, cores: '0,1' })
  for (const scaled of context.cases.filter(({ name }) => SCALED.has(name))) {
    const file = context.list(scaled)
    const ratios: number[] = []
    const plain: number[] = []
    for (let round = 0; round < context.rounds; round++) {
      const single = await saturate(one, loadOf(context, file, 2))
      const double = await saturate(two, loadOf(context, file, 2, '0,1'))
      ratios.push((2 * single.cpu) / double.cpu)
      plain.push(double.rate / single.rate)
    }
    const value = median(ratios)
    rows.push({
      name: `two workers on two cores over one: ${scaled.name}`,
      value,
      unit: 'times',
      bar: `at least ${SCALING_BAR}`,
      holds: value >= SCALING_BAR,
      note: `by CPU time; ${median(plain).toFixed(2)} times the requests/s with the load generator on the same two cores`,
    })
    context.say(`scaling ${scaled.name}: ${value.toFixed(2)}, plain ${median(plain).toFixed(2)}`)
  }
  await one.stop()
  await two.stop()
  return rows
}

/** ms. */
const LONGEST_PAUSE = 5
const POINT_BYTES = 1024
const POINT_CASES = new Set([
  'detail',
  'last_readings of 3',
  'reading by id',
  'nearest 1',
  'closest reading',
  'countries',
])

/** What V8 says of its collections, by thread. */
const COLLECTION =
  /^\[\d+:(0x[0-9a-f]+)\]\s+\d+ ms: ([A-Za-z -]+?) (?:\(reduce\) )?([\d.]+) \([\d.]+\) -> ([\d.]+) \([\d.]+\) MB, (?:pooled: [\d.]+ MB, )?([\d.]+) /gm

export interface Collections {
  /**
   * Longest pause, ms, and how many were longer than `LONGEST_PAUSE`, of the thread that collects most: the
   * one that serves.
   */
  longest: number
  tooLong: number
  /** Longest pause of the others, ms, which answer nothing. */
  longestElsewhere: number
  count: number
  /** Heap bytes that came between the first and the last collection of each thread. */
  allocated: number
}

/** Reads the output of `--trace-gc`. */
export function collectionsIn(output: string): Collections {
  let allocated = 0
  const after = new Map<string, number>()
  const pauses = new Map<string, number[]>()
  for (const [, thread, , before, left, pause] of output.matchAll(COLLECTION)) {
    pauses.set(thread, [...(pauses.get(thread) ?? []), Number(pause)])
    const start = after.get(thread)
    if (start !== undefined) allocated += Math.max(0, Number(before) - start) * 2 ** 20
    after.set(thread, Number(left))
  }
  const [serving = [], ...others] = [...pauses.values()].toSorted((a, b) => b.length - a.length)
  const elsewhere = others.flat()
  return {
    longest: Math.max(0, ...serving),
    tooLong: serving.filter((ms) => ms > LONGEST_PAUSE).length,
    longestElsewhere: Math.max(0, ...elsewhere),
    count: serving.length + elsewhere.length,
    allocated,
  }
}

/**
 * Collections under cold load: point requests for the bytes of each, then all operations for a minute for
 * their pauses.
 */
export async function measurePauses(context: Context): Promise<LimitRow[]> {
  const rows: LimitRow[] = []
  const server = await startProduct(context.product, { answerCache: '0', node: ['--trace-gc'] })
  const collectionsOf = async (
    file: string,
    seconds: number,
  ): Promise<Collections & { requests: number }> => {
    // The code is compiled before it counts.
    await saturate(server, loadOf(context, file, 1))
    const from = server.output().length
    const { rate } = await saturate(server, loadOf(context, file, seconds))
    return { ...collectionsIn(server.output().slice(from)), requests: rate * seconds }
  }
  for (const one of context.cases.filter(({ name }) => POINT_CASES.has(name))) {
    const { allocated, requests, count } = await collectionsOf(context.list(one), context.quick ? 2 : 5)
    const value = allocated / requests
    rows.push({
      name: `heap allocated for a request: ${one.name}`,
      value,
      unit: 'bytes',
      bar: `below ${POINT_BYTES}`,
      holds: value < POINT_BYTES,
      note: `${count} collections in ${Math.round(requests)} requests`,
    })
    context.say(`heap ${one.name}: ${Math.round(value)} bytes`)
  }
  // Each operation has its share of the minute.
  const seconds = Math.max(1, Math.round((context.quick ? 10 : 60) / context.cases.length))
  let [longest, tooLong, longestElsewhere, count] = [0, 0, 0, 0]
  for (const one of context.cases) {
    const found = await collectionsOf(context.list(one), seconds)
    longest = Math.max(longest, found.longest)
    tooLong += found.tooLong
    longestElsewhere = Math.max(longestElsewhere, found.longestElsewhere)
    count += found.count
  }
  rows.push({
    name: `garbage collection pauses of the serving thread over ${LONGEST_PAUSE} ms, ${seconds * context.cases.length} s of cold load on all operations`,
    value: tooLong,
    unit: 'pauses',
    bar: 'none',
    holds: tooLong === 0,
    note: `longest of ${count}: ${longest} ms; on the main thread, which answers nothing and shares the core, ${longestElsewhere} ms`,
  })
  context.say(`pauses: ${tooLong} of ${count}, longest ${longest} ms`)
  await server.stop()
  return rows
}

const FLOOD_BAR = 64
/** The engine gives a client that does nothing ten seconds. */
const FLOOD_MS = 12_000

/** Memory that one client takes by asking much and reading nothing. */
export async function measureFlood(context: Context): Promise<LimitRow[]> {
  const rows: LimitRow[] = []
  for (const name of ['map', 'readings 100', 'detail']) {
    const one = context.cases.find((candidate) => candidate.name === name)
    if (one === undefined) continue
    const server = await startProduct(context.product, { answerCache: '64MiB' })
    const path = BASE_PATH + context.paths(one)[0]
    const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${context.key}\r\n\r\n`
    const before = residentMegabytes(server.pid)
    let most = before
    const socket = connect(server.port, '127.0.0.1')
    // Nobody ever reads: the kernel's buffers fill up, and then the server's.
    socket.pause()
    socket.on('error', () => {})
    const batch = request.repeat(200)
    const push = (): void => {
      while (!socket.destroyed && socket.writableLength < 2 ** 20 && socket.write(batch));
    }
    socket.on('connect', push)
    socket.on('drain', push)
    const end = performance.now() + (context.quick ? FLOOD_MS / 4 : FLOOD_MS)
    while (performance.now() < end) {
      await wait(20)
      most = Math.max(most, residentMegabytes(server.pid))
    }
    socket.destroy()
    await server.stop()
    const value = most - before
    rows.push({
      name: `memory for a client that pipelines and does not read: ${name}`,
      value,
      unit: 'MB',
      bar: `at most ${FLOOD_BAR}`,
      holds: value <= FLOOD_BAR,
    })
    context.say(`flood ${name}: ${value.toFixed(1)} MB`)
  }
  return rows
}

/** Half-hours of a day. */
const SAMPLES_A_BUCKET = 48

/**
 * What a series cannot do without: one pass over its rows with the medians of its buckets, and writing its
 * bytes as fast as a readings page is written. Null unless both were measured in this run.
 */
export function seriesFloor(data: BenchData, shares: readonly ShareRow[]): LimitRow | null {
  const coldOf = (prefix: string): ShareRow | undefined =>
    shares.find((row) => row.case.startsWith(prefix) && row.mode === 'cold' && row.depth === 1)
  const series = coldOf('series')
  const page = coldOf('readings 100')
  if (series === undefined || page === undefined) return null
  const physical = data.buoys.filter(({ record }) => !record.virtual)
  const rows = Math.round(physical.reduce((sum, { times }) => sum + times.length, 0) / physical.length)
  const pass = medianPass(rows)
  // A page's own kernel work is in its CPU time, and so it is in the series'.
  const writing = (page.cpu / page.bytes) * series.bytes
  const value = series.cpu / (pass + writing)
  return {
    name: `${series.case}: CPU over one pass with medians and writing its bytes`,
    value,
    unit: 'times',
    bar: 'at most 2',
    holds: value <= 2,
    note: `${Math.round(series.cpu)} µs for ${Math.round(series.bytes)} bytes of ${rows} rows; pass ${Math.round(pass)} µs, writing ${Math.round(writing)} µs`,
  }
}

/**
 * µs for one pass over a column of 16-bit codes that takes the median of every bucket, in this process: the
 * median of 31 goes.
 */
function medianPass(rows: number): number {
  const codes = Uint16Array.from({ length: rows }, (_, i) => (i * 40503) & 0x1fff)
  const scratch = new Uint16Array(SAMPLES_A_BUCKET)
  let sum = 0
  const goes = Array.from({ length: 31 }, () => {
    const began = performance.now()
    for (let at = 0; at + SAMPLES_A_BUCKET <= rows; at += SAMPLES_A_BUCKET) {
      for (let i = 0; i < SAMPLES_A_BUCKET; i++) scratch[i] = codes[at + i]
      sum += selectMiddle(scratch)
    }
    return (performance.now() - began) * 1000
  })
  // Read, so that nothing of the work can be left out.
  if (!Number.isFinite(sum)) throw new Error('no median')
  return median(goes)
}

/** Quickselect of the middle value; reorders `values`. */
function selectMiddle(values: Uint16Array): number {
  const middle = values.length >> 1
  let low = 0
  let high = values.length - 1
  while (low < high) {
    const pivot = values[(low + high) >> 1]
    let [i, j] = [low, high]
    while (i <= j) {
      while (values[i] < pivot) i++
      while (values[j] > pivot) j--
      if (i <= j) {
        const value = values[i]
        values[i++] = values[j]
        values[j--] = value
      }
    }
    if (middle <= j) high = j
    else if (middle >= i) low = i
    else break
  }
  return values[middle]
}
