/**
 * The processes that are measured: started on one core, their CPU time read from the scheduler, ended by
 * their id. And the bench's own process, which keeps off that core.
 */
import { spawn, spawnSync, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { shippedNodeOptions } from '../../tools/node_options.ts'

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

/** Whether the bench was interrupted. */
export const isStopping = (): boolean => stopping

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

/** Of the load generators, as `taskset -c` takes it. */
const GENERATORS_CORE = '1'

/**
 * Keeps all threads of this process on the core of the load generators: it looks at processes, publishes and
 * collects garbage while a server is measured on core 0. What it starts from then on has cores of its own, or
 * this one.
 * @throws Error where the machine does not let it
 */
export function leaveServersCore(): void {
  const pin = ['--all-tasks', '--cpu-list', '--pid', GENERATORS_CORE, String(process.pid)]
  const { status, stderr } = spawnSync('taskset', pin, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the bench cannot keep to core ${GENERATORS_CORE}: ${stderr}`)
}

export interface StartOptions {
  name: string
  command: readonly string[]
  /** Cores to run on, as `taskset -c` takes them; those of this process where it is left out. */
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
    child.once('close', (code, signal) => {
      clearTimeout(slow)
      fail(`ended with ${code ?? signal}`)
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

/** Of the numbers in /proc/PID/stat. */
const MICROS_PER_TICK = 10_000

/**
 * CPU time of a process and those it started in µs, that of threads that have ended among it, as the kernel
 * counts it: in hundredths of a second.
 */
export function processCpuMicros(pid: number): number {
  return familyOf(pid).reduce((sum, member) => {
    try {
      // Behind the name, which may have blanks: state and ten numbers, then those of user and system.
      const fields = readFileSync(`/proc/${member}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')
      return sum + (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK
    } catch {
      // It ended between two looks.
      return sum
    }
  }, 0)
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
  /** The default of the product where it is left out. */
  answerCache?: string
  cores?: string
  workers?: number
  /** Whose `X-Forwarded-For` counts. */
  trustedProxy?: string
  /** Options of Node itself beside those of the shipped unit, which they overrule. */
  node?: readonly string[]
  /** Further options of the product. */
  more?: readonly string[]
  /** Variables beside those of the bench. */
  env?: { readonly [name: string]: string }
}

export function startProduct(
  { cli, snapshots, keysFile }: Product,
  { answerCache, cores = '0', workers = 1, trustedProxy, node = [], more = [], env = {} }: ProductOptions,
): Promise<Server> {
  return startServer({
    name: 'groundswell',
    cores,
    command: [
      process.execPath,
      ...shippedNodeOptions(),
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
      ...(trustedProxy === undefined ? [] : ['--trusted-proxy', trustedProxy]),
      ...(answerCache === undefined ? [] : ['--answer-cache', answerCache]),
      '--anonymous-quota',
      '0',
      '--engine',
      'uws',
      '--drain-time',
      '0',
      ...more,
    ],
    ready: /listening on http:\/\/127\.0\.0\.1:(\d+)/,
    spawn: { env: { ...process.env, ...env } },
  })
}

/** What the ceiling sends to a request: status and headers, and bytes of the body. */
export interface CeilingAnswer {
  head: string
  length: number
}

export interface Ceiling extends Server {
  /**
   * The same process where it sends from as many places in memory as an order of bodies names, one after the
   * other.
   */
  spread: Server
  /** From now on it answers with this head and so many bytes. */
  answerWith(head: string, length: number, order?: readonly number[]): Promise<void>
  /**
   * From now on `spread` gives these answers, in this order, whatever it is asked. Their bodies begin at one
   * position in memory.
   */
  answerInTurn(answers: readonly CeilingAnswer[], order: readonly number[]): Promise<void>
  /**
   * From now on it is busy for so many µs before each answer of its first port.
   * @returns how long it was until now, in µs: looking at the clock takes some, too
   */
  think(micros: number): Promise<number>
}

export async function startCeiling(cores = '0'): Promise<Ceiling> {
  const child = spawn(
    'taskset',
    [
      '-c',
      cores,
      process.execPath,
      ...shippedNodeOptions(),
      fileURLToPath(new URL('ceiling.mjs', import.meta.url)),
    ],
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
    async answerInTurn(answers, order) {
      const ready = message()
      child.send({ answers, order })
      await ready
    },
    async think(thinkMicros) {
      const thought = message<{ thoughtMicros: number }>()
      child.send({ thinkMicros })
      return (await thought).thoughtMicros
    },
  }
}
