/** Every end is a clean one: exit codes as documented, nothing left behind. Long forms: `ends.ts`. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { temporaryFolder } from '../live.ts'
import { startProgram, type Program } from '../started_program.ts'
import { moments, startAndEnd, stops } from './ends.ts'
import { amount, build } from './folder.ts'
import { findFreePort } from '../../src/http/port.ts'

const skip = process.platform === 'linux' ? false : 'it looks for processes in /proc'

let folder = ''
before(async (t) => {
  folder = join(temporaryFolder(t as TestContext), 'snapshots')
  await build(folder, 0)
})

test('One SIGTERM ends a server with code 0.', { skip }, async (t) => {
  const { faults } = await stops(temporaryFolder(t), folder, amount(2, 60), 0, 6000)
  assert.deepEqual(faults, [])
})

test(
  'A second signal, however soon or late, ends a server at once and quietly with 143 or 130.',
  { skip },
  async (t) => {
    const place = temporaryFolder(t)
    for (const [i, [engine, first, second, gapMs]] of (
      [
        ['uws', 'SIGTERM', 'SIGTERM', 30],
        ['uws', 'SIGINT', 'SIGINT', 400],
        ['uws', 'SIGINT', 'SIGTERM', 2000],
        ['node', 'SIGTERM', 'SIGINT', 100],
      ] as const
    ).entries()) {
      const own = join(place, `${i}.d`)
      mkdirSync(own)
      const began = performance.now()
      const { code, fault, output } = await startAndEnd({
        starter: 'node',
        args: ['serve', `--snapshots=${folder}`, '--workers=2', `--engine=${engine}`, '--drain-time=60s'],
        folder: own,
        wait: { from: 'listening', ms: 100 },
        // Without a connection it would be done before the second signal.
        staysConnected: true,
        signals: [first, second],
        gapMs,
      })
      assert.equal(fault, null, output)
      // Of two different ones on their way at once either may come first (signal(7)); on a busy machine they
      // may be for long.
      const codes: unknown[] = [first, second].map((signal) => (signal === 'SIGTERM' ? 143 : 130))
      assert.ok(codes.includes(code), String(code))
      // It did not drain.
      assert.ok(performance.now() - began < 60_000)
      assert.match(output, /SIG(TERM|INT): stopping\n$/)
    }
  },
)

test(
  'Signals at any moment, single and double, on both engines, end as documented and leave nothing.',
  { skip },
  async (t) => {
    const { counts, faults } = await moments(temporaryFolder(t), folder, amount(6, 200))
    t.diagnostic(JSON.stringify(counts))
    assert.deepEqual(faults, [])
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
