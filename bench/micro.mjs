/**
 * What a request costs inside, without a socket: the whole request path (route, query, handler, bytes) of the
 * compiled program, with the answer cache off and parameters drawn at random over all of the data. `npm run
 * bench:micro [-- NAME]` runs all cases, or those whose name contains NAME.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Bench } from 'tinybench'
import { openView } from '../dist/dataset/view.js'
import { dateText, DAY, timestampText } from '../dist/sea/time.js'
import { indexSnapshot } from '../dist/server/index-snapshot.js'
import { KeyRing } from '../dist/access/key-ring.js'
import { QuotaCounters } from '../dist/access/quota.js'
import { TrustedProxies } from '../dist/access/trusted-proxies.js'
import { headText, NO_KEY, NO_ROUTE } from '../dist/http/exchange.js'
import { LongAnswers } from '../dist/http/long-answers.js'
import { RequestPath } from '../dist/http/request.js'
import { Counters } from '../dist/http/counters.js'
import { OPERATIONS } from '../dist/routes.js'
import { loadSnapshot } from '../dist/snapshot/read-snapshot.js'
import { finish } from '../dist/system/steps.js'

const NAME = process.argv[2] ?? ''
/** Requests are drawn before the clock runs: so many that no cache line stays warm by chance. */
const REQUESTS = 4096
const REFRESH_S = 86_400
/** A fixed end of the data, so that it never depends on the day it was built. */
const AS_OF = '2026-11-01T00:00:00Z'

const CORPORA = {
  /** The size of the real world's networks: 5.1 million readings. */
  world: 'demo:scale,buoys=1200,days=90',
  /** Few buoys over a long time: 8.4 million readings. */
  history: 'demo:scale,buoys=50,days=3652',
}

/** A corpus as a worker serves it, built where it is not there. */
async function corpusView(name) {
  const folder = fileURLToPath(new URL(`data/micro-${name}`, import.meta.url))
  const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
  if (!existsSync(folder)) {
    const args = ['build', '--source', CORPORA[name], '--as-of', AS_OF, '--out', folder]
    if (spawnSync(process.execPath, [cli, ...args], { stdio: 'inherit' }).status !== 0) process.exit(1)
  }
  return finish(openView(finish(indexSnapshot(await loadSnapshot(folder), REFRESH_S)).indexed))
}

/** Numbers in [0, 1), the same in every run (mulberry32). */
function seededRandom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What is asked of a corpus: names with draws of request targets. */
function casesOf({ dataset: { catalog, readings, asOf } }, random) {
  const ordinal = () => Math.floor(random() * catalog.id.length)
  const id = () => catalog.id[ordinal()]
  const place = () => {
    const i = ordinal()
    return [(catalog.lat[i] + random() - 0.5).toFixed(3), (catalog.lng[i] * 0.99 + random() - 0.5).toFixed(3)]
  }
  const near = () => {
    const [lat, lng] = place()
    return `lat=${lat}&lng=${lng}`
  }
  const some = () => Math.floor(random() * 20)
  const pageOf = (days, perPage) => () => {
    const end = asOf - random() * (days < 100 ? 3000 * DAY : 0)
    const range = `start_date=${timestampText(end - days * DAY)}&end_date=${timestampText(end)}`
    const page = 1 + Math.floor((random() * days * 46) / perPage)
    return `/buoys/${id()}/readings?per_page=${perPage}&page=${page}&${range}`
  }
  return {
    world: {
      detail: () => `/buoys/${id()}`,
      'last_readings of 3': () => `/buoys/last_readings?ids=${id()},${id()},${id()}`,
      'list page of 50': () => `/buoys?page=${1 + some()}`,
      'list by a radius of 500 km': () => `/buoys?near=${place().join()}&radius=500`,
      'list by the radius of the globe': () =>
        `/buoys?near=${place().join()}&radius=20000&page=${1 + some()}`,
      'nearest, limit 1': () => `/buoys/nearest?${near()}`,
      'nearest, limit 20': () => `/buoys/nearest?${near()}&limit=20&max_distance=2000`,
      search: () => `/buoys/search?query=${encodeURIComponent(catalog.names[ordinal()].slice(0, 4).trim())}`,
      countries: () => '/countries',
      map: () => '/buoys/map',
      'chart of each': () => `/buoys/${id()}/readings/chart`,
      'readings, newest 20 of each': () => `/buoys/${id()}/readings?per_page=20`,
    },
    history: {
      'readings, 20 of 30 days': pageOf(30, 20),
      'readings, 100 of 30 days': pageOf(30, 100),
      'readings, 100 of 10 years': pageOf(3650, 100),
      'closest reading': () =>
        `/buoys/${id()}/readings/search?date=${dateText(asOf - random() * 3000 * DAY)}&time=12:00&tolerance_hours=24`,
      'reading by id': () => {
        const one = ordinal()
        const position = Math.floor(random() * readings.count(one))
        return `/buoys/${catalog.id[one]}/readings/${catalog.id[one] * 1e10 + readings.timeAt(one, position)}`
      },
      'series, 10 seasons by day': () => `/buoys/${id()}/readings/series?metric=significient_height`,
    },
  }
}

/**
 * The way of a request over `view`: every operation is public, no answer is kept, and nobody makes long ones.
 */
function pathWithoutSocket(view) {
  const long = new LongAnswers()
  long.connect({ postMessage() {}, on() {} })
  const path = new RequestPath(
    {
      operations: OPERATIONS.map((operation) => ({ ...operation, access: 'public' })),
      basePath: '',
      quota: new QuotaCounters(QuotaCounters.allocate(1)),
      addresses: null,
      proxies: new TrustedProxies([]),
      anonymousQuota: 0,
      anonymousAccess: 'keyed',
      explorerQuota: 1,
      answerCache: 0,
      settingsTag: '',
      refreshEvery: 0,
      counters: new Counters(Counters.allocate(1), 0),
      long,
      clock: () => Date.now() / 1000,
      onFault() {},
      onWarning() {},
    },
    new KeyRing(KeyRing.build([])),
  )
  path.hold([view], 1)
  return path
}

/** An exchange without a client, which remembers the status of the last answer. */
class SilentExchange {
  method = 'GET'
  path = ''
  query = ''
  route = NO_ROUTE
  keyRow = NO_KEY
  status = 0

  ask(url) {
    ;[this.path, this.query = ''] = url.split('?')
  }

  header() {
    return ''
  }

  headerValues() {
    return ''
  }

  address() {
    return ''
  }

  send(head) {
    this.status = Number(headText(head).slice(0, 3))
  }

  later() {
    return null
  }
}

/** Adds a case that asks one of its requests in each iteration. */
function add(bench, view, name, draw) {
  const path = pathWithoutSocket(view)
  const exchange = new SilentExchange()
  const urls = Array.from({ length: REQUESTS }, draw)
  let i = 0
  bench.add(name, () => {
    exchange.ask(urls[i++ % REQUESTS])
    path.handle(exchange)
    // Where nothing is near or close in time, 404 is the answer.
    if (exchange.status !== 200 && exchange.status !== 404) throw new Error(`${exchange.status} to ${name}`)
  })
}

const bench = new Bench({ time: 1000, warmupTime: 300 })
for (const corpus of Object.keys(CORPORA)) {
  const view = await corpusView(corpus)
  for (const [name, draw] of Object.entries(casesOf(view, seededRandom(7))[corpus])) {
    if (name.includes(NAME)) add(bench, view, name, draw)
  }
}
await bench.run()
console.table(
  bench.tasks.map(({ name, result }) => {
    if (result.state !== 'completed') throw new Error(`${name}: ${result.state}`, { cause: result })
    return {
      case: name,
      'µs, median': Number((result.latency.p50 * 1000).toFixed(2)),
      'µs, p99': Number((result.latency.p99 * 1000).toFixed(2)),
      samples: result.latency.samplesCount,
    }
  }),
)
