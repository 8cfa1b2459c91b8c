/** Many requests sent in one piece, with answers that are read or not, and downloads that nobody reads. */
import type { Socket } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { Crowd, until } from './crowd.ts'

/** Longer than the engines let a client go without reading. */
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
