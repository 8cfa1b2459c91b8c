/**
 * The operator's port: health, status and a reload by hand. Plain node:http on the main thread, which serves nothing else, so it
 * answers even when every worker is busy. It listens on loopback unless it is told otherwise, and shows no key.
 *
 * A page in a browser of the same machine reaches loopback too. So a request has to name the port by an address or a name that is the
 * operator's, which no name that somebody else had lead here does, and to come from no other page.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { isIP, type AddressInfo } from 'node:net'
import { readRegularFileSync } from '../system/files.ts'
import { listenError } from '../http/port.ts'

export interface AdminOptions {
  host: string
  port: number
  /** Names that it is called by, beside addresses and `localhost`; lower case. */
  names: readonly string[]
  /** What `/status` and `/reload` want as a bearer token; null for nothing. */
  token: string | null
  /** Why requests should not be sent here now; null when they should. */
  notReady: () => string | null
  status: () => object
  reload: () => Promise<void>
  /** Told of a status that cannot be made. */
  onFault: (error: unknown) => void
}

/** Longer than any health check waits; answers are made at once, a reload aside. */
const REQUEST_TIMEOUT = 10_000

/** @throws Error naming the address when it cannot be listened on. */
export async function startAdmin(options: AdminOptions): Promise<{ port: number; close: () => void }> {
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT }, (request, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
      response.end(`${JSON.stringify(body)}\n`)
    }
    const answerStatus = (): void => {
      let status: object
      try {
        status = options.status()
      } catch (error) {
        // Who looks at a server must not end it.
        options.onFault(error)
        answer(500, { error: 'internal_error', message: 'The status cannot be told; the log says why' })
        return
      }
      answer(200, status)
    }
    // Nothing that is sent here is read.
    request.resume()
    const refusal = refusalOf(request, options)
    if (refusal !== null) {
      if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer')
      answer(refusal.status, {
        error: refusal.status === 401 ? 'unauthorized' : 'forbidden',
        message: refusal.message,
      })
      return
    }
    const path = (request.url ?? '').split('?')[0]
    const route = `${request.method === 'HEAD' ? 'GET' : request.method} ${path}`
    switch (route) {
      case 'GET /livez':
        answer(200, { status: 'live' })
        break
      case 'GET /readyz': {
        const reason = options.notReady()
        if (reason === null) answer(200, { status: 'ready' })
        else answer(503, { status: 'not ready', reason })
        break
      }
      case 'GET /status':
        answerStatus()
        break
      case 'POST /reload':
        void options.reload().then(answerStatus)
        break
      default:
        answer(404, {
          error: 'resource_not_found',
          message: 'Known are GET /livez, /readyz, /status and POST /reload',
        })
    }
  })
  await listen(server, options.host, options.port)
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** For probes of a supervisor, which cannot always send a token; they tell next to nothing. */
const OPEN_PATHS = new Set(['/livez', '/readyz'])

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

/** An IPv6 address in brackets, or else; and a port. */
const HOST = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9_.-]+))(?::\d{1,5})?$/

/** An address cannot be a name that another's name server made lead here. */
function isOwn(host: string, names: readonly string[]): boolean {
  const [, address, other] = HOST.exec(host.toLowerCase()) ?? []
  if (address !== undefined) return isIP(address) === 6
  return other !== undefined && (isIP(other) === 4 || other === 'localhost' || names.includes(other))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** A token file that cannot be used; the message names it, and nothing of what it holds. */
export class AdminTokenError extends Error {
  override name = 'AdminTokenError'
}

const MAX_TOKEN_FILE_BYTES = 4096

/** The token in a file, blanks around it left out. @throws AdminTokenError */
export function readToken(path: string): string {
  let text: string
  try {
    text = readRegularFileSync(path, MAX_TOKEN_FILE_BYTES).toString('utf8').trim()
  } catch (error) {
    throw new AdminTokenError(`${path}: the token cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  if (!/^[\x21-\x7e]{16,}$/.test(text)) {
    throw new AdminTokenError(`${path}: a token has 16 or more printable ASCII characters without blanks`)
  }
  return text
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenError(host, port, error.code ?? error.message)),
    )
    server.listen(port, host, () => resolve())
  })
}
