/**
 * Requests whose ends two readers could see in different places (request smuggling), and framing of every odd
 * kind. Behind each stands another request with a mark: where the first has to end the connection, an answer
 * with the mark is the fault.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { amount, Tally, type Attack, type Finding, type Target } from './attack.ts'
import { Dialogue } from './dialogue.ts'

/** `ends`: nothing behind it may be served. `open`: what is behind may be served, as the next request. */
export interface OddRequest {
  name: string
  bytes: string
  behind: 'ends' | 'open'
}

const GET = 'GET /v2/buoys/search?query=an HTTP/1.1\r\nHost: a\r\n'
const POST = 'POST /v2/countries HTTP/1.1\r\nHost: a\r\n'
const withHead = (lines: string, body = ''): string => `${GET}${lines}\r\n\r\n${body}`
const CHUNKED = 'Transfer-Encoding: chunked'
const EMPTY_CHUNKS = '0\r\n\r\n'

const ends = (name: string, bytes: string): OddRequest => ({ name, bytes, behind: 'ends' })
const open = (name: string, bytes: string): OddRequest => ({ name, bytes, behind: 'open' })

export const ODD_REQUESTS: readonly OddRequest[] = [
  // Bodies: none is read, so whatever stands behind the head looks like a request.
  ends('a body with a length', withHead('Content-Length: 5', 'hello')),
  ends('a length without a body', withHead('Content-Length: 50')),
  ends('chunks', withHead(CHUNKED, `5\r\nhello\r\n${EMPTY_CHUNKS}`)),
  ends('chunks of POST', `${POST}${CHUNKED}\r\n\r\n${EMPTY_CHUNKS}`),
  ends('length and chunks', withHead(`Content-Length: 5\r\n${CHUNKED}`, EMPTY_CHUNKS)),
  ends('chunks and length', withHead(`${CHUNKED}\r\nContent-Length: 5`, EMPTY_CHUNKS)),
  ends('length 0 and chunks', withHead(`Content-Length: 0\r\n${CHUNKED}`, EMPTY_CHUNKS)),
  ends('two lengths', withHead('Content-Length: 5\r\nContent-Length: 6', 'hello!')),
  ends('two lengths, one of them 0', withHead('Content-Length: 0\r\nContent-Length: 5', 'hello')),
  ends('two equal lengths', withHead('Content-Length: 5\r\nContent-Length: 5', 'hello')),
  ends('an empty length', withHead('Content-Length:')),
  ends('a list of lengths', withHead('Content-Length: 5, 5', 'hello')),
  ends('a length with a sign', withHead('Content-Length: +5', 'hello')),
  ends('a negative length', withHead('Content-Length: -1')),
  ends('a hexadecimal length', withHead('Content-Length: 0x5', 'hello')),
  ends('a length with an exponent', withHead('Content-Length: 5e0', 'hello')),
  ends('a length with a point', withHead('Content-Length: 5.0', 'hello')),
  ends('a length beyond 64 bits', withHead('Content-Length: 18446744073709551621', 'hello')),
  ends('a length of 32 bits and more', withHead('Content-Length: 4294967301', 'hello')),
  ends('a length in words', withHead('Content-Length: five', 'hello')),
  ends('chunked twice in two lines', withHead(`${CHUNKED}\r\n${CHUNKED}`, EMPTY_CHUNKS)),
  ends('chunked twice in one line', withHead('Transfer-Encoding: chunked, chunked', EMPTY_CHUNKS)),
  ends('chunked and identity', withHead('Transfer-Encoding: chunked, identity', EMPTY_CHUNKS)),
  ends('chunked behind gzip', withHead('Transfer-Encoding: gzip, chunked', EMPTY_CHUNKS)),
  ends('identity', withHead('Transfer-Encoding: identity')),
  ends('an unknown transfer coding', withHead('Transfer-Encoding: xchunked', EMPTY_CHUNKS)),
  ends('an empty transfer coding', withHead('Transfer-Encoding:')),
  ends('chunked with a tab before it', withHead('Transfer-Encoding:\tchunked', EMPTY_CHUNKS)),
  ends('chunked in capitals', withHead('Transfer-Encoding: CHUNKED', EMPTY_CHUNKS)),
  ends('chunked in quotes', withHead('Transfer-Encoding: "chunked"', EMPTY_CHUNKS)),
  ends('chunked with a vertical tab', withHead('Transfer-Encoding: \x0bchunked', EMPTY_CHUNKS)),
  ends('a blank before the colon of the coding', withHead('Transfer-Encoding : chunked', EMPTY_CHUNKS)),
  ends('a blank before the colon of the length', withHead('Content-Length : 5', 'hello')),
  ends('a folded coding', withHead('Transfer-Encoding:\r\n chunked', EMPTY_CHUNKS)),
  ends('a chunk size beyond 64 bits', withHead(CHUNKED, 'fffffffffffffffff\r\n')),
  ends('a chunk size with a sign', withHead(CHUNKED, '-1\r\n')),
  ends('a chunk size in words', withHead(CHUNKED, 'xyz\r\n')),
  ends('a chunk extension', withHead(CHUNKED, `5;a="\r\nhello\r\n${EMPTY_CHUNKS}`)),
  ends('chunk lines that end with LF', withHead(CHUNKED, '5\nhello\n0\n\n')),
  ends('a trailer', withHead(CHUNKED, '0\r\nX-Trailer: 1\r\n\r\n')),
  ends('100-continue', withHead('Expect: 100-continue\r\nContent-Length: 5')),
  ends('HTTP/1.0 with a body', 'POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello'),
  // Heads.
  ends('lines that end with LF', 'GET / HTTP/1.1\nHost: a\n\n'),
  ends('lines that end with CR', 'GET / HTTP/1.1\rHost: a\r\r'),
  ends('a NUL in a header', withHead('X-Nul: a\0b')),
  ends('a NUL in a name', withHead('X\0Nul: a')),
  ends('a folded header', withHead('X-Folded: a\r\n b')),
  ends('a header without a colon', withHead('nonsense')),
  ends('a header without a name', withHead(': a')),
  ends('a blank in a name', withHead('X Name: a')),
  ends('no Host', 'GET / HTTP/1.1\r\nX: a\r\n\r\n'),
  ends('a blank first', ' GET / HTTP/1.1\r\nHost: a\r\n\r\n'),
  ends('a tab in the request line', 'GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n'),
  ends('no version', 'GET /\r\nHost: a\r\n\r\n'),
  ends('an unknown version', 'GET / HTTP/9.9\r\nHost: a\r\n\r\n'),
  ends('a version of lower case', 'GET / http/1.1\r\nHost: a\r\n\r\n'),
  ends('HTTP/2 at once', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  ends('a greeting of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'.padEnd(517, '\x55')),
  ends(
    'a line of the PROXY protocol',
    'PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n',
  ),
  ends('a URL of 17 KB', `GET /${'u'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`),
  ends('a header of 17 KB', withHead(`X-Long: ${'v'.repeat(17_000)}`)),
  ends('64 KB of noise', '\x00\xff\x7f'.repeat(21_845)),
  ends('a head without an end', `${GET}${'X: 1\r\n'.repeat(4000)}`),
  ends('Connection: close', withHead('Connection: close')),
  ends('HTTP/1.0', 'GET /v2/buoys/search?query=an HTTP/1.0\r\n\r\n'),
  open('two Hosts', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
  open('an empty Host', 'GET / HTTP/1.1\r\nHost:\r\n\r\n'),
  open('500 headers', withHead(Array.from({ length: 500 }, (_, i) => `X-${i}: 1`).join('\r\n'))),
  open('an empty line first', `\r\n${GET}\r\n`),
  open('three empty lines first', `\r\n\r\n\r\n${GET}\r\n`),
  open('length 0', withHead('Content-Length: 0')),
  open('an absolute target', 'GET http://a/v2/buoys/search?query=an HTTP/1.1\r\nHost: a\r\n\r\n'),
  open('an absolute target of another host', 'GET http://example.org/ HTTP/1.1\r\nHost: a\r\n\r\n'),
  open('CONNECT', 'CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n'),
  open('OPTIONS *', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'),
  open('TRACE', 'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n'),
  open('an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'),
  open('a method of lower case', 'get / HTTP/1.1\r\nHost: a\r\n\r\n'),
  open(
    'an upgrade',
    withHead(
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
  ),
  open(
    'a web socket',
    withHead(
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ),
  ),
  open('bytes beyond ASCII in a header', withHead('X-Latin: \xe9\xff')),
  open('a Range', withHead('Range: bytes=0-0,1-1,2-2')),
  open(
    '200 languages',
    withHead(`Accept-Language: ${Array.from({ length: 200 }, () => 'fr;q=0.5').join(',')}`),
  ),
]

/** Beside those of the API: what the engines answer by themselves (README, "HTTP engine"). */
export const ENGINE_STATUSES: ReadonlySet<number> = new Set([400, 408, 413, 431, 505])
const API_STATUSES: ReadonlySet<number> = new Set([200, 204, 304, 401, 404, 405])

/**
 * What uWebSockets.js does before our code sees anything, and no option changes: kept apart from faults, and
 * counted.
 */
const KNOWN_OF_UWS: ReadonlySet<string> = new Set([
  // It takes the name to be empty; no body is announced by it, so that all readers see the same end.
  'a header without a name',
  // It waits for the rest until the connection is idle for too long.
  'an empty line first',
  'three empty lines first',
])

/** Longer than the engines let a connection idle. */
const END_LIMIT_MS = 14_000
const ANSWER_LIMIT_MS = 10_000
const AT_A_TIME = 64

/** How the bytes are cut into segments. */
const CUTS = ['whole', 'behind the head', 'bytewise'] as const
type Cut = (typeof CUTS)[number]

async function send(dialogue: Dialogue, bytes: string, cut: Cut): Promise<void> {
  if (cut === 'whole') {
    dialogue.write(bytes)
    return
  }
  if (cut === 'behind the head') {
    const end = bytes.indexOf('\r\n\r\n') + 4
    dialogue.write(bytes.slice(0, end))
    await wait(20)
    if (!dialogue.ended) dialogue.write(bytes.slice(end))
    return
  }
  const size = Math.max(1, Math.ceil(bytes.length / 400))
  for (let at = 0; at < bytes.length && !dialogue.ended; at += size) {
    dialogue.write(bytes.slice(at, at + size))
    await wait(1)
  }
}

async function sayOne(port: number, odd: OddRequest, cut: Cut, statuses: Tally): Promise<string | null> {
  const mark = randomUUID()
  const dialogue = new Dialogue(port)
  await send(dialogue, `${odd.bytes}${GET}X-Request-Id: ${mark}\r\n\r\n`, cut)
  if (odd.behind === 'ends') await dialogue.over(END_LIMIT_MS)
  else await dialogue.heard(2, ANSWER_LIMIT_MS)
  const { replies, ended, garbled } = dialogue
  dialogue.close()
  for (const { status } of replies) statuses.add(status)
  const strange = replies.find(({ status }) => !API_STATUSES.has(status) && !ENGINE_STATUSES.has(status))
  if (garbled !== null) return `an answer that is none: ${garbled}`
  if (strange !== undefined) return `status ${strange.status}`
  if (odd.behind === 'open') return replies.length === 0 && !ended ? 'no answer and no end' : null
  if (replies.some(({ head }) => head.includes(mark))) return 'what stood behind it was served'
  if (replies.length > 1) {
    const heads = replies.map(({ head }) => head.split('\r\n', 1)[0])
    return `${replies.length} answers: ${heads.join(', ')}`
  }
  return ended ? null : 'the connection was kept'
}

async function sayAll({ port, engine }: Target, rounds: number): Promise<Finding> {
  const statuses = new Tally()
  const faults: string[] = []
  let said = 0
  let known = 0
  const all = Array.from({ length: rounds }, () =>
    ODD_REQUESTS.flatMap((odd) => CUTS.map((cut) => ({ odd, cut }))),
  ).flat()
  const next = async (): Promise<void> => {
    for (let one = all.pop(); one !== undefined; one = all.pop()) {
      const fault = await sayOne(port, one.odd, one.cut, statuses)
      said++
      if (fault === null) continue
      if (engine === 'uws' && KNOWN_OF_UWS.has(one.odd.name)) known++
      else faults.push(`${one.odd.name} (${one.cut}): ${fault}`)
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, next))
  return {
    did: `${said} said, ${known} of them met known limits of the engine; answers ${statuses.toString()}`,
    faults: [...new Set(faults)],
  }
}

export const FRAMING: readonly Attack[] = [
  {
    name: 'framing',
    about: `${ODD_REQUESTS.length} odd requests in three ways of cutting, ten times`,
    run: (target, scale) => sayAll(target, amount(10, scale)),
  },
]
