/**
 * Starts and ends of servers by signals, as a supervisor, a terminal and npm bring them about: what a process ended with, what it wrote
 * that it should not, and what it left behind. The tests do some; as a program it does any number:
 *
 *     node --import tsx test/faults/ends.ts stops 300     one SIGTERM at 5 to 20 s of uptime, two workers, with and without requests
 *     node --import tsx test/faults/ends.ts moments 200   signals at random moments, single and double, both engines, also under npm
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { issueKey } from '../../src/access/keys.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const CLI = join(ROOT, 'dist', 'cli.js')
/** A start and an end on a machine that is busy with ten other things. */
const PATIENCE_MS = 120_000

/** How a server is started. */
export type Starter = 'node' | 'launch' | 'npm with dash' | 'npm with bash'
export const STARTERS: readonly Starter[] = ['node', 'launch', 'npm with dash', 'npm with bash']

export interface Ended {
  starter: Starter
  /** Exit code, or the signal that ended it. */
  code: number | NodeJS.Signals | null
  /** What is wrong with this end; null when nothing is. */
  fault: string | null
  output: string
}

export interface StartAndEnd {
  starter: Starter
  /** Arguments of `run` or `serve`, which stands first. */
  args: string[]
  /** Folder of the keys file and, unless `args` name another one, of the snapshots. */
  folder: string
  /** Milliseconds to wait: after the process was started, or after it listens. */
  wait: { from: 'start' | 'listening'; ms: number }
  /** Asked over the API between listening and the first signal, for so many milliseconds. */
  requestsMs?: number
  /** One or two, with milliseconds between them. */
  signals: readonly NodeJS.Signals[]
  gapMs?: number
}

/** Starts a server, signals it, waits for its end and looks at what it leaves. */
export async function startAndEnd(plan: StartAndEnd): Promise<Ended> {
  const { starter, args, folder, wait, requestsMs = 0, signals, gapMs = 0 } = plan
  const keys = join(folder, 'keys.json')
  issueKey(keys, { owner: 'ends', now: Date.now() / 1000 })
  const all = [...args, '--port=0', '--admin-port=0', `--keys=${keys}`]
  const [command, ...rest] = commandOf(starter, all)
  const server = spawn(command, rest, {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_config_script_shell: starter === 'npm with bash' ? '/bin/bash' : '/bin/sh' },
  })
  let output = ''
  for (const stream of [server.stdout, server.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += output.length < 100_000 ? chunk : ''))
  const end = new Promise<number | NodeJS.Signals | null>((resolve) => {
    server.once('close', (code, signal) => resolve(signal ?? code))
  })
  const hasEnded = (): boolean => server.exitCode !== null || server.signalCode !== null
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
  }
  await setTimeout(wait.ms)
  for (const [i, signal] of signals.entries()) {
    if (i > 0) await setTimeout(gapMs)
    server.kill(signal)
  }
  const code = await end
  clearTimeout(late)
  return { starter, code, output, fault: isLate ? 'it did not end' : await faultOf(plan, code, output) }
}

function commandOf(starter: Starter, args: string[]): string[] {
  switch (starter) {
    case 'node':
      return [process.execPath, CLI, ...args]
    case 'launch':
      return [process.execPath, join(ROOT, 'src', 'launch.mjs'), ...args]
    case 'npm with dash':
    case 'npm with bash':
      return ['npm', 'run', '--silent', 'groundswell', '--', ...args]
  }
}

const CODES: { readonly [signal: string]: number } = { SIGINT: 130, SIGTERM: 143 }

async function faultOf(plan: StartAndEnd, code: Ended['code'], output: string): Promise<string | null> {
  const { starter, signals, folder } = plan
  const second = CODES[signals[1] ?? '']
  // Two signals may become one on their way, and a second one may find that the process has just ended.
  const allowed: Ended['code'][] = second === undefined ? [0] : [0, second]
  // Before the first line of our code runs, a signal ends Node or npm as any process; on a busy machine that takes its time.
  const isYoung =
    plan.wait.from === 'start' && output === '' && plan.wait.ms < (starter.startsWith('npm') ? 6000 : 3000)
  const ownEnd = signals.flatMap((signal) => [signal, CODES[signal]])
  if (!allowed.includes(code) && !(isYoung && ownEnd.includes(code as never))) return `it ended with ${code}`
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
export function runningIn(folder: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const text = readFileSync(join('/proc', name, 'cmdline'), 'utf8').replaceAll('\0', ' ')
        return text.includes(folder) ? [`${name} ${text}`] : []
      } catch {
        return []
      }
    })
}

/** Locks and half-written files below `folder`. The journal of an unfinished build is what the next one goes on from. */
function leftIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /(^|\/)\.tmp-|lock/.test(name) && !name.endsWith('.tmp-journal'),
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
      const { starter, code, fault, output } = await work(number)
      const end = `${starter}: ${code}${output === '' ? ' before a word' : ''}`
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

/** One or two signals each at a random moment from the start of the process on. Every other server has to build first. */
export function moments(place: string, snapshots: string, count: number) {
  return inLanes(count, 3, (number) => {
    // Not the beginning of another one's name.
    const folder = join(place, `${number}.d`)
    mkdirSync(folder)
    const starter = STARTERS[number % STARTERS.length]
    const builds = Math.floor(number / STARTERS.length) % 2 === 1
    const engine = Math.floor(number / STARTERS.length / 2) % 2 === 0 ? 'uws' : 'node'
    const own = builds
      ? ['run', `--snapshots=${join(folder, 'snapshots')}`, '--source=demo:scale,buoys=20,days=60']
      : ['serve', `--snapshots=${snapshots}`]
    return startAndEnd({
      starter,
      args: [...own, '--workers=2', `--engine=${engine}`],
      folder,
      wait: { from: 'start', ms: random(0, 8000) },
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

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { build } = await import('./folder.ts')
  const place = mkdtempSync(join(tmpdir(), 'groundswell-ends-'))
  try {
    const snapshots = join(place, 'snapshots')
    await build(snapshots, 0)
    const [kind, count] = [process.argv[2], Number(process.argv[3] ?? 20)]
    const { counts, faults } =
      kind === 'moments'
        ? await moments(place, snapshots, count)
        : await stops(place, snapshots, count, 5000, 20_000)
    process.stdout.write(`${count} ${kind}: ended with ${JSON.stringify(counts)}, ${faults.length} faults\n`)
    for (const fault of faults) process.stdout.write(`${fault}\n`)
    process.exitCode = faults.length === 0 ? 0 : 1
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
