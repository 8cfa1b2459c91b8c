/** Whether an address can be listened on, who may begin to, and what to say when it cannot. */

import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds for which another server may be about to listen; it takes some tens. */
const TURN_PATIENCE = 10_000
const TURN_INTERVAL = 20
/** `sun_path`, unix(7). */
const TURN_NAME_BYTES = 108

/**
 * Opens a port with `open`, which is given its number (for `port` 0 one that the system picks), and resolves to that.
 *
 * Of several servers that do so at once on one port, the first opens it and the others find it taken: between finding it free and
 * listening nobody else has a turn. The turn is an abstract socket, which ends with its process and is seen where the port is seen (the
 * network namespace). Only Linux has them; elsewhere two servers may share a port if they start within the same milliseconds.
 * @throws Error naming the address when something listens on it or it cannot be bound, and what `open` throws.
 */
export async function openPort(
  host: string,
  port: number,
  open: (port: number) => Promise<void>,
): Promise<number> {
  // As long as such a name may be, because some releases of Node fill up shorter ones and others do not.
  const endTurn = await takeTurn(`\0groundswell-listens-${port}`.padEnd(TURN_NAME_BYTES, '.'))
  try {
    const free = await findFreePort(host, port)
    await open(free)
    return free
  } finally {
    endTurn()
  }
}

/** Resolves to what ends the turn. After `TURN_PATIENCE` it is passed over: whoever has it is stopped, and does not listen. */
async function takeTurn(name: string): Promise<() => void> {
  if (process.platform !== 'linux') return () => {}
  for (let waited = 0; waited < TURN_PATIENCE; waited += TURN_INTERVAL) {
    const turn = createServer()
    const taken = await new Promise<boolean>((resolve) => {
      turn.once('error', () => resolve(false))
      turn.listen({ path: name, exclusive: true }, () => resolve(true))
    })
    if (taken) return () => void turn.close()
    await setTimeout(TURN_INTERVAL)
  }
  return () => {}
}

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
