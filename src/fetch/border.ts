/**
 * Where a fetch may go. What the operator wrote down may be any address; where a server, or a name that it
 * controls, points to has to be on the public internet: everything else within reach of this machine is none
 * of its business.
 */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { BlockList, isIP } from 'node:net'
import { Agent, type Dispatcher } from 'undici'

/** IANA's registries of special-purpose addresses, what is not globally reachable of them; and multicast. */
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
 * Within what is global unicast: Teredo and other protocols, documentation, and 6to4, which leads to any IPv4
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
  // A translator's way to IPv4, all there is of it in some networks.
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

/** Whether an address is one of the public internet. Text that is none is not. */
export function isPublic(address: string): boolean {
  const version = isIP(address)
  if (version === 4) return !SPECIAL.check(address, 'ipv4')
  return version === 6 && GLOBAL.check(address, 'ipv6') && !SPECIAL.check(address, 'ipv6')
}

/** The code of a fault: a name leads to no public address. */
export const NOT_PUBLIC = 'ERR_NOT_PUBLIC'

export class NotPublicError extends Error {
  readonly code = NOT_PUBLIC
}

/**
 * Ways to servers: `anywhere` for addresses that the operator wrote down or allowed, `public` for all others.
 */
export interface Ways {
  anywhere: Dispatcher
  public: Dispatcher
}

/**
 * Two of them, lest a connection that was made one way be used again the other way.
 * @param connectMs how long a connection may take to come about, milliseconds
 */
export function openWays(options: Omit<Agent.Options, 'connect'>, connectMs: number): Ways {
  return {
    anywhere: new Agent({ ...options, connect: { timeout: connectMs } }),
    public: new Agent({ ...options, connect: { timeout: connectMs, lookup: publicLookup } }),
  }
}

/**
 * Names are looked up here and connected to as they were found: a name that answers differently the next time
 * gains nothing.
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
 * @param first what the operator wrote down: an address, or a name that then has to be public, unless it is
 * in `allowed`
 * @param allowed hosts of URLs that the configuration allows to be anywhere
 * @throws NotPublicError for an address that is not public
 */
export function wayTo(url: URL, first: URL, allowed: ReadonlySet<string>, ways: Ways): Dispatcher {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isAddress = isIP(host) !== 0
  const isWritten = url.origin === first.origin && (isAddress || host === 'localhost')
  if (isWritten || allowed.has(url.host)) return ways.anywhere
  // No name is looked up for an address.
  if (isAddress && !isPublic(host)) throw new NotPublicError()
  return ways.public
}
