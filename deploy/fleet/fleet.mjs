#!/usr/bin/env node
// A fleet on loopback: a builder, a static file server, three replicas and a balancer, for trying and for the
// tests.
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BALANCERS, REPLICA_HOSTS, SHIPPED_PORTS, startBalancer } from './balancers.mjs'
import { serveFiles } from './files.mjs'
import { quantile, startLoad } from './load.mjs'
import { Program, runWell, stopAll } from './processes.mjs'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const HELP = `Usage: node deploy/fleet/fleet.mjs [options]

Starts a builder, a static file server, three replicas (serve --from) and a balancer on loopback, says what to
ask, and runs until Ctrl-C. With --rolling it restarts the replicas one by one under load instead, reports
what clients saw, and ends with code 1 if a request failed.

  --balancer NAME    ${Object.keys(BALANCERS).join(', ')} (default haproxy)
  --port PORT        of the balancer (default ${SHIPPED_PORTS.listen}); 0 takes free ones for all
  --api-port PORT    of each replica, on ${REPLICA_HOSTS.join(', ')} (default ${SHIPPED_PORTS.api})
  --admin-port PORT  of each replica (default ${SHIPPED_PORTS.admin})
  --files-port PORT  of the file server (default 8090)
  --engine NAME      of the replicas: auto, uws, node (default auto)
  --drain-time TIME  of the replicas (default 3s)
  --every SECONDS    between two builds (default 60; 0 builds once)
  --minutes N        after which it ends by itself (default 60)
  --rolling SIGNAL   a rolling restart under load, by SIGTERM or SIGKILL; by SIGTERM+SIGKILL or SIGTERM+SIGTERM,
                     the second half a second after the first; or by several of these with commas, in turn
  --rate N           requests a second of that (default 400)
  --connections N    kept connections of that (default 32)
  --redis            the replicas share quotas through a Redis, which keeps its data; with --rolling it is
                     killed and started again, too, in the middle of each restart (Debian: redis-server)
  --restarts N       restarts in all, one replica at a time (default 3)
  --json             the report as JSON
`
const SIGNALS = new Set(['SIGTERM', 'SIGKILL', 'SIGTERM+SIGKILL', 'SIGTERM+SIGTERM'])
const SECOND_SIGNAL_MS = 500
const NUMBER = /^\d+$/
const MS_PER_S = 1000
const MS_PER_MINUTE = 60_000
const LOOK_MS = 50
const READY_MS = 120_000
/** Load before the first restart, and behind the last one. */
const CALM_MS = 1500
/** After a replica is ready: two checks of HAProxy and Caddy, and nginx's `fail_timeout`. */
const SETTLE_MS = 2500
/** Between the end of Redis and its next start. */
const REDIS_AWAY_MS = 1000
/** Half hours of the demo's data that the builder goes through, so that each build has something new. */
const FIRST_AS_OF = Date.UTC(2026, 2, 1)
const STEP_MS = 1_800_000

function readOptions() {
  const text = (fallback) => ({ type: 'string', default: fallback })
  const { values } = parseArgs({
    options: {
      balancer: text('haproxy'),
      port: text(String(SHIPPED_PORTS.listen)),
      'api-port': text(String(SHIPPED_PORTS.api)),
      'admin-port': text(String(SHIPPED_PORTS.admin)),
      'files-port': text('8090'),
      engine: text('auto'),
      'drain-time': text('3s'),
      every: text('60'),
      minutes: text('60'),
      rolling: text(''),
      rate: text('400'),
      connections: text('32'),
      restarts: text('3'),
      redis: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (!(values.balancer in BALANCERS)) {
    throw new Error(`--balancer: ${Object.keys(BALANCERS).join(', ')}, not ${String(values.balancer)}`)
  }
  if (values.rolling !== '' && !values.rolling.split(',').every((each) => SIGNALS.has(each))) {
    throw new Error(
      `--rolling: ${[...SIGNALS].join(', ')} or several with commas, not ${String(values.rolling)}`,
    )
  }
  const numbers = {}
  for (const name of [
    'port',
    'api-port',
    'admin-port',
    'files-port',
    'every',
    'minutes',
    'rate',
    'connections',
    'restarts',
  ]) {
    if (!NUMBER.test(values[name])) throw new Error(`--${name}: a whole number, not ${String(values[name])}`)
    numbers[name] = Number(values[name])
  }
  for (const name of ['minutes', 'rate', 'connections', 'restarts']) {
    if (numbers[name] === 0) throw new Error(`--${name}: a number above zero`)
  }
  return { ...values, ...numbers }
}

/** A port that is free on all addresses of the fleet. */
async function freePort() {
  for (;;) {
    const port = await new Promise((resolve, reject) => {
      const server = createServer()
      server.once('error', reject)
      // Of the addresses, all at once.
      server.listen(0, '0.0.0.0', () => {
        const { port } = server.address()
        server.close(() => resolve(port))
      })
    })
    if (!Object.values(SHIPPED_PORTS).includes(port)) return port
  }
}

async function portsOf(options) {
  if (options.port !== 0) {
    const { port, 'api-port': api, 'admin-port': admin, 'files-port': files } = options
    return { listen: port, api, admin, files }
  }
  const ports = {}
  for (const name of ['listen', 'api', 'admin', 'files']) ports[name] = await freePort()
  return ports
}

class Fleet {
  #options
  #ports
  #place
  #files = null
  #builds = 0
  #builder = null
  #replicas = []
  #redis = null
  #note
  key = ''
  /** Set by whoever stops it; programs that end from then on do so as they should. */
  isStopping = false
  /** Resolves with the reason when a program ends that should not. */
  failed
  #fail

  constructor(options, ports, note) {
    this.#options = options
    this.#ports = ports
    this.#note = note
    this.#place = mkdtempSync(join(tmpdir(), 'groundswell-fleet-'))
    this.failed = new Promise((resolve) => (this.#fail = resolve))
  }

  get base() {
    return `http://127.0.0.1:${this.#ports.listen}/v2`
  }

  async start() {
    const { balancer, every } = this.#options
    this.#note('building the first snapshot')
    await this.#build()
    await this.#issueKey()
    this.#files = await serveFiles(join(this.#place, 'built'), this.#ports.files)
    this.#note(`file server on http://127.0.0.1:${this.#ports.files}/`)
    if (this.#options.redis) await this.startRedis()
    await Promise.all(REPLICA_HOSTS.map((_, i) => this.startReplica(i)))
    const program = await startBalancer(balancer, this.#place, this.#ports)
    this.#watch(program)
    await this.#answers()
    this.#note(`${balancer} on ${this.base} (process ${program.pid})`)
    if (every > 0) this.#builder = setInterval(() => void this.#buildAgain(), every * MS_PER_S)
  }

  async #build() {
    const asOf = new Date(FIRST_AS_OF + this.#builds++ * STEP_MS).toISOString()
    const built = join(this.#place, 'built')
    await runWell('builder', process.execPath, [
      CLI,
      'build',
      '--source',
      'demo:scale,buoys=60,days=30',
      '--out',
      built,
      '--as-of',
      asOf,
    ])
  }

  async #buildAgain() {
    if (this.isStopping) return
    try {
      await this.#build()
      this.#note('published a new snapshot')
    } catch (error) {
      if (!this.isStopping) this.#note(`the builder failed: ${error.message}`)
    }
  }

  async #issueKey() {
    const keys = join(this.#place, 'keys.json')
    const issue = ['keys', 'issue', '--keys', keys, '--owner', 'fleet', '--quota', '1000000', '--json']
    this.key = JSON.parse(await runWell('keys', process.execPath, [CLI, ...issue])).key
  }

  /** Resolves when Redis takes calls. Its data outlives it. */
  async startRedis() {
    this.#ports.redis ??= await freePort()
    const { redis: port } = this.#ports
    const data = ['--dir', this.#place, '--appendonly', 'yes', '--save', '']
    const args = ['--port', String(port), '--bind', '127.0.0.1', ...data]
    const program = new Program('Redis', 'redis-server', args, { installs: 'redis-server' })
    this.#redis = program
    await program.says(/Ready to accept connections/)
    this.#watch(program)
    this.#note(`Redis on redis://127.0.0.1:${port}/0 (process ${program.pid})`)
  }

  /** Ends Redis by SIGKILL, and starts it again after a second; nothing where there is none. */
  async restartRedis() {
    if (this.#redis === null) return
    this.#redis.isExpected = true
    await this.#redis.stop('SIGKILL')
    this.#note('Redis was killed')
    await wait(REDIS_AWAY_MS)
    await this.startRedis()
  }

  /** What the replicas say of their quotas; nothing where each counts alone. */
  async quotas() {
    if (this.#redis === null) return []
    const replies = REPLICA_HOSTS.map(async (host) => fetch(`http://${host}:${this.#ports.admin}/status`))
    return Promise.all(replies.map(async (reply) => (await (await reply).json()).quotas))
  }

  /** Resolves when the replica is ready. */
  async startReplica(i) {
    const host = REPLICA_HOSTS[i]
    const { api, admin, files } = this.#ports
    // Each counts for itself, beside a keys file of its own.
    const keys = join(this.#place, `keys-${i + 1}.json`)
    if (!existsSync(keys)) copyFileSync(join(this.#place, 'keys.json'), keys)
    const program = new Program(`replica ${i + 1}`, process.execPath, [
      CLI,
      'serve',
      `--from=http://127.0.0.1:${files}/`,
      '--poll=2s',
      `--snapshots=${join(this.#place, `replica-${i + 1}`)}`,
      `--keys=${keys}`,
      `--host=${host}`,
      `--port=${api}`,
      `--admin-host=${host}`,
      `--admin-port=${admin}`,
      `--engine=${this.#options.engine}`,
      `--drain-time=${this.#options['drain-time']}`,
      '--workers=1',
      '--anonymous-quota=0',
      '--trusted-proxy=127.0.0.1',
      ...(this.#redis === null ? [] : [`--quota-store=redis://127.0.0.1:${this.#ports.redis}/0`]),
    ])
    this.#replicas[i] = program
    await program.says(/listening on /)
    await this.#until(async () => (await fetch(`http://${host}:${admin}/readyz`)).ok, program)
    this.#watch(program)
    this.#note(`replica ${i + 1} on http://${host}:${api}/v2, admin port ${admin} (process ${program.pid})`)
  }

  /** Ends a replica by a signal, and starts it again. */
  async restartReplica(i, signal) {
    const program = this.#replicas[i]
    program.isExpected = true
    const began = performance.now()
    const [first, second] = signal.split('+')
    const again = setTimeout(() => second !== undefined && program.signal(second), SECOND_SIGNAL_MS)
    const end = await program.stop(first)
    clearTimeout(again)
    this.#note(
      `replica ${i + 1} ended with ${end}, ${((performance.now() - began) / MS_PER_S).toFixed(1)} s after ${signal}`,
    )
    if (signal === 'SIGTERM' && end !== 0)
      throw new Error(`${program.name} ended with ${end}\n${program.output}`)
    await this.startReplica(i)
  }

  #watch(program) {
    void program.ended.then((end) => {
      if (!this.isStopping && program.isExpected !== true) {
        this.#fail(`${program.name} ended with ${end}\n${program.output}`)
      }
    })
  }

  /** Resolves when the balancer hands out answers of replicas. */
  #answers() {
    return this.#until(async () => (await fetch(`${this.base}/buoys/nearest?lat=43.5&lng=-1.6`)).ok)
  }

  async #until(holds, program = null) {
    for (const end = performance.now() + READY_MS; performance.now() < end; await wait(LOOK_MS)) {
      if (await holds().catch(() => false)) return
      if (program !== null && program.end !== null) break
    }
    throw new Error(`${program?.name ?? 'the balancer'} does not become ready\n${program?.output ?? ''}`)
  }

  async stop() {
    this.isStopping = true
    clearInterval(this.#builder)
    await stopAll()
    this.#files?.closeAllConnections()
    this.#files?.close()
    rmSync(this.#place, { recursive: true, force: true })
  }
}

/** Restarts the replicas one by one under load. Resolves to what clients saw. */
async function rolling(fleet, { rolling: signal, rate, connections, restarts, balancer }) {
  const signals = signal.split(',')
  const headers = [`Authorization: Bearer ${fleet.key}`]
  const list = await fetch(`${fleet.base}/buoys?active_only=false&per_page=50`, {
    headers: { authorization: `Bearer ${fleet.key}` },
  })
  const { data } = await list.json()
  const paths = data.buoys.flatMap(({ id }, i) => [
    `/v2/buoys/${id}`,
    `/v2/buoys/nearest?lat=${(i * 3) % 60}&lng=${(i * 7) % 180}&max_distance=20000&limit=3`,
    `/v2/buoys?active_only=false&per_page=20&page=${1 + (i % 3)}`,
  ])
  const load = startLoad({ port: Number(new URL(fleet.base).port), paths, headers, rate, connections })
  try {
    await wait(CALM_MS)
    for (let i = 0; i < restarts; i++) {
      await Promise.all([
        fleet.restartReplica(i % REPLICA_HOSTS.length, signals[i % signals.length]),
        wait(CALM_MS).then(() => fleet.restartRedis()),
      ])
      await wait(SETTLE_MS)
    }
  } finally {
    load.end()
  }
  const { sent, answered, failed, kinds, seconds, milliseconds } = await load.stop()
  const at = (part) => Number(quantile(milliseconds, part).toFixed(1))
  return {
    balancer,
    signal,
    rate,
    connections,
    restarts,
    seconds: Number(seconds.toFixed(1)),
    sent,
    answered,
    failed,
    kinds,
    milliseconds: { p50: at(0.5), p99: at(0.99), max: at(1) },
    quotas: (await fleet.quotas()).map(({ state, replicas, calls, requests }) => ({
      state,
      replicas,
      calls,
      ...requests,
    })),
  }
}

function greet(fleet, minutes) {
  const { base, key } = fleet
  return `
Ask it:
  curl '${base}/buoys/nearest?lat=43.5&lng=-1.6'
  curl -H 'Authorization: Bearer ${key}' '${base}/buoys?per_page=3'
${REPLICA_HOSTS.map((host) => `  curl 'http://${host}:${fleet.adminPort}/status'`).join('\n')}
The header X-Snapshot-Id of an answer names the snapshot. Stop a replica by its process id, and ask on.
Ctrl-C ends all of it; after ${minutes} minutes it ends by itself.
`
}

async function main() {
  const options = readOptions()
  if (options.help) {
    process.stdout.write(HELP)
    return
  }
  if (!existsSync(CLI)) throw new Error(`${CLI} is missing: npm run build makes it`)
  const note = (line) => process.stderr.write(`${line}\n`)
  const ports = await portsOf(options)
  const fleet = new Fleet(options, ports, note)
  fleet.adminPort = ports.admin
  let signals = 0
  const stopped = new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
      process.on(signal, () => {
        if (++signals === 1) resolve({ code: 0 })
        // Told twice, it waits for nobody.
        else void stopAll('SIGKILL')
      })
    }
  })
  const failed = fleet.failed.then((why) => ({ code: 1, why }))
  const late = new Promise((resolve) => {
    const why = options.rolling === '' ? null : `it took longer than ${options.minutes} minutes`
    setTimeout(() => resolve({ code: why === null ? 0 : 1, why }), options.minutes * MS_PER_MINUTE).unref()
  })
  const work = async () => {
    await fleet.start()
    if (options.rolling === '') {
      process.stdout.write(greet(fleet, options.minutes))
      return new Promise(() => {})
    }
    const report = await rolling(fleet, options)
    process.stdout.write(`${options.json ? JSON.stringify(report) : reportText(report)}\n`)
    return { code: report.failed === 0 && report.answered > 0 ? 0 : 1 }
  }
  const worked = work().catch((error) => ({ code: 1, why: error.message }))
  const { code, why = null } = await Promise.race([worked, stopped, failed, late])
  if (why !== null) note(`fleet: ${why}`)
  await fleet.stop()
  process.exit(code)
}

function reportText({
  balancer,
  signal,
  rate,
  connections,
  restarts,
  seconds,
  sent,
  answered,
  failed,
  kinds,
  milliseconds,
  quotas,
}) {
  const { p50, p99, max } = milliseconds
  const causes = Object.entries(kinds).map(([kind, count]) => `  ${count} × ${kind}`)
  return [
    `${restarts} restarts by ${signal} behind ${balancer}, ${rate} requests a second over ${connections} kept connections, ${seconds} s:`,
    `${sent} sent, ${answered} answered, ${failed} failed; ${p50} ms median, ${p99} ms p99, ${max} ms at most`,
    ...causes,
    ...quotas.map((said) => `  quotas: ${JSON.stringify(said)}`),
  ].join('\n')
}

await main().catch((error) => {
  process.stderr.write(`fleet: ${error.message}\n`)
  process.exit(2)
})
