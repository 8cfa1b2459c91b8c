/**
 * What a request costs inside, without a socket: the whole request path (route, key, quota, query, handler, bytes) with the answer cache
 * off and parameters drawn at random over all of the data. `npm run bench:micro [-- NAME]` runs all, or those whose name contains NAME.
 */
import { Bench } from 'tinybench'
import type { View } from '../src/operation.ts'
import { pathWithoutSocket, SilentExchange } from '../src/rehearsal.ts'
import { dateText, DAY, timestampText } from '../src/time.ts'
import { corpusView, seededRandom } from './corpus.ts'

/** Requests drawn before the clock runs, and used in turn: enough that no cache line stays warm by chance. */
const REQUESTS = 4096
const NAME = process.argv[2] ?? ''

type Draw = (random: () => number) => string

/** Adds a case that asks REQUESTS urls drawn by `draw`, one per iteration. */
function add(bench: Bench, view: View, name: string, draw: Draw): void {
  if (!name.includes(NAME)) return
  const random = seededRandom(7)
  // Without keys and quotas: their cost belongs to an HTTP bench, where requests carry a key.
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

const pick = <T>(random: () => number, list: ArrayLike<T>): T => list[Math.floor(random() * list.length)]

function addWorld(bench: Bench, view: View): void {
  const { id, lat, lng, names } = view.dataset.catalog
  const place = (random: () => number): string => {
    const i = Math.floor(random() * id.length)
    return `lat=${(lat[i] + random() - 0.5).toFixed(3)}&lng=${(lng[i] * 0.99 + random() - 0.5).toFixed(3)}`
  }
  add(bench, view, 'detail', (random) => `/buoys/${pick(random, id)}`)
  add(
    bench,
    view,
    'last_readings of 3',
    (random) => `/buoys/last_readings?ids=${[0, 0, 0].map(() => pick(random, id)).join()}`,
  )
  add(bench, view, 'list page of 50', (random) => `/buoys?page=${1 + Math.floor(random() * 20)}`)
  add(bench, view, 'nearest, limit 1', (random) => `/buoys/nearest?${place(random)}`)
  add(
    bench,
    view,
    'nearest, limit 20',
    (random) => `/buoys/nearest?${place(random)}&limit=20&max_distance=2000`,
  )
  add(
    bench,
    view,
    'search',
    (random) => `/buoys/search?query=${encodeURIComponent(pick(random, names).slice(0, 4).trim())}`,
  )
  add(bench, view, 'countries', () => '/countries')
  add(bench, view, 'map', () => '/buoys/map')
}

function addHistory(bench: Bench, view: View): void {
  const { id } = view.dataset.catalog
  const { asOf } = view.dataset
  const page =
    (days: number, perPage: number): Draw =>
    (random) => {
      const end = asOf - random() * (days < 100 ? 3000 * DAY : 0)
      const pages = Math.floor((days * 46) / perPage)
      return (
        `/buoys/${pick(random, id)}/readings?per_page=${perPage}&page=${1 + Math.floor(random() * pages)}` +
        `&start_date=${timestampText(end - days * DAY)}&end_date=${timestampText(end)}`
      )
    }
  add(bench, view, 'readings, 20 of 30 days', page(30, 20))
  add(bench, view, 'readings, 100 of 30 days', page(30, 100))
  add(bench, view, 'readings, 100 of 10 years', page(3650, 100))
  add(
    bench,
    view,
    'closest reading',
    (random) =>
      `/buoys/${pick(random, id)}/readings/search?date=${dateText(asOf - random() * 3000 * DAY)}&time=12:00&tolerance_hours=24`,
  )
  add(bench, view, 'chart of 10 days', (random) => `/buoys/${pick(random, id)}/readings/chart`)
  add(
    bench,
    view,
    'series, 10 seasons by day',
    (random) => `/buoys/${pick(random, id)}/readings/series?metric=significient_height`,
  )
}

const bench = new Bench({ time: 1000, warmupTime: 300 })
addWorld(bench, await corpusView('world'))
addHistory(bench, await corpusView('history'))
await bench.run()
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
