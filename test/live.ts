/** A real server over a snapshot built by the test: the compiled command line, in processes of its own. */
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { conformanceAt, type Conformance } from './openapi/conformance.ts'

const CLI = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const LISTENING = /listening on http:\/\/127\.0\.0\.1:(\d+)(\/\S*)?/
/** A cold start on a busy machine stays far below this. */
const START_MS = 300_000

export interface CommandResult {
  code: number | null
  stdout: string
  stderr: string
}

/** Runs one command of the compiled command line to its end. */
export async function runCli(args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [CLI, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = collect(child)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { code, ...output() }
}

/** As `runCli`, for commands that have to succeed. @throws Error with what the command wrote. */
export async function runCliWell(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCli(args)
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}\n${stdout}\n${stderr}`)
  return stdout
}

function collect(child: ChildProcess): () => { stdout: string; stderr: string } {
  const chunks = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      // Enough to see why something failed; a chatty server must not fill the memory.
      if (chunks[name].length < 1_000_000) chunks[name] += chunk
    })
  }
  return () => ({ ...chunks })
}

/** A folder that is gone when the test has ended. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface LiveOptions {
  /** What the snapshot is built from: `['--source', 'csv:DIR']`, or nothing where `snapshots` is given. */
  sourceArgs?: string[]
  /** A snapshot folder that is there already. */
  snapshots?: string
  /** More arguments of `serve`, as `--name=value`; they replace the usual ones. */
  args?: string[]
  /** Calls an hour of the issued key. */
  quota?: number
}

export interface Live {
  /** `http://127.0.0.1:PORT` with the base path, without a slash at the end. */
  base: string
  port: number
  /** Text of the key that was issued, and its id. */
  key: string
  keyId: string
  keysFile: string
  snapshots: string
  /** What the server has written so far. */
  output(): { stdout: string; stderr: string }
  /** Ends the server by its process id; resolves to its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/**
 * Builds a snapshot, issues a key and serves, with two workers and no limit on calls without a key.
 * @throws Error with the server's output when it does not begin to listen.
 */
export async function startLive(t: TestContext, options: LiveOptions): Promise<Live> {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-live-'))
  // A server that is stopped still writes to its folder, so it goes first.
  let stop: Live['stop'] = () => Promise.resolve(null)
  t.after(async () => {
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  const snapshots = options.snapshots ?? join(folder, 'snapshots')
  const keysFile = join(folder, 'keys.json')
  if (options.sourceArgs !== undefined) {
    await runCliWell(['build', ...options.sourceArgs, '--out', snapshots])
  }
  const quota = String(options.quota ?? 1_000_000)
  const issue = ['keys', 'issue', '--keys', keysFile, '--owner', 'test', '--quota', quota, '--json']
  const issued = JSON.parse(await runCliWell(issue)) as { id: string; key: string }
  const given = options.args ?? []
  const usual = ['--port=0', '--workers=2', '--anonymous-quota=0'].filter(
    (argument) => !given.some((own) => own.startsWith(argument.slice(0, argument.indexOf('=') + 1))),
  )
  const places = [`--snapshots=${snapshots}`, `--keys=${keysFile}`]
  const server = spawn(process.execPath, [CLI, 'serve', ...places, ...usual, ...given], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = collect(server)
  const ended = new Promise<number | null>((resolve) => {
    server.once('close', resolve)
  })
  stop = (signal = 'SIGTERM') => {
    if (server.exitCode === null && server.signalCode === null) {
      server.kill(signal)
      const impatient = setTimeout(() => server.kill('SIGKILL'), 10_000)
      void ended.then(() => clearTimeout(impatient))
    }
    return ended
  }
  const found = await new Promise<RegExpExecArray>((resolve, reject) => {
    const fail = (why: string) => {
      const { stdout, stderr } = output()
      reject(new Error(`the server ${why}\n${stdout}\n${stderr}`))
    }
    const slow = setTimeout(() => fail('does not listen'), START_MS)
    const look = () => {
      const match = LISTENING.exec(output().stdout)
      if (match === null) return
      clearTimeout(slow)
      resolve(match)
    }
    server.stdout.on('data', look)
    server.once('error', reject)
    void ended.then((code) => {
      clearTimeout(slow)
      fail(`ended with ${code}`)
    })
  })
  const port = Number(found[1])
  return {
    base: `http://127.0.0.1:${port}${(found[2] ?? '/v2').replace(/\/$/, '')}`,
    port,
    key: issued.key,
    keyId: issued.id,
    keysFile,
    snapshots,
    output,
    stop,
  }
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  text: string
}

export interface CallOptions {
  method?: string
  /** A list is as many lines. */
  headers?: { [name: string]: string | string[] }
}

/**
 * A client that keeps its connections. Paths go out as they are, unlike with fetch, which tidies them up. A
 * call fails when its answer is not what the description of the service says.
 */
export class Client {
  readonly #agent: Agent
  readonly #base: URL
  readonly #headers: { [name: string]: string }
  readonly #conformance: Conformance

  /** Every call carries `key` as a bearer token unless it is null. */
  constructor(live: Live, key: string | null = live.key, sockets = 8) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets })
    this.#base = new URL(live.base)
    this.#conformance = conformanceAt(this.#base.pathname)
    this.#headers = key === null ? {} : { authorization: `Bearer ${key}` }
  }

  /** `path` stands behind the base path and may have a query. */
  get(path: string, options: CallOptions = {}): Promise<Reply> {
    return this.getAbsolute(this.#base.pathname.replace(/\/$/, '') + path, options)
  }

  /** As `get`, from the root of the server. */
  async getAbsolute(path: string, { method = 'GET', headers = {} }: CallOptions = {}): Promise<Reply> {
    // A test that has been busy for longer than the server keeps an idle connection must see the end of that
    // one first. Of two turns the second begins with a look at the sockets.
    await nextTurn()
    await nextTurn()
    return new Promise((resolve, reject) => {
      const call = httpRequest(
        {
          agent: this.#agent,
          host: this.#base.hostname,
          port: this.#base.port,
          path,
          method,
          headers: { ...this.#headers, ...headers },
        },
        (reply) => {
          const chunks: Buffer[] = []
          reply.on('data', (chunk: Buffer) => chunks.push(chunk))
          reply.once('error', reject)
          reply.once('end', () => {
            const text = Buffer.concat(chunks).toString('utf8')
            const answer = { status: reply.statusCode ?? 0, headers: reply.headers, text }
            try {
              this.#conformance.check(method, path, answer)
              resolve(answer)
            } catch (error) {
              reject(error)
            }
          })
        },
      )
      call.once('error', reject)
      call.end()
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
