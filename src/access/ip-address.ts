/** IPv4 and IPv6 addresses: as four 32-bit words, read without allocating for anonymous calls; as text. */

/** Characters, with a zone ("0000:…:255.255.255.255%interface"). */
export const MAX_ADDRESS_LENGTH = 64
const COLON = 0x3a
const DOT = 0x2e
// An IPv4 address is kept as the IPv6 address that maps it, ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
const MAPPED = 0xffff

/** Decimal a.b.c.d as 32 bits, or -1. Leading zeros are refused: some programs read them as octal. */
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

/** The eight groups of the address that is being read. A thread reads one address at a time. */
const GROUPS = new Uint16Array(8)

/**
 * Reads an IPv4 or IPv6 address (RFC 4291, 2.2; a zone after `%` is dropped) into four 32-bit words. When it
 * returns false, `words` means nothing. It is one function because a call of a second one costs time.
 */
export function parseAddress(text: string, words: Int32Array): boolean {
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
  // "::" stands for at least one group of zeros.
  if (gap < 0 ? count !== 8 : count > 7) return false
  if (gap >= 0) {
    GROUPS.copyWithin(gap + 8 - count, gap, count)
    GROUPS.fill(0, gap, gap + 8 - count)
  }
  for (let word = 0; word < 4; word++) words[word] = (GROUPS[2 * word] << 16) | GROUPS[2 * word + 1]
  return true
}

export function isIpv4(words: Int32Array): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === MAPPED
}

/** IPv4-mapped IPv6 (`::ffff:192.0.2.1`, RFC 4291, section 2.5.5.2) as IPv4; all else unchanged. */
export function unmapped(address: string): string {
  return address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
}
