/**
 * The HTTP bench: our requests a second as a share of what the engine can do with a constant body, and
 * against peers.
 *
 *     npm run bench:http [-- --data demo|big --quick --only CASE --rounds N --seconds N SECTION …]
 *
 * Sections: `check` (which all the others begin with), `table` (with the peers), `latency`, `scaling`,
 * `pauses`, `flood`, `mixture`, `swap`, `neighbour`; all when none is named. Servers run on core 0, load generators on core 1.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { BASE_PATH, casesOf, HOT_BAR, PIPELINED_BARS, type Case } from './cases.ts'
import { buoyOf, Checker, OF_ONE_BUOY, sameBytes, type Asked } from './check.ts'
import {
  builderOf,
  readData,
  SCALES,
  snapshotFolder,
  type BenchData,
  type History,
  type ScaleName,
} from './data.ts'
import { measureFlood, measureLatency, measurePauses, measureScaling, seriesFloor } from './limits.ts'
import { LISTS, missingTool, saturate, type Load, type Sample } from './load.ts'
import { ownLines } from './mixture.ts'
import { openPeers, type Peer } from './peers.ts'
import { RawClient } from './raw.ts'
import { tables, writeResults, type PeerRow, type Results, type ShareRow } from './report.ts'
import { BENCH_DATA, compileProduct, compileRevision } from './revisions.ts'
import {
  issueKey,
  startCeiling,
  startProduct,
  stopAll,
  type Ceiling,
  type Product,
  type Server,
} from './servers.ts'
import { measureTogether, TOGETHER_SECTIONS } from './together.ts'
import { median, medians, seededRandom, zipfRanks } from './statistics.ts'

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    data: { type: 'string', default: 'demo' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '1' },
    /** Compiled command line to measure; the sources are compiled when it is left out. */
    cli: { type: 'string' },
    'no-peers': { type: 'boolean', default: false },
    'no-proxies': { type: 'boolean', default: false },
    /** Seconds between two swaps in the mixture. */
    'swap-every': { type: 'string' },
    /** Kept connections of the mixture, and processes that ask over them. */
    connections: { type: 'string' },
    clients: { type: 'string', default: '2' },
    /** Requests a second where latencies are taken, in place of a share of the capacity. */
    rate: { type: 'string' },
    /** Of the table: some of cold, hot, gzip. */
    modes: { type: 'string', default: 'cold,hot,gzip' },
    /** Revision of the product that is measured, too. */
    before: { type: 'string' },
  },
})

/** Those that ask for one operation after the other. */
const OPERATION_SECTIONS = ['check', 'table', 'latency', 'scaling', 'pauses', 'flood'] as const
const SECTIONS = [...OPERATION_SECTIONS, ...TOGETHER_SECTIONS] as const
const unknown = positionals.find((name) => !SECTIONS.some((section) => section === name))
if (unknown !== undefined) throw new Error(`no section ${unknown}; there are ${SECTIONS.join(', ')}`)
if (!Object.hasOwn(SCALES, options.data)) throw new Error(`--data: ${Object.keys(SCALES).join(' or ')}`)
const scale = options.data as ScaleName
const wants = (section: (typeof SECTIONS)[number]): boolean =>
  positionals.length === 0 || positionals.includes(section)
const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 5))
const SECONDS = Number(options.seconds)
/** Requests drawn for a cold list: all over the data, more than any cache of the processor holds answers. */
const COLD = options.quick ? 4096 : 16_384
/** Distinct requests of a hot list, and how many are drawn of them. */
const HOT_DISTINCT = options.quick ? 1000 : 10_000
const HOT_DRAWN = options.quick ? 8192 : 65_536
/** The hot server may keep all of them: what is measured is an answer that is ready. */
const HOT_CACHE = 512
/** Requests of a list that are checked: all, or for a quick look few, and of few buoys. */
const CHECKED = options.quick ? 40 : Infinity
const CHECKED_BUOYS = options.quick ? (scale === 'big' ? 3 : 40) : Infinity

/** A look whether it runs does not depend on what the machine can do: so many requests a second. */
const QUICK_RATE = 100
const quickOr = (quick: number, full: number): number => (options.quick ? quick : full)
/** Of the sections in which all is asked together. */
const TOGETHER = {
  drawn: quickOr(500, 65_536),
  rounds: options.rounds === undefined ? Math.min(ROUNDS, 3) : ROUNDS,
  swapSeconds: Number(options['swap-every'] ?? quickOr(1, 30)),
  feltSeconds: quickOr(2, 10),
  connections: Number(options.connections ?? quickOr(100, 4000)),
  processes: Number(options.clients),
  proxies: !options['no-proxies'],
  rate: options.rate !== undefined ? Number(options.rate) : options.quick ? QUICK_RATE : null,
}

/** Of the table. */
const MODES: ReadonlySet<string> = new Set(options.modes.split(','))
for (const mode of MODES) {
  if (!['cold', 'hot', 'gzip'].includes(mode)) throw new Error(`--modes: some of cold,hot,gzip; not ${mode}`)
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    interrupted = true
    say('\nstopping')
    void stopAll().then(() => process.exit(130))
  })
}

/** The machine and its tools. @throws Error naming what is missing, before anything has begun */
function requireMachine(): void {
  const missing = [missingTool('wrk', 'wrk'), missingTool('taskset', 'util-linux')].filter(
    (what) => what !== null,
  )
  if (process.platform !== 'linux') missing.push('it needs Linux: its scheduler counts the CPU time')
  if (availableParallelism() < 2)
    missing.push('it needs two cores: one for the server, one for the load generator')
  if (missing.length > 0) throw new Error(missing.join('\n'))
}

/** Writes a list of paths for the load generators. */
function listFile(name: string, paths: readonly string[]): string {
  mkdirSync(LISTS, { recursive: true })
  const file = join(LISTS, `${name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`)
  writeFileSync(file, paths.map((path) => `${BASE_PATH}${path}\n`).join(''))
  return file
}

/** How many distinct requests the hot server can keep the answers of. */
const keepable = (bytes: number): number =>
  Math.max(4, Math.min(HOT_DISTINCT, Math.floor((HOT_CACHE * 2 ** 20) / 3 / bytes)))

function draw(one: Case, count: number, seed: number): string[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => one.draw(random))
}

/** What is asked of a case. */
interface Plan {
  one: Case
  cold: string[]
  /** Of the first of them: the product's head, and the mean length of the bodies. */
  shape: { head: string; length: number }
  /** Empty in a run that asks nothing hot. */
  hot: {
    distinct: string[]
    /** Places in `distinct`, in the order in which they are asked. */
    order: number[]
  }
}

async function planOf(one: Case, server: Server, key: string): Promise<Plan> {
  const cold = draw(one, COLD, 7)
  const shape = await probe(server, [key], cold)
  if (HOT_MODES.length === 0 || (!wants('check') && !wants('table')))
    return { one, cold, shape, hot: { distinct: [], order: [] } }
  const distinct = [...new Set(draw(one, HOT_DISTINCT * 2, 11))].slice(0, keepable(shape.length))
  const [rank, random] = [zipfRanks(distinct.length), seededRandom(12)]
  return { one, cold, shape, hot: { distinct, order: Array.from({ length: HOT_DRAWN }, () => rank(random)) } }
}

/** Asks some of the paths one by one: a head, and the mean length of the bodies. */
async function probe(
  server: Server,
  headers: readonly string[],
  paths: readonly string[],
): Promise<{ head: string; length: number }> {
  const client = new RawClient(server.port, headers)
  let head = ''
  let bytes = 0
  const some = paths.slice(0, 500)
  for (const path of some) {
    const reply = await client.get(BASE_PATH + path)
    if (reply.status !== 200) throw new Error(`${reply.status} to ${path}: ${reply.body.toString()}`)
    head = reply.head
    bytes += reply.body.length
  }
  client.close()
  return { head: ownLines(head), length: Math.round(bytes / some.length) }
}

/** Rounds in which each server is asked once, every other time in reverse. */
async function alternate(
  servers: readonly { server: Server; load: Load }[],
  rounds: number,
): Promise<Sample[][]> {
  const samples: Sample[][] = servers.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const order = servers.map((_, i) => i)
    if (round % 2 === 1) order.reverse()
    for (const i of order) {
      if (interrupted) return await new Promise(() => {})
      samples[i].push(await saturate(servers[i].server, servers[i].load))
    }
  }
  return samples
}

const ratio = (of: readonly Sample[], to: readonly Sample[], what: 'rate' | 'cpu'): number =>
  median(of.map((sample, i) => sample[what] / to[i][what]))

/** The requests of a list that are checked. */
function checkable({ operation }: Case, paths: readonly string[]): string[] {
  const distinct = [...new Set(paths)]
  const id = (path: string): number => (OF_ONE_BUOY.has(operation) ? buoyOf(path) : 0)
  return distinct.filter((path) => id(path) <= CHECKED_BUOYS).slice(0, CHECKED)
}

/**
 * Compares the answers to all requests of the run with those of the oracle. @throws AssertionError at the
 * first difference
 */
async function checkPlans(
  checker: Checker,
  plans: readonly Plan[],
  server: Server,
  key: string,
): Promise<Results['checked']> {
  const client = new RawClient(server.port, [key])
  const asked = plans.flatMap(({ one, cold, hot }): Asked[] =>
    [...new Set([...checkable(one, cold), ...checkable(one, hot.distinct)])].map((path) => ({ one, path })),
  )
  const unsure = await checker.check(asked, (path) => client.get(BASE_PATH + path))
  client.close()
  return plans.map(({ one, cold, hot }) => ({
    case: one.name,
    requests: new Set([...cold, ...hot.distinct]).size,
    compared: asked.filter((request) => request.one === one).length - (unsure.get(one) ?? 0),
    unsure: unsure.get(one) ?? 0,
    kept: {},
  }))
}

/** Of the servers of a case, the same rounds. */
interface Rounds {
  own: readonly Sample[]
  ceiling: readonly Sample[]
  spread?: readonly Sample[] | undefined
  before?: readonly Sample[] | undefined
}

function shareRow(
  one: Case,
  mode: ShareRow['mode'],
  depth: number,
  { own, ceiling, spread, before }: Rounds,
): ShareRow {
  const [ours, theirs] = [medians(own), medians(ceiling)]
  const pipelinedBar = mode === 'cold' ? PIPELINED_BARS.cold : PIPELINED_BARS.hot
  return {
    case: one.name,
    mode,
    depth,
    bytes: ours.bytes,
    rate: ours.rate,
    ceilingRate: theirs.rate,
    share: ratio(own, ceiling, 'rate'),
    ...(spread === undefined ? {} : { spreadShare: ratio(own, spread, 'rate') }),
    ...(before === undefined
      ? {}
      : {
          before: {
            share: ratio(before, ceiling, 'rate'),
            cpuShare: ratio(ceiling, before, 'cpu'),
            cpu: medians(before).cpu,
            cpuRatio: ratio(own, before, 'cpu'),
          },
        }),
    cpuShare: ratio(ceiling, own, 'cpu'),
    cpu: ours.cpu,
    ceilingCpu: theirs.cpu,
    busy: ours.busy,
    ceilingBusy: theirs.busy,
    p50: ours.p50,
    p99: ours.p99,
    bar: depth > 1 ? pipelinedBar : mode === 'cold' ? one.bar : HOT_BAR,
  }
}

interface Measured {
  cold: Server
  hot: Server
  /** The revision before: its servers, as ours. */
  before: { cold: Server; hot: Server } | null
  ceiling: Ceiling
  peers: readonly Peer[]
  key: string
}

/** A case cold: ours, the ceiling, the revision before, and peers in the same rounds. */
async function measureCold(
  { one, cold: paths, shape }: Plan,
  file: string,
  { cold, before, ceiling, peers, key }: Omit<Measured, 'hot'>,
  results: Results,
): Promise<void> {
  const load: Load = { file, headers: [key], depth: 1, seconds: SECONDS }
  await ceiling.answerWith(shape.head, shape.length)

  const comparable = []
  for (const peer of peers) {
    const bar = one.peers[peer.name]
    if (bar === undefined) continue
    try {
      comparable.push({ peer, bar, ready: await peer.prepare(one, paths, cold, key) })
    } catch (error) {
      results.notRun.push(`${peer.name}, ${one.name}: ${(error as Error).message.split('\n', 1)[0]}`)
    }
  }
  const samples = await alternate(
    [
      { server: cold, load },
      { server: ceiling, load },
      ...(before === null ? [] : [{ server: before.cold, load }]),
      ...comparable.flatMap(({ ready }) => (ready.server === null ? [] : [{ server: ready.server, load }])),
    ],
    ROUNDS,
  )
  let next = 2
  const earlier = before === null ? undefined : samples[next++]
  const row = shareRow(one, 'cold', 1, { own: samples[0], ceiling: samples[1], before: earlier })
  results.shares.push(row)
  for (const { peer, bar, ready } of comparable) {
    const theirs = ready.server === null ? ready.measure(ROUNDS, SECONDS) : samples[next++]
    const peerRow: PeerRow = {
      peer: peer.name,
      case: one.name,
      rate: medians(theirs).rate,
      // Asked by a client of its own, only CPU time says how much it could take.
      ratio: ready.server === null ? ratio(theirs, samples[0], 'cpu') : ratio(samples[0], theirs, 'rate'),
      cpuRatio: ratio(theirs, samples[0], 'cpu'),
      bar,
      ...(peer.note === undefined ? {} : { note: peer.note }),
    }
    results.peers.push(peerRow)
    say(`  ${peer.name.padEnd(14)} ${Math.round(peerRow.rate)}/s, we ${peerRow.ratio.toFixed(2)} times`)
  }
  sayRow(row)
}

async function measureCase(
  plan: Plan,
  { cold, hot, before, ceiling, peers, key }: Measured,
  results: Results,
): Promise<void> {
  const { one, cold: paths, shape } = plan
  const { distinct, order } = plan.hot
  const headers = [key]
  const coldFile = listFile(`${one.name} cold`, paths)
  if (MODES.has('cold')) await measureCold(plan, coldFile, { cold, before, ceiling, peers, key }, results)
  const load = (file: string, depth = 1, more: readonly string[] = []): Load => ({
    file,
    headers: [...headers, ...more],
    depth,
    seconds: SECONDS,
  })
  const drawn = order.map((place) => distinct[place])
  const hotFile = listFile(`${one.name} hot`, drawn)
  for (const [mode, more] of HOT_MODES) {
    await keep(plan, mode, more, { cold, hot, key }, results)
    const hotShape = await probe(hot, [...headers, ...more], drawn)
    await ceiling.answerWith(hotShape.head, hotShape.length, order)
    if (before !== null) await warm(plan, more, { hot: before.hot, key })
    const [own, limit, third] = await alternate(
      // A third rival a round is enough of the time.
      [hot, ceiling, before?.hot ?? ceiling.spread].map((server) => ({
        server,
        load: load(hotFile, 1, more),
      })),
      ROUNDS,
    )
    const rivals = before === null ? { spread: third } : { before: third }
    const hotRow = shareRow(one, mode, 1, { own, ceiling: limit, ...rivals })
    if (mode === 'hot gzip' && !/content-encoding: gzip/i.test(hotShape.head))
      hotRow.note = 'answers are not compressed'
    results.shares.push(hotRow)
    sayRow(hotRow)
  }
  if (one.pipelined !== true) return
  for (const [mode, server, file] of [
    ['cold', cold, coldFile],
    ['hot', hot, hotFile],
  ] as const) {
    if (!MODES.has(mode)) continue
    await ceiling.answerWith(shape.head, shape.length)
    const [own, limit, earlierOne] = await alternate(
      [server, ceiling, ...(before === null ? [] : [before[mode]])].map((asked) => ({
        server: asked,
        load: load(file, 16),
      })),
      ROUNDS,
    )
    const pipelined = shareRow(one, mode, 16, { own, ceiling: limit, before: earlierOne })
    results.shares.push(pipelined)
    sayRow(pipelined)
  }
}

type HotMode = 'hot' | 'hot gzip'
/** What a client sends to be answered so. */
const HOT_MODES = (
  [
    ['hot', []],
    ['hot gzip', ['Accept-Encoding: gzip']],
  ] as const satisfies readonly (readonly [HotMode, readonly string[]])[]
).filter(([mode]) => MODES.has(mode === 'hot' ? 'hot' : 'gzip'))

/** Has a hot server keep the answers to a hot list. */
async function warm(
  { hot: { distinct } }: Pick<Plan, 'hot'> | { hot: { distinct: readonly string[] } },
  more: readonly string[],
  { hot, key }: Pick<Measured, 'hot' | 'key'>,
): Promise<void> {
  const client = new RawClient(hot.port, [key, ...more])
  // Twice: what is asked for once need not be worth keeping, or compressing.
  for (const path of [...distinct, ...distinct]) await client.get(BASE_PATH + path)
  client.close()
}

/**
 * Has the hot server keep the answers to a hot list before any clock runs, and compares them with fresh ones,
 * byte for byte.
 * @throws Error at the first that differs
 */
async function keep(
  { one, hot: { distinct } }: Plan,
  mode: HotMode,
  more: readonly string[],
  { cold, hot, key }: Pick<Measured, 'cold' | 'hot' | 'key'>,
  results: Results,
): Promise<void> {
  const [kept, fresh] = [new RawClient(hot.port, [key, ...more]), new RawClient(cold.port, [key])]
  await warm({ hot: { distinct } }, more, { hot, key })
  const compared = checkable(one, distinct)
  for (const path of compared) {
    const [a, b] = await Promise.all([kept.get(BASE_PATH + path), fresh.get(BASE_PATH + path)])
    const body = /content-encoding: gzip/i.test(a.head) ? gunzipSync(a.body) : a.body
    if (a.status !== b.status || !sameBytes(body, b.body)) {
      throw new Error(`a kept answer is not the fresh one: ${path}\n${body.toString()}\n${b.body.toString()}`)
    }
  }
  kept.close()
  fresh.close()
  results.checked.find((row) => row.case === one.name)!.kept[mode] = compared.length
}

function sayRow({ case: name, mode, depth, rate, ceilingRate, share, cpuShare, bar }: ShareRow): void {
  const met = bar === null ? '' : share >= bar ? 'met' : `BELOW ${bar}`
  say(
    `${name.padEnd(20)} ${mode.padEnd(8)} ${String(depth).padStart(2)} ${Math.round(rate)}/s of ${Math.round(ceilingRate)}/s: ${share.toFixed(2)}, by CPU ${cpuShare.toFixed(2)} ${met}`,
  )
}

/** What is measured, by the version control that may not be there. */
function revision(): string {
  const git = (...args: string[]) => spawnSync('git', args, { encoding: 'utf8' })
  const { status, stdout } = git('rev-parse', '--short', 'HEAD')
  if (status !== 0) return 'unknown'
  return stdout.trim() + (git('status', '--porcelain', 'src').stdout === '' ? '' : ' with changes')
}

function emptyResults(): Results {
  return {
    date: new Date().toISOString(),
    revision: revision(),
    machine: `${availableParallelism()} cores, ${cpus()[0].model.trim()}`,
    node: process.versions.node,
    command: ['npm run bench:http --', ...process.argv.slice(2)].join(' ').replace(/ --$/, ''),
    data: `${scale} (${SCALES[scale]})`,
    checked: [],
    shares: [],
    peers: [],
    limits: [],
    texts: [],
    notRun: [],
  }
}

/** The sections that ask for one operation after the other. */
async function measureOperations(
  { product, key, cases, checker, ceiling, data, histories }: OperationsContext,
  results: Results,
): Promise<void> {
  const cold = await startProduct(product, { answerCache: '0' })
  const startHot = (): Promise<Server> => startProduct(product, { answerCache: `${HOT_CACHE}MiB` })
  const plans: Plan[] = []
  for (const one of cases) plans.push(await planOf(one, cold, key))
  const began = performance.now()
  results.checked = await checkPlans(checker, plans, cold, key)
  const compared = results.checked.reduce((sum, row) => sum + row.compared, 0)
  say(`${compared} answers are the oracle's, compared in ${Math.round((performance.now() - began) / 1000)} s`)
  // 1.9 GB of the large data.
  if (!TOGETHER_SECTIONS.some((section) => wants(section))) histories.clear()
  if (wants('table')) {
    const hot = await startHot()
    const peers = options['no-peers'] ? [] : await openPeers(data, key, results.notRun, say)
    const before = options.before === undefined ? null : await startBefore(options.before, product)
    for (const plan of plans) {
      if (before !== null) await compareBefore(plan, before.cold, cold, key)
      await measureCase(plan, { cold, hot, before, ceiling, peers, key }, results)
    }
    await before?.cold.stop()
    await before?.hot.stop()
    for (const peer of peers) await peer.stop()
    await hot.stop()
    const floor = seriesFloor(data, results.shares)
    if (floor !== null) results.limits.push(floor)
  } else if (wants('check')) {
    const hot = await startHot()
    for (const plan of plans) {
      for (const [mode, more] of HOT_MODES) await keep(plan, mode, more, { cold, hot, key }, results)
    }
    await hot.stop()
  }
  const pathsOf = (one: Case): string[] => plans.find((plan) => plan.one === one)!.cold
  const context = {
    product,
    key,
    cases,
    quick: options.quick,
    rounds: ROUNDS,
    say,
    list: (one: Case) => listFile(`${one.name} cold`, pathsOf(one)),
    paths: pathsOf,
    shape: (server: Server, paths: readonly string[]) => probe(server, [key], paths),
  }
  if (wants('latency')) results.limits.push(...(await measureLatency(context, cold, ceiling, results.notRun)))
  await cold.stop()
  if (wants('scaling')) results.limits.push(...(await measureScaling(context)))
  if (wants('pauses')) results.limits.push(...(await measurePauses(context)))
  if (wants('flood')) results.limits.push(...(await measureFlood(context)))
}

/** Servers of the revision before, on data that its own builder made of the same sources. */
async function startBefore(name: string, product: Product): Promise<{ cold: Server; hot: Server }> {
  const earlier = compileRevision(name)
  const snapshots = await snapshotFolder(scale, await builderOf(earlier))
  const own = { ...product, cli: earlier.cli, snapshots }
  return {
    cold: await startProduct(own, { answerCache: '0' }),
    hot: await startProduct(own, { answerCache: `${HOT_CACHE}MiB` }),
  }
}

/** Answers of a case whose lengths are compared between two revisions. */
const COMPARED_BEFORE = 200

/** Says the first answer of the revision before that has another length than today's, which are the oracle's. */
async function compareBefore({ one, cold }: Plan, earlier: Server, now: Server, key: string): Promise<void> {
  const [a, b] = [earlier, now].map((server) => new RawClient(server.port, [key]))
  for (const path of checkable(one, cold).slice(0, COMPARED_BEFORE)) {
    const [was, is] = await Promise.all([a.get(BASE_PATH + path), b.get(BASE_PATH + path)])
    if (was.status !== is.status || was.body.length !== is.body.length) {
      say(
        `${one.name}: ${path} was ${was.status}, ${was.body.length} bytes, is ${is.status}, ${is.body.length} bytes`,
      )
      break
    }
  }
  a.close()
  b.close()
}

interface OperationsContext {
  product: Product
  key: string
  cases: readonly Case[]
  checker: Checker
  ceiling: Ceiling
  data: BenchData
  histories: Map<number, History>
}

async function main(): Promise<void> {
  requireMachine()
  const results = emptyResults()
  say(`data ${results.data}`)
  const { data, histories } = await readData(scale)
  const cli = options.cli ?? compileProduct()
  // Another run beside this one has keys of its own.
  const keysFile = join(BENCH_DATA, `keys-${process.pid}.json`)
  process.once('exit', () => rmSync(keysFile, { force: true }))
  const product: Product = { cli, keysFile, snapshots: data.folder, key: issueKey(cli, keysFile) }
  const key = `Authorization: Bearer ${product.key}`
  const cases = casesOf(data).filter(({ name }) => name.includes(options.only))
  if (cases.length === 0) throw new Error(`no case named ${options.only}`)

  const ceiling = await startCeiling()
  const checker = new Checker(data, histories)
  if (OPERATION_SECTIONS.some((section) => wants(section))) {
    const context = { product, key, cases, checker, ceiling, data, histories }
    await measureOperations(context, results)
  }
  if (TOGETHER_SECTIONS.some((section) => wants(section))) {
    const own = { product, data, checker, ceiling, wants, before: options.before, say }
    await measureTogether({ ...own, ...TOGETHER }, results)
  }
  await ceiling.stop()
  process.stdout.write(`${tables(results)}\n`)
  for (const file of writeResults(results)) say(file)
}

try {
  await main()
} catch (error) {
  // What an interrupt takes away fails, too.
  if (!interrupted) say((error as Error).stack ?? String(error))
  process.exitCode = 1
} finally {
  if (!interrupted) await stopAll()
}
