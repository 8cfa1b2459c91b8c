/** The compiled program in a process of its own, whose output can be waited for. */
import { spawn, type ChildProcess } from 'node:child_process'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

/** The compiled program. */
export const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))

/** Variables of an operator who has set none. */
export const BARE = { PATH: process.env['PATH'] ?? '' }

export interface Surroundings {
  cwd?: string
  /** All variables; those of the test if not given. */
  env?: NodeJS.ProcessEnv
  uid?: number
  /** A module that runs the program, with a channel to the test; `dist/cli.js` if not given. */
  by?: string
  /** What is given the arguments; Node with `by` if not given. */
  command?: readonly string[]
}

export interface Program {
  readonly stdout: string
  readonly stderr: string
  /** All that it has written, in the order in which it came. */
  readonly said: string
  /** Resolves to what `pattern` finds in all that it writes. @throws Error when it ends before */
  says(pattern: RegExp): Promise<RegExpExecArray>
  hasEnded(): boolean
  /** Code or signal that it ended with. */
  ended: Promise<NodeJS.Signals | number | null>
  kill(signal: NodeJS.Signals): void
  readonly child: ChildProcess
  /** Asks it to stop. Resolves to the code. */
  stop(): Promise<NodeJS.Signals | number | null>
}

/** Resolves to the signal or code a process ended with, once all of its output has come. */
export function ended(child: ChildProcess): Promise<NodeJS.Signals | number | null> {
  return new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)))
}

/** Starts it with `args`. It is killed when the test ends. */
export function startProgram(
  t: TestContext,
  args: readonly string[],
  { cwd, env = process.env, uid, by, command = [process.execPath, by ?? CLI] }: Surroundings = {},
): Program {
  const [first, ...rest] = [...command, ...args]
  const child = spawn(first, rest, {
    env,
    stdio: ['ignore', 'pipe', 'pipe', ...(by === undefined ? [] : ['ipc' as const])],
    ...(cwd !== undefined && { cwd }),
    ...(uid !== undefined && { uid, gid: uid }),
  })
  const end = ended(child)
  t.after(() => {
    child.kill('SIGKILL')
    return end
  })
  let isOver = false
  void end.then(() => (isOver = true))
  const program = {
    child,
    stdout: '',
    stderr: '',
    said: '',
    async says(pattern: RegExp): Promise<RegExpExecArray> {
      const found = (): RegExpExecArray | null => pattern.exec(program.said)
      await until(
        () => found() !== null || isOver,
        () => `it does not say ${pattern}:\n${program.said}`,
      )
      const match = found()
      if (match === null) throw new Error(`it ended without ${pattern}:\n${program.said}`)
      return match
    },
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    ended: end,
    kill: (signal: NodeJS.Signals) => void child.kill(signal),
    stop() {
      child.kill('SIGTERM')
      return end
    },
  }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]!.setEncoding('utf8').on('data', (text: string) => {
      program[name] += text
      program.said += text
    })
  }
  return program
}
