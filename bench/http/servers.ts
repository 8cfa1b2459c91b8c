/**
 * The processes that are measured: started on core 0, their CPU time read from the scheduler, ended by their
 * id; and `wrk`, which asks them from core 1.
 */
import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { shippedNodeOptions } from '../../tools/node_options.ts'

/** Loading 1.9 GB takes two seconds, a peer takes a minute over its data. */
const START_MS = 300_000
const STOP_MS = 10_000
const CONNECTIONS = 64

export interface Server {
  name: string
  port: number
  pid: number
  /** Says something to a process that was started with a channel; resolves to its answer. */
  tell(message: object): Promise<unknown>
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()

/** Ends whatever still runs. */
const stopAll = async (): Promise<void> => void (await Promise.all([...running].map(end)))

/** Runs a bench, and ends its servers after it, also upon a signal. */
export async function stoppingAll(bench: () => Promise<void>): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stopAll().then(() => process.exit(130)))
  try {
    await bench()
  } finally {
    await stopAll()
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(impatient)
}

/** Keeps this process on the core of the load generator. @throws Error where the machine does not let it */
export function leaveServersCore(): void {
  const { status } = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', '1', String(process.pid)])
  if (status !== 0) throw new Error('the bench needs Linux, taskset (util-linux) and two cores')
}

/**
 * Starts a program on core 0. It is ready when its output shows `ready`, whose first group is the port where
 * `port` is left out. @throws Error with the output of a program that does not get ready
 */
export async function startServer(
  name: string,
  command: readonly string[],
  { ready, port, hasChannel = false }: { ready: RegExp; port?: number; hasChannel?: boolean },
): Promise<Server> {
  const child = spawn('taskset', ['-c', '0', ...command], {
    stdio: ['ignore', 'pipe', 'pipe', hasChannel ? 'ipc' : 'ignore'],
  })
  running.add(child)
  child.once('close', () => running.delete(child))
  let output = ''
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${name} ${why}\n${output.slice(-2000)}`))
    const slow = setTimeout(() => fail('did not get ready'), START_MS)
    const look = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-10_000)
      const found = ready.exec(output)
      if (found === null) return
      clearTimeout(slow)
      resolve(found)
    }
    for (const stream of [child.stdout, child.stderr]) stream!.on('data', look)
    child.once('error', (error) => fail(error.message))
    child.once('close', (code, signal) => {
      clearTimeout(slow)
      fail(`ended with ${code ?? signal}`)
    })
  })
  return {
    name,
    port: port ?? Number(match[1]),
    pid: child.pid!,
    tell: (message) =>
      new Promise((resolve) => {
        child.once('message', resolve)
        child.send(message)
      }),
    stop: () => end(child),
  }
}

const SETTINGS =
  '--port 0 --admin-port off --workers 1 --anonymous-quota 0 --drain-time 0 --engine uws'.split(' ')

/** The product with one worker and a key that every call carries. `cli` is its compiled command line. */
export const startProduct = (
  cli: string,
  snapshots: string,
  keysFile: string,
  more: readonly string[],
): Promise<Server> => {
  const folders = ['--snapshots', snapshots, '--keys', keysFile]
  return startServer(
    'groundswell',
    [process.execPath, ...shippedNodeOptions(), cli, 'serve', ...SETTINGS, ...folders, ...more],
    { ready: /listening on http:\/\/127\.0\.0\.1:(\d+)/ },
  )
}

/** A key with all the quota there is, as a header. @throws Error with what the product says */
export function issueKey(cli: string, keysFile: string): string {
  const issue = [
    'keys',
    'issue',
    '--keys',
    keysFile,
    '--owner',
    'bench',
    '--quota',
    String(2 ** 30),
    '--json',
  ]
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...issue], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`no key: ${stderr}`)
  return `Authorization: Bearer ${(JSON.parse(stdout) as { key: string }).key}`
}

/** Tells the ceiling what it answers from now on: status line and headers, and so many bytes. */
export const startCeiling = (): Promise<Server> =>
  startServer(
    'ceiling',
    [process.execPath, ...shippedNodeOptions(), fileURLToPath(new URL('ceiling.mjs', import.meta.url))],
    { ready: /listening on (\d+)/, hasChannel: true },
  )

/**
 * CPU time of a process and of those that it started, all their threads, in µs, as the scheduler counts it.
 */
export function cpuMicros(pid: number): number {
  let nanos = 0
  try {
    for (const task of readdirSync(`/proc/${pid}/task`)) {
      const at = `/proc/${pid}/task/${task}`
      nanos += Number(readFileSync(`${at}/schedstat`, 'utf8').split(' ', 1)[0])
      const children = readFileSync(`${at}/children`, 'utf8').trim()
      if (children !== '') for (const child of children.split(' ')) nanos += 1000 * cpuMicros(Number(child))
    }
  } catch {
    // It ended between two looks: so did its share.
  }
  return nanos / 1000
}

export interface Sample {
  /** Requests a second. */
  rate: number
  /** The server's CPU time for a request, µs. */
  cpu: number
}

/**
 * Asks the paths of a file in turn, as often as the server answers, over 64 connections. @throws Error where
 * requests fail or are refused
 */
export async function saturate(
  server: Server,
  file: string,
  header: string,
  seconds: number,
): Promise<Sample> {
  const before = cpuMicros(server.pid)
  const script = fileURLToPath(new URL('wrk.lua', import.meta.url))
  const load = ['-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, '--timeout', '30s', '-s', script]
  const command = ['-c', '1', 'wrk', ...load, `http://127.0.0.1:${server.port}`, '--', file, header]
  const { stdout } = await promisify(execFile)('taskset', command)
  const cpu = cpuMicros(server.pid) - before
  const found = /RESULT (.*)/.exec(stdout)
  if (found === null) throw new Error(`wrk said nothing of its result:\n${stdout.slice(0, 500)}`)
  const { requests, micros, failed, refused } = JSON.parse(found[1]) as { [name: string]: number }
  if (failed + refused > 0)
    throw new Error(`${server.name}: of ${requests} requests ${failed} failed and ${refused} were refused`)
  return { rate: (requests / micros) * 1e6, cpu: cpu / requests }
}

export function median(values: readonly number[]): number {
  const ordered = values.toSorted((a, b) => a - b)
  const middle = ordered.length >> 1
  return ordered.length % 2 === 1 ? ordered[middle] : (ordered[middle - 1] + ordered[middle]) / 2
}
