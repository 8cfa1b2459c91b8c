/** A build in a process of its own: its end frees its memory, and whatever happens to it, serving goes on. */
import { spawn, type ChildProcess } from 'node:child_process'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from './setting.ts'
import { timestampText } from '../sea/time.ts'
import { noteFailure, readFailure } from '../snapshot/failure.ts'
import { clearLeftovers } from '../snapshot/garbage.ts'
import { BuildError } from '../system/build-error.ts'

/** Milliseconds between asking a build to end and killing it. */
const GRACE_MS = 2000

interface BuildToRun {
  sources: readonly { kind: string; argument: string }[]
  configuration: string | null
  out: string
  options: readonly string[]
  /** Seconds. */
  limit: number
  signal: AbortSignal
  clock: () => number
}

/** Running builds, each with the promise of its end. */
const running = new Map<ChildProcess, Promise<unknown>>()

/**
 * Resolves when the snapshot is published.
 * @throws BuildError when the build fails, takes too long or is ended, UsageError for wrong arguments.
 */
export async function runBuild({
  sources,
  configuration,
  out,
  options,
  limit,
  signal,
  clock,
}: BuildToRun): Promise<void> {
  signal.throwIfAborted()
  const args = sources.flatMap(({ kind, argument }) => [
    '--source',
    argument === '' ? kind : `${kind}:${argument}`,
  ])
  if (configuration !== null) args.push('--config', configuration)
  const program = fileURLToPath(new URL(`../cli${extname(import.meta.url)}`, import.meta.url))
  // All that the build starts ends with its process group.
  const child = spawn(process.execPath, [program, 'build', ...args, ...options, '--out', out], {
    stdio: ['ignore', 'inherit', 'inherit'],
    detached: true,
  })
  const onAbort = (): void => void endBuild(child)
  signal.addEventListener('abort', onAbort)
  const done = follow(child, out, limit, clock)
  running.set(
    child,
    done.catch(() => {}),
  )
  try {
    await done
  } finally {
    signal.removeEventListener('abort', onAbort)
    running.delete(child)
  }
}

async function follow(child: ChildProcess, out: string, limit: number, clock: () => number): Promise<void> {
  const began = timestampText(Math.floor(clock()))
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void endBuild(child)
  }, limit * 1000)
  const { code, signal } = await new Promise<{ code: number | null; signal: NodeJS.Signals | null }>(
    (resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve({ code, signal }))
    },
  ).finally(() => clearTimeout(timer))
  // Processes that the build started may still run.
  killGroup(child, 'SIGKILL')
  if (code === 0) return
  if (signal !== null) await clearLeftovers(out)
  if (isLate) {
    const reason = `the build took longer than ${limit} s (--build-timeout) and was ended`
    noteFailure(out, reason, clock())
    throw new BuildError(reason)
  }
  if (code === 2) throw new UsageError('the build refused its arguments: the line above names the option')
  // The build has noted its reason, unless it was killed or the folder cannot be written to.
  const noted = readFailure(out)
  if (code === 1 && noted !== null && noted.at >= began) throw new BuildError(noted.reason)
  throw new BuildError(`the build ended with ${signal === null ? `code ${code}` : signal}`)
}

export async function endChildren(): Promise<boolean> {
  for (const child of running.keys()) killGroup(child, 'SIGKILL')
  await Promise.all(running.values())
  return true
}

async function endBuild(child: ChildProcess): Promise<void> {
  killGroup(child, 'SIGTERM')
  const late = setTimeout(() => killGroup(child, 'SIGKILL'), GRACE_MS)
  await running.get(child)
  clearTimeout(late)
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, signal)
  } catch {}
}
