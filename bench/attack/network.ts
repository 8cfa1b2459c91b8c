/**
 * Networks whose servers mean harm, each an origin of its own on loopback: they trickle, never end, say
 * another length, and send whoever asks to where only this machine can go. A fetch ends in time, takes
 * nothing of what it was sent to, and the good source is fetched.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { fetchSources } from '../../src/builder/fetch/fetch-sources.ts'
import { readConfiguration } from '../../src/sources/configuration.ts'
import { Tally, type Attack, type Finding } from './attack.ts'

/** Of the fetching; ten times shorter than in service, so that a run takes a minute. */
const LIMITS = {
  connectMs: 1000,
  answerMs: 3000,
  stallMs: 3000,
  slowestBytesPerSecond: 0,
  wholeMs: 10_000,
}
/** All sources are fetched side by side, each with a few attempts. */
const FETCH_LIMIT_S = 60
/** MB that this process may grow by. */
const MEMORY_LIMIT = 300
const MAX_BYTES = 20e6
/** What is fetched all the same: bytes behind the end of an answer belong to none. */
const TAKEN: ReadonlySet<string> = new Set(['good', 'sends more than it says'])
const SECRET = 'what only this machine may see'

type Behaviour = (socket: Socket, path: string) => void

const answer = (body: string | Buffer, headers = ''): Buffer =>
  Buffer.concat([
    Buffer.from(
      `HTTP/1.1 200 OK\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}Connection: close\r\n\r\n`,
    ),
    Buffer.from(body),
  ])

const redirect = (location: string): string =>
  `HTTP/1.1 302 Found\r\nLocation: ${location}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`

/** Writes again and again as long as somebody takes it. */
function pour(socket: Socket, piece: Buffer | string): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', more)
  more()
}

function trickle(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer)
    else socket.write(piece)
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}

const CHUNKED_HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

const behaviours = (secretPort: number): { readonly [name: string]: Behaviour } => ({
  'says nothing': () => {},
  'trickles its body': (socket) => {
    socket.write(CHUNKED_HEAD)
    trickle(socket, chunk('x'), 500)
  },
  'trickles its head': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    trickle(socket, 'X-Slow: 1\r\n', 500)
  },
  'has a head without an end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    pour(socket, `X-Long: ${'x'.repeat(8000)}\r\n`)
  },
  'has a body without an end': (socket) => {
    socket.write(CHUNKED_HEAD)
    pour(socket, chunk('0123456789abcdef'.repeat(4096)))
  },
  'sends less than it says': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nname,network\n'),
  'sends more than it says': (socket) =>
    void socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nname,network\n`),
  'says two lengths': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 50\r\n\r\nname,network\n'),
  'says a length of 2^60': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 1152921504606846976\r\n\r\nname,network\n'),
  'sends 20 GB in 20 MB': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n')
    const piece = gzipSync(Buffer.alloc(16e6, 'a,b\n'))
    const length = Buffer.from(`${piece.length.toString(16)}\r\n`)
    pour(socket, Buffer.concat([length, piece, Buffer.from('\r\n')]))
  },
  resets: (socket) => void socket.resetAndDestroy(),
  'speaks no HTTP': (socket) => void socket.end('220 smtp.example.org ESMTP\r\n'.repeat(100)),
  'asks to wait for a year': (socket) =>
    void socket.end(
      'HTTP/1.1 503 Wait\r\nRetry-After: 31536000\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    ),
  'sends a page': (socket) => void socket.end(answer('<!doctype html><html><body>Sign in</body></html>')),
  'redirects for ever': (socket, path) => void socket.end(redirect(`${path}x`)),
  'redirects to loopback': (socket) => void socket.end(redirect(`http://127.0.0.1:${secretPort}/secret`)),
  'redirects to loopback by name': (socket) =>
    void socket.end(redirect(`http://localhost:${secretPort}/secret`)),
  'redirects to loopback in IPv6': (socket) =>
    void socket.end(redirect(`http://[::ffff:127.0.0.1]:${secretPort}/secret`)),
  'redirects to loopback in decimals': (socket) =>
    void socket.end(redirect(`http://2130706433:${secretPort}/secret`)),
  'redirects to no address': (socket) => void socket.end(redirect(`http://0.0.0.0:${secretPort}/secret`)),
  'redirects to link-local': (socket) =>
    void socket.end(redirect('http://169.254.169.254/latest/meta-data/')),
  'redirects to a private address': (socket) => void socket.end(redirect('http://10.255.255.1/')),
  'redirects to a file': (socket) => void socket.end(redirect('file:///etc/passwd')),
})

const GOOD_CSV = 'name,network\nGood,coastal\n'

async function serve(behaviour: Behaviour): Promise<{ port: number; server: Server; asked: string[] }> {
  const asked: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', (head: Buffer) => {
      const path = head.toString('latin1').split(' ', 2)[1] ?? ''
      asked.push(path)
      behaviour(socket, path)
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { port: (server.address() as { port: number }).port, server, asked }
}

const residentNow = (): number => process.memoryUsage().rss / 1e6

async function fetchAll(): Promise<Finding> {
  const place = mkdtempSync(join(tmpdir(), 'groundswell-attack-fetch-'))
  const secret = await serve((socket) => void socket.end(answer(`name,network\n${SECRET},coastal\n`)))
  const good = await serve((socket) => void socket.end(answer(GOOD_CSV)))
  const hostile = Object.entries(behaviours(secret.port))
  const origins = await Promise.all(hostile.map(([, behaviour]) => serve(behaviour)))
  const faults: string[] = []
  try {
    const sourceOf = (name: string, port: number): object => ({
      name,
      kind: 'csv',
      folder: join(place, name.replaceAll(' ', '-')),
      fetch: [{ url: `http://127.0.0.1:${port}/sources.csv`, to: 'sources.csv', maxBytes: MAX_BYTES }],
    })
    const config = join(place, 'groundswell.config.json')
    const sources = [
      sourceOf('good', good.port),
      ...hostile.map(([name], i) => sourceOf(name, origins[i].port)),
    ]
    writeFileSync(config, JSON.stringify({ sources }))
    const before = residentNow()
    let most = before
    const timer = setInterval(() => (most = Math.max(most, residentNow())), 50)
    const began = performance.now()
    const outcomes = await fetchSources(readConfiguration(config, {}), {
      clock: () => Date.now() / 1000,
      random: Math.random,
      report: { progress: () => {}, line: () => {} },
      limits: LIMITS,
    })
    clearInterval(timer)
    const seconds = (performance.now() - began) / 1000
    const states = new Tally()
    for (const { source, fetched, failed } of outcomes) {
      states.add(failed > 0 ? 'refused' : 'fetched')
      if (source === 'good' && fetched !== 1) faults.push('the good source is not fetched')
      if (failed !== 1 && !TAKEN.has(source)) faults.push(`what ${source} was taken`)
    }
    if (secret.asked.length > 0)
      faults.push(`a redirect was followed to loopback, ${secret.asked.length} times`)
    if (seconds > FETCH_LIMIT_S) faults.push(`it took ${seconds.toFixed(0)} s`)
    if (most - before > MEMORY_LIMIT) faults.push(`it took ${Math.round(most - before)} MB`)
    for (const file of filesBelow(place)) {
      if (file === config) continue
      if (statSync(file).size > MAX_BYTES) faults.push(`a file of ${statSync(file).size} bytes`)
      else if (readFileSync(file).includes(SECRET)) faults.push('what only this machine may see is in a file')
    }
    return {
      did: `${outcomes.length} sources: ${states.toString()}; ${seconds.toFixed(1)} s, ${Math.round(most - before)} MB`,
      faults,
    }
  } finally {
    for (const { server } of [secret, good, ...origins]) server.close()
    rmSync(place, { recursive: true, force: true })
  }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

export const NETWORK: readonly Attack[] = [
  {
    name: 'networks',
    about: `a good network and ${Object.keys(behaviours(0)).length} hostile ones`,
    anyEngine: true,
    run: () => fetchAll(),
  },
]
