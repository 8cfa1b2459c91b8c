/** A server whose threads a test can get at, in a process of its own that may break down. */
import { chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { temporaryFolder } from '../live.ts'
import { startProgram } from '../started_program.ts'
import { until } from '../until.ts'

const PROGRAM = fileURLToPath(new URL('./drill.mjs', import.meta.url))

export interface Status {
  listeners: { open: number }
  snapshot: { id: string } | null
  reload: { last_error: string | null; loaded: number; refused: number }
  silent_sources: { name: string; reason: string }[]
  workers: { wanted: number; serving: number; replaced: number }
  memory: NodeJS.MemoryUsage
}

export interface Drill {
  /** `http://127.0.0.1:PORT/v2`. */
  base: string
  keysFile: string
  /** All that it has written. */
  output(): string
  status(): Promise<Status>
  /** Status code of `/readyz`, and the reason when it is not ready. */
  ready(): Promise<{ code: number; reason?: string }>
  reload(): Promise<Status>
  /** Has a serving thread (0: the oldest) run a method of the debugger's protocol. Resolves to the result. */
  debug(thread: number, method: string, params?: object): Promise<unknown>
  /** Has it run an expression, as `debug`; resolves to the value. */
  evaluate(thread: number, expression: string): Promise<unknown>
  signal(signal: NodeJS.Signals): void
  /** Asks it to stop. Resolves to the code. */
  stop(): Promise<NodeJS.Signals | number | null>
  /** Code or signal it ended with. */
  end: Promise<NodeJS.Signals | number | null>
}

/**
 * Serves `folder` with two workers, without limit on calls without a key, as the user `uid` where one is
 * given, with the arguments `more` behind the usual ones.
 * @throws Error when it ends before it listens.
 */
export async function startDrill(
  t: TestContext,
  folder: string,
  uid: number | null = null,
  more: string[] = [],
): Promise<Drill> {
  const place = temporaryFolder(t)
  const keys = join(place, 'keys.json')
  writeFileSync(keys, '{"format":1,"keys":[]}\n')
  if (uid !== null) chownSync(place, uid, uid)
  // Parts of held snapshots are not read again: what befalls their files would not be noticed.
  const hold = '--hold-snapshots=1'
  const own = ['--port=0', '--admin-port=0', '--workers=2', '--anonymous-quota=0', '--drain-time=1s', hold]
  const program = startProgram(t, ['serve', `--snapshots=${folder}`, `--keys=${keys}`, ...own, ...more], {
    by: PROGRAM,
    ...(uid !== null && { uid }),
  })
  const waiting = new Map<number, (result: unknown) => void>()
  program.child.on('message', (message) => {
    const { id, result } = message as { id: number; result: unknown }
    waiting.get(id)?.(result)
    waiting.delete(id)
  })
  const [, base] = await program.says(/listening on (\S+)\n/)
  const [, admin] = await program.says(/admin port on (\S+)\n/)
  let asked = 0
  const debug = (thread: number, method: string, params: object = {}): Promise<unknown> =>
    new Promise((resolve) => {
      const id = ++asked
      waiting.set(id, resolve)
      program.child.send({ id, thread, method, params })
    })
  return {
    base,
    keysFile: keys,
    output: () => program.said,
    status: async () => (await (await fetch(`${admin}/status`)).json()) as Status,
    ready: async () => {
      const answer = await fetch(`${admin}/readyz`)
      const { reason } = (await answer.json()) as { reason?: string }
      return { code: answer.status, ...(reason === undefined ? {} : { reason }) }
    },
    reload: async () => (await (await fetch(`${admin}/reload`, { method: 'POST' })).json()) as Status,
    debug,
    evaluate: async (thread, expression) => {
      const result = await debug(thread, 'Runtime.evaluate', { expression, returnByValue: true })
      return (result as { result: { value: unknown } }).result.value
    },
    signal: (signal) => program.kill(signal),
    stop: () => program.stop(),
    end: program.ended,
  }
}

/** Looks at the status until it is as wanted. `what` says what is waited for. */
export async function statusWhen(
  drill: Drill,
  holds: (status: Status) => boolean,
  what = 'waited in vain',
): Promise<Status> {
  let status = await drill.status()
  await until(
    async () => holds((status = await drill.status())),
    () => `${what}: ${JSON.stringify(status)}\n${drill.output()}`,
  )
  return status
}

/** What clients saw of a server between two moments. */
export interface Seen {
  answers: number
  /** What was wrong with the others. */
  failures: string[]
  /** Milliseconds of the slowest answer or failure. */
  slowest: number
}

/**
 * A client's pause between two questions, so that a test of faults under load leaves something to other
 * tests.
 */
export const PAUSE_MS = 50

/**
 * Asks over `connections` at a time until `isOver`, each question over a connection of its own, so that a
 * port that takes connections and does not answer them is found.
 */
export async function strangers(url: string, connections: number, isOver: () => boolean): Promise<Seen> {
  const seen: Seen = { answers: 0, failures: [], slowest: 0 }
  const ask = async (): Promise<void> => {
    while (!isOver()) {
      const began = performance.now()
      try {
        const reply = await fetch(url, {
          headers: { connection: 'close' },
          signal: AbortSignal.timeout(5000),
        })
        await reply.arrayBuffer()
        if (reply.status === 200) seen.answers++
        else seen.failures.push(`status ${reply.status}`)
      } catch (error) {
        const { name, cause } = error as Error & { cause?: { code?: string } }
        seen.failures.push(cause?.code ?? name)
      }
      seen.slowest = Math.max(seen.slowest, performance.now() - began)
      await setTimeout(PAUSE_MS)
    }
  }
  await Promise.all(Array.from({ length: connections }, ask))
  return seen
}

/** Has a thread hang over one search, as a fault of ours would. */
export const TRAP = `{
  const lower = String.prototype.toLowerCase
  String.prototype.toLowerCase = function () {
    if (this.includes('poison')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
    return lower.call(this)
  }
}`

/** Status of the answer, or what went wrong instead. */
export async function statusOf(url: string): Promise<number | string> {
  try {
    const answer = await fetch(url, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(20_000),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch (error) {
    const { name, cause } = error as Error & { cause?: { code?: string } }
    return cause?.code ?? name
  }
}
