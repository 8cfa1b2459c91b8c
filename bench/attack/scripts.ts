/**
 * Attacks that are whole programs of the tests, upon snapshots and sources instead of a server that serves.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { amount } from './attack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** The share of it that is done where nobody asks for the long form. */
const USUAL_SHARE = 0.02

export interface Script {
  name: string
  /** What it does at scale 1 in its long form. */
  about: string
  /** Arguments of Node, and variables beside those of the environment. */
  command(scale: number, seed: number): { args: readonly string[]; env: { [name: string]: string } }
}

export const SCRIPTS: readonly Script[] = [
  {
    name: 'lies',
    about: '10,000 structural lies in snapshots with right hashes, at a start and at a swap',
    command: (scale, seed) => ({
      args: ['--test', 'test/snapshot/lies.test.ts'],
      env: { GROUNDSWELL_LIES: String(amount(10_000, scale)), GROUNDSWELL_SEED: String(seed) },
    }),
  },
  {
    name: 'siege',
    about: '5,000 damaged files of each kind of source, under the limits of a build',
    command: (scale, seed) => ({
      args: ['test/sources/siege.main.ts', '--files', String(amount(5000, scale)), '--seed', String(seed)],
      env: {},
    }),
  },
]

let running: ChildProcess | null = null

/** What it prints goes to stderr. @returns what did not hold, '' where all did */
export function runScript(script: Script, scale: number, isLong: boolean, seed: number): Promise<string> {
  const { args, env } = script.command(scale * (isLong ? 1 : USUAL_SHARE), seed)
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 2, 2],
      // A group of its own: what it starts ends with it.
      detached: true,
    })
    running = child
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      running = null
      resolve(code === 0 ? '' : `it ended with ${code ?? signal}; what it printed says why`)
    })
  })
}

/** Ends the one that runs, with all that it has started. */
export function stopScript(): void {
  if (running?.pid !== undefined) process.kill(-running.pid, 'SIGKILL')
}
