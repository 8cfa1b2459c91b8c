/** A host as URLs have it: an address of IPv6 in brackets. */
export function inUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
