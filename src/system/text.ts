/** Small pieces of messages. */

/** An address of IPv6 in brackets, as URLs have it. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** `1 file`, `2 files`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
