/**
 * What a request costs inside, without a socket: the whole request path (route, key, quota, query, handler,
 * bytes) with the answer cache off and parameters drawn at random over all of the data. `npm run bench:micro
 * [-- NAME]` runs all, or those whose name contains NAME.
 */
import { createHash } from 'node:crypto'
import { Bench } from 'tinybench'
import { TrustedProxies } from '../src/access/trusted-proxies.ts'
import { AUTHORIZATION, statusOf } from '../src/http/exchange.ts'
import { MAX_KEYS, MAX_QUOTA } from '../src/access/key-records.ts'
import { KEY_LENGTH, KeyRing } from '../src/access/key-ring.ts'
import type { View } from '../src/dataset/view.ts'
import { QuotaCounters } from '../src/access/quota.ts'
import { pathWithoutSocket, SilentExchange } from '../src/server/warm-up.ts'
import { LongAnswers } from '../src/http/long-answers.ts'
import { RequestPath } from '../src/http/request.ts'
import { OPERATIONS } from '../src/routes.ts'
import { RequestCounts } from '../src/http/request-counts.ts'
import { RequestRecorder, routeNames } from '../src/http/request-recorder.ts'
import { Totals } from '../src/http/totals.ts'
import { corpusView } from './corpus.ts'
import { seededRandom } from './http/statistics.ts'
import { HISTORY_CASES, pick, WORLD_CASES, type Draw, type MicroCase } from './micro_cases.ts'

/** Requests are drawn before the clock runs: so many that no cache line stays warm by chance. */
const REQUESTS = 4096
const NAME = process.argv[2] ?? ''

/** Adds a case that asks `REQUESTS` urls drawn by `draw`, one in each iteration. */
function add(bench: Bench, view: View, name: string, draw: Draw): void {
  const random = seededRandom(7)
  // Keys and quotas have a case of their own.
  const path = pathWithoutSocket(view, () => Date.now() / 1000)
  const exchange = new SilentExchange()
  const ask = (url: string): void => {
    exchange.ask(url)
    path.handle(exchange)
    // Where nothing is near or close in time, 404 is the answer.
    if (exchange.status !== 200 && exchange.status !== 404) throw new Error(`${exchange.status} to ${url}`)
  }
  const urls = Array.from({ length: REQUESTS }, () => draw(random))
  let i = 0
  let bytes = 0
  for (const url of urls.slice(0, 64)) {
    ask(url)
    bytes += exchange.bytes / 64
  }
  bench.add(`${name} (${Math.round(bytes)} B)`, () => {
    ask(urls[i++ % REQUESTS])
  })
}

/** Adds the cases of a corpus. */
async function addCases(
  bench: Bench,
  corpus: 'world' | 'history',
  cases: readonly MicroCase[],
): Promise<void> {
  const named = cases.filter(({ name }) => name.includes(NAME))
  if (named.length === 0) return
  const view = await corpusView(corpus)
  for (const { name, draws } of named) add(bench, view, name, draws(view))
}

/** As `SilentExchange`, with a key in the header. */
class KeyedExchange extends SilentExchange {
  key = ''

  override header(name = AUTHORIZATION): string {
    return name === AUTHORIZATION ? this.key : ''
  }
}

const ROUNDS = 201
/** The difference is some hundredths of a request. */
const METRICS_ROUNDS = 4001
const ROUND_REQUESTS = 1000

/**
 * What key and quota add to a request, with as many keys as a keys file holds: the same details asked without
 * a key of an open server and with any one of all keys, in turns. The engine's own work to hand over one
 * header more is not in it.
 */
function benchAuthentication(view: View): void {
  const texts = Array.from({ length: MAX_KEYS }, (_, i) => `gsw_${String(i).padStart(KEY_LENGTH - 4, '0')}`)
  const entries = texts.map((text, slot) => ({
    id: '',
    hash: createHash('sha256').update(text).digest('hex'),
    quota: MAX_QUOTA,
    slot,
  }))
  const clock = (): number => Date.now() / 1000
  const keyed = new RequestPath(
    {
      operations: OPERATIONS,
      basePath: '',
      quota: new QuotaCounters(QuotaCounters.allocate()),
      addresses: null,
      proxies: new TrustedProxies([]),
      anonymousQuota: 0,
      anonymousAccess: 'keyed',
      explorerQuota: 1,
      answerCache: 0,
      settingsTag: '',
      refreshEvery: 1800,
      totals: new Totals(Totals.allocate(1), 0),
      long: new LongAnswers(),
      clock,
      onFault: (fault) => {
        throw new Error(fault)
      },
    },
    new KeyRing(KeyRing.build(entries)),
  )
  keyed.setView(view)
  const open = pathWithoutSocket(view, clock)
  const random = seededRandom(11)
  const exchange = new KeyedExchange()
  const urls = Array.from({ length: REQUESTS }, () => `/buoys/${pick(random, view.dataset.catalog.id)}`)
  const median = (values: number[]): number =>
    Number(values.toSorted((a, b) => a - b)[values.length >> 1].toFixed(2))
  const rows = [1, 1000, MAX_KEYS].map((active) => {
    // Bytes, since the text of a header is a new one in each request: V8 keeps what it knows of a text with
    // it.
    const headers = Array.from({ length: Math.max(REQUESTS, active) }, () =>
      Buffer.from(`Bearer ${texts[Math.floor(random() * active)]}`),
    )
    let i = 0
    const timed = (path: RequestPath, withKey: boolean): number => {
      const start = performance.now()
      for (let request = 0; request < ROUND_REQUESTS; request++, i++) {
        // Made for both, so that it is not in the difference.
        const header = headers[i % headers.length].toString('latin1')
        exchange.key = withKey ? header : ''
        exchange.ask(urls[i % REQUESTS])
        path.handle(exchange)
        if (exchange.status !== 200) throw new Error(`${exchange.status}`)
      }
      return ((performance.now() - start) * 1000) / ROUND_REQUESTS
    }
    const pairs = Array.from({ length: ROUNDS }, () => [timed(open, false), timed(keyed, true)])
    return {
      'keys in the file': MAX_KEYS,
      'keys in use': active,
      'µs without': median(pairs.map(([without]) => without)),
      'µs with a key': median(pairs.map(([, withKey]) => withKey)),
      'µs, median of differences': median(pairs.map(([without, withKey]) => withKey - without)),
    }
  })
  console.table(rows)
}
/** As `SilentExchange`, with what a recorder reads. */
class RecordedExchange extends SilentExchange {
  head: string | Uint8Array = ''

  override send(head: string | Uint8Array, body: Uint8Array | null): void {
    this.head = head
    this.status = statusOf(head)
    this.bytes = body?.length ?? 0
  }
}

/** What counting and timing add to a request: the same details asked without and with a recorder, in turns. */
function benchMetrics(view: View): void {
  const routes = routeNames(OPERATIONS, '').length
  const counts = new RequestCounts(RequestCounts.allocate(1, routes), routes, 0)
  const recorder = new RequestRecorder(counts, routes, null)
  const path = pathWithoutSocket(view, () => Date.now() / 1000)
  const random = seededRandom(13)
  const exchange = new RecordedExchange()
  const urls = Array.from({ length: REQUESTS }, () => `/buoys/${pick(random, view.dataset.catalog.id)}`)
  const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1]
  let i = 0
  const timed = (isRecorded: boolean): number => {
    const start = performance.now()
    for (let request = 0; request < ROUND_REQUESTS; request++, i++) {
      exchange.ask(urls[i % REQUESTS])
      if (isRecorded) {
        const begun = performance.now()
        path.handle(exchange)
        recorder.answered(exchange, begun)
      } else path.handle(exchange)
      if (exchange.status !== 200) throw new Error(`${exchange.status}`)
    }
    return ((performance.now() - start) * 1e6) / ROUND_REQUESTS
  }
  // Both ways are compiled before they are compared.
  for (let round = 0; round < ROUNDS; round++) timed(round % 2 === 0)
  const pairs = Array.from({ length: METRICS_ROUNDS }, (_, round) => {
    // Whichever comes first finds the caches of the other.
    const first = timed(round % 2 === 0)
    const second = timed(round % 2 !== 0)
    return round % 2 === 0 ? [second, first] : [first, second]
  })
  console.table([
    {
      case: 'detail, metrics',
      'ns without': Math.round(median(pairs.map(([without]) => without))),
      'ns with': Math.round(median(pairs.map(([, recorded]) => recorded))),
      'ns, median of differences': Math.round(median(pairs.map(([without, recorded]) => recorded - without))),
    },
  ])
}

if ('metrics'.includes(NAME)) benchMetrics(await corpusView('world'))
if ('authentication'.includes(NAME)) benchAuthentication(await corpusView('world'))

const bench = new Bench({ time: 1000, warmupTime: 300 })
await addCases(bench, 'world', WORLD_CASES)
await addCases(bench, 'history', HISTORY_CASES)
await bench.run()
if (bench.tasks.length > 0) {
  console.table(
    bench.tasks.map((task) => {
      const { result } = task
      if (result.state !== 'completed') throw new Error(`${task.name}: ${result.state}`, { cause: result })
      return {
        case: task.name,
        'µs, median': Number((result.latency.p50 * 1000).toFixed(2)),
        'µs, p99': Number((result.latency.p99 * 1000).toFixed(2)),
        samples: result.latency.samplesCount,
      }
    }),
  )
}
