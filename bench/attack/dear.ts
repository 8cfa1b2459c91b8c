/** The requests that cost most: an hourly series over 13 seasons is 16 MB. */
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { Crowd } from './crowd.ts'
import { RawClient } from '../http/raw.ts'
import { setTimeout as wait } from 'node:timers/promises'

/** All of the answers together: 200 of them are 3.2 GB. */
const ANSWER_LIMIT_MS = 90_000
const HOLD_MS = 15_000
const LEAST_HOLD_MS = 1500

const METRICS = ['significient_height', 'maximum_height', 'period', 'peak_period', 'direction']
const AGGREGATIONS = ['median', 'avg', 'min', 'max']
const FIRST_YEAR = 2014
const LAST_YEAR = 2026

/** The `n`th of as many distinct series, so that none is answered from what is kept. */
export function seriesPath(buoys: readonly string[], n: number): string {
  const buoy = buoys[n % buoys.length]
  const metric = METRICS[Math.floor(n / buoys.length) % METRICS.length]
  // Directions have no least and no most.
  const kinds = metric === 'direction' ? 2 : AGGREGATIONS.length
  const aggregation = AGGREGATIONS[Math.floor(n / buoys.length / METRICS.length) % kinds]
  // A season that ends a day earlier is another one.
  const day = 31 - (Math.floor(n / buoys.length / METRICS.length / AGGREGATIONS.length) % 25)
  return (
    `/v2/buoys/${buoy}/readings/series?metric=${metric}&bucket=hour&aggregation=${aggregation}` +
    `&start_year=${FIRST_YEAR}&end_year=${LAST_YEAR}&end_month=12&end_day=${day}`
  )
}

/** All at once, each over a connection of its own; what is allowed is 200, and 503 with `Retry-After`. */
async function askAll(target: Target, paths: readonly string[]): Promise<Finding> {
  const statuses = new Tally()
  const faults: string[] = []
  let bytes = 0
  await Promise.all(
    paths.map(async (path) => {
      const client = new RawClient(target.port, [`Authorization: Bearer ${target.key}`], {
        timeoutMs: ANSWER_LIMIT_MS,
        keepBodies: false,
      })
      try {
        const { status, head } = await client.get(path)
        statuses.add(status)
        bytes += client.bodyBytes
        const isWait = status === 503 && /\r\nretry-after: *\d+/i.test(head)
        if (status !== 200 && !isWait) faults.push(`status ${status}`)
      } catch (error) {
        statuses.add('no answer')
        faults.push((error as Error).message)
      }
      client.close()
    }),
  )
  return { did: `${statuses.toString()}; ${Math.round(bytes / 1e6)} MB`, faults: distinct(faults) }
}

function distinct(faults: readonly string[]): string[] {
  const tally = new Tally()
  for (const fault of faults) tally.add(fault)
  return tally.words.length === 0 ? [] : [tally.toString()]
}

const paths = (target: Target, count: number, from = 0): string[] =>
  Array.from({ length: count }, (_, n) => seriesPath(target.buoys, from + n))

export const DEAR: readonly Attack[] = [
  {
    name: 'series-200',
    about: '200 hourly series over 13 seasons at once, one key',
    run: (target, scale) => askAll(target, paths(target, amount(200, scale))),
  },
  {
    name: 'series-unread',
    about: '100 hourly series over 13 seasons at once, not read',
    run: async (target, scale) => {
      const crowd = new Crowd(target.port)
      let n = 1000
      await crowd.enter(amount(100, scale), {
        reads: false,
        onOpen: (socket) =>
          void socket.write(
            `GET ${seriesPath(target.buoys, n++)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${target.key}\r\n\r\n`,
          ),
      })
      await wait(Math.max(LEAST_HOLD_MS, HOLD_MS * scale))
      const { opened } = crowd
      crowd.dismiss()
      // The places that they held are free again.
      const after = await askAll(target, paths(target, 1, 1500))
      return { did: `${opened} asked and not read; then one more: ${after.did}`, faults: after.faults }
    },
  },
  {
    name: 'series-dropped',
    about: '400 hourly series over 13 seasons, each dropped after its first bytes',
    run: async (target, scale) => {
      let n = 2000
      let dropped = 0
      const rounds = amount(8, scale)
      for (let round = 0; round < rounds; round++) {
        const crowd = new Crowd(target.port)
        await crowd.enter(amount(50, Math.max(scale, 0.1)), {
          reads: true,
          onOpen: (socket) =>
            void socket.write(
              `GET ${seriesPath(target.buoys, n++)} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${target.key}\r\n\r\n`,
            ),
          onData: (socket) => {
            dropped++
            socket.resetAndDestroy()
          },
        })
        await wait(500)
        crowd.dismiss()
      }
      const after = await askAll(target, paths(target, 1, 3500))
      return { did: `${dropped} dropped; then one more: ${after.did}`, faults: after.faults }
    },
  },
  {
    name: 'pages-dear',
    about: '2,000 of the largest pages, charts and maps at once, all distinct',
    run: async (target, scale) => {
      const [buoy] = target.buoys
      const day = (n: number): string => new Date(Date.UTC(2016, 0, 1 + n)).toISOString().slice(0, 10)
      const each = [
        (n: number) => `/v2/buoys?per_page=500&near=${(n % 60) - 30},${n % 170}&radius=20100`,
        (n: number) =>
          `/v2/buoys/map?bounds={"north":${90 - (n % 90) / 10},"south":-90,"east":180,"west":-180}`,
        (n: number) => `/v2/buoys/${buoy}/readings/chart?start_date=${day(n)}&end_date=${day(n + 30)}`,
        (n: number) => `/v2/buoys/${buoy}/readings?per_page=100&page=${n}`,
      ]
      const count = amount(2000, scale)
      const asked = Array.from({ length: count }, (_, n) => each[n % each.length](n).replaceAll('"', '%22'))
      return askAll(target, asked)
    },
  },
]
