/**
 * Several real servers that share quotas through one Redis, and clients that ask them for more than the
 * quota.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { Agent, request as httpRequest } from 'node:http'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { issueKey } from '../../src/access/keys-file.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const START_MS = 300_000
const STOP_MS = 15_000
const PATH = '/v2/countries'
const SOCKETS = 64
/** A run must not see two hours. */
const LEAST_REST_S = 120

export interface FleetServer {
  readonly port: number
  readonly adminPort: number
  readonly process: ChildProcess
  output(): string
}

/** How a run shares out its requests: the number of the server for a request at a share of the run's time. */
export type Demand = (share: number, request: number, servers: number) => number

export const DEMANDS = {
  even: (_share, request, servers) => request % servers,
  /** Nine in ten of one server, two thirds of the rest of another. */
  skewed: (_share, request, servers) => {
    const at = (request * 7919) % 100
    return at < 90 ? 0 : at < 96 ? 1 % servers : at < 99 ? 2 % servers : request % servers
  },
  /** Nine in ten of one server, in each quarter of the run of another. */
  moving: (share, request, servers) =>
    request % 10 < 9 ? (Math.floor(share * 4) * 5) % servers : request % servers,
} satisfies { [name: string]: Demand }

export interface Run {
  quota: number
  /** A key of that quota, a new one without it. */
  key?: string
  requests: number
  seconds: number
  demand: Demand
  /** Called once when a share of the requests was sent. */
  events?: readonly { at: number; happen: () => unknown }[]
}

/** What one run saw. Times are milliseconds. */
interface RunRecord {
  counts: Counts
  took: number[]
}

interface Counts {
  admitted: number
  refused: number
  /** 503. */
  unavailable: number
  /** Other statuses, and calls without an answer. */
  failed: number
}

export interface Outcome extends Counts {
  /** Milliseconds, of all calls. */
  latency: { p50: number; p99: number; max: number }
}

interface QuotaStatus {
  state: string
}

export class QuotaFleet {
  readonly servers: FleetServer[] = []
  readonly keysFile: string
  readonly #snapshots: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS })
  readonly #issued: { quota: number; key: string }[] = []
  #keys = 0
  #started = 0

  /** `quotas`: of keys that are issued before any server starts. */
  constructor(folder: string, snapshots: string, quotas: readonly number[] = [1]) {
    this.keysFile = join(folder, 'keys.json')
    this.#snapshots = snapshots
    for (const quota of quotas) this.#issued.push({ quota, key: this.#issue(quota) })
  }

  /** Starts servers side by side, each with `args`. Resolves when all listen. */
  async start(count: number, args: readonly string[]): Promise<void> {
    const begun = Array.from({ length: count }, () => this.#startOne(args))
    for (const server of begun) this.servers.push(await server)
  }

  async #startOne(args: readonly string[]): Promise<FleetServer> {
    const usual = ['--port=0', '--admin-port=0', '--workers=2', '--anonymous-quota=0', '--drain-time=1s']
    // Each counts in a usage file of its own, beside the path that it is given.
    const keys = `${this.keysFile}.${++this.#started}`
    symlinkSync(this.keysFile, keys)
    const folders = [`--snapshots=${this.#snapshots}`, `--keys=${keys}`]
    const child = spawn(process.execPath, [CLI, 'serve', ...folders, ...usual, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let text = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    }
    const until = performance.now() + START_MS
    for (;;) {
      const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      const adminPort = /admin port on http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1]
      if (port !== undefined && adminPort !== undefined) {
        return { port: Number(port), adminPort: Number(adminPort), process: child, output: () => text }
      }
      if (child.exitCode !== null || performance.now() > until)
        throw new Error(`a server does not listen: ${text}`)
      await sleep(20)
    }
  }

  /** Ends a server by its process id. */
  async stop(server: FleetServer, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const { process: child } = server
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((resolve) => child.once('close', resolve))
    child.kill(signal)
    const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
    await ended
    clearTimeout(impatient)
  }

  async close(): Promise<void> {
    this.#agent.destroy()
    await Promise.all(this.servers.map((server) => this.stop(server, 'SIGKILL')))
  }

  /** A key that was not used yet and that every server knows. */
  async newKey(quota: number): Promise<string> {
    const at = this.#issued.findIndex((issued) => issued.quota === quota)
    if (at >= 0) return this.#issued.splice(at, 1)[0].key
    const key = this.#issue(quota)
    await sleep(1500)
    return key
  }

  #issue(quota: number): string {
    return issueKey(this.keysFile, { owner: `owner ${++this.#keys}`, quota, now: Date.now() / 1000 }).key
  }

  /** Asks for `requests` in `seconds`, none of which waits for another one. */
  async run({ quota, key: given, requests, seconds, demand, events = [] }: Run): Promise<Outcome> {
    const rest = 3600 - ((Date.now() / 1000) % 3600)
    if (rest < LEAST_REST_S) await sleep((rest + 1) * 1000)
    const key = given ?? (await this.newKey(quota))
    const counts = { admitted: 0, refused: 0, unavailable: 0, failed: 0 }
    const record: RunRecord = { counts, took: [] }
    const calls: Promise<void>[] = []
    const pending = [...events]
    const from = performance.now()
    for (let sent = 0; sent < requests;) {
      const share = Math.min(1, (performance.now() - from) / (seconds * 1000))
      while (pending.length > 0 && pending[0].at * requests <= sent) void pending.shift()!.happen()
      for (const due = Math.floor(share * requests); sent < due; sent++) {
        const request = sent
        const choose = (): FleetServer => {
          const alive = this.servers.filter(({ process: child }) => child.exitCode === null && !child.killed)
          return alive[demand(share, request, alive.length) % alive.length]
        }
        calls.push(this.#ask(choose, key, record))
      }
      await sleep(2)
    }
    await Promise.all(calls)
    const { took } = record
    took.sort((a, b) => a - b)
    const at = (share: number): number =>
      Number((took[Math.floor(share * (took.length - 1))] ?? 0).toFixed(1))
    return { ...counts, latency: { p50: at(0.5), p99: at(0.99), max: at(1) } }
  }

  async #ask(choose: () => FleetServer, key: string, { counts, took }: RunRecord): Promise<void> {
    const from = performance.now()
    const status = await this.#call(choose().port, key)
    took.push(performance.now() - from)
    if (status === 200) counts.admitted++
    else if (status === 429) counts.refused++
    else if (status === 503) counts.unavailable++
    else counts.failed++
  }

  /** Status 0 for a call without an answer. */
  #call(port: number, key: string): Promise<number> {
    return new Promise((resolve) => {
      const call = httpRequest(
        {
          agent: this.#agent,
          host: '127.0.0.1',
          port,
          path: PATH,
          headers: { authorization: `Bearer ${key}` },
        },
        (reply) => {
          reply.resume().once('end', () => resolve(reply.statusCode ?? 0))
        },
      )
      call.once('error', () => {
        // The server may close a connection that was idle just as it is used again.
        resolve(call.reusedSocket ? this.#call(port, key) : 0)
      })
      call.end()
    })
  }

  /** The `quotas` of each live server's status. */
  async statuses(): Promise<QuotaStatus[]> {
    const found: QuotaStatus[] = []
    for (const { adminPort, process: child } of this.servers) {
      if (child.exitCode !== null || child.killed) continue
      const reply = await fetch(`http://127.0.0.1:${adminPort}/status`)
      found.push(((await reply.json()) as { quotas: QuotaStatus }).quotas)
    }
    return found
  }
}
