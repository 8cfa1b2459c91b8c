/**
 * This tree against another one of the same project, in one process and in turns: `npx tsx
 * bench/pairs.bench.ts OTHER_TREE [NAME]` asks both the requests of `bench:micro` whose name contains NAME,
 * compares their answers, and prints the median of the ratios of their CPU times.
 */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { View } from '../src/dataset/view.ts'
import type { RequestPath } from '../src/http/request.ts'
import type { SilentExchange } from '../src/server/warm-up.ts'
import { seededRandom, type CorpusName } from './corpus.ts'
import { HISTORY_CASES, WORLD_CASES, type MicroCase } from './micro_cases.ts'

const [OTHER_TREE, NAME = ''] = process.argv.slice(2)
const REQUESTS = 4096
const ROUNDS = 61
/** Of one tree in one round. */
const ROUND_MS = 8
const WARMUP_ROUNDS = 10

/** What is taken of a tree. */
interface Tree {
  view: View
  path: RequestPath
  exchange: SilentExchange
}

async function treeOf(root: string, corpus: CorpusName, clock: () => number): Promise<Tree> {
  const load = <T>(file: string): Promise<T> => import(pathToFileURL(resolve(root, file)).href) as Promise<T>
  const { pathWithoutSocket, SilentExchange } =
    await load<typeof import('../src/server/warm-up.ts')>('src/server/warm-up.ts')
  const { corpusView } = await load<typeof import('./corpus.ts')>('bench/corpus.ts')
  const view = await corpusView(corpus)
  return { view, path: pathWithoutSocket(view, clock), exchange: new SilentExchange() }
}

/** Of all bytes of the answers to `urls`; errors have an id of their own. */
function digestOf({ path, exchange }: Tree, urls: readonly string[]): string {
  const hash = createHash('sha256')
  const silent = exchange.send.bind(exchange)
  exchange.send = (head, body) => {
    silent(head, body)
    hash.update(exchange.status === 200 ? (body ?? '') : String(exchange.status))
  }
  for (const url of urls) {
    exchange.ask(url)
    path.handle(exchange)
  }
  exchange.send = silent
  return hash.digest('hex')
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]

function compare(ours: Tree, theirs: Tree, { name, draws }: MicroCase): object {
  const random = seededRandom(7)
  const draw = draws(ours.view)
  const urls = Array.from({ length: REQUESTS }, () => draw(random))
  const some = urls.slice(0, 512)
  const isSame = digestOf(ours, some) === digestOf(theirs, some)
  let i = 0
  let perRound = 1
  const timed = ({ path, exchange }: Tree, count: number): number => {
    const start = process.cpuUsage()
    for (let request = 0; request < count; request++) {
      exchange.ask(urls[i++ % REQUESTS])
      path.handle(exchange)
    }
    const { user, system } = process.cpuUsage(start)
    return (user + system) / count
  }
  for (let round = 0; round < WARMUP_ROUNDS; round++) {
    for (const tree of [ours, theirs]) {
      perRound = Math.max(1, Math.round((ROUND_MS * 1000) / Math.max(1, timed(tree, Math.max(perRound, 8)))))
    }
  }
  const pairs = Array.from({ length: ROUNDS }, (_, round) => {
    // Whichever comes first finds the caches of the other.
    const first = timed(round % 2 === 0 ? ours : theirs, perRound)
    const second = timed(round % 2 === 0 ? theirs : ours, perRound)
    return round % 2 === 0 ? [first, second] : [second, first]
  })
  const ratios = pairs.map(([mine, other]) => mine / other).toSorted((a, b) => a - b)
  return {
    case: name,
    'same bytes': isSame,
    'µs, this tree': Number(median(pairs.map(([mine]) => mine)).toFixed(2)),
    'µs, the other': Number(median(pairs.map(([, other]) => other)).toFixed(2)),
    ratio: Number(ratios[ROUNDS >> 1].toFixed(3)),
    quartiles: `${ratios[ROUNDS >> 2].toFixed(3)} to ${ratios[(ROUNDS * 3) >> 2].toFixed(3)}`,
  }
}

if (OTHER_TREE === undefined) throw new Error('usage: npx tsx bench/pairs.bench.ts OTHER_TREE [NAME]')
const rows: object[] = []
for (const [corpus, cases] of [
  ['world', WORLD_CASES],
  ['history', HISTORY_CASES],
] as const) {
  const named = cases.filter(({ name }) => name.includes(NAME))
  if (named.length === 0) continue
  const now = Math.floor(Date.now() / 1000)
  const ours = await treeOf(resolve(import.meta.dirname, '..'), corpus, () => now)
  const theirs = await treeOf(OTHER_TREE, corpus, () => now)
  for (const one of named) rows.push(compare(ours, theirs, one))
}
console.table(rows)
