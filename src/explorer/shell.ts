/** Calls as lines for a POSIX shell. */

/** `address` is whole, `key` may be empty. */
export function curlLine(address: string, key: string): string {
  const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`
  return `curl ${key === '' ? '' : `-H ${quoted(`Authorization: Bearer ${key}`)} `}${quoted(address)}`
}
