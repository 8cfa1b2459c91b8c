/** Every end is a clean one: exit codes as documented, nothing left behind. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { issueKey } from '../../src/access/keys-file.ts'
import { temporaryFolder } from '../live.ts'
import { startProgram, type Program } from '../started_program.ts'
import { until } from '../until.ts'
import { amount, build } from './folder.ts'
import { findFreePort } from '../../src/http/port.ts'

const skip = process.platform === 'linux' ? false : 'it looks for processes in /proc'

let folder = ''
before(async (t) => {
  folder = join(temporaryFolder(t as TestContext), 'snapshots')
  await build(folder, 0)
})

/** Processes whose arguments name `text`. */
function running(text: string): string[] {
  return spawnSync('pgrep', ['-af', text], { encoding: 'utf8' })
    .stdout.split('\n')
    .filter((line) => line !== '')
}

interface Plan {
  engine: string
  signals: readonly NodeJS.Signals[]
  /** Between two signals. */
  gapMs?: number
  /** For so long it is asked before. */
  requestsMs?: number
}

/** Signals a server that has answered, and looks at what it says and leaves. Resolves to its code. */
async function end(t: TestContext, { engine, signals, gapMs = 0, requestsMs = 0 }: Plan): Promise<unknown> {
  const own = temporaryFolder(t)
  issueKey(join(own, 'keys.json'), { owner: 'ends', now: Date.now() / 1000 })
  // The drain waits for this connection.
  const drain = signals.length > 1 ? '60s' : '3s'
  const keys = `--keys=${join(own, 'keys.json')}`
  const usual = ['--port=0', '--admin-port=0', '--workers=2', '--anonymous-quota=0', keys]
  const server = startProgram(t, [
    'serve',
    `--snapshots=${folder}`,
    ...usual,
    `--engine=${engine}`,
    `--drain-time=${drain}`,
  ])
  const [, base] = await server.says(/listening on (\S+)/)
  for (const until = performance.now() + requestsMs; performance.now() < until;)
    await (await fetch(`${base}/buoys/nearest?lat=43.5&lng=-1.6`)).arrayBuffer()
  const client = new Socket().on('error', () => {})
  if (signals.length > 1) {
    client.connect(Number(new URL(base).port), '127.0.0.1')
    // The server knows of it once it has answered; a second request has begun then.
    client.write('GET /v2/countries HTTP/1.1\r\nHost: localhost\r\n\r\nGET')
    await once(client, 'data')
  }
  for (const [i, signal] of signals.entries()) {
    if (i > 0) await setTimeout(gapMs)
    server.kill(signal)
  }
  const code = await server.ended
  client.destroy()
  assert.doesNotMatch(server.said, /Assertion|stack trace|open handles|^\s+at /m)
  assert.match(server.said, /SIG(TERM|INT): stopping\n/)
  // What belongs to it ends with it, within moments.
  await until(
    () => running(own).length === 0,
    () => running(own).join('\n'),
  )
  const left = readdirSync(own, { recursive: true, encoding: 'utf8' })
  assert.deepEqual(
    left.filter((name) => /(^|\/)\.tmp-|lock/.test(name)),
    [],
  )
  return code
}

test('One SIGTERM ends a server with code 0 and leaves nothing behind.', { skip }, async (t) => {
  for (let i = 0; i < amount(2, 60); i++) {
    const engine = i % 2 === 0 ? 'uws' : 'node'
    assert.equal(await end(t, { engine, signals: ['SIGTERM'], requestsMs: (i % 4) * 200 }), 0)
  }
})

test(
  'A second signal, however soon or late, ends a server at once and quietly with 143 or 130.',
  { skip },
  async (t) => {
    for (const [engine, first, second, gapMs] of [
      ['uws', 'SIGTERM', 'SIGTERM', 30],
      ['uws', 'SIGINT', 'SIGINT', 400],
      ['uws', 'SIGINT', 'SIGTERM', 2000],
      ['node', 'SIGTERM', 'SIGINT', 100],
    ] as const) {
      const began = performance.now()
      const code = await end(t, { engine, signals: [first, second], gapMs })
      // Of two different ones on their way at once either may come first (signal(7)).
      const codes: unknown[] = [first, second].map((signal) => (signal === 'SIGTERM' ? 143 : 130))
      assert.ok(codes.includes(code), String(code))
      // It did not drain.
      assert.ok(performance.now() - began < 60_000)
    }
  },
)

/** A server without a keys file, which the first line of the output is about. */
function start(t: TestContext, args: string[]): Program {
  const own = ['--admin-port=0', '--workers=2', '--drain-time=0s']
  return startProgram(t, ['serve', ...own, ...args], { cwd: temporaryFolder(t) })
}

/**
 * A free port that the system gives to no connection by itself. Who connects again and again to a closed one
 * of those connects to himself in
 * the end, and keeps it from the server.
 */
async function portBelowEphemeral(offset: number): Promise<number> {
  for (let port = 12_000 + ((process.pid * 10 + offset) % 18_000); ; port++) {
    const isFree = await findFreePort('0.0.0.0', port).then(
      () => true,
      () => false,
    )
    if (isFree) return port
    assert.ok(port < 32_000, 'no port is free')
  }
}

test('Of two servers started at once on one port exactly one lives, and the other says why it does not.', async (t) => {
  for (const [i, hosts] of [
    ['127.0.0.1', '127.0.0.1'],
    ['0.0.0.0', '127.0.0.1'],
  ].entries()) {
    const port = await portBelowEphemeral(i)
    const servers = hosts.map((host) =>
      start(t, [`--snapshots=${folder}`, `--host=${host}`, `--port=${port}`]),
    )
    const ends = await Promise.race([
      Promise.race(servers.map(({ ended }, number) => ended.then((code) => ({ number, code })))),
      setTimeout(200_000).then(() => null),
    ])
    assert.ok(ends !== null, 'both live')
    assert.equal(ends.code, 1)
    assert.match(
      servers[ends.number].said,
      /^groundswell: cannot listen on \S+: the address is in use \(EADDRINUSE\); choose another with --port /m,
    )
    const winner = servers[1 - ends.number]
    await winner.says(/(listening on)/)
    assert.equal((await fetch(`http://127.0.0.1:${port}/v2/buoys/search?query=bu`)).status, 200)
    assert.equal(await winner.stop(), 0)
  }
})

test('The port opens when the first snapshot serves, and with 503 where none is published.', async (t) => {
  const port = await portBelowEphemeral(2)
  const full = start(t, [`--snapshots=${folder}`, `--port=${port}`])
  const seen = new Set<number | string>()
  while (!seen.has(200) && !full.hasEnded()) {
    seen.add(
      await fetch(`http://127.0.0.1:${port}/v2/buoys/search?query=bu`).then(
        (answer) => answer.status,
        (error: Error) => (error.cause as { code: string }).code,
      ),
    )
    await setTimeout(5)
  }
  // By the look whether it is free.
  seen.delete('ECONNRESET')
  assert.deepEqual(seen, new Set(['ECONNREFUSED', 200]))
  const empty = start(t, [`--snapshots=${temporaryFolder(t)}`, '--port=0'])
  const [, base] = await empty.says(/listening on (\S+)/)
  assert.equal((await fetch(`${base}/buoys/search?query=bu`)).status, 503)
  for (const server of [full, empty]) assert.equal(await server.stop(), 0)
})

test('A SIGHUP before it serves is a reload after it, and no end.', async (t) => {
  const server = start(t, [`--snapshots=${folder}`, '--port=0'])
  // Its first line, long before it listens.
  await server.says(/(warning: no keys)/)
  server.kill('SIGHUP')
  await server.says(/(listening on)/)
  server.kill('SIGHUP')
  await setTimeout(200)
  assert.equal(await server.stop(), 0)
})
