/**
 * The processes that are measured: started on one core, their CPU time read from the scheduler, ended by
 * their id.
 */
import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BENCH_DATA } from './data.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** Loading 1.9 GB takes two seconds, the peers take a minute over their data. */
const START_MS = 300_000
const STOP_MS = 10_000

export interface Server {
  name: string
  port: number
  pid: number
  /** What it has written so far. */
  output(): string
  /** Code or signal that it ended with; null while it runs. */
  ended(): number | NodeJS.Signals | null
  stop(): Promise<void>
}

const running = new Set<ChildProcess>()

let stopping = false

/** Ends whatever still runs, and lets nothing start any more. */
export async function stopAll(): Promise<void> {
  stopping = true
  await Promise.all([...running].map((child) => end(child)))
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  const impatient = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(impatient)
}

export interface StartOptions {
  name: string
  command: readonly string[]
  /** Cores to run on, as `taskset -c` takes them; all where it is left out. */
  cores?: string
  /** Until its output shows this it is not ready; the first group is the port. */
  ready: RegExp
  /** Where the output does not tell. */
  port?: number
  spawn?: SpawnOptions
}

/** @throws Error with the output of a server that does not get ready. */
export async function startServer({
  name,
  command,
  cores,
  ready,
  port,
  spawn: more,
}: StartOptions): Promise<Server> {
  if (stopping) throw new Error('stopped')
  const [program, ...args] = cores === undefined ? command : ['taskset', '-c', cores, ...command]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], ...more })
  running.add(child)
  child.once('close', () => running.delete(child))
  let output = ''
  const match = await new Promise<RegExpExecArray>((resolve, reject) => {
    const fail = (why: string): void => reject(new Error(`${name} ${why}\n${output.slice(-2000)}`))
    const slow = setTimeout(() => fail('did not get ready'), START_MS)
    const look = (chunk: string): void => {
      // A garbage collection a line for a minute stays below this.
      if (output.length < 20_000_000) output += chunk
      const found = ready.exec(output)
      if (found === null) return
      clearTimeout(slow)
      resolve(found)
    }
    child.stdout?.setEncoding('utf8').on('data', look)
    child.stderr?.setEncoding('utf8').on('data', look)
    child.once('error', (error) => fail(error.message))
    child.once('close', (code) => {
      clearTimeout(slow)
      fail(`ended with ${code}`)
    })
  })
  return {
    name,
    port: port ?? Number(match[1]),
    pid: child.pid!,
    output: () => output,
    ended: () => child.exitCode ?? child.signalCode,
    stop: () => end(child),
  }
}

/** CPU time of a process and those it started, all of their threads, in µs, as the scheduler counts it. */
export function cpuMicros(pid: number): number {
  let nanos = 0
  for (const process of familyOf(pid)) {
    try {
      for (const task of readdirSync(`/proc/${process}/task`)) {
        nanos += Number(readFileSync(`/proc/${process}/task/${task}/schedstat`, 'utf8').split(' ', 1)[0])
      }
    } catch {
      // It ended between two looks: so did its share.
    }
  }
  return nanos / 1000
}

/** A process and all below it. */
function familyOf(pid: number): number[] {
  const family = [pid]
  for (const member of family) {
    try {
      for (const task of readdirSync(`/proc/${member}/task`)) {
        const children = readFileSync(`/proc/${member}/task/${task}/children`, 'utf8').trim()
        if (children !== '') family.push(...children.split(' ').map(Number))
      }
    } catch {
      // As above.
    }
  }
  return family
}

/** Resident memory of a process in MB. */
export function residentMegabytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1] ?? 0) / 1024
}

/** Resident memory of a process and those it started, in MB. */
export function familyMegabytes(pid: number): number {
  return familyOf(pid).reduce((sum, member) => {
    try {
      return sum + residentMegabytes(member)
    } catch {
      // It ended between two looks.
      return sum
    }
  }, 0)
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/**
 * Compiles the product to a place of the bench's own, so that nobody changes it under the run. Returns the
 * command line's file.
 */
export function compileProduct(): string {
  const out = join(BENCH_DATA, 'compiled')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const { status, stdout } = spawnSync(
    process.execPath,
    [tsc, '--project', join(ROOT, 'tsconfig.build.json'), '--outDir', out],
    { encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`the product does not compile:\n${stdout.slice(0, 2000)}`)
  return join(out, 'cli.js')
}

export interface Product {
  cli: string
  snapshots: string
  keysFile: string
  key: string
}

/** A key with all the quota there is: an hour of the fastest operation takes less. */
export function issueKey(cli: string, keysFile: string, owner = 'bench'): string {
  const issue = ['keys', 'issue', '--keys', keysFile, '--owner', owner, '--quota', String(2 ** 30), '--json']
  const { status, stdout, stderr } = spawnSync(process.execPath, [cli, ...issue], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`no key: ${stderr}`)
  return (JSON.parse(stdout) as { key: string }).key
}

export interface ProductOptions {
  answerCache: string
  cores?: string
  workers?: number
  /** Options of Node itself. */
  node?: readonly string[]
}

export function startProduct(
  { cli, snapshots, keysFile }: Product,
  { answerCache, cores = '0', workers = 1, node = [] }: ProductOptions,
): Promise<Server> {
  return startServer({
    name: 'groundswell',
    cores,
    command: [
      process.execPath,
      ...node,
      cli,
      'serve',
      '--snapshots',
      snapshots,
      '--keys',
      keysFile,
      '--port',
      '0',
      '--admin-port',
      'off',
      '--workers',
      String(workers),
      '--answer-cache',
      answerCache,
      '--anonymous-quota',
      '0',
      '--engine',
      'uws',
      '--drain-time',
      '0',
    ],
    ready: /listening on http:\/\/127\.0\.0\.1:(\d+)/,
  })
}

export interface Ceiling extends Server {
  /**
   * The same process where it sends from as many places in memory as an order of bodies names, one after the
   * other.
   */
  spread: Server
  /** From now on it answers with this head and so many bytes. */
  answerWith(head: string, length: number, order?: readonly number[]): Promise<void>
}

export async function startCeiling(cores = '0'): Promise<Ceiling> {
  const child = spawn(
    'taskset',
    ['-c', cores, process.execPath, fileURLToPath(new URL('ceiling.mjs', import.meta.url))],
    { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] },
  )
  running.add(child)
  child.once('close', () => running.delete(child))
  const message = <T>(): Promise<T> =>
    new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error('the ceiling ended'))
      child.once('close', ended)
      child.once('message', (value) => {
        child.off('close', ended)
        resolve(value as T)
      })
    })
  const { port, spreadPort } = await message<{ port: number; spreadPort: number }>()
  const server: Server = {
    name: 'ceiling',
    port,
    pid: child.pid!,
    output: () => '',
    ended: () => child.exitCode ?? child.signalCode,
    async stop() {
      child.send('stop')
      await end(child)
    },
  }
  return {
    ...server,
    spread: { ...server, name: 'spread ceiling', port: spreadPort },
    async answerWith(head, length, order = [0]) {
      const ready = message()
      child.send({ head, length, order })
      await ready
    },
  }
}
