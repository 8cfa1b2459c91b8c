/**
 * Whom an anonymous call is charged to: the client's address behind trusted proxies, and the hourly counts by
 * address.
 *
 * Anonymous calls are those of the two public operations without a valid key (decisions, "Two public
 * operations").
 */
import { randomFillSync } from 'node:crypto'
import { HourBanks, charge, hourOf } from './quota.ts'

// --- Addresses ---

// Longer than any address with a zone, "0000:…:255.255.255.255%interface".
const MAX_ADDRESS_LENGTH = 64
const COLON = 0x3a
const DOT = 0x2e
// An IPv4 address is kept as the IPv6 address that maps it, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2): both are one
// client.
const MAPPED = 0xffff

/**
 * Reads decimal a.b.c.d from `from` to `to`: 32 bits, unsigned, or -1. Leading zeros are refused, some read
 * them as octal.
 */
function parseIpv4(text: string, from: number, to: number): number {
  let value = 0
  let octet = -1
  let octets = 0
  for (let at = from; at <= to; at++) {
    const code = at < to ? text.charCodeAt(at) : DOT
    if (code === DOT) {
      if (octet < 0) return -1
      value = value * 256 + octet
      octet = -1
      octets++
      continue
    }
    const digit = code - 0x30
    if (digit < 0 || digit > 9 || octet === 0) return -1
    octet = octet < 0 ? digit : octet * 10 + digit
    if (octet > 255) return -1
  }
  return octets === 4 ? value : -1
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

// The eight groups of the address that is being read; a thread reads one at a time.
const GROUPS = new Uint16Array(8)

/**
 * Reads an IPv4 or IPv6 address (RFC 4291, 2.2; a zone after `%` is dropped) into four 32-bit words, without
 * allocating. False, and `words` of no meaning, when `text` is none.
 */
function parseAddress(text: string, words: Int32Array): boolean {
  const { length } = text
  if (length > MAX_ADDRESS_LENGTH) return false
  if (!text.includes(':')) {
    const ipv4 = parseIpv4(text, 0, length)
    words[0] = 0
    words[1] = 0
    words[2] = MAPPED
    words[3] = ipv4
    return ipv4 >= 0
  }
  const zone = text.indexOf('%')
  const end = zone < 0 ? length : zone
  if (zone === length - 1) return false
  let count = 0
  let gap = -1
  let at = 0
  if (text.charCodeAt(0) === COLON && text.charCodeAt(1) === COLON) {
    gap = 0
    at = 2
  }
  while (at < end) {
    if (count === 8) return false
    const start = at
    let group = 0
    let code = 0
    for (; at < end; at++) {
      code = text.charCodeAt(at)
      const digit = hexDigit(code)
      if (digit < 0) break
      group = (group << 4) | digit
      if (at - start >= 4) return false
    }
    if (at < end && code === DOT) {
      const ipv4 = parseIpv4(text, start, end)
      if (ipv4 < 0 || count > 6) return false
      GROUPS[count++] = ipv4 >>> 16
      GROUPS[count++] = ipv4 & 0xffff
      break
    }
    if (at === start) return false
    GROUPS[count++] = group
    if (at === end) break
    if (code !== COLON) return false
    at++
    if (at === end) return false
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return false
      gap = count
      at++
    }
  }
  // "::" stands for one group of zeros at least.
  if (gap < 0 ? count !== 8 : count > 7) return false
  if (gap >= 0) {
    GROUPS.copyWithin(gap + 8 - count, gap, count)
    GROUPS.fill(0, gap, gap + 8 - count)
  }
  for (let word = 0; word < 4; word++) words[word] = (GROUPS[2 * word] << 16) | GROUPS[2 * word + 1]
  return true
}

function isIpv4(words: Int32Array): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === MAPPED
}

/** An address as `parseAddress` reads it. */
function addressText(words: Int32Array): string {
  if (isIpv4(words)) return Array.from([24, 16, 8, 0], (shift) => (words[3] >>> shift) & 255).join('.')
  return Array.from({ length: 8 }, (_, at) =>
    ((words[at >> 1] >>> (at % 2 === 0 ? 16 : 0)) & 0xffff).toString(16),
  ).join(':')
}

// --- Trusted proxies ---

const MAX_NETWORKS = 1000
const MAX_HOPS = 20
// Far more than proxies write for one hop; bounds the work on what a client wrote further left.
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
  // ::ffff:0:0/90 holds more than mapped addresses: a network of IPv6.
  const ipv4 = isIpv4(words) && prefix >= 96
  const mask = Int32Array.from([0, 32, 64, 96], (before) => {
    const inWord = Math.min(32, Math.max(0, prefix - before))
    return inWord === 0 ? 0 : -1 << (32 - inWord)
  })
  return { ipv4, words, mask }
}

/**
 * The proxies whose word about the client's address counts (`--trusted-proxy`). From anybody else
 * `X-Forwarded-For` and `Forwarded` are ignored: a client can write what it likes into them.
 */
export class TrustedProxies {
  readonly #networks: readonly Network[]
  readonly #words = new Int32Array(4)

  /**
   * @param cidrs networks such as `10.0.0.0/8` or `fd00::/8`, or single addresses.
   * @throws Error that names the one that is malformed.
   */
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

  /** No proxy is trusted, so no header needs to be looked at. */
  get isEmpty(): boolean {
    return this.#networks.length === 0
  }

  /**
   * The address an anonymous call is charged to. Starts at `peer` and follows the proxies' word from the
   * right, nearest hop first, while the hop that said it is trusted; stops at the first that is not, at one
   * that is malformed or hidden (`unknown`, `_name`), and after 20 hops. `Forwarded` (RFC 7239) counts only
   * where there is no `X-Forwarded-For`: most proxies write just the latter and pass on a client's own
   * `Forwarded` untouched.
   *
   * @param xForwardedFor the header, several joined with commas in their order; empty when absent.
   * @param forwarded likewise.
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

  /** Whether an address is a proxy's whose word counts. */
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

/**
 * Where the last element of a list that ends at `end` begins. Read from the right, so that a quote which a
 * client left open cannot swallow what trusted proxies put behind it.
 */
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

/**
 * The value of `for` in an element of `Forwarded` (RFC 7239, 4), unquoted; empty when it is absent, repeated or
 * malformed.
 */
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

/**
 * The address in `1.2.3.4`, `1.2.3.4:80`, `2001:db8::1`, `[2001:db8::1]` or `[2001:db8::1]:80`; empty when it is
 * none of these.
 */
function hopAddress(hop: string): string {
  // A zone means something on one machine only, and may hold any character.
  if (hop.length > MAX_ADDRESS_LENGTH || hop.includes('%')) return ''
  const bracketed = /^\[([0-9A-Fa-f:.]+)\](?::[\w.-]+)?$/.exec(hop)
  if (bracketed?.[1]?.includes(':') === true) return bracketed[1]
  return /^([\d.]+):[\w.-]+$/.exec(hop)?.[1] ?? hop
}

// --- Counts by address ---

// Pairs of words, fingerprint and count; one line of eight pairs fills a cache line. Two banks of 23.6 MB: a
// million addresses in an hour, half of them of IPv6 and those each of another /48, fill half of one.
const LINES = 368_000
const LINE_WORDS = 16
// Sixteen cache lines. With a million addresses in the hour four of them were full for seven newcomers, eight
// would be for one in twenty hours; a call reads no further than the first free place.
const WINDOW_WORDS = 256
const BANKS = 2
const BANK_WORDS = LINES * LINE_WORDS + WINDOW_WORDS
const SEED_WORDS = 2
// Whether an address lies there, and the four words of it.
const SIGHTING_WORDS = 5
const NOTHING_SEEN = 0
const BEING_WRITTEN = 1
const SEEN = 2

/**
 * One household or machine is given a /64 of IPv6, whoever asks for it a /56 or /48 of many of them: all of a /48
 * together may make as many calls as so many /64.
 */
export const SITE_SHARES = 16
const SITE_BYTES = 6
const MAX_COUNT = 0x7fff_ffff

/**
 * Anonymous calls by address and clock hour, exact over all threads, in 47.1 MB of shared memory whatever the
 * number of addresses. IPv6 counts by /64, and its calls also by /48, up to {@link SITE_SHARES} times the limit. One
 * instance per thread on one buffer.
 *
 * An hour with some 2.2 million addresses or more (an IPv6 /48 is one more) fills the places that belong to an
 * address; a newcomer then shares the count of the least busy of its 128 places. Addresses are told apart by a hash with a seed of the
 * process, 50 bits of it: nobody can choose addresses that meet in one place, and two of a million share a count
 * by chance once in hundreds of hours.
 */
export class AddressCounters {
  readonly #banks: HourBanks
  readonly #seed: Int32Array
  readonly #sighting: Int32Array
  readonly #words = new Int32Array(4)
  readonly #hash = new Int32Array(2)

  static allocate(): SharedArrayBuffer {
    const bytes = HourBanks.bytes(BANKS, BANK_WORDS)
    const more = SIGHTING_WORDS + SEED_WORDS
    const buffer = new SharedArrayBuffer(bytes + more * Int32Array.BYTES_PER_ELEMENT)
    randomFillSync(new Int32Array(buffer).subarray(-SEED_WORDS))
    return buffer
  }

  constructor(buffer: SharedArrayBuffer) {
    this.#banks = new HourBanks(buffer, BANKS, BANK_WORDS)
    const behind = new Int32Array(buffer, HourBanks.bytes(BANKS, BANK_WORDS))
    this.#sighting = behind.subarray(0, SIGHTING_WORDS)
    this.#seed = behind.subarray(SIGHTING_WORDS)
  }

  /**
   * Counts one call of an address; one that is refused is not counted. Text that is no address (the peer of a local socket) counts as one more address.
   *
   * @param limit calls per hour, at least 1.
   * @param now epoch seconds.
   * @returns calls left after this one, or -1 when the hour's limit is used up.
   */
  take(address: string, limit: number, now: number): number {
    const { words } = this.#banks
    const count = this.#read(address)
    this.#digest(count, count * Int32Array.BYTES_PER_ELEMENT)
    const at = this.#placeOf(now)
    if (count < 2) return charge(words, at, limit)
    if (Atomics.load(words, at) >= limit) return -1
    this.#words[1] >>>= 16
    this.#digest(1, SITE_BYTES)
    const site = this.#placeOf(now)
    const ofSite = charge(words, site, Math.min(limit * SITE_SHARES, MAX_COUNT))
    if (ofSite < 0) return -1
    const left = charge(words, at, limit)
    // Another thread took the last call of the /64 in between.
    if (left < 0) Atomics.sub(words, site, 1)
    return Math.min(left, ofSite)
  }

  /** Where the address of the last digest is counted in the hour of `now`. */
  #placeOf(now: number): number {
    const { words } = this.#banks
    const fingerprint = this.#hash[1] === 0 ? 1 : this.#hash[1]
    const line = Math.floor(((this.#hash[0] >>> 0) / 2 ** 32) * LINES)
    const from = this.#banks.start(hourOf(now)) + line * LINE_WORDS
    const to = from + WINDOW_WORDS
    // Places are only ever filled within an hour, first free place first, so all threads find an address in the
    // same one.
    for (let at = from; at < to; at += 2) {
      let found = Atomics.load(words, at)
      if (found === 0) {
        found = Atomics.compareExchange(words, at, 0, fingerprint)
        if (found === 0) found = fingerprint
      }
      if (found === fingerprint) return at + 1
    }
    let least = from + 1
    for (let at = from + 3; at < to; at += 2) {
      if (Atomics.load(words, at) < Atomics.load(words, least)) least = at
    }
    return least
  }

  /** Notes that `peer` looks like a proxy that is not trusted; the first one stays until it is told. */
  sightProxy(peer: string): void {
    const sighting = this.#sighting
    if (!parseAddress(peer, this.#words)) return
    if (Atomics.compareExchange(sighting, 0, NOTHING_SEEN, BEING_WRITTEN) !== NOTHING_SEEN) return
    sighting.set(this.#words, 1)
    Atomics.store(sighting, 0, SEEN)
  }

  /** The address that was noted since the last call; null when none was. */
  sightedProxy(): string | null {
    const sighting = this.#sighting
    if (Atomics.load(sighting, 0) !== SEEN) return null
    const text = addressText(sighting.subarray(1))
    Atomics.store(sighting, 0, NOTHING_SEEN)
    return text
  }

  /**
   * See {@link HourBanks.prepare}: without it the first call of an hour zeroes 23.6 MB, which takes milliseconds.
   */
  prepare(now: number): void {
    this.#banks.prepare(now)
  }

  /** Reads an address into whole words, to begin with: one of IPv4, the two of an IPv6 /64, or none. */
  #read(address: string): number {
    const words = this.#words
    if (!parseAddress(address, words)) return 0
    if (!isIpv4(words)) return 2
    words[0] = words[3]
    return 1
  }

  // HalfSipHash-2-4 with 64 bits of output (Aumasson and Bernstein) over the four bytes of an IPv4 address, the
  // eight of an IPv6 /64, the six of a /48 (the last two in the lower half of their word), or none.
  #digest(count: number, bytes: number): void {
    const words = this.#words
    words[count] = (bytes << 24) | (bytes > count * Int32Array.BYTES_PER_ELEMENT ? words[count] : 0)
    let v0 = this.#seed[0]
    let v1 = this.#seed[1] ^ 0xee
    let v2 = 0x6c796765 ^ this.#seed[0]
    let v3 = 0x74656462 ^ this.#seed[1]
    // Two rounds for each word and the length behind them, four for each half of the output.
    const last = 2 * (count + 1)
    for (let round = 0; round < last + 8; round++) {
      if (round < last) {
        if ((round & 1) === 0) v3 ^= words[round >> 1]
      } else if (round === last) {
        v2 ^= 0xee
      } else if (round === last + 4) {
        this.#hash[0] = v1 ^ v3
        v1 ^= 0xdd
      }
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      if (round < last && (round & 1) === 1) v0 ^= words[round >> 1]
    }
    this.#hash[1] = v1 ^ v3
  }
}

/**
 * Tells the operator, once an hour at most, of a peer that looks like a proxy and is not trusted: its clients share one quota.
 * To be looked at every few seconds by a thread that serves nothing.
 */
export class ProxyWarnings {
  readonly #counters: AddressCounters
  readonly #log: (line: string) => void
  #toldIn = -1

  constructor(counters: AddressCounters, log: (line: string) => void) {
    this.#counters = counters
    this.#log = log
  }

  prepare(now: number): void {
    const peer = this.#counters.sightedProxy()
    const hour = hourOf(now)
    if (peer === null || hour === this.#toldIn) return
    this.#toldIn = hour
    this.#log(
      `warning: ${peer} has used half of its hour's requests without a key, and sends X-Forwarded-For or Forwarded: all clients of a proxy share one quota until it is trusted (--trusted-proxy ${peer})`,
    )
  }
}
