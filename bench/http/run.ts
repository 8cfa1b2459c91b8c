/**
 * The HTTP bench: our requests a second as a share of what the engine can do with a constant body, and against peers.
 *
 *     npm run bench:http [-- --data demo|big --quick --only CASE --rounds N --seconds N SECTION …]
 *
 * Sections: `check` (which all the others begin with), `table` (with the peers), `latency`, `scaling`, `pauses`, `flood`; all when none
 * is named. Servers run on core 0, load generators on core 1.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { seededRandom } from '../corpus.ts'
import { BASE_PATH, casesOf, HOT_BAR, PIPELINED_BARS, type Case } from './cases.ts'
import { Checker, sameAnswer } from './check.ts'
import { BENCH_DATA, readData, SCALES, type BenchData, type ScaleName } from './data.ts'
import { measureFlood, measureLatency, measurePauses, measureScaling, seriesFloor } from './limits.ts'
import { missingTool, saturate, type Load, type Sample } from './load.ts'
import { openPeers, type Peer } from './peers.ts'
import { RawClient } from './raw.ts'
import { tables, writeResults, type PeerRow, type Results, type ShareRow } from './report.ts'
import {
  compileProduct,
  issueKey,
  startCeiling,
  startProduct,
  stopAll,
  type Ceiling,
  type Product,
  type Server,
} from './servers.ts'
import { median, medians, zipfRanks } from './statistics.ts'

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
  },
})

const SECTIONS = ['check', 'table', 'latency', 'scaling', 'pauses', 'flood'] as const
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
/** Answers of a case that are compared with the oracle's: of single points many, of others fewer, for it is slow. */
const CHECKED = options.quick ? 40 : 400
const CHECKED_POINTS = options.quick ? 100 : Infinity
const POINTS = new Set(['detail', 'last_readings', 'reading', 'countries', 'satellites'])
/** Buoys whose whole history the oracle knows. */
const KEPT_BUOYS = { demo: options.quick ? 40 : 400, big: options.quick ? 3 : 12 }

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

const LISTS = join(BENCH_DATA, 'requests')

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

function drawHot(one: Case, bytes: number): { distinct: string[]; drawn: string[] } {
  const distinct = [...new Set(draw(one, HOT_DISTINCT * 2, 11))].slice(0, keepable(bytes))
  const rank = zipfRanks(distinct.length, seededRandom(12))
  return { distinct, drawn: Array.from({ length: HOT_DRAWN }, () => distinct[rank()]) }
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

/** Status and headers as the product gives them to the engine, which adds the others by itself. */
function ownLines(head: string): string {
  return head
    .slice('HTTP/1.1 '.length)
    .split('\r\n')
    .filter((line) => !/^(content-length|date|connection):/i.test(line))
    .join('\r\n')
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

async function checkCase(
  checker: Checker,
  one: Case,
  server: Server,
  key: string,
  paths: readonly string[],
): Promise<Results['checked'][number]> {
  const client = new RawClient(server.port, [key])
  const chosen = checker.choose(one, paths, POINTS.has(one.operation) ? CHECKED_POINTS : CHECKED)
  let unsure = 0
  for (const path of chosen) {
    if (!checker.check(one, path, await client.get(BASE_PATH + path))) unsure++
  }
  client.close()
  return { case: one.name, compared: chosen.length - unsure, unsure }
}

function shareRow(
  one: Case,
  mode: ShareRow['mode'],
  depth: number,
  own: readonly Sample[],
  ceiling: readonly Sample[],
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
  ceiling: Ceiling
  peers: readonly Peer[]
  key: string
}

async function measureCase(one: Case, { cold, hot, ceiling, peers, key }: Measured, results: Results) {
  const headers = [key]
  const paths = draw(one, COLD, 7)
  const coldFile = listFile(`${one.name} cold`, paths)
  const load = (file: string, depth = 1, more: readonly string[] = []): Load => ({
    file,
    headers: [...headers, ...more],
    depth,
    seconds: SECONDS,
  })
  const shape = await probe(cold, headers, paths)
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
      { server: cold, load: load(coldFile) },
      { server: ceiling, load: load(coldFile) },
      ...comparable.flatMap(({ ready }) =>
        ready.server === null ? [] : [{ server: ready.server, load: load(coldFile) }],
      ),
    ],
    ROUNDS,
  )
  const row = shareRow(one, 'cold', 1, samples[0], samples[1])
  results.shares.push(row)
  let next = 2
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

  const { distinct, drawn } = drawHot(one, shape.length)
  const hotFile = listFile(`${one.name} hot`, drawn)
  for (const [mode, more] of [
    ['hot', []],
    ['hot gzip', ['Accept-Encoding: gzip']],
  ] as const) {
    // Every answer is kept before the clock runs.
    await warm(hot, [...headers, ...more], distinct)
    await requireSame(hot, cold, key, more, distinct)
    const hotShape = await probe(hot, [...headers, ...more], drawn)
    await ceiling.answerWith(hotShape.head, hotShape.length)
    const [own, limit] = await alternate(
      [
        { server: hot, load: load(hotFile, 1, more) },
        { server: ceiling, load: load(hotFile, 1, more) },
      ],
      ROUNDS,
    )
    const hotRow = shareRow(one, mode, 1, own, limit)
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
    await ceiling.answerWith(shape.head, shape.length)
    const [own, limit] = await alternate(
      [
        { server, load: load(file, 16) },
        { server: ceiling, load: load(file, 16) },
      ],
      ROUNDS,
    )
    const pipelined = shareRow(one, mode, 16, own, limit)
    results.shares.push(pipelined)
    sayRow(pipelined)
  }
}

/** Asks everything twice: what is asked for once need not be worth keeping, or compressing. */
async function warm(server: Server, headers: readonly string[], paths: readonly string[]): Promise<void> {
  const client = new RawClient(server.port, headers)
  for (const path of [...paths, ...paths]) await client.get(BASE_PATH + path)
  client.close()
}

/** Kept and compressed answers say what freshly made ones say. @throws Error at the first that does not */
async function requireSame(
  hot: Server,
  cold: Server,
  key: string,
  more: readonly string[],
  paths: readonly string[],
): Promise<void> {
  const [kept, fresh] = [new RawClient(hot.port, [key, ...more]), new RawClient(cold.port, [key])]
  for (const path of paths.slice(0, CHECKED)) {
    const { head, body } = await kept.get(BASE_PATH + path)
    const text = /content-encoding: gzip/i.test(head) ? gunzipSync(body) : body
    if (!sameAnswer(text, (await fresh.get(BASE_PATH + path)).body)) {
      throw new Error(`a kept answer is not the fresh one: ${path}`)
    }
  }
  kept.close()
  fresh.close()
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
    notRun: [],
  }
}

async function main(): Promise<void> {
  requireMachine()
  const results = emptyResults()
  say(`data ${results.data}`)
  const kept = new Set(
    Array.from({ length: KEPT_BUOYS[scale] }, (_, i) => `S${String(1 + i * 3).padStart(5, '0')}`),
  )
  const data: BenchData = await readData(scale, (identifier) => kept.has(identifier))
  const cli = options.cli ?? compileProduct()
  const keysFile = join(BENCH_DATA, 'keys.json')
  const product: Product = { cli, keysFile, snapshots: data.folder, key: issueKey(cli, keysFile) }
  const key = `Authorization: Bearer ${product.key}`
  const cases = casesOf(data).filter(({ name }) => name.includes(options.only))
  if (cases.length === 0) throw new Error(`no case named ${options.only}`)

  const cold = await startProduct(product, { answerCache: '0' })
  const ceiling = await startCeiling()
  const checker = new Checker(data)
  for (const one of cases) {
    const checked = await checkCase(checker, one, cold, key, draw(one, COLD, 7))
    results.checked.push(checked)
    say(`${one.name.padEnd(20)} ${checked.compared} answers are the oracle's`)
  }
  if (wants('table')) {
    const hot = await startProduct(product, { answerCache: `${HOT_CACHE}MiB` })
    const peers = options['no-peers'] ? [] : await openPeers(data, key, results.notRun, say)
    for (const one of cases) {
      await measureCase(one, { cold, hot, ceiling, peers, key }, results)
    }
    for (const peer of peers) await peer.stop()
    await hot.stop()
    const floor = seriesFloor(data, results.shares)
    if (floor !== null) results.limits.push(floor)
  }
  const context = {
    product,
    key,
    cases,
    quick: options.quick,
    rounds: ROUNDS,
    say,
    list: (one: Case) => listFile(`${one.name} cold`, draw(one, COLD, 7)),
    paths: (one: Case) => draw(one, COLD, 7),
    shape: (server: Server, paths: readonly string[]) => probe(server, [key], paths),
  }
  if (wants('latency')) results.limits.push(...(await measureLatency(context, cold, ceiling, results.notRun)))
  await cold.stop()
  if (wants('scaling')) results.limits.push(...(await measureScaling(context)))
  if (wants('pauses')) results.limits.push(...(await measurePauses(context)))
  if (wants('flood')) results.limits.push(...(await measureFlood(context)))
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
