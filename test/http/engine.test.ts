import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, cpSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { describe, it, test } from 'node:test'
import { Worker } from 'node:worker_threads'

import { BaseEngine } from '../../src/http/engines/base.ts'
import { loadEngine } from '../../src/http/engines/engine.ts'
import { hasReusePort, SHARES_PORT } from '../../src/http/engines/node.ts'
import type { Exchange } from '../../src/http/exchange.ts'
import { findFreePort, ListenError } from '../../src/http/port.ts'
import { listening } from '../listening.ts'
import { temporaryFolder } from '../live.ts'
import { RawClient, request } from './raw_client.ts'
import { EngineServer, ENGINES, missing, pathServer, needsOf } from './server_for_tests.ts'

describe('loadEngine', () => {
  /** As on a machine for which no binary exists. */
  const withoutBinary = (test: () => void): void => {
    const arch = Object.getOwnPropertyDescriptor(process, 'arch')!
    Object.defineProperty(process, 'arch', { ...arch, value: 'abacus' })
    try {
      test()
    } finally {
      Object.defineProperty(process, 'arch', arch)
    }
  }

  it('takes node:http when asked for it, without a warning, on one thread where threads cannot share a port', () => {
    const choice = loadEngine('node')
    const most = SHARES_PORT ? Infinity : 1
    assert.deepEqual([choice.kind, choice.maxWorkers, choice.warning], ['node', most, null])
    const versions = ['20.20.2', '22.11.0', '22.12.0', '23.0.9', '23.1.0', '24.0.0']
    assert.deepEqual(versions.map(hasReusePort), [false, false, true, false, true, true])
  })

  it('prefers the native engine, on any number of threads', { skip: missing('uws') }, () => {
    for (const preference of ['auto', 'uws'] as const) {
      const choice = loadEngine(preference)
      assert.deepEqual([choice.kind, choice.maxWorkers, choice.warning], ['uws', Infinity, null])
    }
  })

  it('falls back to node:http with a warning that says what is missing', () => {
    withoutBinary(() => {
      const choice = loadEngine('auto')
      assert.equal(choice.kind, 'node')
      assert.match(choice.warning ?? '', /uWebSockets\.js.*@uwsjs\/\w+-abacus-\d+/)
      assert.doesNotMatch(choice.warning ?? '', /\n/)
    })
  })

  it('loads no other binary than the one that was tested', { skip: missing('uws') }, (t) => {
    const folder = temporaryFolder(t)
    cpSync(new URL('../../dist/http', import.meta.url), join(folder, 'dist/http'), { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const name = `@uwsjs/linux-x64-${process.versions.node.split('.', 1)[0]}`
    const original = dirname(createRequire(import.meta.url).resolve(name))
    const copy = join(folder, 'node_modules', name)
    cpSync(original, copy, { recursive: true })
    const load = (): string =>
      spawnSync(
        process.execPath,
        [
          '-e',
          `import(${JSON.stringify(join(folder, 'dist/http/engines/uws-binding.js'))}).then(({ loadBinding }) => console.log(loadBinding().reason))`,
        ],
        { encoding: 'utf8' },
      ).stdout
    assert.equal(load(), '\n')
    const binary = join(copy, 'uws.node')
    appendFileSync(binary, '\0')
    assert.ok(load().endsWith(`${binary} is not the binary that was tested\n`), load())
  })

  it('throws when the native engine is insisted on and cannot be loaded', () => {
    withoutBinary(() => assert.throws(() => loadEngine('uws'), /cannot be loaded: .*-abacus-/))
  })
})

describe('an address that is taken', () => {
  it('is refused by both engines, and by findFreePort, with an error that names it', async (t) => {
    const holder = createServer()
    const port = await listening(t, holder)
    const expected = new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}: .*(in use|EADDRINUSE)`)
    await assert.rejects(findFreePort('127.0.0.1', port), expected)
    for (const kind of ENGINES) {
      if (missing(kind) !== false) continue
      const engine = loadEngine(kind).create(() => {}, needsOf())
      await assert.rejects(engine.listen('127.0.0.1', port), expected)
      engine.close()
    }
    await new Promise((resolve) => holder.close(resolve))
    assert.equal(await findFreePort('127.0.0.1', port), port)
    assert.equal(await findFreePort('127.0.0.1', port), port)
  })

  for (const kind of ENGINES) {
    it(`is noticed by findFreePort when the ${kind} engine holds it`, { skip: missing(kind) }, async (t) => {
      const server = await pathServer(kind).until(t)
      await assert.rejects(findFreePort('127.0.0.1', server.port), /in use/)
      await assert.rejects(findFreePort('0.0.0.0', server.port), /in use/)
      server.engine.close()
      await findFreePort('127.0.0.1', server.port)
    })
  }

  it('is mended by another port, and one that is not of this machine by another address', async (t) => {
    const port = await listening(t, createServer())
    const options = { host: '--host', port: '--port' }
    await assert.rejects(findFreePort('127.0.0.1', port, options), /; choose another with --port /)
    for (const host of ['192.0.2.1', '2001:db8::1', 'nowhere.invalid', 'fe80::1']) {
      await assert.rejects(findFreePort(host, 0, options), (error: Error) => {
        assert.match(error.message, /; name an address of this machine with --host: /)
        assert.doesNotMatch(error.message, /--port/)
        assert.equal(/fe80::1%eth0/.test(error.message), host === 'fe80::1')
        return true
      })
    }
    const { message } = new ListenError('::1', 80, Object.assign(new Error(), { code: 'EMFILE' }), options)
    assert.match(message, /may open no more files \(EMFILE\); allow it more with ulimit -n/)
  })
})

describe('the address of a peer', () => {
  for (const kind of ENGINES) {
    for (const [host, target, expected] of [
      ['::', '127.0.0.1', '127.0.0.1'],
      ['::1', '::1', '::1'],
    ] as const) {
      it(`is ${expected} on ${host} of the ${kind} engine`, { skip: missing(kind) }, async (t) => {
        const engine = loadEngine(kind).create(
          (exchange) => exchange.send('200 OK', Buffer.from(exchange.address())),
          needsOf(),
        )
        let port = 0
        try {
          port = await engine.listen(host, 0)
        } catch {
          t.skip('no IPv6 on this machine')
          engine.close()
          return
        }
        const client = new RawClient(port, target)
        assert.equal((await client.ask('GET /')).body, expected)
        client.socket.destroy()
        engine.close()
      })
    }
  }
})

test('A port is closed behind the first short turn of the loop, or after a second without one.', async (t) => {
  for (const [turns, taken] of [
    [[0.1, 5, 0.05, 5], 3],
    [[600, 600, 600, 600], 3],
  ] as const) {
    let [now, reads] = [0, 0]
    // Read once at first, then before and behind each turn.
    const clock = t.mock.method(performance, 'now', () => {
      if (reads > 0 && reads % 2 === 0) now += turns[reads / 2 - 1]
      reads++
      return now
    })
    let closedAfter = 0
    class Port extends BaseEngine {
      exchange = null as never
      listen = (): Promise<number> => Promise.resolve(0)
      close(): void {}
      closePort(): void {
        closedAfter = (reads - 1) / 2
      }
    }
    await new Port().stopListening()
    clock.mock.restore()
    assert.equal(closedAfter, taken)
  }
})

/** Makes connections for a request each, says when they are made, and posts how many have no answer. */
const CLIENTS = `
const { connect } = require('node:net')
const { parentPort, workerData: { port, count, made } } = require('node:worker_threads')
let [open, lost] = [count, count]
for (let i = 0; i < count; i++) {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n')
    Atomics.add(made, 0, 1)
    Atomics.notify(made, 0)
  })
  socket.once('data', () => lost--)
  socket.on('error', () => {})
  socket.on('close', () => --open === 0 && parentPort.postMessage(lost))
}`

for (const kind of ENGINES) {
  test(
    `Over ${kind}, connections that nobody has accepted when the port is to be closed have their answers.`,
    { skip: missing(kind) },
    async (t) => {
      // All of them take more time than the port has for its closing.
      const answer = (exchange: Exchange): void => {
        for (const end = performance.now() + 20; performance.now() < end;);
        exchange.send('200 OK', Buffer.from('{}'))
      }
      const { port, engine } = await new EngineServer(kind, answer).until(t)
      const made = new Int32Array(new SharedArrayBuffer(4))
      const clients = new Worker(CLIENTS, { eval: true, workerData: { port, count: 64, made } })
      t.after(() => clients.terminate())
      await once(clients, 'online')
      // The loop stands still, so that the kernel alone has them.
      for (let now = 0; now < 64; now = Atomics.load(made, 0)) Atomics.wait(made, 0, now, 60_000)
      engine.drain()
      const [[lost]] = await Promise.all([once(clients, 'message'), engine.finish(60_000)])
      assert.equal(lost, 0)
    },
  )
}

describe('the node engine', () => {
  it('cuts off a client that has more than 256 pipelined requests waiting', async (t) => {
    const server = await pathServer('node').until(t)
    const client = server.open()
    client.write(request('GET /').repeat(258))
    await client.closed()
  })
})
