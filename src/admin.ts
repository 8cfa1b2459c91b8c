/**
 * The operator's port: health, status and a reload by hand. Plain node:http on the main thread, which serves nothing else, so it
 * answers even when every worker is busy. It listens on loopback unless it is told otherwise, and shows no key.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listenError } from './http/port.ts'

export interface AdminOptions {
  host: string
  port: number
  /** Why requests should not be sent here now; null when they should. */
  notReady: () => string | null
  status: () => object
  reload: () => Promise<void>
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
    // Nothing that is sent here is read.
    request.resume()
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
        answer(200, options.status())
        break
      case 'POST /reload':
        void options.reload().then(() => answer(200, options.status()))
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

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenError(host, port, error.code ?? error.message)),
    )
    server.listen(port, host, () => resolve())
  })
}
