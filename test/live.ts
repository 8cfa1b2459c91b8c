/** A real server for a test, which ends with it, and a client that holds answers against the description. */
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startServer, type Live, type LiveOptions } from '../tools/live_server.ts'
import { until } from './until.ts'
import type { Conformance } from './openapi/conformance.ts'

export { runCli, runCliWell } from '../tools/live_server.ts'
export type { Live, LiveOptions } from '../tools/live_server.ts'

/** A process that ends may still write to its folder for a moment. */
const GONE = { recursive: true, force: true, maxRetries: 10 }

/** A folder that is gone when all tests of the file have ended. */
export function folderOfFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-tests-'))
  after(() => rmSync(folder, GONE))
  return folder
}

/** A folder that is gone when the test has ended. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-test-'))
  t.after(() => rmSync(folder, GONE))
  return folder
}

/** Clients of the servers that `startLive` started, which would keep these from their end. */
const clientsOf = new WeakMap<Live, Client[]>()

/**
 * Builds a snapshot, issues a key and serves, with two workers and no limit on calls without a key, until the
 * test ends, and with it the clients of the server. @throws Error with the server's output when it does not
 * begin to listen
 */
export async function startLive(t: TestContext, options: LiveOptions): Promise<Live> {
  const clients: Client[] = []
  const live = await startServer(options, (end) =>
    t.after(() => {
      for (const client of clients) client.close()
      return end()
    }),
  )
  clientsOf.set(live, clients)
  return live
}

/** The address of a server's admin port, whose line may come a moment after `startLive` resolves. */
export async function adminOf(live: Live): Promise<string> {
  const found = (): RegExpExecArray | null => /admin port on (http:\/\/[\d.]+:\d+)/.exec(live.output().stderr)
  await until(() => found() !== null, 'no admin port')
  return found()![1].replace('0.0.0.0', '127.0.0.1')
}

export interface Reply {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  text: string
}

export interface CallOptions {
  method?: string
  /** A list is as many lines. */
  headers?: { [name: string]: string | string[] }
}

export interface AskOptions extends CallOptions {
  agent?: Agent
  body?: string | Uint8Array
  /** Called when the head of the answer has come; the answer is read when it is over. */
  onHead?: () => unknown
}

/** One request to a port of loopback, without the check of `Client`. `isWhole`: the end of the body came. */
export function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {}, body = '', agent, onHead = () => {} }: AskOptions = {},
): Promise<Reply & { isWhole: boolean }> {
  return new Promise((resolve, reject) => {
    const call = httpRequest({ agent, host: '127.0.0.1', port, path, method, headers }, (reply) => {
      const chunks: Buffer[] = []
      reply.on('error', () => {})
      reply.once('close', () => {
        const bytes = Buffer.concat(chunks)
        const { statusCode: status = 0, headers: head, complete: isWhole } = reply
        resolve({ status, headers: head, bytes, text: bytes.toString('utf8'), isWhole })
      })
      const read = (): unknown => reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      Promise.resolve(onHead()).then(read, reject)
    })
    call.once('error', reject)
    call.end(body)
  })
}

/** Sends a text as it is to a port of loopback; resolves to all that comes until the connection ends. */
export function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text))
    let answer = ''
    socket.setEncoding('latin1').on('data', (data: string) => (answer += data))
    socket.once('error', reject)
    socket.once('close', () => resolve(answer))
  })
}

/**
 * A client that keeps its connections. Paths go out as they are, unlike with fetch, which tidies them up. A
 * call fails when its answer is not what the description of the service says.
 */
export class Client {
  readonly #agent: Agent
  readonly #base: URL
  readonly #headers: { [name: string]: string }
  readonly #conformance: Promise<Conformance>

  /** Every call carries `key` as a bearer token unless it is null. */
  constructor(live: Live, key: string | null = live.key, sockets = 8) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets })
    this.#base = new URL(live.base)
    // Most tests call by other means, and would wait a third of a second for the description.
    this.#conformance = import('./openapi/conformance.ts').then(({ conformanceAt }) =>
      conformanceAt(this.#base.pathname),
    )
    this.#headers = key === null ? {} : { authorization: `Bearer ${key}` }
    clientsOf.get(live)?.push(this)
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
    const reply = await ask(Number(this.#base.port), path, {
      agent: this.#agent,
      method,
      headers: { ...this.#headers, ...headers },
    })
    if (!reply.isWhole) throw new Error(`the answer to ${path} broke off`)
    ;(await this.#conformance).check(method, path, reply)
    return reply
  }

  close(): void {
    this.#agent.destroy()
  }
}
