/** One connection to Redis or to each node of a cluster. Only this file knows the client library. */
import type { RedisAddress, RedisHost } from './redis-address.ts'
import { GARBLED, RedisFault } from './redis-fault.ts'

const CONNECT_TIMEOUT_MS = 2000
/** Time for the library to write a command; `redis-connection.ts` waits for the answer. */
const WRITE_TIMEOUT_MS = 250
/** Commands that wait for answers, far more than in use; each further one fails at once. */
const MAX_QUEUED = 20_000
const CLIENT_NAME = 'groundswell'
const RESP = 3

export type Reply = string | number | boolean | null | Reply[] | { [name: string]: Reply }

export interface ServerFacts {
  readonly isCluster: boolean
  readonly isPrimary: boolean
  readonly version: string
}

export interface Link extends ServerFacts {
  /** @param key the name that decides the node of a cluster; null for any node. */
  send(key: string | null, command: readonly string[]): Promise<Reply>
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
  /** Resolves with the error when the connection has broken or was closed. */
  readonly ended: Promise<unknown>
  close(): void
}

export interface TlsFiles {
  /** Authorities that are trusted instead of Node's own list. */
  readonly authorities: string | null
  /** A certificate of ours with its key, for servers that require one. */
  readonly own: string | null
}

// The library's own types have a member for each of hundreds of commands.
interface Emitter {
  on(event: string, listener: (error: unknown) => void): unknown
}
interface NodeClient extends Emitter {
  connect(): Promise<unknown>
  destroy(): void
  readonly isOpen: boolean
  sendCommand(command: readonly string[]): Promise<Reply>
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
}
interface ClusterClient extends Emitter {
  connect(): Promise<unknown>
  destroy(): void
  readonly isOpen: boolean
  sendCommand(key: string | undefined, isReadOnly: boolean, command: readonly string[]): Promise<Reply>
  subscribe(channel: string, listener: (message: string) => void): Promise<void>
}
interface Library {
  createClient(options: object): NodeClient
  createCluster(options: object): ClusterClient
}

/** @throws RedisFault or an error of the library's when the server cannot be used. */
export async function openLink(address: RedisAddress, host: RedisHost, tls: TlsFiles): Promise<Link> {
  const library = await loadLibrary()
  const options = clientOptions(address, tls)
  const client = library.createClient({
    ...options,
    database: address.database,
    socket: { ...options.socket, ...host, ...serverName(host), reconnectStrategy: false },
  })
  const ended = endOf(client, ['error', 'end', 'terminated'])
  try {
    // The library waits for the answers to its greeting as long as the socket is open.
    await Promise.race([client.connect(), tooLate()])
    const facts = factsOf(await Promise.race([client.sendCommand(['HELLO']), tooLate()]))
    if (!facts.isCluster) return nodeLink(client, facts, ended)
    client.destroy()
    return await clusterLink(library, address, host, options, facts)
  } catch (error) {
    if (client.isOpen) client.destroy()
    throw error
  }
}

async function loadLibrary(): Promise<Library> {
  try {
    return (await import('@redis/client')) as unknown as Library
  } catch {
    throw new RedisFault('refused', 'cannot be used: the package @redis/client is not installed (npm ci)')
  }
}

interface ClientOptions {
  readonly socket: object
  readonly [name: string]: unknown
}

function clientOptions({ tls, user, password }: RedisAddress, { authorities, own }: TlsFiles): ClientOptions {
  return {
    ...(user === null ? {} : { username: user }),
    ...(password === null ? {} : { password }),
    RESP,
    name: CLIENT_NAME,
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_QUEUED,
    commandOptions: { timeout: WRITE_TIMEOUT_MS },
    // An ACL would have to allow two commands for nothing that is used.
    disableClientInfo: true,
    maintNotifications: 'disabled',
    socket: {
      connectTimeout: CONNECT_TIMEOUT_MS,
      ...(tls ? { tls: true } : {}),
      ...(tls && authorities !== null ? { ca: authorities } : {}),
      ...(tls && own !== null ? { cert: own, key: own } : {}),
    },
  }
}

/** The name in the certificate; an address has none to send (RFC 6066, 3). */
function serverName({ host }: RedisHost): object {
  return /^[0-9.]+$|:/.test(host) ? {} : { servername: host }
}

/** @throws RedisFault for an answer that is not one to `HELLO` */
export function factsOf(hello: Reply): ServerFacts {
  const facts = pairsOf(hello)
  if (typeof facts['mode'] !== 'string' || typeof facts['role'] !== 'string')
    throw new RedisFault('garbled', GARBLED)
  return {
    isCluster: facts['mode'] === 'cluster',
    isPrimary: facts['role'] === 'master',
    version: `${textOf(facts['server'])} ${textOf(facts['version'])}`.trim(),
  }
}

/** A map as it comes: as an object, or as names and values in turn. */
function pairsOf(reply: Reply): { [name: string]: Reply } {
  if (!Array.isArray(reply)) return typeof reply === 'object' && reply !== null ? reply : {}
  const pairs: { [name: string]: Reply } = {}
  for (let at = 0; at + 1 < reply.length; at += 2) pairs[textOf(reply[at])] = reply[at + 1]
  return pairs
}

function textOf(reply: Reply | undefined): string {
  return typeof reply === 'string' ? reply : ''
}

function nodeLink(client: NodeClient, facts: ServerFacts, ended: Promise<unknown>): Link {
  return {
    ...facts,
    send: (_key, command) => client.sendCommand(command),
    subscribe: (channel, listener) => client.subscribe(channel, listener),
    ended,
    close: () => {
      if (client.isOpen) client.destroy()
    },
  }
}

/** The library follows the nodes of a cluster, and connects again to lost ones. */
async function clusterLink(
  library: Library,
  address: RedisAddress,
  host: RedisHost,
  options: ClientOptions,
  facts: ServerFacts,
): Promise<Link> {
  const roots = [host, ...address.hosts.filter((other) => other !== host)]
  const cluster = library.createCluster({
    rootNodes: roots.map((root) => ({ socket: { ...options.socket, ...root, ...serverName(root) } })),
    defaults: options,
  })
  const closed = endOf(cluster, ['disconnect'])
  // A node that is away shows in the calls to it.
  cluster.on('error', () => {})
  try {
    await Promise.race([cluster.connect(), tooLate()])
  } catch (error) {
    if (cluster.isOpen) cluster.destroy()
    throw error
  }
  return {
    ...facts,
    isPrimary: true,
    send: (key, command) => cluster.sendCommand(key ?? undefined, false, command),
    subscribe: (channel, listener) => cluster.subscribe(channel, listener),
    ended: closed,
    close: () => {
      if (cluster.isOpen) cluster.destroy()
    },
  }
}

function endOf(client: Emitter, events: readonly string[]): Promise<unknown> {
  return new Promise((resolve) => {
    for (const event of events) client.on(event, resolve)
  })
}

function tooLate(): Promise<never> {
  return new Promise((_, reject) => {
    const fail = (): void => reject(new RedisFault('slow', 'does not answer'))
    setTimeout(fail, CONNECT_TIMEOUT_MS).unref()
  })
}
