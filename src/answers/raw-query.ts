/** The text of a query taken apart into names and values. */

/** Parameters that choose the form of an answer, which every operation understands. */
const SHAPING = new Set(['format', 'fields', 'layout', 'units', 'include'])

export class RawQuery {
  /** Decoded names of the parameters that have a value, in their order; '' for one that cannot be decoded. */
  readonly names: string[] = []
  /** Their decoded values; null for one that cannot be decoded. */
  readonly values: (string | null)[] = []
  /** Whether it may choose the form of the answer. */
  readonly mayShape: boolean

  constructor(query: string) {
    let mayShape = false
    for (let from = 0; from < query.length;) {
      const found = query.indexOf('&', from)
      const end = found === -1 ? query.length : found
      const pair = query.slice(from, end)
      const equals = pair.indexOf('=')
      // An empty value counts as absent.
      if (equals !== -1 && equals < pair.length - 1) {
        const name = decode(pair.slice(0, equals)) ?? ''
        mayShape ||= SHAPING.has(name)
        this.names.push(name)
        this.values.push(decode(pair.slice(equals + 1)))
      }
      from = end + 1
    }
    this.mayShape = mayShape
  }

  /**
   * The decoded value of a parameter, '' when it is absent, null when it is given more than once or cannot be
   * decoded.
   */
  get(name: string): string | null {
    const at = this.names.indexOf(name)
    if (at === -1) return ''
    return this.names.includes(name, at + 1) ? null : this.values[at]
  }
}

/** Percent-decoded text with `+` as a blank, or null when the encoding is broken. */
function decode(encoded: string): string | null {
  const plain = encoded.includes('+') ? encoded.replaceAll('+', ' ') : encoded
  if (!plain.includes('%')) return plain
  try {
    return decodeURIComponent(plain)
  } catch {
    return null
  }
}
