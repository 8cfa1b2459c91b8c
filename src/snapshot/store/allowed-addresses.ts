/**
 * The addresses that a request may go to where the operator did not write them down: those of the public
 * internet. What a server points to must not reach what only this machine can reach (an SSRF guard).
 */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The code of the error for an address that is not public. */
export const NOT_PUBLIC = 'ERR_NOT_PUBLIC'

class NotPublicError extends Error {
  readonly code = NOT_PUBLIC
}

/** Ranges that ipaddr.js names and that can be reached from anywhere: relays and servers of DNS. */
const GLOBAL_RANGES = new Set(['unicast', 'amt', 'as112', 'as112v6'])
/** All of global unicast. Beyond it IANA has given out nothing, which ipaddr.js calls unicast too. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Whatever its parts are for, IANA calls the block not globally reachable. */
const PROTOCOLS_IPV6 = ipaddr.IPv6.parseCIDR('2001::/23')
/** A translator's way to IPv4, the only one in some networks. */
const TRANSLATED_IPV4 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/** Whether a text is an address of the public internet. */
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

/** The address that a URL names without a name; null for a name. */
export function literalAddress({ hostname }: URL): string | null {
  const host = hostname.replace(/^\[|\]$/g, '')
  return isIP(host) === 0 ? null : host
}

/**
 * Looks a name up once and connects to what was found: a name that resolves differently next time gains
 * nothing.
 */
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
