/**
 * What a further worker takes: resident memory of a server with five workers less that with one, by four, at the start and
 * after each worker was asked 8,000 requests. Nothing is kept of answers. Runs the compiled code (`npm run build` first):
 * `node bench/worker_memory.mjs DIR [ROUNDS]`, DIR with 1,200 buoys.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const [dir, rounds = '3'] = process.argv.slice(2)
const WORKERS = [1, 5]
const BUOYS = 1200
const REQUESTS_A_WORKER = 8000
const CONNECTIONS_A_WORKER = 8
const SETTLES_MS = 3000

const folder = mkdtempSync(join(tmpdir(), 'groundswell-memory-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const keys = join(folder, 'keys.json')
const issue = ['keys', 'issue', '--keys', keys, '--owner', 'bench', '--quota', String(2 ** 30), '--json']
const { key } = JSON.parse(spawnSync(process.execPath, [CLI, ...issue], { encoding: 'utf8' }).stdout)

/** 0 to 1, the same in each run. */
let seed = 7
const random = () => (seed = (seed * 1_103_515_245 + 12_345) & 0x7fffffff) / 0x7fffffff
const id = () => 1 + Math.floor(BUOYS * random())
const place = () => [(random() * 140 - 70).toFixed(2), (random() * 360 - 180).toFixed(2)]
const at = ([lat, lng]) => `lat=${lat}&lng=${lng}`
const KINDS = [
  () => `/buoys/${id()}`,
  () => `/buoys/last_readings?ids=${id()},${id()},${id()}`,
  () => `/buoys?page=${1 + Math.floor(20 * random())}`,
  () => `/buoys/${id()}/readings?per_page=${random() < 0.5 ? 20 : 100}&page=${1 + Math.floor(20 * random())}`,
  () => `/buoys/${id()}/readings/chart`,
  () => `/buoys/${id()}/readings/series?metric=significient_height`,
  () => `/buoys/nearest?${at(place())}&limit=20&max_distance=5000`,
  () => `/buoys?near=${place().join(',')}&radius=5000`,
  () =>
    `/buoys/search?query=${'abcdefghijklmnoprst'[Math.floor(19 * random())]}${'aeiou'[Math.floor(5 * random())]}`,
  () => `/conditions?${at(place())}`,
  () => '/buoys/map',
  () => '/countries',
  () => '/buoys/satellites',
  () => '/buoys/satellite_passes',
]

function ask(port, agent, path) {
  return new Promise((resolve, reject) => {
    const options = { port, agent, path: `/v2${path}`, headers: { authorization: `Bearer ${key}` } }
    request(options, (response) => response.resume().on('end', resolve))
      .on('error', reject)
      .end()
  })
}

const residentMiB = (pid) =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024

async function measure(workers) {
  const options = [
    '--port=0',
    '--admin-port=off',
    `--workers=${workers}`,
    '--answer-cache=0',
    '--drain-time=0',
  ]
  const server = spawn(process.execPath, [CLI, 'serve', `--snapshots=${dir}`, `--keys=${keys}`, ...options])
  let said = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text) => (said += text))
  try {
    let port
    while ((port = /listening on http:\/\/[^:]+:(\d+)/.exec(said)?.[1]) === undefined) {
      if (server.exitCode !== null) throw new Error(said)
      await sleep(100)
    }
    await sleep(SETTLES_MS)
    const idle = residentMiB(server.pid)
    let left = workers * REQUESTS_A_WORKER
    const client = async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 })
      while (left-- > 0) await ask(port, agent, KINDS[left % KINDS.length]())
      agent.destroy()
    }
    await Promise.all(Array.from({ length: workers * CONNECTIONS_A_WORKER }, client))
    return { idle, asked: residentMiB(server.pid) }
  } finally {
    server.kill()
    if (server.exitCode === null) await new Promise((resolve) => server.once('exit', resolve))
  }
}

const rows = []
for (let round = 0; round < Number(rounds); round++) {
  const [one, more] = [await measure(WORKERS[0]), await measure(WORKERS[1])]
  const aWorker = (when) => Number(((more[when] - one[when]) / (WORKERS[1] - WORKERS[0])).toFixed(1))
  rows.push({ 'idle, MiB a worker': aWorker('idle'), 'asked, MiB a worker': aWorker('asked') })
}
console.table(rows)
