/**
 * The HTTP bench: requests a second of each operation as a share of what the engine alone answers, cold and
 * hot, and against another revision.
 *
 *     npm run bench:http [-- --data demo|big|long|tiny --only PATTERN --rounds N --before REVISION --quick]
 *
 * Servers run on core 0, `wrk` and the bench itself on core 1. bench/README.md says how it measures.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { BASE_PATH, casesOf, draw, zipfPlaces, type Case } from './cases.ts'
import { assertSame, checkCase, get } from './check.ts'
import {
  issueKey,
  leaveServersCore,
  median,
  saturate,
  startCeiling,
  startProduct,
  stoppingAll,
  type Sample,
  type Server,
} from './servers.ts'
import { BENCH_DATA, readWorld, SCALES, snapshotsOf, type Revision, type Scale } from './world.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: 'demo' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    before: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
if (!Object.hasOwn(SCALES, options.data)) throw new Error(`--data: ${Object.keys(SCALES).join(' or ')}`)
const scale = options.data as Scale
/** Names of cases. */
const only = new RegExp(options.only)
const ROUNDS = Number(options.rounds ?? (options.quick ? 1 : 5))
const SECONDS = 1
/** Requests of a cold list: more than any cache of the processor holds answers. */
const COLD = options.quick ? 1024 : 16_384
/**
 * Distinct requests of a hot list, or fewer where a third of the cache holds fewer, and how many are drawn of
 * them.
 */
const HOT_DISTINCT = options.quick ? 500 : 10_000
const HOT_DRAWN = 65_536
const HOT_CACHE_MIB = 512
/** Answers that say how long the case's bodies are, and kept answers that are compared with fresh ones. */
const PROBED = 200
const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const LISTS = join(BENCH_DATA, `requests-${process.pid}`)
const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** A revision that is measured, with its own snapshot and its own requests: ids may differ. */
interface Measured {
  cli: string
  snapshots: string
  keysFile: string
  key: string
  world: Awaited<ReturnType<typeof readWorld>>
  cases: Case[]
  cold: Server
}

/** @throws Error saying how to build a revision that is not built */
function builtRevision(revision: string): Revision {
  const name = execFileSync('git', ['rev-parse', '--short', `${revision}^{commit}`], {
    encoding: 'utf8',
  }).trim()
  const folder = join(BENCH_DATA, 'revisions', name)
  if (!existsSync(join(folder, 'cli.js')))
    throw new Error(
      `${name} is not built: in a worktree of it "npm ci && npm run build", and copy dist to ${folder}`,
    )
  return { name, folder }
}

async function open(revision: Revision): Promise<Measured> {
  const cli = join(revision.folder, 'cli.js')
  const snapshots = snapshotsOf(revision, scale)
  const keysFile = join(LISTS, `keys${revision.name}.json`)
  const world = await readWorld(revision, scale)
  const key = issueKey(cli, keysFile)
  const cold = await startProduct(cli, snapshots, keysFile, ['--answer-cache', '0'])
  return { cli, snapshots, keysFile, key, world, cases: casesOf(world), cold }
}

interface Row {
  name: string
  bytes: number
  compared: number
  /** Of product, ceiling and the revision before, in the same rounds. */
  cold: readonly (readonly Sample[])[]
  hot: readonly (readonly Sample[])[]
}

/** A server and the file of its requests. */
type Turn = readonly [server: Server, file: string, key: string]

/** A second of each in turn, every other round backwards; the first round does not count. */
async function inTurns(turns: readonly Turn[]): Promise<Sample[][]> {
  const samples = turns.map((): Sample[] => [])
  for (let round = 0; round <= ROUNDS; round++) {
    const order = turns.map((_, i) => i)
    if (round % 2 === 1) order.reverse()
    for (const i of order) {
      const sample = await saturate(...turns[i], SECONDS)
      if (round > 0) samples[i].push(sample)
    }
  }
  return samples
}

function listFile(name: string, paths: readonly string[]): string {
  const file = join(LISTS, `${name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`)
  writeFileSync(file, paths.map((path) => `${BASE_PATH}${path}\n`).join(''))
  return file
}

/** Head and mean length of the answers to some paths. @throws Error for one that is no success */
async function shapeOf(server: Server, paths: readonly string[], key: string) {
  const some = paths.slice(0, PROBED)
  let [head, bytes] = ['', 0]
  for (const path of some) {
    const reply = await get(server, path, key)
    if (reply.status !== 200) throw new Error(`${reply.status} to ${path}: ${reply.text}`)
    head = reply.head
    bytes += Buffer.byteLength(reply.text)
  }
  return { head, length: Math.round(bytes / some.length) }
}

async function measureCold(all: readonly Measured[], ceiling: Server, i: number): Promise<Omit<Row, 'hot'>> {
  const [own] = all
  const one = own.cases[i]
  const paths = draw(one, COLD, 7)
  const compared = await checkCase(own.world, one, paths, own.cold, own.key)
  const shape = await shapeOf(own.cold, paths, own.key)
  await ceiling.tell(shape)
  const turns = all.map(({ cases, cold, key }, nth): Turn => {
    const list = nth === 0 ? paths : draw(cases[i], COLD, 7)
    return [cold, listFile(`${one.name} cold ${nth}`, list), key]
  })
  const cold = await inTurns([turns[0], [ceiling, turns[0][1], own.key], ...turns.slice(1)])
  return { name: one.name, bytes: shape.length, compared, cold }
}

/** Servers with a large cache are asked each request twice before, and then for answers that they keep. */
async function measureHot(
  all: readonly Measured[],
  ceiling: Server,
  i: number,
  bytes: number,
): Promise<Row['hot']> {
  const keepable = Math.max(4, Math.min(HOT_DISTINCT, Math.floor((HOT_CACHE_MIB * 2 ** 20) / 3 / bytes)))
  const turns: Turn[] = []
  for (const { cli, snapshots, keysFile, key, cases, cold } of all) {
    const distinct = [...new Set(draw(cases[i], 2 * HOT_DISTINCT, 11))].slice(0, keepable)
    const hot = await startProduct(cli, snapshots, keysFile, ['--answer-cache', `${HOT_CACHE_MIB}MiB`])
    for (const path of [...distinct, ...distinct]) await get(hot, path, key)
    for (const path of distinct.slice(0, PROBED))
      assertSame(await get(hot, path, key), await get(cold, path, key), path)
    const drawn = zipfPlaces(distinct.length, HOT_DRAWN, 12).map((place) => distinct[place])
    turns.push([hot, listFile(`${cases[i].name} hot ${turns.length}`, drawn), key])
  }
  const [[server, file, key], ...others] = turns
  await ceiling.tell(await shapeOf(server, draw(all[0].cases[i], PROBED, 11), key))
  const samples = await inTurns([turns[0], [ceiling, file, key], ...others])
  for (const [hot] of turns) await hot.stop()
  return samples
}

const ratio = (of: readonly Sample[], to: readonly Sample[], what: keyof Sample): string =>
  median(of.map((sample, i) => sample[what] / to[i][what])).toFixed(2)

/** The table of the README. */
function tableOf(rows: readonly Row[], before: string | undefined): string {
  const head = ['Case', 'bytes', 'compared', 'cold/s', 'share', 'CPU µs', 'hot/s', 'share', 'CPU µs']
  if (before !== undefined) head.push(`cold CPU of ${before}`, `hot CPU of ${before}`)
  const cells = rows.map(({ name, bytes, compared, cold, hot }) => [
    name,
    String(bytes),
    String(compared),
    ...[cold, hot].flatMap(([own, ceiling]) => [
      String(Math.round(median(own.map(({ rate }) => rate)))),
      ratio(own, ceiling, 'rate'),
      median(own.map(({ cpu }) => cpu)).toFixed(1),
    ]),
    ...(before === undefined ? [] : [ratio(cold[0], cold[2], 'cpu'), ratio(hot[0], hot[2], 'cpu')]),
  ])
  const line = (row: readonly string[]): string => `| ${row.join(' | ')} |\n`
  return [head, head.map((_, i) => (i === 0 ? '---' : '---:')), ...cells].map(line).join('')
}

async function main(): Promise<void> {
  mkdirSync(LISTS, { recursive: true })
  process.once('exit', () => rmSync(LISTS, { recursive: true, force: true }))
  const revisions = [{ name: '', folder: DIST }]
  if (options.before !== undefined) revisions.push(builtRevision(options.before))
  const all: Measured[] = []
  for (const revision of revisions) all.push(await open(revision))
  leaveServersCore()
  const ceiling = await startCeiling()
  const rows: Row[] = []
  for (const [i, { name }] of all[0].cases.entries()) {
    if (!only.test(name)) continue
    const cold = await measureCold(all, ceiling, i)
    rows.push({ ...cold, hot: await measureHot(all, ceiling, i, cold.bytes) })
    say(tableOf(rows.slice(-1), options.before).split('\n')[2])
  }
  const machine = `${availableParallelism()} cores, ${cpus()[0].model.trim()}, Node ${process.versions.node}`
  const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
  const text = `${new Date().toISOString().slice(0, 10)}, ${machine}, revision ${revision}, ${SCALES[scale]}, ${ROUNDS} rounds\n\n${tableOf(rows, options.before)}`
  process.stdout.write(text)
  mkdirSync(join(BENCH_DATA, 'results'), { recursive: true })
  writeFileSync(join(BENCH_DATA, 'results', `${Date.now()}.md`), text)
}

await stoppingAll(main)
