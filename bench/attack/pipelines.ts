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
  request: string
  reads: boolean
}

const KB = 1000

const headOf = (path: string): string => `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
const getOf = (path: string, key: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`

const STATUS = /HTTP\/1\.1 (\d{3})/g

async function flood(
  { port }: Target,
  { connections, bytes, request, reads }: Flood,
  scale: number,
): Promise<Finding> {
  const each = Math.ceil(bytes / request.length)
  const batch = Buffer.from(request.repeat(each))
  const crowd = new Crowd(port)
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
    run: (target, scale) =>
      flood(target, { connections: 100, bytes: 128 * KB, request: headOf('/'), reads: false }, scale),
  },
  {
    name: 'head-200',
    about: '200 connections × 500 KB of pipelined HEAD, without a key, not read',
    run: (target, scale) =>
      flood(target, { connections: 200, bytes: 500 * KB, request: headOf('/'), reads: false }, scale),
  },
  {
    name: 'head-read',
    about: '200 connections × 500 KB of pipelined HEAD, all answers read',
    run: (target, scale) =>
      flood(target, { connections: 200, bytes: 500 * KB, request: headOf('/'), reads: true }, scale),
  },
  {
    name: 'get-unread',
    about: '100 connections × 128 KB of pipelined GET of pages of 100 readings, not read',
    run: (target, scale) =>
      flood(
        target,
        {
          connections: 100,
          bytes: 128 * KB,
          request: getOf(`/v2/buoys/${target.buoys[0]}/readings?per_page=100`, target.key),
          reads: false,
        },
        scale,
      ),
  },
  {
    name: 'get-read',
    about: '50 connections × 64 KB of pipelined GET of pages of readings, all read',
    run: (target, scale) =>
      flood(
        target,
        {
          connections: 50,
          bytes: 64 * KB,
          request: getOf(`/v2/buoys/${target.buoys[0]}/readings?per_page=20`, target.key),
          reads: true,
        },
        scale,
      ),
  },
  {
    name: 'post-pipelined',
    about: '100 connections × 128 KB of pipelined POST with bodies, not read',
    run: (target, scale) =>
      flood(
        target,
        {
          connections: 100,
          bytes: 128 * KB,
          request: 'POST /v2/countries HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx',
          reads: false,
        },
        scale,
      ),
  },
  {
    name: 'downloads-600',
    about: '600 downloads of the largest file, not read',
    run: (target, scale) => hoard(target, 600, getOf(target.download, ''), scale),
  },
  {
    name: 'downloads-2000',
    about: '2,000 downloads of the largest file, not read',
    run: (target, scale) => hoard(target, 2000, getOf(target.download, ''), scale),
  },
  {
    name: 'map-unread',
    about: '500 maps, not read',
    run: (target, scale) => hoard(target, 500, getOf('/v2/buoys/map', target.key), scale),
  },
]
