/**
 * The SSRF guard: addresses that the operator did not write down must belong to the public internet, so that
 * a server cannot point to what only this machine can reach.
 */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The code of the error for an address that is not public. */
export const NOT_PUBLIC = 'ERR_NOT_PUBLIC'

class NotPublicError extends Error {
  readonly code = NOT_PUBLIC
}

/** Ranges of ipaddr.js that can be reached from anywhere: relays and servers of DNS. */
const GLOBAL_RANGES = new Set(['unicast', 'amt', 'as112', 'as112v6'])
/** All global unicast; beyond it IANA has given out nothing, which ipaddr.js calls unicast too. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** IANA calls the whole block not globally reachable. */
const PROTOCOLS_IPV6 = ipaddr.IPv6.parseCIDR('2001::/23')
/** A translator's way to IPv4, the only one in some networks. */
const TRANSLATED_IPV4 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

export function isPublic(text: string): boolean {
  // ipaddr.js also takes `127.1` and zones for addresses.
  if (isIP(text) === 0 || text.includes('%')) return false
  const address = ipaddr.parse(text)
  if (address instanceof ipaddr.IPv6) {
    if (address.match(TRANSLATED_IPV4)) return isPublic(address.toByteArray().slice(12).join('.'))
    if (!address.match(GLOBAL_IPV6) || address.match(PROTOCOLS_IPV6)) return false
  }
  return GLOBAL_RANGES.has(address.range())
}

/** The address that a URL gives in place of a name; null for a name. */
export function literalAddress({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? null : host
}

/** Looks a name up once and connects to the result: another answer next time gains nothing. */
export function publicLookup(
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
