/**
 * Ordinary requests beside four clients that stream whole histories, and memory of readers that do not read.
 * Starts the compiled server (`npm run build` first) over a corpus of ten years: `node
 * bench/streams.bench.mjs DIR`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const CLI = new URL('../dist/cli.js', import.meta.url).pathname
const STREAMS = 4
/** Ordinary requests a second, one after the other by the clock and not by the answers. */
const RATE = 100
const ROUND_MS = 6000
const ROUNDS = 3
const READERS = 100
const CLIENTS = 4
const PATHS = [
  '/v2/buoys/1',
  '/v2/buoys/2/readings?per_page=20',
  '/v2/buoys/1/readings?date=2020-02-02',
  '/v2/buoys?per_page=50',
  '/v2/countries',
]
const HISTORY = '/v2/buoys/1/readings?format=csv&order=asc'

const folder = mkdtempSync(join(tmpdir(), 'groundswell-streams-'))
const keysFile = join(folder, 'keys.json')
const keys = Array.from({ length: CLIENTS }, (_, i) => {
  const args = ['keys', 'issue', '--keys', keysFile, '--owner', `c${i}`, '--quota', '100000000', '--json']
  return JSON.parse(execFileSync(process.execPath, [CLI, ...args], { encoding: 'utf8' })).key
})
const server = spawn(
  process.execPath,
  [CLI, 'serve', '--snapshots', process.argv[2], '--keys', keysFile, '--port', '0', '--host', '127.0.0.1'],
  { stdio: ['ignore', 'pipe', 'pipe'] },
)
try {
  const port = await portOf(server)
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const headers = (i) => ({ authorization: `Bearer ${keys[i % CLIENTS]}` })
  await ordinary(port, agent, headers, 2000)
  const rows = []
  for (let round = 0; round < ROUNDS; round++) {
    const alone = await ordinary(port, agent, headers, ROUND_MS)
    const streams = streaming(port, headers)
    const beside = await ordinary(port, agent, headers, ROUND_MS)
    const bytes = await streams.stop()
    rows.push({
      'alone p50, ms': alone.p50,
      'alone p99': alone.p99,
      'beside p50': beside.p50,
      'beside p99': beside.p99,
      failed: [...alone.failures, ...beside.failures].join(' '),
      'streamed, MB/s': Number((bytes / 1000 / ROUND_MS).toFixed(1)),
    })
  }
  console.table(rows)
  const before = residentOf(server.pid)
  const sockets = Array.from({ length: READERS }, (_, i) => notReading(port, keys[i % CLIENTS]))
  let most = 0
  for (let i = 0; i < 16; i++) {
    await wait(250)
    most = Math.max(most, residentOf(server.pid))
  }
  const open = sockets.filter((socket) => !socket.destroyed).length
  for (const socket of sockets) socket.destroy()
  console.log(
    `${open} of ${READERS} readers that do not read: ${(before / 1e6).toFixed(0)} MB before, at most ${(most / 1e6).toFixed(0)} MB, ` +
      `${((most - before) / 1e6 / READERS).toFixed(3)} MB a reader`,
  )
} finally {
  server.kill('SIGTERM')
  rmSync(folder, { recursive: true, force: true })
}

function portOf(child) {
  return new Promise((resolve, reject) => {
    let text = ''
    const look = (chunk) => {
      text += String(chunk)
      const found = /127\.0\.0\.1:(\d+)/.exec(text)
      if (found !== null) resolve(Number(found[1]))
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    child.once('exit', () => reject(new Error(`the server ended: ${text}`)))
  })
}

function residentOf(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024
}

async function ordinary(port, agent, headers, ms) {
  const took = []
  const failures = []
  const asked = []
  const began = performance.now()
  for (let i = 0; performance.now() - began < ms; i++) {
    const due = began + (i * 1000) / RATE
    if (due > performance.now()) await wait(due - performance.now())
    asked.push(
      new Promise((resolve) => {
        const start = performance.now()
        get(
          { host: '127.0.0.1', port, path: PATHS[i % PATHS.length], headers: headers(i), agent },
          (answer) => {
            if (answer.statusCode !== 200) failures.push(answer.statusCode)
            answer.resume().once('end', () => {
              took.push(performance.now() - start)
              resolve()
            })
          },
        ).once('error', ({ code }) => {
          failures.push(code)
          resolve()
        })
      }),
    )
  }
  await Promise.all(asked)
  took.sort((a, b) => a - b)
  const at = (share) => Number(took[Math.floor((took.length - 1) * share)].toFixed(2))
  return { p50: at(0.5), p99: at(0.99), failures }
}

/** Clients that read one history after the other. */
function streaming(port, headers) {
  const over = new AbortController()
  let bytes = 0
  const done = Array.from({ length: STREAMS }, async (_, i) => {
    while (!over.signal.aborted) {
      await new Promise((resolve) => {
        const asked = get({ host: '127.0.0.1', port, path: HISTORY, headers: headers(i) }, (answer) => {
          answer.on('data', (chunk) => {
            bytes += chunk.length
            if (over.signal.aborted) asked.destroy()
          })
          answer.once('close', resolve)
        }).once('error', resolve)
      })
    }
  })
  return {
    async stop() {
      over.abort()
      await Promise.all(done)
      return bytes
    },
  }
}

function notReading(port, key) {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(`GET ${HISTORY} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`)
  socket.pause()
  return socket
}
