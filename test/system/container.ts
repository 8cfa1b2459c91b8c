/** Processes in a pid namespace and under a host name of their own, as in a container. */
import { spawn, spawnSync, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { LockOptions } from '../../src/system/lock.ts'

const UNSHARE = ['--pid', '--fork', '--kill-child', '--mount-proc', '--uts']
const IN_HOST = 'hostname "$0" && exec "$@"'

/** Why containers cannot be used here; null where they can. */
export function noContainers(): string | null {
  const { status, stderr, error } = spawnSync('unshare', [...UNSHARE, 'true'], { encoding: 'utf8' })
  return status === 0 ? null : `pid namespaces cannot be made here: ${stderr ?? error?.message}`
}

export type Inhabitant = ChildProcessByStdio<Writable, Readable, null>

/** Runs Node in a new container; it is the first process there, so all of the container ends with it. */
export function inContainer(host: string, args: readonly string[]): Inhabitant {
  return spawn('unshare', [...UNSHARE, 'sh', '-c', IN_HOST, host, process.execPath, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}

/** The process that `unshare` has started, by its number outside. */
function firstInside({ pid }: Inhabitant): number {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
  return Number(stdout.trim())
}

export interface Holder {
  /** The number of its process here. */
  pid: number
  /** Its next line. */
  hear(): Promise<string>
  /** Sends it a word; resolves to its next line. */
  ask(word: string): Promise<string>
  ended: Promise<unknown>
}

const HOLDER = fileURLToPath(new URL('holder.mjs', import.meta.url))
/** The compiled module. */
export const LOCK = new URL('../../dist/system/lock.js', import.meta.url).href

/** A process that takes the lock `path`, in a container of the name `host`, or here; see `holder.mjs`. */
export function startHolder(
  t: TestContext,
  path: string,
  { host = null, blockMs = 0, ...options }: { host?: string | null; blockMs?: number } & Partial<LockOptions>,
): Holder {
  const given: LockOptions = { patienceMs: 1000, ...options }
  const args = [HOLDER, LOCK, path, JSON.stringify(given), String(blockMs)]
  const child =
    host === null
      ? spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
      : inContainer(host, args)
  const ended = once(child, 'exit')
  t.after(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const hear = async (): Promise<string> => {
    const { value, done } = await lines.next()
    return done === true ? 'ended' : value
  }
  return {
    get pid() {
      return host === null ? child.pid! : firstInside(child)
    },
    hear,
    ask(word) {
      child.stdin.write(`${word}\n`)
      return hear()
    },
    ended,
  }
}

/** As `startHolder`, and has the lock. */
export async function startHeld(...given: Parameters<typeof startHolder>): Promise<Holder> {
  const holder = startHolder(...given)
  for (const expected of ['waiting', 'held']) {
    const said = await holder.hear()
    if (said !== expected) throw new Error(`the holder said ${said}`)
  }
  return holder
}
