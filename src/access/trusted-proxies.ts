/** The client's address behind trusted proxies, from `X-Forwarded-For` or `Forwarded`. */
import * as address from './ip-address.ts'

// Calls through imports cost more on each anonymous call than constants of this module.
const { isIpv4, MAX_ADDRESS_LENGTH, parseAddress } = address

const MAX_NETWORKS = 1000
/** Proxies that a call may pass through. */
const MAX_HOPS = 20
/** Characters, far more than proxies write for one hop: the bound on work for a client's text. */
const MAX_ELEMENT_LENGTH = 512

interface Network {
  readonly ipv4: boolean
  readonly words: Int32Array
  readonly mask: Int32Array
}

function parseNetwork(cidr: string): Network | null {
  const slash = cidr.indexOf('/')
  const address = slash < 0 ? cidr : cidr.slice(0, slash)
  const words = new Int32Array(4)
  if (address.includes('%') || !parseAddress(address, words)) return null
  const written = address.includes(':') ? 128 : 32
  const bits = slash < 0 ? String(written) : cidr.slice(slash + 1)
  if (!/^(0|[1-9]\d{0,2})$/.test(bits) || Number(bits) > written) return null
  const prefix = Number(bits) + 128 - written
  // ::ffff:0:0/90 holds more than mapped addresses, so it is a network of IPv6.
  const ipv4 = isIpv4(words) && prefix >= 96
  const mask = Int32Array.from([0, 32, 64, 96], (before) => {
    const inWord = Math.min(32, Math.max(0, prefix - before))
    return inWord === 0 ? 0 : -1 << (32 - inWord)
  })
  return { ipv4, words, mask }
}

/** CIDRs of every IPv4 or IPv6 address, such as `0.0.0.0/0`. */
export const holdingEverybody = (cidrs: readonly string[]): string[] =>
  cidrs.filter((cidr) => /\/0$|^::ffff:.*\/96$/i.test(cidr))

/**
 * The proxies that are believed about the client's address (`--trusted-proxy`): anybody else can write what
 * it likes into the headers. `BlockList` of node:net takes more than twenty times as long.
 */
export class TrustedProxies {
  readonly #networks: readonly Network[]
  readonly #words = new Int32Array(4)

  /** @param cidrs networks or addresses. @throws Error naming the one that is malformed. */
  constructor(cidrs: readonly string[]) {
    if (cidrs.length > MAX_NETWORKS) throw new Error(`more than ${MAX_NETWORKS} trusted proxies`)
    this.#networks = cidrs.map((cidr) => {
      const network = parseNetwork(cidr)
      if (network === null) {
        throw new Error(
          `trusted proxy ${JSON.stringify(cidr.slice(0, MAX_ADDRESS_LENGTH))} is not an address or CIDR`,
        )
      }
      return network
    })
  }

  get isEmpty(): boolean {
    return this.#networks.length === 0
  }

  /**
   * The address that an anonymous call is charged to: from `peer` leftwards through the header, as long as
   * the hop that wrote an element is trusted. Stops at a malformed or hidden hop (`unknown`, `_name`), and
   * after 20. `Forwarded` (RFC 7239) counts only without an `X-Forwarded-For`: most proxies pass on a
   * client's own.
   * @param xForwardedFor the values in their order, joined with commas; empty when the header is absent.
   * @param forwarded the values of `Forwarded`, joined in the same way.
   */
  clientAddress(peer: string, xForwardedFor: string, forwarded: string): string {
    const header = xForwardedFor === '' ? forwarded : xForwardedFor
    if (this.#networks.length === 0 || header === '' || !this.trusts(peer)) return peer
    let client = peer
    let end = header.length
    for (let hop = 0; hop < MAX_HOPS && end >= 0; hop++) {
      const start = elementStart(header, end)
      const element = header.slice(start, end).trim()
      end = start - 1
      // RFC 9110, 5.6.1: empty elements of a list do not count.
      if (element === '') continue
      if (element.length > MAX_ELEMENT_LENGTH) return client
      const address = hopAddress(header === xForwardedFor ? element : forwardedFor(element))
      if (address === '' || !parseAddress(address, this.#words)) return client
      client = address
      if (!this.#holds()) return client
    }
    return client
  }

  trusts(address: string): boolean {
    return parseAddress(address, this.#words) && this.#holds()
  }

  #holds(): boolean {
    const ipv4 = isIpv4(this.#words)
    for (const network of this.#networks) {
      if (network.ipv4 !== ipv4) continue
      let difference = 0
      for (let word = 0; word < 4; word++) {
        difference |= (this.#words[word] ^ network.words[word]) & network.mask[word]
      }
      if (difference === 0) return true
    }
    return false
  }
}

/** Start of the list's last element. Read from the right, a client's open quote swallows no proxy's words. */
function elementStart(list: string, end: number): number {
  let quoted = false
  for (let at = end - 1; at >= 0; at--) {
    const code = list.charCodeAt(at)
    if (code === 0x22) {
      let backslashes = 0
      while (list.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
      if (backslashes % 2 === 0) quoted = !quoted
      at -= backslashes
    } else if (code === 0x2c && !quoted) {
      return at + 1
    }
  }
  return 0
}

const FORWARDED_PAIR = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*))$/

/** The unquoted `for` of an element of `Forwarded` (RFC 7239, 4). Empty for none, several or a bad one. */
function forwardedFor(element: string): string {
  let found = ''
  for (const part of element.match(/(?:[^;"]|"(?:[^"\\]|\\.)*"|")+/g) ?? []) {
    const pair = FORWARDED_PAIR.exec(part.trim())
    if (pair?.[1]?.toLowerCase() !== 'for') continue
    if (found !== '') return ''
    found = pair[2] ?? pair[3] ?? ''
  }
  return found
}

/** The address in `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`, or ''. */
function hopAddress(hop: string): string {
  // A zone has a meaning on one machine only, and may hold any character.
  if (hop.length > MAX_ADDRESS_LENGTH || hop.includes('%')) return ''
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](?::[\w.-]+)?$/.exec(hop)
  if (bracketed?.[1]?.includes(':') === true) return bracketed[1]
  return /^([\d.]+):[\w.-]+$/.exec(hop)?.[1] ?? hop
}
