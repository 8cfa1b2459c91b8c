/**
 * Requests whose end two readers could see in different places (request smuggling). The server has to end the
 * connection behind each of them: what stands behind it may not be served.
 */
import { randomUUID } from 'node:crypto'

const GET = 'GET /v2/buoys/search?query=an HTTP/1.1\r\nHost: a\r\n'
const CHUNKED = 'Transfer-Encoding: chunked'
const EMPTY_CHUNKS = '0\r\n\r\n'

/** Header lines behind a request line, and what follows the head. */
const HEADS: readonly (readonly [lines: string, body?: string])[] = [
  ['Content-Length: 5', 'hello'],
  ['Content-Length: 50'],
  [CHUNKED, `5\r\nhello\r\n${EMPTY_CHUNKS}`],
  [`Content-Length: 5\r\n${CHUNKED}`, EMPTY_CHUNKS],
  [`${CHUNKED}\r\nContent-Length: 5`, EMPTY_CHUNKS],
  [`Content-Length: 0\r\n${CHUNKED}`, EMPTY_CHUNKS],
  ['Content-Length: 5\r\nContent-Length: 6', 'hello!'],
  ['Content-Length: 0\r\nContent-Length: 5', 'hello'],
  ['Content-Length: 5\r\nContent-Length: 5', 'hello'],
  ['Content-Length:'],
  ['Content-Length: 5, 5', 'hello'],
  ['Content-Length: +5', 'hello'],
  ['Content-Length: -1'],
  ['Content-Length: 0x5', 'hello'],
  ['Content-Length: 5e0', 'hello'],
  ['Content-Length: 18446744073709551621', 'hello'],
  ['Content-Length: 4294967301', 'hello'],
  ['Content-Length : 5', 'hello'],
  [`${CHUNKED}\r\n${CHUNKED}`, EMPTY_CHUNKS],
  ['Transfer-Encoding: chunked, chunked', EMPTY_CHUNKS],
  ['Transfer-Encoding: chunked, identity', EMPTY_CHUNKS],
  ['Transfer-Encoding: gzip, chunked', EMPTY_CHUNKS],
  ['Transfer-Encoding: identity'],
  ['Transfer-Encoding: xchunked', EMPTY_CHUNKS],
  ['Transfer-Encoding:'],
  ['Transfer-Encoding:\tchunked', EMPTY_CHUNKS],
  ['Transfer-Encoding: CHUNKED', EMPTY_CHUNKS],
  ['Transfer-Encoding: "chunked"', EMPTY_CHUNKS],
  ['Transfer-Encoding: \x0bchunked', EMPTY_CHUNKS],
  ['Transfer-Encoding : chunked', EMPTY_CHUNKS],
  ['Transfer-Encoding:\r\n chunked', EMPTY_CHUNKS],
  [CHUNKED, 'fffffffffffffffff\r\n'],
  [CHUNKED, '-1\r\n'],
  [CHUNKED, '5\nhello\n0\n\n'],
  [CHUNKED, '0\r\nX-Trailer: 1\r\n\r\n'],
  ['X-Nul: a\0b'],
  ['X-Folded: a\r\n b'],
  ['nonsense'],
  ['X Name: a'],
]

/** Requests that begin otherwise. */
const WHOLE = [
  `POST /v2/countries HTTP/1.1\r\nHost: a\r\n${CHUNKED}\r\n\r\n${EMPTY_CHUNKS}`,
  'POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello',
  'GET / HTTP/1.1\nHost: a\n\n',
  'GET / HTTP/1.1\rHost: a\r\r',
  ' GET / HTTP/1.1\r\nHost: a\r\n\r\n',
  'GET /\r\nHost: a\r\n\r\n',
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  '\x00\xff\x7f'.repeat(21_845),
]

/** A name for each, and its bytes as latin1. */
export const ENDS: readonly (readonly [what: string, bytes: string])[] = [
  ...HEADS.map(([lines, body = '']) => [lines, `${GET}${lines}\r\n\r\n${body}`] as const),
  ...WHOLE.map((bytes) => [bytes.slice(0, 40), bytes] as const),
]

/** A request with another one behind it, whose answer would carry a mark. */
export function withMark(bytes: string): { marked: string; request: string } {
  const marked = randomUUID()
  return { marked, request: `${bytes}${GET}X-Request-Id: ${marked}\r\n\r\n` }
}
