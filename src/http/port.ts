/** Whether an address can be listened on, and what to say when it cannot. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { inUrl } from '../system/text.ts'

/** Milliseconds that another server may hold the lock before it listens; it needs some tens. */
const LOCK_PATIENCE = 10_000
const LOCK_INTERVAL = 20
/** `sun_path`, unix(7). */
const LOCK_NAME_BYTES = 108

/**
 * Opens a port with `open`, which is given its number; 0 is one that the system picks. Of several servers
 * that do so at once the first gets it: a lock, an abstract socket of the network namespace that ends with
 * its process, lets nobody in between finding the port free and listening. Only Linux has it: elsewhere
 * two servers may share a port if they start within the same milliseconds.
 * @throws ListenError when something listens on the address or it cannot be bound, and what `open` throws
 */
export async function openPort(
  host: string,
  port: number,
  open: (port: number) => Promise<void>,
  options: AddressOptions | null = null,
): Promise<number> {
  // The name has the greatest length: some releases of Node fill up shorter ones and others do not.
  const releaseLock = await takeLock(`\0groundswell-listens-${port}`.padEnd(LOCK_NAME_BYTES, '.'))
  try {
    const free = await findFreePort(host, port, options)
    await open(free)
    return free
  } finally {
    releaseLock()
  }
}

/**
 * Resolves to a function that releases the lock. After `LOCK_PATIENCE` its holder is stopped, and is ignored.
 */
async function takeLock(name: string): Promise<() => void> {
  if (process.platform !== 'linux') return () => {}
  for (let waited = 0; waited < LOCK_PATIENCE; waited += LOCK_INTERVAL) {
    const lock = createServer()
    try {
      await once(lock.listen({ path: name, exclusive: true }), 'listening')
      return () => void lock.close()
    } catch {
      await setTimeout(LOCK_INTERVAL)
    }
  }
  return () => {}
}

/**
 * Ask once, before the workers start: they share their port, so a second server on it would get half of the
 * connections and no error. Port 0 is one that the system picks; an engine's own 0 cannot be shared.
 * @throws ListenError naming the address and, with `options`, which of them to change
 */
export async function findFreePort(
  host: string,
  port: number,
  options: AddressOptions | null = null,
): Promise<number> {
  // A client that connects meanwhile comes again.
  const probe = createServer((socket) => socket.resetAndDestroy())
  try {
    await once(probe.listen({ host, port, exclusive: true }), 'listening')
    return (probe.address() as AddressInfo).port
  } catch (error) {
    throw new ListenError(host, port, error as Error, options)
  } finally {
    probe.close()
  }
}

const REASONS: { readonly [code: string]: string } = {
  EADDRINUSE: 'the address is in use (EADDRINUSE)',
  EADDRNOTAVAIL: 'this machine does not have the address (EADDRNOTAVAIL)',
  EACCES: 'this user may not (EACCES); ports below 1024 need a privilege',
  ENOTFOUND: 'the name is not known (ENOTFOUND)',
  EINVAL:
    'the system does not take the address (EINVAL); one that begins with fe80 names its network: fe80::1%eth0',
  EMFILE: 'this process may open no more files (EMFILE)',
}

/** Names of the options that an address comes from. */
export interface AddressOptions {
  readonly host: string
  readonly port: string
}

/** `reason`: a system's error code. */
function adviceOn(reason: string, { host, port }: AddressOptions): string {
  if (reason === 'EADDRINUSE')
    return `choose another with ${port} (0 takes any free one), or end what has it (ss -ltnp shows it)`
  if (reason === 'EACCES') return `choose another with ${port}`
  if (reason === 'EMFILE') return 'allow it more with ulimit -n, or LimitNOFILE of systemd'
  // Another port does not help if the address is not this machine's.
  return `name an address of this machine with ${host}: 127.0.0.1 is for this machine alone, 0.0.0.0 is all of IPv4, :: is all`
}

/** An address cannot be listened on. */
export class ListenError extends Error {
  override name = 'ListenError'
  /** A system's error code, or words. */
  readonly reason: string

  /** With `options` the error advises which of them to change. */
  constructor(
    host: string,
    port: number,
    { code, message }: NodeJS.ErrnoException,
    options: AddressOptions | null = null,
  ) {
    const reason = code ?? message
    const what = `cannot listen on ${inUrl(host)}:${port}: ${REASONS[reason] ?? reason}`
    super(options === null ? what : `${what}; ${adviceOn(reason, options)}`)
    this.reason = reason
  }
}

/** The address is not this machine's: ending another program would not help. */
export function isElsewhere(error: unknown): boolean {
  return error instanceof ListenError && /^(EADDRNOTAVAIL|ENOTFOUND)$/.test(error.reason)
}
