/** Addresses of Redis and Valkey: read from a text, and named in messages without their password. */
import { inUrl } from '../../system/text.ts'

/** Characters. Eight hosts, a user and a password percent-encoded stay far below this. */
const MAX_ADDRESS_LENGTH = 2048
const MAX_HOSTS = 8
const MAX_DATABASE = 16_383
const DEFAULT_PORT = 6379
const DEFAULT_PREFIX = 'groundswell'
/** The last `@` ends what stands before the hosts, so neither part has one. */
const ADDRESS = /^(rediss?):\/\/(?:([^@/?#]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/i
const HOST = /^(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?))(?::([0-9]{1,5}))?$/i

export interface RedisHost {
  readonly host: string
  readonly port: number
}

export interface RedisAddress {
  /** One to eight hosts. The first that is reached and is not a copy of another is used. */
  readonly hosts: readonly RedisHost[]
  readonly tls: boolean
  readonly database: number
  /** ACL user; null for Redis's `default`. */
  readonly user: string | null
  readonly password: string | null
  /** Begins every name that is used in the database, before a colon. */
  readonly prefix: string
  readonly name: string
  /** The address without user and password. */
  readonly place: string
}

export function isAddress(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(text)
}

/**
 * Reads `redis://[[user][:password]@]host[:port][,host[:port]…][/database][?prefix=NAME]`, or `rediss://`.
 * @throws Error that fits behind "expected " and repeats nothing of the text, which may hold a password.
 */
export function parseAddress(text: string): RedisAddress {
  const [, scheme, login, hostList, path = '', query = ''] =
    (text.length <= MAX_ADDRESS_LENGTH ? ADDRESS.exec(text) : null) ?? []
  if (scheme === undefined || hostList === undefined) {
    throw new Error(
      'an address such as redis://host:6379/0, rediss://user:password@host:6379/0 or redis://host1,host2/0 (in user and password, percent-encode @ / ? # and %)',
    )
  }
  const tls = scheme.toLowerCase() === 'rediss'
  const hosts = hostList.split(',').map(parseHost)
  if (hosts.length > MAX_HOSTS) throw new Error(`at most ${MAX_HOSTS} hosts in the address`)
  const database = parseDatabase(path)
  const { user, password } = parseLogin(login)
  const prefix = parsePrefix(query)
  const shown = hosts.map(({ host, port }) => `${inUrl(host)}:${port}`).join(',')
  const within = prefix === DEFAULT_PREFIX ? '' : `?prefix=${prefix}`
  const behind = `${shown}/${database}${within}`
  const before = tls ? 'rediss://' : 'redis://'
  const name = user === null ? before + behind : `${before}${encodeURIComponent(user)}@${behind}`
  return { hosts, tls, database, user, password, prefix, name, place: before + behind }
}

function parseHost(text: string): RedisHost {
  const [, ipv6, name, digits] = HOST.exec(text) ?? []
  const port = digits === undefined ? DEFAULT_PORT : Number(digits)
  const host = ipv6 ?? name
  if (host === undefined || port < 1 || port > 65_535) {
    throw new Error('hosts as NAME, NAME:PORT or [IPv6]:PORT with ports from 1 to 65535 in the address')
  }
  return { host, port }
}

function parseDatabase(path: string): number {
  if (path === '') return 0
  if (!/^[0-9]{1,5}$/.test(path) || Number(path) > MAX_DATABASE) {
    throw new Error(
      `the number of a database from 0 to ${MAX_DATABASE} behind the host, as in redis://host:6379/0`,
    )
  }
  return Number(path)
}

function parseLogin(login: string | undefined): { user: string | null; password: string | null } {
  if (login === undefined) return { user: null, password: null }
  const colon = login.indexOf(':')
  const parts = colon === -1 ? [login, ''] : [login.slice(0, colon), login.slice(colon + 1)]
  try {
    const [user, password] = parts.map((part) => decodeURIComponent(part))
    return { user: user === '' ? null : user, password: password === '' ? null : password }
  } catch {
    throw new Error('user and password of the address in percent-encoding (%25 stands for a percent sign)')
  }
}

function parsePrefix(query: string): string {
  if (query === '') return DEFAULT_PREFIX
  const prefix = /^prefix=([A-Za-z0-9_-]{1,32})$/.exec(query)?.[1]
  if (prefix === undefined) {
    throw new Error('nothing behind the ? of the address but prefix=NAME (1 to 32 letters, digits, _ or -)')
  }
  return prefix
}
