/**
 * Starts and ends of servers by signals, as a supervisor and a terminal bring them about: what a process
 * ended with, what it wrote that it should not, and what it left behind. `GROUNDSWELL_LONG=1` tries many.
 */
import { once } from 'node:events'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { issueKey } from '../../src/access/keys-file.ts'
import { ended } from '../started_program.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'dist', 'cli.js')
const WITNESS = fileURLToPath(new URL('witness.mjs', import.meta.url))
/** A start and an end on a machine that is busy with ten other things. */
const PATIENCE_MS = 120_000

/** The file that a server is started by: Node's with the compiled program, or the one for a supervisor. */
const STARTERS = { node: [process.execPath, CLI], bin: [join(ROOT, 'bin', 'groundswell')] }
type Starter = keyof typeof STARTERS

interface Ended {
  /** Exit code, or the signal that ended it. */
  code: number | NodeJS.Signals | null
  /** What is wrong with this end; null when nothing is. */
  fault: string | null
  output: string
}

interface StartAndEnd {
  starter: Starter
  /** Arguments of `run` or `serve`, which stands first. */
  args: string[]
  /** Folder of the keys file and, unless `args` name another one, of the snapshots. */
  folder: string
  /** Milliseconds to wait: after the process was started, or after it listens. */
  wait: { from: 'start' | 'listening'; ms: number }
  /** Asked over the API between listening and the first signal, for so many milliseconds. */
  requestsMs?: number
  /** Whether a connection stays open until the end. */
  staysConnected?: boolean
  /** One or two, with milliseconds between them. */
  signals: readonly NodeJS.Signals[]
  gapMs?: number
}

/** Starts a server, signals it, waits for its end and looks at what it leaves. */
export async function startAndEnd(plan: StartAndEnd): Promise<Ended> {
  const { starter, args, folder, wait, requestsMs = 0, staysConnected = false, signals, gapMs = 0 } = plan
  const keys = join(folder, 'keys.json')
  issueKey(keys, { owner: 'ends', now: Date.now() / 1000 })
  const all = [...args, '--port=0', '--admin-port=0', `--keys=${keys}`]
  const [command, ...rest] = STARTERS[starter]
  const server = spawn(command, [...rest, ...all], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import=${WITNESS}`,
      WITNESS: folder,
    },
  })
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += output.length < 100_000 ? chunk : ''))
  const end = ended(server)
  const hasEnded = (): boolean => server.exitCode !== null || server.signalCode !== null
  const client = new Socket().on('error', () => {})
  const trees: string[] = []
  const caught: boolean[] = []
  let isLate = false
  const late = globalThis.setTimeout(() => {
    isLate = true
    killAll(server, folder)
  }, PATIENCE_MS)
  if (wait.from === 'listening') {
    while (!hasEnded() && !/listening on/.test(output)) await setTimeout(10)
    const base = /listening on (\S+)/.exec(output)?.[1]
    for (const until = performance.now() + requestsMs; performance.now() < until && !hasEnded();)
      await fetch(`${base}/buoys/nearest?lat=43.5&lng=-1.6`).then((answer) => answer.arrayBuffer())
    if (staysConnected) {
      client.connect(Number(new URL(base!).port), '127.0.0.1')
      // The server knows of it once it has answered; a second request has begun then.
      client.write('GET /v2/countries HTTP/1.1\r\nHost: localhost\r\n\r\nGET')
      await once(client, 'data')
    }
  }
  await setTimeout(wait.ms)
  for (const [i, signal] of signals.entries()) {
    if (i > 0) await setTimeout(gapMs)
    trees.push(`${signal} to:`, ...treeOf(server.pid!, folder))
    caught.push(existsSync(join(folder, 'catches-signals')))
    server.kill(signal)
  }
  const code = await end
  client.destroy()
  clearTimeout(late)
  const fault = isLate ? 'it did not end' : await faultOf(plan, { code, output, isYoung: !caught[0] })
  return {
    code,
    output,
    fault: fault === null ? null : [fault, JSON.stringify({ ...plan, caught }), ...trees].join('\n'),
  }
}

/** A process and those whose arguments name `folder`. */
function treeOf(pid: number, folder: string): string[] {
  const pids = new Set([pid, ...runningIn(folder).map((line) => Number.parseInt(line, 10))])
  return [...pids].map((each) => {
    const parent = /^PPid:\t(\d+)$/m.exec(readOf(`/proc/${each}/status`))?.[1]
    return `  ${each} of ${parent}: ${readOf(`/proc/${each}/cmdline`).replaceAll('\0', ' ').slice(0, 100)}`
  })
}

/** Empty where the file does not exist. */
function readOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const CODES: { readonly [signal: string]: number } = { SIGINT: 130, SIGTERM: 143 }

/**
 * What is wrong with an end. `isYoung` is a server that did not catch signals yet when the first came, and so
 * was ended by it as any process.
 */
async function faultOf(
  plan: StartAndEnd,
  { code, output, isYoung }: { code: Ended['code']; output: string; isYoung: boolean },
): Promise<string | null> {
  const { signals, folder } = plan
  // Two signals may become one on their way, and a second one may find that the process has just ended. Of
  // two different ones on their way
  // at once either may come first (signal(7)).
  const codes = signals.map((signal) => CODES[signal])
  const allowed: Ended['code'][] = [0, ...(signals.length === 2 ? codes : [])]
  if (!allowed.includes(code) && !(isYoung && [...signals, ...codes].includes(code!)))
    return `it ended with ${code}`
  if (/Assertion|stack trace|open handles|^\s+at /m.test(output)) return 'it wrote of an abort or a fault'
  // What belongs to it ends with it, within moments.
  for (let waited = 0; runningIn(folder).length > 0; waited += 50) {
    if (waited > 10_000) return `it left processes: ${runningIn(folder).join('; ')}`
    await setTimeout(50)
  }
  const left = leftIn(folder)
  return left.length > 0 ? `it left ${left.join(', ')}` : null
}

/** Processes whose arguments name `folder`, but for this one. */
function runningIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      const text = readOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ')
      return text.includes(folder) ? [`${name} ${text}`] : []
    })
}

/** Locks and half-written files below `folder`. */
function leftIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /(^|\/)\.tmp-|lock/.test(name),
  )
}

function killAll(server: ChildProcess, folder: string): void {
  server.kill('SIGKILL')
  for (const line of runningIn(folder)) process.kill(Number.parseInt(line, 10), 'SIGKILL')
}

/** What is left of `count` after `lanes` workers have each taken the next one in turn. */
async function inLanes(
  count: number,
  lanes: number,
  work: (number: number) => Promise<Ended>,
): Promise<{ counts: { [end: string]: number }; faults: string[] }> {
  const counts: { [end: string]: number } = {}
  const faults: string[] = []
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) {
      const number = next++
      const { code, fault, output } = await work(number)
      const end = `${code}${output === '' ? ' before a word' : ''}`
      counts[end] = (counts[end] ?? 0) + 1
      if (fault !== null) faults.push(`${number}: ${fault}\n${output}`)
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return { counts, faults }
}

function random(low: number, high: number): number {
  return low + Math.random() * (high - low)
}

function pick<T>(values: readonly T[]): T {
  return values[Math.floor(Math.random() * values.length)]
}

/** One SIGTERM each, at `low` to `high` ms of uptime, two workers, every other one with requests before. */
export function stops(place: string, snapshots: string, count: number, low: number, high: number) {
  return inLanes(count, 4, (number) => {
    // Not the beginning of another one's name.
    const folder = join(place, `${number}.d`)
    mkdirSync(folder)
    return startAndEnd({
      starter: 'node',
      args: ['serve', `--snapshots=${snapshots}`, '--workers=2', '--anonymous-quota=0'],
      folder,
      wait: { from: 'listening', ms: random(low, high) },
      requestsMs: number % 2 === 0 ? 0 : 500,
      signals: ['SIGTERM'],
    })
  })
}

/** One or two signals each at a random moment from the start on. Every other server has to build first. */
export function moments(place: string, snapshots: string, count: number, longestMs = 8000) {
  return inLanes(count, 3, (number) => {
    // Not the beginning of another one's name.
    const folder = join(place, `${number}.d`)
    mkdirSync(folder)
    const starter = number % 2 === 0 ? 'node' : 'bin'
    const builds = (number >> 1) % 2 === 1
    const engine = (number >> 2) % 2 === 0 ? 'uws' : 'node'
    const own = builds
      ? ['run', `--snapshots=${join(folder, 'snapshots')}`, '--source=demo:scale,buoys=20,days=60']
      : ['serve', `--snapshots=${snapshots}`]
    return startAndEnd({
      starter,
      args: [...own, '--workers=2', `--engine=${engine}`],
      folder,
      wait: { from: 'start', ms: random(0, longestMs) },
      signals: pick([
        ['SIGTERM'],
        ['SIGINT'],
        ['SIGTERM', 'SIGTERM'],
        ['SIGINT', 'SIGINT'],
        ['SIGINT', 'SIGTERM'],
      ] as const),
      gapMs: pick([0, 1, 5, 50, 300, 900]),
    })
  })
}
