/** A web server on loopback with what a test puts into it; it misbehaves where the test asks for it. */
import { createHash } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
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

/** Answers with a status, and a page. */
export const status =
  (code: number, headers: { [name: string]: string } = {}): Fault =>
  (response) => {
    response.writeHead(code, { 'content-type': 'text/html', ...headers }).end('<html>no</html>')
  }
