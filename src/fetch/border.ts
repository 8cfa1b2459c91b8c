/**
 * Where a fetch may go. The operator may write down any address. What a server points to, or a name that it
 * controls, has to be on the public internet: it must not reach what only this machine can reach.
 */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { Agent, type Dispatcher } from 'undici'

/** What IANA's registries of special-purpose addresses call not globally reachable, and multicast. */
const SPECIAL_IPV4: readonly [network: string, bits: number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
]
/**
 * Within global unicast: Teredo and other protocols, documentation, and 6to4, which leads to any IPv4
 * address.
 */
const SPECIAL_IPV6: readonly [network: string, bits: number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
]
const GLOBAL_IPV6: readonly [network: string, bits: number][] = [
  ['2000::', 3],
  // A translator's way to IPv4, the only one in some networks.
  ['64:ff9b::', 96],
]

function listOf(
  ipv4: readonly [network: string, bits: number][],
  ipv6: readonly [network: string, bits: number][],
): BlockList {
  const list = new BlockList()
  for (const [network, bits] of ipv4) list.addSubnet(network, bits, 'ipv4')
  for (const [network, bits] of ipv6) list.addSubnet(network, bits, 'ipv6')
  return list
}

const GLOBAL = listOf([], GLOBAL_IPV6)
const SPECIAL = listOf(SPECIAL_IPV4, [
  ...SPECIAL_IPV6,
  ...SPECIAL_IPV4.map(([network, bits]): [string, number] => [`64:ff9b::${network}`, 96 + bits]),
])

/** Whether a text is an address of the public internet. */
export function isPublic(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !SPECIAL.check(address, 'ipv4')
  return version === 6 && GLOBAL.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6')
}

/** The code of the error for a name that leads to no public address. */
export const NOT_PUBLIC = 'ERR_NOT_PUBLIC'

class NotPublicError extends Error {
  readonly code = NOT_PUBLIC
}

/**
 * Connections to servers: `anywhere` where the operator wrote the address down or allowed it, else `public`.
 */
export interface Ways {
  anywhere: Dispatcher
  public: Dispatcher
}

/**
 * Two agents: a connection of the one is never used again by the other.
 * @param connectMs within so long a connection has to be made
 */
export function openWays(options: Omit<Agent.Options, 'connect'>, connectMs: number): Ways {
  return {
    anywhere: new Agent({ ...options, connect: { timeout: connectMs } }),
    public: new Agent({ ...options, connect: { timeout: connectMs, lookup: publicLookup } }),
  }
}

/**
 * Looks a name up once and connects to what was found: a name that resolves differently next time gains
 * nothing.
 */
function publicLookup(
  host: string,
  options: LookupOptions,
  done: (error: Error | null, found: string | LookupAddress[], family?: number) => void,
): void {
  lookup(host, { ...options, all: true }, (error, all) => {
    const found = error === null ? all.filter(({ address }) => isPublic(address)) : []
    if (error !== null) done(error, [])
    else if (found.length === 0) done(new NotPublicError(), [])
    else if (options.all === true) done(null, found)
    else done(null, found[0].address, found[0].family)
  })
}

/**
 * The way to a URL.
 * @param first the URL that the operator wrote down; a name in it has to be public, unless it is in `allowed`
 * @param allowed hosts that the configuration allows to be anywhere
 * @throws NotPublicError for an address that is not public
 */
export function wayTo(url: URL, first: URL, allowed: ReadonlySet<string>, ways: Ways): Dispatcher {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isAddress = isIP(host) !== 0
  const isWritten = url.origin === first.origin && (isAddress || host === 'localhost')
  if (isWritten || allowed.has(url.host)) return ways.anywhere
  // An address needs no look-up, so it is checked here.
  if (isAddress && !isPublic(host)) throw new NotPublicError()
  return ways.public
}
