/** `POST /mcp`: tools of assistants by address, for clients of both eras, strangers and attackers. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import fc from 'fast-check'
import { TrustedProxies } from '../../src/access/trusted-proxies.ts'
import type { Exchange, HeaderName, LaterEvents, LaterReply } from '../../src/http/exchange.ts'
import { NOT_RECORDED } from '../../src/http/exchange.ts'
import { ToolDoor, type ToolDoorOptions } from '../../src/http/tool-door.ts'
import { ToolServers } from '../../src/mcp/server.ts'
import type { FromTools, ToTools } from '../../src/mcp/thread.ts'
import { awayFromTheHour } from '../api/hour.ts'
import { examplesSnapshots } from '../built_once.ts'
import { fieldOf } from '../fields.ts'
import { ask, startLive, type Live } from '../live.ts'
import { rounds } from '../rounds.ts'
import { until } from '../until.ts'
import { missing, SLOW_ENGINES } from './server_for_tests.ts'

const JSON_TYPES = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
const messageOf = (method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
const callOf = (name: string, args: object): string => messageOf('tools/call', { name, arguments: args })

interface Answer {
  result?: { isError?: boolean; content: { text: string }[]; structuredContent: { [name: string]: unknown } }
  error?: { code: number; message: string }
}
type Posted = Awaited<ReturnType<typeof ask>> & { answer: Answer }

async function post(
  live: Live,
  body: string | Uint8Array,
  headers: { [name: string]: string } = {},
): Promise<Posted> {
  const reply = await ask(live.port, '/mcp', { method: 'POST', body, headers: { ...JSON_TYPES, ...headers } })
  return { ...reply, answer: reply.text === '' ? {} : (JSON.parse(reply.text) as Answer) }
}

for (const kind of SLOW_ENGINES) {
  test(
    `Over ${kind} assistants of both eras have the tools at an address`,
    { timeout: 300_000, skip: missing(kind) },
    async (t) => {
      await awayFromTheHour()
      const args = [`--engine=${kind}`, '--anonymous-quota=1000', '--mcp-origin=https://chat.example.org']
      const live = await startLive(t, { snapshots: await examplesSnapshots(), quota: 100_000, args })
      const bearer = { authorization: `Bearer ${live.key}` }
      const left = async (path: string, headers = {}): Promise<number> =>
        Number((await ask(live.port, path, { headers })).headers['x-ratelimit-remaining'])
      const ofKey = (): Promise<number> => left('/v2/countries', bearer)
      const ofAddress = (): Promise<number> => left('/v2/buoys/search?query=anglet')

      for (const mode of ['auto', 'legacy'] as const) {
        await t.test(
          `as the client of the protocol's makers asks (${mode}), who pays what the tools ask.`,
          async () => {
            const transportOf = (headers = {}): StreamableHTTPClientTransport =>
              new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${live.port}/mcp`), {
                requestInit: { headers },
              })
            const clientOf = (): Client =>
              new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
            const [keyed, keyless] = [clientOf(), clientOf()]
            await keyed.connect(transportOf(bearer))
            await keyless.connect(transportOf())
            const before = await ofAddress()
            const { tools } = await keyless.listTools()
            assert.equal(await ofAddress(), before - 2, 'the list counts as a search')
            assert.deepEqual(fieldOf((await keyed.listTools()).tools, 'name'), fieldOf(tools, 'name'))
            const found = await keyless.callTool({ name: 'find_buoys', arguments: { text: 'anglet' } })
            const [{ id }] = (found.structuredContent as { buoys: { id: number }[] }).buoys
            const latest = { name: 'latest_readings', arguments: { ids: [id] } }
            const refused = await keyless.callTool(latest)
            assert.ok(refused.isError)
            assert.match(
              JSON.stringify(refused.content),
              /API key required.*has to send the header Authorization/,
            )
            const whole = await ofKey()
            const told = await keyed.callTool(latest)
            const { data } = JSON.parse(
              (await ask(live.port, `/v2/buoys/last_readings?ids=${id}`, { headers: bearer })).text,
            ) as { data: { buoys: { last_reading: { [field: string]: unknown } }[] } }
            const { buoys } = told.structuredContent as typeof data
            for (const field of ['time', 'significient_height', 'direction'])
              assert.equal(buoys[0].last_reading[field], data.buoys[0].last_reading[field])
            // The tool asked for readings, spectra and credit; then there were the two requests of this test.
            assert.equal(await ofKey(), whole - 5)
            await Promise.all([keyed.close(), keyless.close()])
          },
        )
      }

      await t.test(
        'but not for pages of other sites, other hosts, and in other ways than messages go.',
        async () => {
          const list = messageOf('ping')
          for (const [headers, status] of [
            [{ origin: 'https://evil.example' }, 403],
            [{ origin: 'null' }, 403],
            [{ origin: 'https://localhost.evil.example' }, 403],
            [{ origin: 'https://chat.example.org.evil.example' }, 403],
            [{ origin: 'http://127.0.0.1:1, https://evil.example' }, 403],
            [{ origin: 'https://evil.example', host: 'evil.example' }, 403],
            [{ host: 'evil.example' }, 403],
            [{ host: '127.0.0.1.evil.example' }, 403],
            [{ origin: 'https://chat.example.org' }, 200],
            [{ origin: 'http://localhost:6274' }, 200],
            [{ host: 'localhost' }, 200],
            [{ 'content-type': 'text/plain' }, 415],
          ] as const) {
            const reply = await post(live, list, headers)
            assert.equal(reply.status, status, JSON.stringify(headers))
            const allowed = status === 200 && 'origin' in headers ? headers.origin : undefined
            assert.equal(reply.headers['access-control-allow-origin'], allowed)
          }
          for (const method of ['GET', 'HEAD', 'DELETE', 'PUT']) {
            const { status, headers } = await ask(live.port, '/mcp', { method })
            assert.deepEqual([status, headers.allow], [405, 'POST, OPTIONS'], method)
          }
          const preflight = { method: 'OPTIONS', headers: { origin: 'https://chat.example.org' } }
          const allowed = await ask(live.port, '/mcp', preflight)
          assert.deepEqual([allowed.status, allowed.headers['access-control-allow-methods']], [204, 'POST'])
          assert.equal((await post(live, `[${list}]`)).answer.error?.code, -32_600)
          assert.equal((await post(live, messageOf('subscriptions/listen'))).answer.error?.code, -32_601)
          assert.equal(
            (await post(live, '{"jsonrpc":"2.0","method":"notifications/initialized"}')).status,
            202,
          )
          assert.equal((await post(live, list + ' '.repeat(65_536 - list.length))).status, 200)
          assert.equal((await post(live, list + ' '.repeat(65_537 - list.length))).status, 413)
          // A visitor of the open explorer would need no key.
          const page = {
            'sec-fetch-site': 'same-origin',
            'sec-fetch-mode': 'cors',
            'sec-fetch-dest': 'empty',
          }
          const asked = await post(live, callOf('latest_readings', { ids: [1] }), page)
          assert.match(asked.text, /API key required/)
          const wrong = await post(live, callOf('latest_readings', { ids: [1] }), {
            authorization: 'Bearer no',
          })
          assert.match(wrong.text, /Invalid API key/)
        },
      )

      await t.test(
        'and a thousand wrong messages each get an answer that is JSON, and no fault.',
        async () => {
          const json = fc.json({ maxDepth: 3 })
          const mutated = fc
            .record(
              {
                jsonrpc: fc.constantFrom('2.0', '1.0', 2),
                id: fc.oneof(fc.integer(), fc.string(), fc.constant(null), fc.constant({})),
                method: fc.oneof(
                  fc.constantFrom('tools/call', 'tools/list', 'initialize', 'server/discover', 'x'),
                  fc.jsonValue(),
                ),
                params: fc.oneof(
                  fc.jsonValue(),
                  fc.record({
                    name: fc.constantFrom('find_buoys', 'nix', '__proto__'),
                    arguments: fc.jsonValue(),
                  }),
                ),
              },
              { requiredKeys: [] },
            )
            .map((message) => JSON.stringify(message))
          const cut = fc
            .tuple(fc.constant(callOf('find_buoys', { text: 'é' })), fc.nat(90))
            .map(([text, at]) => text.slice(0, at))
          const batch = fc.array(mutated).map((messages) => `[${messages.join()}]`)
          const deep = fc
            .nat(9000)
            .map((depth) =>
              callOf('find_buoys', {}).replace('{}', '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)),
            )
          const long = fc.integer({ min: 65_537, max: 200_000 }).map((length) => ' '.repeat(length))
          const bytes = fc.uint8Array({ maxLength: 200 })
          const message = fc.oneof(json, mutated, cut, batch, deep, long, bytes, fc.string())
          const some = fc.constantFrom
          const headers = fc.record(
            {
              'mcp-protocol-version': some('2026-07-28', '2025-06-18', '1999-01-01', 'é'),
              'content-type': some('', 'text/plain', 'application/json; charset=utf-16', 'json'),
              accept: some('', 'text/html', 'application/json', '*/*;q=x'),
              'mcp-method': some('tools/call', 'x', 'é'),
              'mcp-name': some('find_buoys', '=?base64?x?=', 'é'),
              authorization: some('Bearer x', 'Basic x', 'é'),
            },
            { requiredKeys: [] },
          )
          await fc.assert(
            fc.asyncProperty(message, fc.oneof(fc.constant({}), headers), async (body, more) => {
              const { status, headers: told, answer } = await post(live, body, more)
              const what = `${status} for ${String(body)} with ${JSON.stringify(more)}`
              assert.ok([200, 202].includes(status) || (status >= 400 && status < 500), what)
              if (status === 202) return
              assert.match(told['content-type'] ?? '', /^application\/json/, what)
              assert.ok(answer.error ?? (status === 200 && answer.result), what)
            }),
            { numRuns: rounds(80, 1000) },
          )
          assert.doesNotMatch(live.output().stderr, /fault/)
          assert.equal((await post(live, messageOf('ping'))).status, 200)
        },
      )

      await t.test('A client that leaves while a tool is asked is forgotten.', async () => {
        const body = callOf('find_buoys', { text: 'anglet' })
        for (let i = 0; i < 40; i++) {
          const socket = connect(live.port, '127.0.0.1')
          const lines = Object.entries(JSON_TYPES)
            .map(([name, value]) => `${name}: ${value}\r\n`)
            .join('')
          socket
            .on('error', () => {})
            .end(
              `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines}Content-Length: ${body.length}\r\n\r\n${body}`,
              () => socket.destroy(),
            )
        }
        // Some have not left yet.
        await until(async () => (await post(live, messageOf('ping'))).status === 200)
        assert.doesNotMatch(live.output().stderr, /fault/)
      })
    },
  )
}

/** A request whose body came at once, and its reply. */
class Message {
  readonly path = '/mcp'
  readonly method = 'POST'
  readonly reply = { status: '', text: '' }
  events: LaterEvents | null = null

  readonly from: string

  constructor(from: string) {
    this.from = from
  }

  header = (): string => ''
  headerValues = (name: HeaderName): string => (name === 'host' ? 'localhost' : '')
  address = (): string => this.from

  send(head: string, body: Uint8Array): void {
    Object.assign(this.reply, { status: head, text: Buffer.from(body).toString() })
  }

  laterWithBody(
    _: number,
    events: LaterEvents,
    onBody: (body: Uint8Array<ArrayBuffer> | null) => void,
  ): LaterReply {
    this.events = events
    queueMicrotask(() => onBody(new Uint8Array(2)))
    return this as unknown as LaterReply
  }
}

test('Messages wait for the thread, a few of one address and some of all, and are told when it ends.', async () => {
  let wakes = 0
  const door = new ToolDoor({
    publicUrl: null,
    origins: [],
    isLoopback: true,
    basePath: '/v2',
    proxies: new TrustedProxies([]),
    recorder: { answered() {}, deferred: () => NOT_RECORDED },
    handle: () => {},
    charge: () => {},
    wake: () => wakes++,
    onFault: () => {},
  } satisfies ToolDoorOptions)
  const sent = async (from: string): Promise<Message> => {
    const message = new Message(from)
    door.handle(message as unknown as Exchange)
    await Promise.resolve()
    return message
  }
  const first: Message[] = []
  for (let i = 0; i < 32; i++) first.push(await sent('192.0.2.1'))
  assert.match((await sent('192.0.2.1')).reply.status, /^503 .*\r\nRetry-After: 8/s)
  for (let i = 0; i < 96; i++) assert.equal((await sent(`192.0.2.${2 + (i % 4)}`)).reply.status, '')
  assert.match((await sent('192.0.2.99')).reply.status, /^503 /)
  assert.equal(wakes, 1)
  first[0].events!.onGone()
  const posted: ToTools[] = []
  let close = (): void => {}
  let take: (message: FromTools) => void = () => {}
  door.connect({
    postMessage: (message) => void posted.push(message),
    on(event: 'message' | 'close', listener: never) {
      if (event === 'close') close = listener
      else take = listener
    },
  })
  assert.equal(posted.length, 127)
  take({ type: 'reply', number: 2, status: 202, retryAfter: '', body: null })
  assert.match(first[1].reply.status, /^202 Accepted\r\n/)
  close()
  assert.match(first[2].reply.status, /^503 /)
  assert.equal((await sent('192.0.2.1')).reply.status, '', 'it waits for the next thread')
  assert.equal(wakes, 2)
})

test('Eight calls of tools run at once, 256 wait, and one more is told to ask fewer.', async () => {
  let [asked, release] = [0, () => {}]
  const held = new Promise<void>((resolve) => (release = resolve))
  const ask = async () => {
    asked++
    await held
    return { status: 404, header: () => null, text: '{}' }
  }
  const servers = new ToolServers({ version: '1', clock: () => 0, onFault: assert.fail })
  const [body, headers] = [callOf('find_buoys', { text: 'anglet' }), JSON_TYPES]
  const replies = Array.from({ length: 8 + 256 + 1 }, async () => {
    const request = new Request('http://localhost/mcp', { method: 'POST', headers })
    const free = () => Promise.resolve(null)
    return (await servers.answer(request, body, { name: '', keyAdvice: '', ask }, free)).text()
  })
  assert.match(await Promise.any(replies), /Too many calls at once/)
  assert.equal(asked, 8)
  release()
  assert.equal((await Promise.all(replies)).filter((text) => text.includes('Too many')).length, 1)
})
