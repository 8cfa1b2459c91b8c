/** Small pieces of messages. */

/** A host as URLs have it: an address of IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** A number with its noun: `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
