/** Whether an address can be listened on, who may begin to, and what to say when it cannot. */

import { lookup } from 'node:dns/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds for which another server may be about to listen; it takes some tens. */
const TURN_PATIENCE = 10_000
const TURN_INTERVAL = 20
/** `sun_path`, unix(7). */
const TURN_NAME_BYTES = 108

/**
 * Opens a port with `open`, which is given its number (for `port` 0 one that the system picks), and resolves
 * to that.
 *
 * Of several servers that do so at once on one port, the first opens it and the others find it taken: between
 * finding it free and listening nobody else has a turn. The turn is an abstract socket, which ends with its
 * process and is seen where the port is seen (the network namespace). Only Linux has them; elsewhere two
 * servers may share a port if they start within the same milliseconds.
 * @throws Error naming the address when something listens on it or it cannot be bound, and what `open`
 * throws.
 */
export async function openPort(
  host: string,
  port: number,
  open: (port: number) => Promise<void>,
  advice = '',
): Promise<number> {
  // As long as such a name may be, because some releases of Node fill up shorter ones and others do not.
  const endTurn = await takeTurn(`\0groundswell-listens-${port}`.padEnd(TURN_NAME_BYTES, '.'))
  try {
    const free = await findFreePort(host, port, advice)
    await open(free)
    return free
  } finally {
    endTurn()
  }
}

/**
 * Resolves to what ends the turn. After `TURN_PATIENCE` it is passed over: whoever has it is stopped, and
 * does not listen.
 */
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
 * Resolves to a port that nothing listens on: `port` itself, or for 0 one that the system picks. Rejects with
 * an Error that names the address when something listens on it or it cannot be bound, and ends with `advice`.
 *
 * To be asked once, before the workers start. They share their port, so a second server on it would get no
 * error, only half of the first one's connections; and a port that an engine got by asking for 0 cannot be
 * shared.
 */
export async function findFreePort(host: string, port: number, advice = ''): Promise<number> {
  try {
    if (port === 0) return await pickPort(host)
    await bind(host, port)
    return port
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw listenError(host, port, code ?? message, advice)
  }
}

/** Nobody knows the port before it is picked, so nobody connects while this listens on it. */
function pickPort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen({ host, port: 0, exclusive: true }, () => {
      const bound = (probe.address() as AddressInfo).port
      probe.close(() => resolve(bound))
    })
  })
}

/**
 * Binds a socket to the address and gives it back. It does not listen: the system would accept clients for
 * it, and reset them when it is closed. Node binds without listening only what connects, so it asks for port
 * 0, which nothing ever answers.
 */
async function bind(host: string, port: number): Promise<void> {
  const { address } = await lookup(host)
  await new Promise<void>((resolve, reject) => {
    const probe = connect({ host: address, port: 0, localAddress: address, localPort: port })
    let isBound = false
    let failure: Error | null = null
    // It comes when the socket is bound, before it connects.
    probe.once('connectionAttempt', () => {
      isBound = true
      setImmediate(() => probe.destroy())
    })
    probe.once('error', (error) => (failure = error))
    probe.once('close', () => (isBound || failure === null ? resolve() : reject(failure)))
  })
}

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'the address is in use (EADDRINUSE)',
  EADDRNOTAVAIL: 'this machine does not have the address (EADDRNOTAVAIL)',
  EACCES: 'this user may not (EACCES); ports below 1024 need a privilege',
  ENOTFOUND: 'the name is not known (ENOTFOUND)',
}

/**
 * The Error for an address that cannot be listened on; `reason` may be a system's error code. `advice` says
 * which option to change.
 */
export function listenError(host: string, port: number, reason: string, advice = ''): Error {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const what = `cannot listen on ${address}: ${REASONS[reason] ?? reason}`
  return new Error(advice === '' ? what : `${what}; ${advice}`)
}
