/** A web server on loopback with what a test puts into it; it misbehaves where the test asks for it. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import { listening } from '../../listening.ts'

/** What is wrong with an answer. Each takes the bytes that a good one would have. */
export type Fault = (response: ServerResponse, body: Buffer) => void

export interface Seen {
  path: string
  headers: IncomingHttpHeaders
  status: number
  /** Milliseconds of the process's stopwatch. */
  at: number
}

export interface Origin {
  url: string
  /** Bytes by path with query. */
  files: Map<string, string | Buffer>
  /** Faults by path with query; `count` of them, then the file is served as it should be. */
  faults: Map<string, { fault: Fault; count: number }>
  /** Asked for each answer before `faults`; for faults by chance. */
  chance: (path: string) => Fault | null
  seen: Seen[]
  /** Most requests that were under way at one time. */
  mostAtOnce: number
  close(): Promise<void>
}

export async function startOrigin(t: TestContext): Promise<Origin> {
  let atOnce = 0
  const origin: Origin = {
    url: '',
    files: new Map(),
    faults: new Map(),
    chance: () => null,
    seen: [],
    mostAtOnce: 0,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const entry: Seen = { path, headers: request.headers, status: 0, at: performance.now() }
    origin.seen.push(entry)
    origin.mostAtOnce = Math.max(origin.mostAtOnce, ++atOnce)
    response.once('close', () => {
      entry.status = response.statusCode
      atOnce--
    })
    const file = origin.files.get(path)
    const body = Buffer.from(file ?? '')
    const planned = origin.faults.get(path)
    const fault = planned !== undefined && planned.count-- > 0 ? planned.fault : origin.chance(path)
    if (fault !== null) {
      fault(response, body)
      return
    }
    if (file === undefined) {
      response.writeHead(404, { 'content-type': 'text/html' }).end('<html>not here</html>')
      return
    }
    const etag = `"${createHash('sha256').update(body).digest('hex').slice(0, 16)}"`
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, { etag }).end()
      return
    }
    response.writeHead(200, { etag, 'content-length': body.length }).end(body)
  })
  server.on('connection', (socket) => socket.on('error', () => {}))
  origin.url = `http://127.0.0.1:${await listening(t, server)}`
  return origin
}

const status =
  (code: number, headers: { [name: string]: string } = {}): Fault =>
  (response) => {
    response.writeHead(code, { 'content-type': 'text/html', ...headers }).end('<html>no</html>')
  }

/** Members of a gzip file stand one behind the other. */
const MEGABYTE = gzipSync(Buffer.alloc(2 ** 20, 49))

export const FAULTS = {
  notFound: status(404),
  broken: status(500),
  busy: status(503, { 'retry-after': '2' }),
  busyForLong: status(429, { 'retry-after': '86400' }),
  /** Says nothing. */
  silent: () => {},
  /** Sends its headers and one byte, and no more. */
  stalled: (response, body) => {
    response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, 1))
  },
  /** A byte now and then, for ever. */
  drip: (response) => {
    response.writeHead(200, { 'content-length': 4000 })
    const timer = setInterval(() => response.write('1'), 20)
    response.once('close', () => clearInterval(timer))
  },
  cut: (response, body) => {
    response.writeHead(200, { 'content-length': body.length }).write(body.subarray(0, body.length >> 1))
    setTimeout(() => response.destroy(), 10)
  },
  cutChunked: (response, body) => {
    response.writeHead(200, {}).write(body.subarray(0, body.length >> 1))
    setTimeout(() => response.destroy(), 10)
  },
  longLength: (response, body) => {
    response.strictContentLength = false
    response.writeHead(200, { 'content-length': body.length + 10, connection: 'close' }).end(body)
    setTimeout(() => response.destroy(), 10)
  },
  shortLength: (response, body) => {
    response.strictContentLength = false
    response.writeHead(200, { 'content-length': body.length - 10 }).end(body)
  },
  /** A hundred megabytes in a hundred kilobytes. */
  bomb: (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.concat(Array(100).fill(MEGABYTE)))
  },
  badGzip: (response, body) => {
    const packed = gzipSync(body)
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed.subarray(0, packed.length - 12))
  },
  unaskedEncoding: (response, body) => {
    response.writeHead(200, { 'content-encoding': 'br' }).end(body)
  },
  huge: (response) => {
    response.writeHead(200, { 'content-length': 2 ** 31 }).write('1')
  },
  loop: (response) => {
    response.writeHead(302, { location: '?again' }).end()
  },
  toFile: (response) => {
    response.writeHead(302, { location: 'file:///etc/hostname' }).end()
  },
  page: (response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('\n<!DOCTYPE html><title>Error 500</title>')
  },
  empty: (response) => {
    response.writeHead(200, { 'content-length': 0 }).end()
  },
  nonsense: (response) => {
    response.socket?.end('SSH-2.0-OpenSSH_9.6\r\n')
  },
  closes: (response) => {
    response.socket?.destroy()
  },
  endlessHeaders: ({ socket }) => {
    socket?.write('HTTP/1.1 200 OK\r\n')
    const timer = setInterval(() => socket?.write(`X-Many: ${'x'.repeat(4000)}\r\n`), 5)
    socket?.once('close', () => clearInterval(timer))
  },
  /** As fast as they are taken, nearly. */
  endlessChunks: (response) => {
    response.writeHead(200, {})
    const timer = setInterval(() => response.write('1,2,3,4\n'.repeat(10_000)), 5)
    response.once('close', () => clearInterval(timer))
  },
  brokenChunk: ({ socket }, body) => {
    socket?.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    socket?.end(`5\r\n${body.toString('latin1', 0, 5)}\r\nzz\r\n`)
  },
  /** HTTP/1.0, and half of what it says. */
  cutOld: ({ socket }, body) => {
    socket?.write(`HTTP/1.0 200 OK\r\nContent-Length: ${body.length}\r\n\r\n`)
    socket?.end(body.subarray(0, body.length >> 1))
  },
  toPrivate: (response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end()
  },
} satisfies { [name: string]: Fault }
