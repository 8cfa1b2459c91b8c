/** Whether an address can be listened on, and what to say when it cannot. */

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/**
 * Resolves to a port that nothing listens on: `port` itself, or for 0 one that the system picks. Rejects with an Error
 * that names the address when something listens on it or it cannot be bound.
 *
 * To be asked once, before the workers start. They share their port, so a second server on it would get no error, only
 * half of the first one's connections; and a port that an engine got by asking for 0 cannot be shared.
 */
export function findFreePort(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', (error: NodeJS.ErrnoException) =>
      reject(listenError(host, port, error.code ?? error.message)),
    )
    probe.listen({ host, port, exclusive: true }, () => {
      const bound = (probe.address() as AddressInfo).port
      probe.close(() => resolve(bound))
    })
  })
}

/** The Error for an address that cannot be listened on; `reason` may be a system's error code. */
export function listenError(host: string, port: number, reason: string): Error {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  return new Error(
    `cannot listen on ${address}: ${reason === 'EADDRINUSE' ? 'the address is in use (EADDRINUSE)' : reason}`,
  )
}
