/**
 * Crowds of connections: many requests sent in one piece, with answers that are read or not; connections that
 * are slow, idle, or come and go; and the requests that cost most.
 */
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { RawClient } from '../http/raw.ts'
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { Crowd, until } from './crowd.ts'

/** Longer than the engines let a client go without reading, or keep an idle connection. */
const HOLD_MS = 15_000
/** The least that a scaled attack holds. */
const LEAST_HOLD_MS = 1500

const holdMs = (scale: number): number => Math.max(LEAST_HOLD_MS, HOLD_MS * scale)

interface Flood {
  connections: number
  /** Bytes of requests that each connection sends. */
  bytes: number
  request: Request
  reads: boolean
}

/** What is sent again and again. */
type Request = (target: Target) => string

const KB = 1000

const headOfRoot: Request = () => 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'
const postWithBody: Request = () => 'POST /v2/countries HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx'
const getOf = (path: string, key: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`

const pageOf =
  (rows: number): Request =>
  ({ buoys, key }) =>
    getOf(`/v2/buoys/${buoys[0]}/readings?per_page=${rows}`, key)

const STATUS = /HTTP\/1\.1 (\d{3})/g

const flooding =
  (flood: Flood): Attack['run'] =>
  (target, scale) =>
    sendFlood(target, flood, scale)

async function sendFlood(
  target: Target,
  { connections, bytes, request: requestOf, reads }: Flood,
  scale: number,
): Promise<Finding> {
  const request = requestOf(target)
  const each = Math.ceil(bytes / request.length)
  const batch = Buffer.from(request.repeat(each))
  const crowd = new Crowd(target.port)
  const statuses = new Tally()
  let over = 0
  const counts = new WeakMap<Socket, number>()
  const count = amount(connections, scale)
  await crowd.enter(count, {
    reads,
    onOpen: (socket) => void socket.write(batch),
    onData: (socket, chunk) => {
      // A status line that is cut by the end of a chunk is missed: few of very many.
      let answered = counts.get(socket) ?? 0
      for (const [, status] of chunk.toString('latin1').matchAll(STATUS)) {
        statuses.add(status)
        answered++
      }
      counts.set(socket, answered)
      if (answered >= each * 0.99) over++
    },
    onClose: () => over++,
  })
  if (reads) await until(() => over >= count, holdMs(scale) * 2)
  else await wait(holdMs(scale))
  const { opened, refused, closed } = crowd
  crowd.dismiss()
  const sent = `${(opened * each).toLocaleString('en')} requests over ${opened} connections`
  const seen = reads
    ? `answered ${statuses.toString()}; ${closed} connections ended by the server`
    : 'not read'
  const faults = statuses.words.filter((status) => Number(status) >= 500).map((status) => `status ${status}`)
  return { did: `${sent}${refused > 0 ? `, ${refused} refused` : ''}; ${seen}`, faults }
}

/** Clients that ask for one large thing each and read nothing of it. */
const hoarding =
  (count: number, request: Request): Attack['run'] =>
  (target, scale) =>
    hoard(target, count, request(target), scale)

async function hoard({ port }: Target, count: number, request: string, scale: number): Promise<Finding> {
  const crowd = new Crowd(port)
  await crowd.enter(amount(count, scale), { reads: false, onOpen: (socket) => void socket.write(request) })
  await wait(holdMs(scale))
  const { opened, refused } = crowd
  crowd.dismiss()
  return {
    did: `${opened} downloads begun${refused > 0 ? `, ${refused} refused` : ''}, none read`,
    faults: [],
  }
}

export const PIPELINES: readonly Attack[] = [
  {
    name: 'head-100',
    about: '100 connections × 128 KB of pipelined HEAD, without a key, not read',
    run: flooding({ connections: 100, bytes: 128 * KB, request: headOfRoot, reads: false }),
  },
  {
    name: 'head-200',
    about: '200 connections × 500 KB of pipelined HEAD, without a key, not read',
    run: flooding({ connections: 200, bytes: 500 * KB, request: headOfRoot, reads: false }),
  },
  {
    name: 'head-read',
    about: '200 connections × 500 KB of pipelined HEAD, all answers read',
    run: flooding({ connections: 200, bytes: 500 * KB, request: headOfRoot, reads: true }),
  },
  {
    name: 'get-unread',
    about: '100 connections × 128 KB of pipelined GET of pages of 100 readings, not read',
    run: flooding({ connections: 100, bytes: 128 * KB, request: pageOf(100), reads: false }),
  },
  {
    name: 'get-read',
    about: '50 connections × 64 KB of pipelined GET of pages of readings, all read',
    run: flooding({ connections: 50, bytes: 64 * KB, request: pageOf(20), reads: true }),
  },
  {
    name: 'post-pipelined',
    about: '100 connections × 128 KB of pipelined POST with bodies, not read',
    run: flooding({ connections: 100, bytes: 128 * KB, request: postWithBody, reads: false }),
  },
  {
    name: 'downloads-600',
    about: '600 downloads of the largest file, not read',
    run: hoarding(600, ({ download }) => getOf(download, '')),
  },
  {
    name: 'downloads-2000',
    about: '2,000 downloads of the largest file, not read',
    run: hoarding(2000, ({ download }) => getOf(download, '')),
  },
  {
    name: 'map-unread',
    about: '500 maps, not read',
    run: hoarding(500, ({ key }) => getOf('/v2/buoys/map', key)),
  },
]

/** Between two bytes of a slow client. */
const TRICKLE_MS = 500

interface Gathering {
  connections: number
  /** What each sends when it is open. */
  first?: string
  /** What each sends bit by bit afterwards. */
  trickle?: string
}

/** Connections that are opened anew as the server ends them. */
async function gather({ port }: Target, gathering: Gathering, scale: number): Promise<Finding> {
  const { first = '', trickle = '' } = gathering
  const count = amount(gathering.connections, scale)
  const crowd = new Crowd(port)
  const open = new Map<Socket, number>()
  const visit = {
    reads: true,
    onOpen: (socket: Socket) => {
      open.set(socket, 0)
      if (first !== '') socket.write(first)
    },
    onClose: (socket: Socket) => void open.delete(socket),
  }
  const end = performance.now() + holdMs(scale)
  await crowd.enter(count, visit)
  let most = crowd.open
  while (performance.now() < end) {
    await wait(TRICKLE_MS)
    if (trickle !== '') {
      for (const [socket, sent] of open) {
        socket.write(trickle[sent % trickle.length])
        open.set(socket, sent + 1)
      }
    }
    if (crowd.open < count) await crowd.enter(count - crowd.open, visit)
    most = Math.max(most, crowd.open)
  }
  const { closed, refused } = crowd
  crowd.dismiss()
  const more = refused > 0 ? `, ${refused} refused` : ''
  return {
    did: `${most.toLocaleString('en')} open at a time, ${closed} ended by the server${more}`,
    faults: [],
  }
}

/** Connections opened and dropped as fast as it goes. */
async function comeAndGo({ port }: Target, rounds: number, each: number, sent: string): Promise<Finding> {
  let [opened, refused] = [0, 0]
  for (let round = 0; round < rounds; round++) {
    const crowd = new Crowd(port)
    await crowd.enter(each, {
      reads: true,
      onOpen: (socket) => {
        if (sent !== '') socket.write(sent)
      },
    })
    opened += crowd.opened
    refused += crowd.refused
    crowd.dismiss()
  }
  return {
    did: `${opened.toLocaleString('en')} connections opened and reset${refused > 0 ? `, ${refused} refused` : ''}`,
    faults: [],
  }
}

const POST_BEGUN = 'POST /v2/countries HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n'
const GET_SEARCH = 'GET /v2/buoys/search?query=bu HTTP/1.1\r\nHost: a\r\n\r\n'

export const CONNECTIONS: readonly Attack[] = [
  {
    name: 'idle-9500',
    about: '9,500 connections that say nothing, opened anew as they are ended',
    run: (target, scale) => gather(target, { connections: 9500 }, scale),
  },
  {
    name: 'idle-answered',
    about: '5,000 connections that are idle after an answer',
    run: (target, scale) => gather(target, { connections: 5000, first: GET_SEARCH }, scale),
  },
  {
    name: 'slow-heads',
    about: '2,000 connections that send a head byte by byte, two a second',
    run: (target, scale) =>
      gather(target, { connections: 2000, first: 'GET / HTTP/1.1\r\n', trickle: 'X-Slow: 1\r\n' }, scale),
  },
  {
    name: 'slow-bodies',
    about: '2,000 connections that send a body of 1 MB byte by byte',
    run: (target, scale) => gather(target, { connections: 2000, first: POST_BEGUN, trickle: 'x' }, scale),
  },
  {
    name: 'come-and-go',
    about: '20,000 connections opened and reset, half of them after a request',
    run: async (target, scale) => {
      const silent = await comeAndGo(target, amount(20, scale), amount(500, Math.max(scale, 0.2)), '')
      const asking = await comeAndGo(target, amount(20, scale), amount(500, Math.max(scale, 0.2)), GET_SEARCH)
      return { did: `${silent.did}; after a request ${asking.did}`, faults: [] }
    },
  },
]

/** All of the answers together: 200 of them are 3.2 GB. */
const ANSWER_LIMIT_MS = 90_000

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
      await wait(holdMs(scale))
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
