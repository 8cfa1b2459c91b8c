/**
 * Servers that close, trickle, cut, lie and never end: a file fails by name at most, and the other files and
 * networks of the build are published.
 */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fetchSources, type FetchOutcome } from '../../../src/builder/fetch/fetch-sources.ts'
import { readConfiguration } from '../../../src/sources/configuration.ts'
import { listening } from '../../listening.ts'
import { runCli, temporaryFolder } from '../../live.ts'
import { startOrigin } from './origin.ts'

const NOW = Date.UTC(2026, 2, 27, 12) / 1000
/** Long enough for a good server on a busy machine, short for one that says nothing. */
const LIMITS = {
  connectMs: 10_000,
  answerMs: 6000,
  stallMs: 6000,
  slowestBytesPerSecond: 0,
  wholeMs: 20_000,
}
const BIG_BYTES = 9_000_000

/** A configuration with one source for each list of files. */
function configurationOf(
  t: TestContext,
  sources: { name: string; files: { url: string; to: string; maxBytes?: number }[] }[],
): string {
  const file = join(temporaryFolder(t), 'groundswell.config.json')
  const hosts = new Set(sources.flatMap(({ files }) => files.map(({ url }) => new URL(url).host)))
  writeFileSync(
    file,
    JSON.stringify({
      sources: sources.map(({ name, files }) => ({ name, kind: 'csv', folder: name, fetch: files })),
      hosts: Object.fromEntries([...hosts].map((host) => [host, { connections: 8, gapMs: 0 }])),
    }),
  )
  return file
}

function fetchAll(file: string): Promise<FetchOutcome[]> {
  return fetchSources(readConfiguration(file, {}), {
    clock: () => NOW,
    random: () => 0,
    report: { progress: () => {}, line: () => {} },
    limits: LIMITS,
    pause: () => Promise.resolve(),
  })
}

const head = (...lines: string[]): string => [...lines, '', ''].join('\r\n')

/** Ways to send a whole body that HTTP allows, each of which ends its connection. */
const CLOSING = {
  'Connection: close': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', 'Connection: close', `Content-Length: ${body.length}`))
    socket.end(body)
  },
  'HTTP/1.0 without a length': (socket, body) => {
    socket.write(head('HTTP/1.0 200 OK'))
    socket.end(body)
  },
  'chunks and Connection: close': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', 'Connection: close', 'Transfer-Encoding: chunked'))
    for (let at = 0; at < body.length; at += 100_000) {
      const piece = body.subarray(at, at + 100_000)
      socket.write(`${piece.length.toString(16)}\r\n`)
      socket.write(piece)
      socket.write('\r\n')
    }
    socket.end('0\r\n\r\n')
  },
  'a length, and an end without a word of it': (socket, body) => {
    socket.write(head('HTTP/1.1 200 OK', `Content-Length: ${body.length}`))
    socket.end(body)
  },
} satisfies { [name: string]: (socket: Socket, body: Buffer) => void }

/** A server on loopback that answers each request by hand. */
async function startRaw(t: TestContext, answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => answer(socket))
  })
  return `http://127.0.0.1:${await listening(t, server)}`
}

for (const [name, send] of Object.entries(CLOSING)) {
  test(`Big files come whole from a server that closes its connections: ${name}.`, async (t) => {
    const body = randomBytes(BIG_BYTES)
    const url = await startRaw(t, (socket) => send(socket, body))
    const files = Array.from({ length: 8 }, (_, i) => ({ url: `${url}/${i}`, to: `${i}.bin` }))
    const file = configurationOf(t, [{ name: 'net', files }])
    const [outcome] = await fetchAll(file)
    assert.deepEqual([outcome.failures, outcome.bytes], [[], 8 * BIG_BYTES])
    for (const { to } of files) assert.ok(readFileSync(join(file, '..', 'net', to)).equals(body), to)
  })
}

/** Makes what a socket says throw, as a library may, before anything else looks at it. */
const STRAY = `
import { subscribe } from 'node:diagnostics_channel'
subscribe('http.client.request.start', ({ request }) => {
  if (!request.path.includes('rows')) return
  if (request.path.includes('reject')) void Promise.reject(new Error('nobody waits'))
  else request.prependOnceListener('response', ({ socket }) => {
    socket.prependOnceListener('data', () => { throw new Error('out of turn') })
  })
})
`

test('What a library throws out of turn fails its file by name, and the others are published.', async (t) => {
  const origin = await startOrigin(t)
  // One network throws in an event, and one leaves a promise alone.
  const sources = Object.entries({ one: 'rows', two: 'rows-reject', three: 'lines' }).map(
    ([name, rows], i) => {
      const line = `${name},1,${new Date(NOW * 1000).toISOString()},1.5\n`
      const texts = {
        'sources.csv': `name,network\n${name},coastal\n`,
        'buoys.csv': `source,identifier,name,lat,lng\n${name},1,Buoy ${name},43.4,-${5 + i}\n`,
        // What throws takes several reads of a socket, so that one of them comes after the response has
        // begun.
        [`readings/${rows}.csv`]:
          rows === 'rows' ? '#'.repeat(500_000) : `source,identifier,time,significant_height\n${line}`,
      }
      const files = Object.entries(texts).map(([to, text]) => {
        origin.files.set(`/${name}/${to}`, text)
        return { url: `${origin.url}/${name}/${to}`, to }
      })
      return { name, files }
    },
  )
  const file = configurationOf(t, sources)
  origin.chance = () => (response, body) => response.writeHead(200, { connection: 'close' }).end(body)
  const preload = join(temporaryFolder(t), 'stray.mjs')
  writeFileSync(preload, STRAY)
  const out = join(temporaryFolder(t), 'snapshots')
  const { code, stderr, stdout } = await runCli(['build', `--config=${file}`, `--out=${out}`], {
    NODE_OPTIONS: `--import=${preload}`,
  })
  assert.equal(code, 0, stderr)
  assert.match(stderr, /^fault: Error out of turn/m)
  assert.match(
    stderr,
    /one: 1 of 3 files could not be fetched; \S+rows\.csv: a fault of this program \(Error/,
  )
  assert.match(stderr, /two: 1 of 3 files could not be fetched; \S+rows-reject\.csv: a fault of this program/)
  assert.match(stdout + stderr, /published snapshot/)
  assert.match(stderr, /fetched 3 of 3 files/)
})
