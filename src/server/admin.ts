/**
 * The operator's port: health, status, metrics and a reload by hand, on node:http in the main thread, so it
 * answers even when every worker is busy. It shows no key.
 * A page in a browser on the same machine reaches loopback too. So a `Host` that is not an address or a name
 * of the operator's is refused (DNS rebinding), and so is a request that another page made.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import type { LogLine } from '../system/log.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { isElsewhere, ListenError, type AddressOptions } from '../http/port.ts'
import { isLoopback, type ServeConfig } from './serve-settings.ts'

export interface AdminOptions {
  host: string
  port: number
  /** Host names in addition to addresses and `localhost`; lower case. */
  names: readonly string[]
  /** The bearer token that all but the probes require; null for none. */
  token: string | null
  /** Why requests should not be sent here now, for `/readyz`; null when they should. */
  notReady: () => string | null
  status: () => object
  metrics: () => string
  reload: () => Promise<void>
  unreadTimeoutMs?: number
  /** Called when the status or the metrics cannot be made. */
  onFault: (path: string, error: unknown) => void
}

/** Limit of a request: longer than any health check waits. Only the answer of a reload takes time. */
const REQUEST_TIMEOUT_MS = 10_000
const MAX_TOKEN_FILE_BYTES = 4096
/** Operators, probes and scrapers are few. One that does not read its answer is cut off. */
const MOST_CONNECTIONS = 64
const UNREAD_TIMEOUT_MS = 10_000
/** The Prometheus exposition format, which `metrics` gives. */
const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const ADMIN_ADDRESS: AddressOptions = { host: '--admin-host', port: '--admin-port' }

/** For probes of a supervisor, which cannot always send a token. They show next to nothing. */
const OPEN_PATHS = new Set(['/livez', '/readyz'])

/** An IPv6 address in brackets, or another host; then a port. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d{1,5})?$/

export type AdminPort = Awaited<ReturnType<typeof startAdmin>>

/** Another program may have the port already. */
export const DEFAULT_ADMIN_PORT = 8081

/**
 * Resolves to null where no admin port is wanted, or where the default port is taken, which is a warning.
 * @throws ListenError naming the address when a named port cannot be opened, or the address is
 * not this machine's; AdminTokenError.
 */
export async function openAdminPort(
  config: ServeConfig,
  log: LogLine,
  options: Omit<AdminOptions, 'host' | 'port' | 'names' | 'token'>,
): Promise<AdminPort | null> {
  const wanted = config['admin-port']
  if (wanted === 'off') return null
  const host = config['admin-host']
  const token = config['admin-token-file'] === null ? null : readToken(config['admin-token-file'])
  if (token === null && !isLoopback(host)) {
    log(
      `the admin port listens on ${host} without a token: whoever can reach it can see the status and ask for reloads; set one with --admin-token-file`,
      'warning',
    )
  }
  try {
    return await startAdmin({
      ...options,
      host,
      names: config['admin-name'],
      token,
      port: wanted === 'auto' ? DEFAULT_ADMIN_PORT : wanted,
    })
  } catch (error) {
    if (wanted !== 'auto' || isElsewhere(error)) throw error
    log(`no admin port: ${(error as Error).message}`, 'warning')
    return null
  }
}

/** @throws Error naming the address when it cannot be listened on. */
export async function startAdmin(options: AdminOptions): Promise<{ port: number; close: () => void }> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
    // Bodies of requests are not read.
    request.resume()
    const refusal = refusalOf(request, options)
    if (refusal === null) route(request, response, options)
    else {
      const { status, message } = refusal
      if (status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
      answer(response, status, { error: status === 401 ? 'unauthorized' : 'forbidden', message })
    }
  })
  server.maxConnections = MOST_CONNECTIONS
  server.timeout = options.unreadTimeoutMs ?? UNREAD_TIMEOUT_MS
  const { host, port } = options
  await once(server.listen(port, host), 'listening').catch((error: unknown) => {
    throw new ListenError(host, port, error as Error, ADMIN_ADDRESS)
  })
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function route(request: IncomingMessage, response: ServerResponse, options: AdminOptions): void {
  const { method, url } = request
  const path = (url ?? '').split('?')[0]
  switch (`${method === 'HEAD' ? 'GET' : method} ${path}`) {
    case 'GET /livez':
      answer(response, 200, { status: 'live' })
      break
    case 'GET /readyz': {
      const reason = options.notReady()
      if (reason === null) answer(response, 200, { status: 'ready' })
      else answer(response, 503, { status: 'not ready', reason })
      break
    }
    case 'GET /status':
      answerMade(response, options, path, () => answer(response, 200, options.status()))
      break
    case 'GET /metrics':
      // The kernel takes a text whole, so a client that does not read needs nothing further.
      answerMade(response, options, path, () => {
        const text = options.metrics()
        response.writeHead(200, { 'Content-Type': EXPOSITION_TYPE, ...NO_STORE, Connection: 'close' })
        response.end(text)
      })
      break
    case 'POST /reload':
      // A load may take minutes, in which nothing is sent.
      response.setTimeout(0)
      void options.reload().then(() => {
        answerMade(response, options, path, () => answer(response, 200, options.status()))
      })
      break
    default:
      answer(response, 404, {
        error: 'resource_not_found',
        message: 'This port answers GET /livez, /readyz, /status and /metrics, and POST /reload',
      })
  }
}

/** A fault of the status or the metrics must not end the server: it is a 500, and logged. */
function answerMade(
  response: ServerResponse,
  { onFault }: AdminOptions,
  path: string,
  send: () => void,
): void {
  try {
    send()
  } catch (error) {
    onFault(path, error)
    const message = `${path} cannot be answered; the log says why`
    answer(response, 500, { error: 'internal_error', message })
  }
}

const NO_STORE = { 'Cache-Control': 'no-store' }

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...NO_STORE })
  response.end(`${JSON.stringify(body)}\n`)
}

function refusalOf(
  { headers, url }: IncomingMessage,
  { names, token }: AdminOptions,
): { status: 401 | 403; message: string } | null {
  const { host, origin } = headers
  // HTTP/1.0 names no host, and no browser speaks it.
  if (host !== undefined && !isOwn(host, names)) {
    return {
      status: 403,
      message: 'Host is neither an address nor localhost nor a name that --admin-name gives',
    }
  }
  const site = headers['sec-fetch-site'] ?? 'none'
  const isOwnPage = origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
  if (!isOwnPage || (site !== 'none' && site !== 'same-origin')) {
    return { status: 403, message: 'Requests of other pages are refused' }
  }
  if (token === null || OPEN_PATHS.has((url ?? '').split('?')[0])) return null
  const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1] ?? ''
  return timingSafeEqual(digest(given), digest(token))
    ? null
    : { status: 401, message: 'The token of --admin-token-file is required' }
}

/** Whether a `Host` is the operator's, as every address is: no foreign name server can make one lead here. */
function isOwn(host: string, names: readonly string[]): boolean {
  const [, address, other] = HOST.exec(host.toLowerCase()) ?? []
  if (address !== undefined) return isIP(address) === 6
  return other !== undefined && (isIP(other) === 4 || other === 'localhost' || names.includes(other))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** A token file that cannot be used. The message names the file and nothing of its content. */
export class AdminTokenError extends Error {
  override name = 'AdminTokenError'
}

/** Blanks around the token are dropped. @throws AdminTokenError */
export function readToken(path: string): string {
  let text: string
  try {
    text = readRegularFileSync(path, MAX_TOKEN_FILE_BYTES).toString('utf8').trim()
  } catch (error) {
    throw new AdminTokenError(`${path}: the token cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (!/^[\x21-\x7e]{16,}$/.test(text)) {
    throw new AdminTokenError(`${path}: holds no token: 16 or more printable ASCII characters without blanks`)
  }
  return text
}
