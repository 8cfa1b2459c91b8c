/** A server in this process whose clock the test sets, and connections that ask it without a rest. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { readOptions } from '../../src/commands/command.ts'
import { SERVE_SETTINGS } from '../../src/server/serve-settings.ts'
import { startServer, type RunningServer } from '../../src/server/server.ts'
import { lineText } from '../../src/system/log.ts'
import { builtOnce } from '../built_once.ts'
import { RawClient } from '../http/raw_client.ts'
import { folderOfFile, runCliWell } from '../live.ts'
import { smallWorld, writeCsv } from '../oracle/world.ts'

interface TurnedServer {
  server: RunningServer
  /** Lines for the operator. */
  log: string[]
  /** Sets the clock of all threads, in epoch seconds; it goes on from there. */
  set(now: number): void
  now(): number
}

/** A small snapshot, for reading only. */
export function smallSnapshot(): Promise<string> {
  const world = join(folderOfFile(), 'world')
  return builtOnce('small-world', (out) => {
    writeCsv(smallWorld(), world)
    return runCliWell(['build', '--source', `csv:${world}`, '--out', out])
  })
}

/** On any free port, with two workers unless `args` say otherwise, and the clock at `now`. */
export async function startTurned(
  t: TestContext,
  now: number,
  snapshots: string,
  keysFile: string,
  args: string[] = [],
): Promise<TurnedServer> {
  const clockShift = new SharedArrayBuffer(8)
  const shift = new Float64Array(clockShift)
  const set = (time: number): void => {
    shift[0] = time - Date.now() / 1000
  }
  const clock = (): number => Date.now() / 1000 + shift[0]
  set(now)
  const argv = ['--port=0', '--admin-port=0', '--drain-time=0s']
  if (!args.some((argument) => argument.startsWith('--workers='))) argv.push('--workers=2')
  const places = [`--snapshots=${snapshots}`, `--keys=${keysFile}`]
  const { config } = readOptions(SERVE_SETTINGS, [...argv, ...places, ...args])
  const log: string[] = []
  const server = await startServer(config, {
    log: (...event) => log.push(lineText(...event)),
    clock,
    clockShift,
  })
  t.after(() => server.stop())
  return { server, log, set, now: clock }
}

/** What an answer says about key and quota. */
export interface Outcome {
  status: number
  /** NaN where the header is missing. */
  limit: number
  remaining: number
  reset: number
  retryAfter: number
  /** Of an error, else the empty text. */
  body: string
  /** By `performance.now()`. */
  receivedAt: number
}

/** One connection that is kept; a second request waits for the answer to the first. */
export class Connection {
  readonly raw: RawClient
  #asked = 0

  constructor(port: number) {
    this.raw = new RawClient(port)
  }

  async ask(path: string, key: string | null): Promise<Outcome> {
    // From a peer that is not a trusted proxy, what is forwarded changes nothing.
    const line =
      key === null ? `X-Forwarded-For: 10.0.0.${this.#asked++ % 250}` : `Authorization: Bearer ${key}`
    this.raw.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n${line}\r\n\r\n`)
    const { status, headers, body } = await this.raw.answer()
    assert.deepEqual(headers.get('access-control-allow-origin'), ['*'])
    const number = (name: string): number => Number(headers.get(name)?.[0] ?? NaN)
    return {
      status,
      limit: number('x-ratelimit-limit'),
      remaining: number('x-ratelimit-remaining'),
      reset: number('x-ratelimit-reset'),
      retryAfter: number('retry-after'),
      body: status < 400 ? '' : body,
      receivedAt: performance.now(),
    }
  }

  close(): void {
    this.raw.socket.destroy()
  }
}

/** Connections that ask one question again and again; `answers` has one list for each. */
export class Load {
  readonly answers: Outcome[][] = []
  readonly #connections: Connection[] = []
  readonly #loops: Promise<void>[] = []
  #isOver = false

  /**
   * Adds `count` connections that ask `path` with the key that `key` returns at the time, `pause` ms after
   * each answer.
   * @returns where their answers are in `answers`
   */
  add(
    port: number,
    count: number,
    path: string,
    key: () => string | null,
    pause = 0,
  ): { from: number; to: number } {
    const from = this.answers.length
    for (let i = 0; i < count; i++) {
      const connection = new Connection(port)
      const answers: Outcome[] = []
      this.#connections.push(connection)
      this.answers.push(answers)
      this.#loops.push(
        (async () => {
          while (!this.#isOver) {
            answers.push(await connection.ask(path, key()))
            if (pause > 0) await wait(pause)
          }
        })(),
      )
    }
    return { from, to: from + count }
  }

  /** Ends after the answers under way. @throws Error of a connection that broke. */
  async stop(): Promise<void> {
    this.#isOver = true
    try {
      await Promise.all(this.#loops)
    } finally {
      for (const connection of this.#connections) connection.close()
    }
  }
}
