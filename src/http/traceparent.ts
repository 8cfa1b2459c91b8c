/** The header `traceparent` (W3C Trace Context): its content, and which requests a sample takes. */

/** Version, trace id, id of the caller's span, flags: 55 characters, lower case. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}$/
const LENGTH = 55
/** The last digits of a trace id are random: 32 bits. */
const SAMPLE_DIGITS = 8

export interface Trace {
  traceId: string
  spanId: string
}

/** Null if the header is missing, malformed, or there are several. */
export function readTraceparent(value: string): Trace | null {
  if (value.length !== LENGTH) return null
  const match = TRACEPARENT.exec(value)
  return match === null ? null : { traceId: match[1], spanId: match[2] }
}

/** In [0, 1); the same wherever the trace comes by, so that samples of all servers agree. */
export function sampleOf({ traceId }: Trace): number {
  return Number.parseInt(traceId.slice(-SAMPLE_DIGITS), 16) / 2 ** 32
}
