/** The log of a real server under requests that want to forge it, and under a reader that does not read. */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { issueKey } from '../../src/access/keys-file.ts'
import { fixtureSnapshots } from '../built_once.ts'
import { adminOf, runCli, startLive, temporaryFolder } from '../live.ts'
import { rounds } from '../rounds.ts'
import { parseExposition, sumOf } from '../server/metrics_text.ts'
import { CLI, startProgram } from '../started_program.ts'
import { until } from '../until.ts'

const COUNT = 'http_server_request_duration_seconds_count'
const REQUESTS = rounds(60, 600)

interface Event {
  time: string
  level: string
  message: string
  [name: string]: unknown
}

/** @throws Error when a line is not one object of JSON */
function events(text: string): Event[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const event = JSON.parse(line) as Event
      assert.match(event.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, line)
      assert.match(event.level, /^(error|warning|info|debug)$/, line)
      assert.equal(typeof event.message, 'string', line)
      return event
    })
}

/** Sends bytes and waits for the end of the connection, whatever comes. */
function send(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.end(bytes))
    socket.on('data', () => {})
    socket.on('error', () => {})
    socket.once('close', () => resolve())
    socket.setTimeout(5000, () => socket.destroy())
  })
}

const nasty = fc.oneof(
  fc.constantFrom(
    '"}\\n{"level":"error"}',
    '\r\n{"time":"2026-01-01T00:00:00.000Z","level":"error","message":"forged"}',
    '%0a%0d{"message":"forged"}',
    '\u2028forged',
    '\x00\x07\x1b[31m',
    '${jndi:ldap://x}',
    'k_0123456789',
  ),
  fc.string({ unit: 'binary', maxLength: 60 }),
)
test('Under fuzzed requests every line is one JSON object with nothing of the request in it, and no key; each request has its line.', async (t) => {
  const live = await startLive(t, {
    snapshots: await fixtureSnapshots(),
    args: ['--admin-port=0', '--log-format=json', '--log-level=debug', '--access-log=all'],
  })
  const admin = await adminOf(live)
  const request = fc.record({
    method: fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'POST', 'FORGED"}', 'G\u0000T'),
    path: fc.oneof(
      fc.constantFrom('/v2/buoys', '/v2/countries', '/', '/v2/buoys/1'),
      nasty.map((text) => `/v2/buoys/${text}`),
    ),
    query: fc.oneof(
      fc.constant(''),
      nasty,
      fc.constant(`api_key=${live.key}`),
      fc.constant(`query=a&api_key=${live.key}`),
    ),
    authorization: fc.oneof(fc.constant(`Bearer ${live.key}`), fc.constant(live.key), nasty),
    requestId: fc.oneof(fc.uuid(), nasty),
  })
  const requests = fc.sample(request, { numRuns: REQUESTS, seed: 7 })
  for (const { method, path, query, authorization, requestId } of requests) {
    const lines = [
      `${method} ${path}${query === '' ? '' : `?${query}`} HTTP/1.1`,
      'Host: a',
      `Authorization: ${authorization}`,
      `X-Request-Id: ${requestId}`,
      'Connection: close',
    ]
    await send(live.port, Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'utf8'))
  }
  // One whose line is known in all of it.
  const id = '11111111-2222-4333-8444-555555555555'
  const known = await fetch(`http://127.0.0.1:${live.port}/v2/buoys?per_page=1`, {
    headers: {
      authorization: `Bearer ${live.key}`,
      'x-request-id': id,
      'accept-encoding': 'identity',
    },
  })
  const bytes = (await known.arrayBuffer()).byteLength
  // A worker reads heads as long as the main thread does.
  assert.equal((await fetch(`http://127.0.0.1:${live.port}/v2/${'u'.repeat(10_000)}`)).status, 404)
  // An error's id is the one that its client got.
  const refused = await fetch(`http://127.0.0.1:${live.port}/v2/buoys`)
  const { request_id: refusedId } = (await refused.json()) as { request_id: string }

  const scrape = async (): Promise<number> =>
    sumOf(parseExposition(await (await fetch(`${admin}/metrics`)).text()), COUNT)
  const lines = (): Event[] => events(live.output().stdout).filter(({ message }) => message === 'request')
  await until(async () => lines().length === (await scrape()), 'as many lines as requests')
  const counted = await scrape()
  assert.ok(counted > REQUESTS / 3, `${counted} requests were counted`)

  const line = lines().find((event) => event['request_id'] === id)!
  const { time: _time, worker, duration_ms: duration, ...rest } = line
  assert.ok(worker === 0 || worker === 1)
  assert.ok(typeof duration === 'number' && duration > 0)
  assert.deepEqual(rest, {
    level: 'info',
    message: 'request',
    http_request_method: 'GET',
    http_route: '/v2/buoys',
    operation: 'listBuoys',
    http_response_status_code: 200,
    body_bytes: bytes,
    key: live.keyId,
    request_id: id,
  })
  assert.equal(lines().filter((event) => event['request_id'] === refusedId).length, 1)
  assert.equal(await live.stop(), 0)

  const { stdout, stderr } = live.output()
  for (const text of [stdout, stderr]) {
    assert.ok(!text.includes(live.key), 'a key is in the log')
    assert.doesNotMatch(text, /forged|jndi|api_key|FORGED/)
  }
  for (const event of events(stdout)) {
    for (const value of Object.values(event)) assert.match(String(value), /^[\w :./{}"'`,#-]+$/)
  }
  assert.ok(events(stderr).some(({ level }) => level === 'debug'))
})

test('With json, a build and what is wrong with a command line are objects, too; a first key is not in the log.', async (t) => {
  const folder = temporaryFolder(t)
  const wrong = await runCli(['serve', '--log-format=json', '--log-level=loud'])
  assert.equal(wrong.code, 2)
  assert.match(events(wrong.stderr)[0].message, /--log-level: expected one of error, warning, info, debug/)
  const unknown = await runCli(['serve', '--nope', '--log-format', 'json'])
  assert.deepEqual([unknown.code, events(unknown.stderr).length], [2, 1])
  const places = ['--source=csv:data/fixtures/small', `--data=${folder}`]
  const usual = ['--port=0', '--admin-port=off', '--workers=1', '--every=0', '--log-format=json']
  const program = startProgram(t, ['run', ...places, ...usual])
  await program.says(/the explorer is at/)
  await program.stop()
  const messages = [...events(program.stdout), ...events(program.stderr)]
    .map(({ message }) => message)
    .join('\n')
  assert.match(messages, /published snapshot/)
  assert.match(messages, /the key k_\w{10} was issued for "operator" and is not shown in a log/)
  assert.doesNotMatch(messages, /gsw_/)
})

test('Where standard output is a pipe that nobody reads, requests are answered, and the lines that are lost are counted.', async (t) => {
  const folder = temporaryFolder(t)
  const keys = join(folder, 'keys.json')
  issueKey(keys, { owner: 'test', now: Date.now() / 1000 })
  const places = [`--snapshots=${await fixtureSnapshots()}`, `--keys=${keys}`]
  const usual = ['--port=0', '--admin-port=0', '--workers=1', '--access-log=all', '--anonymous-quota=0']
  const program = startProgram(t, ['serve', ...places, ...usual], {
    command: [process.execPath, '--trace-protector-invalidation', CLI],
  })
  const [, port] = await program.says(/listening on http:\/\/127\.0\.0\.1:(\d+)/)
  const [, admin] = await program.says(/admin port on (http:\/\/\S+)\n/)
  program.child.stdout!.pause()
  const metrics = async () => parseExposition(await (await fetch(`${admin}/metrics`)).text())
  // Some 230 bytes a line: more than a pipe, its reader's buffer and the worker's bound take together.
  const perRound = 200
  const round = 'GET /v2/countries HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(perRound)
  let asked = 0
  const socket = connect(Number(port), '127.0.0.1')
  t.after(() => socket.destroy())
  let answered = 0
  let rest = ''
  socket.setEncoding('latin1').on('data', (data: string) => {
    const text = rest + data
    answered += text.split('HTTP/1.1 401').length - 1
    rest = text.slice(-11)
  })
  const dropped = async (): Promise<number> => sumOf(await metrics(), 'groundswell_log_lines_dropped_total')
  while ((await dropped()) === 0) {
    assert.ok(asked < 100_000, 'no line was dropped')
    for (let i = 0; i < 10; i++) {
      asked += perRound
      socket.write(round)
      await until(() => answered === asked, `${asked} answers, not ${answered}`)
    }
  }
  assert.equal(sumOf(await metrics(), COUNT), asked)
  // Whoever reads again finds whole lines, as many as were not dropped.
  program.child.stdout!.resume()
  const lost = await dropped()
  const isWhole = (line: string): boolean => /^request time=\S+ worker=0 \S+/.test(line)
  const lines = (): string[] => program.stdout.split('\n').filter(isWhole)
  await until(() => lines().length >= asked - lost, 'all lines')
  const others = program.stdout.split('\n').filter((line) => !isWhole(line))
  assert.doesNotMatch(others.join('\n'), /request|time=|worker=/)
  assert.equal(lines().length, asked - lost)
  // A buffer that a thread transfers makes all that it writes from then on slower.
  assert.doesNotMatch(program.stdout, /protector/)
})
