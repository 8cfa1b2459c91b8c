/**
 * JSON documents of others. A document that is nested too deep, or has more values than memory holds, is not
 * parsed.
 */
import type { FileReport } from '../source.ts'
import { decode } from './fields.ts'

/** Levels of lists and objects; real answers have six. */
const MAX_DEPTH = 64
/** Values of one document. An empty object of three bytes takes sixty in memory. */
const MAX_VALUES = 2 ** 24

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const OPENING_BRACE = 0x7b
const CLOSING_BRACKET = 0x5d
const CLOSING_BRACE = 0x7d

/** The value of a document, or in fixed words why it has none. */
export function parseBounded(bytes: Uint8Array): { value: unknown } | { fault: string } {
  const fault = excessOf(bytes)
  if (fault !== null) return { fault }
  try {
    return { value: JSON.parse(decode(bytes)) }
  } catch {
    return { fault: 'not JSON, or cut off' }
  }
}

function excessOf(bytes: Uint8Array): string | null {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) {
      for (at++; at < bytes.length && bytes[at] !== QUOTE; at++) if (bytes[at] === BACKSLASH) at++
    } else if (byte === COMMA) values++
    else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      values++
      if (++depth > MAX_DEPTH) return `more than ${MAX_DEPTH} levels of lists and objects`
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) depth--
  }
  return values > MAX_VALUES ? `more than ${MAX_VALUES} values` : null
}

/** Parses a document within its bounds. Any other one is reported and gives undefined. */
export function parseDocument(bytes: Uint8Array, file: FileReport): unknown {
  const parsed = parseBounded(bytes)
  if ('value' in parsed) return parsed.value
  file.bad(1, parsed.fault)
  return undefined
}
