/**
 * The load generators: wrk for as much as a server takes, h2load for a constant rate. Both run pinned beside
 * the servers.
 */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { RawClient } from './raw.ts'
import { BENCH_DATA } from './revisions.ts'
import { cpuMicros, type Server } from './servers.ts'
import { quantile } from './statistics.ts'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url))
export const CONNECTIONS = 64
/**
 * A server that thousands of connections saturate makes some wait longer than the 2 s after which `wrk`
 * counts a failure.
 */
const PATIENCE_S = 30

/** Folder of the requests to ask. Another run beside this one has lists of its own. */
export const LISTS = join(BENCH_DATA, `requests-${process.pid}`)
process.once('exit', () => rmSync(LISTS, { recursive: true, force: true }))

/** A tool of the machine: null when it is there, else how it comes there. */
export function missingTool(command: string, debianPackage: string): string | null {
  const { status } = spawnSync('sh', ['-c', 'command -v "$1"', 'sh', command])
  return status === 0 ? null : `${command} is not installed: apt-get install ${debianPackage}`
}

export interface Load {
  /** File of paths, one a line. */
  file: string
  headers: readonly string[]
  /** Requests that a connection sends together. */
  depth: number
  seconds: number
  cores?: string
  /** 64 where it is left out. */
  connections?: number
  /** Share of the requests that are answered with 4xx, as is right for them; none where it is left out. */
  refused?: number
  /** Speaks TLS, and takes any certificate. */
  isSecure?: boolean
  /** Other processes whose CPU time counts, too, as those behind a proxy. */
  pids?: readonly number[]
}

export interface Sample {
  /** Requests a second. */
  rate: number
  /** The server's CPU time for a request, µs. */
  cpu: number
  /** The same of the other processes whose CPU time counts. */
  othersCpu: number
  /** Share of one core that the server used. */
  busy: number
  /** Bytes on the wire of an answer, head included. */
  bytes: number
  /** Latency in ms; of 16 requests together that of the last. */
  p50: number
  p99: number
}

/** A server refused what it answers when it is asked by fewer: its limits, not its speed, were measured. */
export class RefusedError extends Error {}

/**
 * Asks as much as the server takes. @throws Error when a request fails: what is measured then is not the
 * answer.
 */
export async function saturate(server: Server, load: Load): Promise<Sample> {
  const pids = [server.pid, ...(load.pids ?? [])]
  const before = pids.map((pid) => cpuMicros(pid))
  const { stdout } = await run(
    'taskset',
    [
      '-c',
      load.cores ?? '1',
      'wrk',
      '-t',
      '1',
      '-c',
      String(load.connections ?? CONNECTIONS),
      '-d',
      `${load.seconds}s`,
      '--timeout',
      `${PATIENCE_S}s`,
      '-s',
      SCRIPT,
      `${load.isSecure === true ? 'https' : 'http'}://127.0.0.1:${server.port}`,
      '--',
      load.file,
      String(load.depth),
      ...load.headers,
    ],
    { timeout: (load.seconds + 60) * 1000 },
  )
  const [cpu, ...others] = pids.map((pid, i) => cpuMicros(pid) - before[i])
  const found = /RESULT (.*)/.exec(stdout)
  if (found === null) throw new Error(`wrk said nothing of its result:\n${stdout.slice(0, 500)}`)
  const { requests, micros, bytes, failed, refused, p50, p99 } = JSON.parse(found[1]) as {
    [name: string]: number
  }
  // The share of a part of the list is not quite that of all of it.
  const mostRefused = load.refused === undefined ? 0 : 10 + 2 * load.refused * requests
  const ended = server.ended()
  if (ended !== null)
    throw new Error(`${server.name} ended with ${ended} under load\n${server.output().slice(-1000)}`)
  if (failed > 0 || refused > mostRefused) {
    const example = refused > mostRefused ? await firstRefused(server, load) : ''
    const what = `${failed} of ${requests} requests to ${server.name} failed, ${refused} were refused${example}`
    throw failed > 0 ? new Error(what) : new RefusedError(what)
  }
  return {
    rate: (requests / micros) * 1e6,
    cpu: cpu / requests,
    othersCpu: others.reduce((sum, one) => sum + one, 0) / requests,
    busy: cpu / micros,
    bytes: bytes / requests,
    p50: p50 / 1000,
    p99: p99 / 1000,
  }
}

/** Requests that are asked once more to find out which are refused. */
const EXAMPLES = 2000

/** Says which request of a list is refused when it is asked alone, and with what. */
async function firstRefused(server: Server, { file, headers, isSecure }: Load): Promise<string> {
  if (isSecure === true) return ''
  const client = new RawClient(server.port, headers)
  try {
    for (const line of readFileSync(file, 'utf8').split('\n').slice(0, EXAMPLES)) {
      const [path] = line.split('\t', 1)
      if (path === '') continue
      const { status, body } = await client.get(path)
      if (status >= 400) return `, for instance ${path} with ${status}: ${body.toString().slice(0, 200)}`
    }
  } finally {
    client.close()
  }
  return '; asked one by one, none of them is'
}

export interface Latencies {
  /** Requests a second that were answered. */
  rate: number
  /** ms. */
  p50: number
  p99: number
}

/** Clients of the constant-rate load: each keeps its own beat. */
const STEADY_CLIENTS = 32

/** Asks `rate` times a second, whatever the answers take. */
export async function steady(server: Server, load: Load, rate: number): Promise<Latencies> {
  const log = join(BENCH_DATA, `h2load-${process.pid}.tsv`)
  const urls = join(BENCH_DATA, `h2load-${process.pid}.txt`)
  const paths = readFileSync(load.file, 'utf8').trimEnd().split('\n').slice(0, 10_000)
  writeFileSync(urls, paths.map((path) => `http://127.0.0.1:${server.port}${path}\n`).join(''))
  rmSync(log, { force: true })
  try {
    await run(
      'taskset',
      [
        '-c',
        load.cores ?? '1',
        'h2load',
        '--h1',
        '-t',
        '1',
        '-c',
        String(STEADY_CLIENTS),
        '-m',
        '1',
        '-D',
        String(load.seconds),
        `--rps=${Math.max(1, Math.round(rate / STEADY_CLIENTS))}`,
        ...load.headers.flatMap((header) => ['-H', header]),
        `--log-file=${log}`,
        '-i',
        urls,
      ],
      { timeout: (load.seconds + 60) * 1000, maxBuffer: 1e7 },
    )
    const took: number[] = []
    let failed = 0
    for (const line of readFileSync(log, 'utf8').split('\n')) {
      const [, status, micros] = line.split('\t')
      if (status === undefined) continue
      if (status === '200' || status === '404') took.push(Number(micros) / 1000)
      else failed++
    }
    if (failed > 0.001 * took.length) throw new Error(`${failed} requests to ${server.name} failed`)
    took.sort((a, b) => a - b)
    return { rate: took.length / load.seconds, p50: quantile(took, 0.5), p99: quantile(took, 0.99) }
  } finally {
    rmSync(log, { force: true })
    rmSync(urls, { force: true })
  }
}
