/**
 * The HTTP bench: our requests a second as a share of what the engine can do with a constant body, and
 * against peers.
 *
 *     npm run bench:http [-- --data demo|big --quick --only CASE --rounds N --seconds N SECTION …]
 *
 * Sections: `check` (which all the others begin with), `table` (with the peers), `latency`, `scaling`,
 * `pauses`, `flood`, `mixture`, `swap`, `neighbour`; all when none is named. Servers run on core 0, load
 * generators and the bench itself on core 1.
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { availableParallelism, cpus } from 'node:os'
import { join } from 'node:path'
import { shippedNodeOptions } from '../../tools/node_options.ts'
import { compareBefore, startBefore } from './before.ts'
import { casesOf, type Case } from './cases.ts'
import { Checker } from './check.ts'
import { readData, SCALES, type BenchData, type History } from './data.ts'
import { measureFlood, measureLatency, measurePauses, measureScaling, seriesFloor } from './limits.ts'
import { missingTool } from './load.ts'
import {
  HOT_CACHE,
  HOT_MODES,
  OPERATION_SECTIONS,
  options,
  ROUNDS,
  say,
  scale,
  TOGETHER,
  wants,
} from './options.ts'
import { openPeers } from './peers.ts'
import { checkPlans, listFile, planOf, probe, type Plan } from './plans.ts'
import { tables, writeResults, type Results } from './report.ts'
import { BENCH_DATA, buildProduct } from './revisions.ts'
import {
  issueKey,
  leaveServersCore,
  startCeiling,
  startProduct,
  stopAll,
  type Ceiling,
  type Product,
  type Server,
} from './servers.ts'
import { keep, measureCase } from './table.ts'
import { measureTogether, TOGETHER_SECTIONS } from './together.ts'

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
    node: [process.versions.node, ...shippedNodeOptions()].join(' '),
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
    const peers = options['no-peers'] ? [] : await openPeers(data, key, results.notRun, say)
    const before = options.before === undefined ? null : await startBefore(options.before, product)
    for (const plan of plans) {
      if (before !== null) await compareBefore(plan, before.cold, cold, key)
      // A cache that is full of the answers of other cases would not take in all of this one's.
      const [hot, hotBefore] = [await startHot(), (await before?.startHot()) ?? null]
      const earlier = before === null || hotBefore === null ? null : { cold: before.cold, hot: hotBefore }
      await measureCase(plan, { cold, hot, before: earlier, ceiling, peers, key }, results)
      await hot.stop()
      await hotBefore?.stop()
    }
    await before?.cold.stop()
    for (const peer of peers) await peer.stop()
    const floor = seriesFloor(data, results.shares)
    if (floor !== null) results.limits.push(floor)
  } else if (wants('check')) {
    for (const plan of plans) {
      const hot = await startHot()
      for (const [mode, more] of HOT_MODES) await keep(plan, mode, more, { cold, hot, key }, results)
      await hot.stop()
    }
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
  const cli = options.cli ?? (await buildProduct())
  // Another run beside this one has keys of its own.
  const keysFile = join(BENCH_DATA, `keys-${process.pid}.json`)
  process.once('exit', () => {
    for (const file of [keysFile, `${keysFile}.usage`]) rmSync(file, { force: true })
  })
  const product: Product = { cli, keysFile, snapshots: data.folder, key: issueKey(cli, keysFile) }
  const key = `Authorization: Bearer ${product.key}`
  const cases = casesOf(data).filter(({ name }) => name.includes(options.only))
  if (cases.length === 0) throw new Error(`no case named ${options.only}`)

  // Data and code are made on both.
  leaveServersCore()
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
