/** How a key is presented, in every odd form, and which address pays without one: over both engines. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { usagePath } from '../../src/access/usage-file.ts'
import { RawClient, type Answer } from '../http/raw_client.ts'
import { awayFromTheHour } from '../api/hour.ts'
import { startLive } from '../live.ts'
import { smallSnapshot } from './turned_clock.ts'
import { missing, SLOW_ENGINES } from '../http/server_for_tests.ts'
import { rounds } from '../rounds.ts'

const snapshots = await smallSnapshot()
const KEYED = '/v2/buoys/1'
const QUIET = ['--admin-port=off', '--drain-time=0s']
const PUBLIC = '/v2/buoys/search?query=alpha'

/** Header lines and a query, as they go out: latin1. */
interface Presented {
  lines?: string[]
  query?: string
}

/** Asks over a connection of its own: a malformed request may end it. */
async function ask(port: number, path: string, { lines = [], query = '' }: Presented): Promise<Answer> {
  const client = new RawClient(port)
  const target = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`
  const head = [`GET ${target} HTTP/1.1`, 'Host: localhost', ...lines].join('\r\n')
  client.write(Buffer.from(`${head}\r\n\r\n`, 'latin1'))
  try {
    return await client.answer()
  } finally {
    client.socket.destroy()
  }
}

const percentEncoded = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')

const authorization = (value: string): string => `Authorization: ${value}`

type Expected = 'accepted' | 'required' | 'invalid' | 'engine'

/** `engine`: refused before we see it, or an invalid key; the engines differ in which bytes they take. */
function cases(key: string): [name: string, presented: Presented, expected: Expected][] {
  const bearer = (value: string): Presented => ({ lines: [authorization(value)] })
  const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`
  const basic = `Basic ${Buffer.from(`user:${key}`).toString('base64')}`
  return [
    ['lower case', bearer(`bearer ${key}`), 'accepted'],
    ['header name in capitals', { lines: [`AUTHORIZATION: Bearer ${key}`] }, 'accepted'],
    ['several blanks', bearer(`Bearer      ${key}`), 'accepted'],
    ['blanks around', { lines: [`Authorization:    Bearer ${key}   `] }, 'accepted'],
    ['no blank before the value', { lines: [`Authorization:Bearer ${key}`] }, 'accepted'],
    ['no header', {}, 'required'],
    ['scheme alone', bearer('Bearer'), 'required'],
    ['key alone', bearer(key), 'required'],
    ['no blank', bearer(`Bearer${key}`), 'required'],
    ['Basic', bearer(basic), 'required'],
    ['X-API-Key', { lines: [`X-API-Key: ${key}`] }, 'required'],
    [
      'X-API-Key beside a wrong key',
      { lines: [`X-API-Key: ${key}`, authorization(`Bearer ${wrong}`)] },
      'invalid',
    ],
    ['another key', bearer(`Bearer ${wrong}`), 'invalid'],
    ['key and comma', bearer(`Bearer ${key},`), 'invalid'],
    ['shortened', bearer(`Bearer ${key.slice(0, -1)}`), 'invalid'],
    ['10,000 characters that begin with the key', bearer(`Bearer ${key.padEnd(10_000, 'k')}`), 'invalid'],
    ['10,000 blanks', bearer(`Bearer${' '.repeat(10_000)}${key}`), 'accepted'],
    ['beyond ASCII', bearer(`Bearer ${key.slice(0, -1)}\u00e9`), 'engine'],
    ['NUL in the key', bearer(`Bearer ${key.slice(0, 20)}\0${key.slice(21)}`), 'engine'],
    [
      'two headers, the first good',
      { lines: [key, wrong].map((text) => authorization(`Bearer ${text}`)) },
      'accepted',
    ],
    [
      'two headers, the first bad',
      { lines: [wrong, key].map((text) => authorization(`Bearer ${text}`)) },
      'invalid',
    ],
    ['in the query', { query: `api_key=${key}` }, 'accepted'],
    ['encoded', { query: `api_key=${percentEncoded(key)}` }, 'accepted'],
    ['with an encoded name', { query: `%61pi%5Fkey=${key}` }, 'accepted'],
    ['empty in the query', { query: 'api_key=' }, 'required'],
    ['without a value', { query: 'api_key' }, 'required'],
    ['repeated', { query: `api_key=${key}&api_key=${key}` }, 'invalid'],
    ['repeated, good and bad', { query: `api_key=${key}&api_key=${wrong}` }, 'invalid'],
    ['repeated, once empty', { query: `api_key=&api_key=${key}` }, 'accepted'],
    ['encoded twice', { query: `api_key=${percentEncoded(percentEncoded(key))}` }, 'invalid'],
    ['with a plus', { query: `api_key=+${key}` }, 'invalid'],
    ['not decodable', { query: 'api_key=%zz' }, 'invalid'],
    ['both, header good', { ...bearer(`Bearer ${key}`), query: `api_key=${wrong}` }, 'accepted'],
    [
      'both, header good, query repeated',
      { ...bearer(`Bearer ${key}`), query: 'api_key=a&api_key=b' },
      'accepted',
    ],
    ['both, header empty', { ...bearer('Bearer '), query: `api_key=${key}` }, 'accepted'],
    ['both, header of another scheme', { ...bearer(basic), query: `api_key=${key}` }, 'accepted'],
  ]
}

const MESSAGES = {
  // It goes on where a key came in another form.
  required: /^API key required($|: .* Send it in the header Authorization: Bearer KEY)/,
  invalid: /^Invalid API key$/,
}

/** Any run of characters that begins like a key. */
const LIKE_A_KEY = /gsw_[0-9A-Za-z]{8}/i

for (const engine of SLOW_ENGINES) {
  test(
    `Over ${engine}, a key in any form is accepted, missing or invalid as documented, and written down nowhere.`,
    { skip: missing(engine), timeout: 600_000 },
    async (t) => {
      const live = await startLive(t, {
        snapshots,
        quota: 1_000_000,
        args: [`--engine=${engine}`, '--admin-port=0', '--drain-time=0s'],
      })
      const { port, key } = live
      const remainingOf = ({ headers }: Answer): number => Number(headers.get('x-ratelimit-remaining')?.[0])
      const resetOf = ({ headers }: Answer): string => headers.get('x-ratelimit-reset')?.[0] ?? ''
      const plain: Presented = { lines: [authorization(`Bearer ${key}`)] }
      const before = await ask(port, KEYED, plain)
      let charged = 0
      let seen = ''
      for (const [name, presented, expected] of cases(key)) {
        const keyed = await ask(port, KEYED, presented)
        const open = await ask(port, PUBLIC, presented)
        for (const { headers, body } of [keyed, open]) seen += JSON.stringify([...headers]) + body
        if (expected === 'engine') {
          assert.ok([400, 401].includes(keyed.status), `${name}: ${keyed.status}`)
          assert.ok([400, 200].includes(open.status), `${name} on a public operation: ${open.status}`)
          continue
        }
        assert.equal(keyed.status, expected === 'accepted' ? 200 : 401, name)
        assert.equal(open.status, 200, `${name} on a public operation`)
        if (expected === 'accepted') {
          charged += 2
          assert.ok(remainingOf(keyed) > remainingOf(open), `${name} was charged for both`)
          assert.match(open.headers.get('cache-control')?.[0] ?? '', /^private/, name)
          continue
        }
        const { error, message } = JSON.parse(keyed.body) as { error: string; message: string }
        assert.equal(error, 'unauthorized', name)
        assert.match(message, MESSAGES[expected], name)
        for (const answer of [keyed, open]) assert.equal(resetOf(answer), '', `${name} was charged for`)
      }
      const after = await ask(port, KEYED, plain)
      if (resetOf(after) === resetOf(before)) {
        assert.equal(
          remainingOf(after),
          remainingOf(before) - charged - 1,
          'only what was accepted is charged',
        )
      }
      // Longer than the headers may be: the engine's own refusal.
      const huge = await ask(port, KEYED, { lines: [authorization(`Bearer ${'k'.repeat(20_000)}`)] })
      assert.equal(huge.status, 431)

      assert.doesNotMatch(seen, LIKE_A_KEY, 'a key stands in an answer')
      // Counts are written down every two seconds, and at the end.
      const { stderr } = live.output()
      const adminPort = /admin port on http:\/\/127\.0\.0\.1:(\d+)/.exec(stderr)?.[1]
      const status = await (await fetch(`http://127.0.0.1:${adminPort}/status`)).text()
      assert.match(status, /"unauthorized":[1-9]/)
      await live.stop()
      const output = live.output()
      const written = [status, output.stdout, output.stderr, readFileSync(usagePath(live.keysFile), 'utf8')]
      assert.doesNotMatch(written.join('\n'), LIKE_A_KEY, 'a key stands in what the server wrote')
      assert.match(written[3], new RegExp(live.keyId))
    },
  )
}

test(
  'Any Authorization header is answered, and accepted only where it is a bearer token with the key.',
  { timeout: 600_000 },
  async (t) => {
    const live = await startLive(t, { snapshots, quota: 1_000_000, args: QUIET })
    const { key } = live
    const scheme = fc.constantFrom('Bearer', 'bearer', 'BEARER', 'Bearer', 'Basic', '')
    const blanks = fc.constantFrom('', ' ', '', '   ', '', ' ', '\t', ' \t', ',', '"')
    const token = fc.constantFrom(key, key, key, key.slice(0, 30), key + key, '')
    const noise = fc.string({ maxLength: 5 }).filter((text) => /^[ -~]*$/.test(text))
    const anyValue = fc.oneof(
      fc.tuple(blanks, scheme, blanks, token, blanks),
      fc.array(fc.oneof(scheme, blanks, token, noise), { maxLength: 6 }),
    )
    let accepted = 0
    // One connection for all: a header that ended it would show.
    const client = new RawClient(live.port)
    await fc.assert(
      fc.asyncProperty(anyValue, async (pieces) => {
        const value = pieces.join('')
        client.write(`GET ${KEYED} HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${value}\r\n\r\n`)
        const { status } = await client.answer()
        // Blanks and tabs around a value do not belong to it; blanks separate scheme and token.
        const [first = '', ...rest] = value.replaceAll(/^[ \t]+|[ \t]+$/g, '').split(' ')
        const words = rest.filter((word) => word !== '')
        const isKey = first.toLowerCase() === 'bearer' && words.length === 1 && words[0].trimStart() === key
        if (isKey) accepted++
        assert.equal(status, isKey ? 200 : 401, JSON.stringify(value).replaceAll(key, 'KEY'))
      }),
      { numRuns: rounds(200, 1000) },
    )
    assert.ok(accepted >= 5, `${accepted} accepted`)
    client.socket.destroy()
  },
)

for (const engine of SLOW_ENGINES) {
  test(
    `Over ${engine}, calls without a key are charged to the client that a trusted proxy names, and to nobody it does not.`,
    { skip: missing(engine), timeout: 600_000 },
    async (t) => {
      await awayFromTheHour()
      const args = ['--anonymous-quota=3', '--trusted-proxy=127.0.0.1', '--trusted-proxy=10.0.0.0/8']
      const live = await startLive(t, { snapshots, args: [`--engine=${engine}`, ...QUIET, ...args] })
      const one = 'X-Forwarded-For: 203.0.113.1'
      const other = 'Forwarded: for="[2001:db8:1:2::3]:4711"'
      const cases: [left: string, ...lines: string[]][] = [
        ['2', one],
        ['1', one],
        ['0', one],
        ['429', one],
        ['2', 'X-Forwarded-For: 203.0.113.2'],
        // What a client writes stands left of what the proxies add, in one line or in several.
        ['429', 'X-Forwarded-For: 198.51.100.9, 203.0.113.1, 10.1.2.3'],
        ['429', 'X-Forwarded-For: 198.51.100.9', one],
        ['429', one, 'Forwarded: for=198.51.100.10'],
        ['2', other],
        ['1', other.replace('::3', '::4')],
        // Nonsense and silence are the proxy's own.
        ['2', 'X-Forwarded-For: unknown'],
        ['1', `X-Forwarded-For: ${','.repeat(9000)}`],
        ['0'],
      ]
      for (const [left, ...lines] of cases) {
        const { status, headers } = await ask(live.port, PUBLIC, { lines })
        assert.equal(status === 200 ? headers.get('x-ratelimit-remaining')?.[0] : `${status}`, left, lines[0])
      }
    },
  )
}
