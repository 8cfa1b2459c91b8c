/** The operator's port: which requests it answers, and which it refuses. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { AdminTokenError, readToken, startAdmin, type AdminOptions } from '../../src/server/admin.ts'
import { ask, exchange, runCli, temporaryFolder, type Reply } from '../live.ts'

interface Running {
  port: number
  reloads: () => number
  ask(path: string, headers?: { [name: string]: string }, method?: string): Promise<Reply>
}

async function start(t: TestContext, options: Partial<AdminOptions> = {}): Promise<Running> {
  let reloads = 0
  const { port, close } = await startAdmin({
    host: '127.0.0.1',
    port: 0,
    names: [],
    token: null,
    notReady: () => null,
    status: () => ({ secret: 'what only the operator knows' }),
    metrics: () => '# HELP a_metric\n',
    reload: async () => void reloads++,
    onFault: (_path, error) => assert.fail(error as Error),
    ...options,
  })
  t.after(close)
  return {
    port,
    reloads: () => reloads,
    ask: (path, headers = {}, method = 'GET') => ask(port, path, { headers, method }),
  }
}

test('Metrics come as Prometheus reads them; what cannot be made is reported.', async (t) => {
  const faults: string[] = []
  const good = await start(t)
  const { status, headers, text } = await good.ask('/metrics')
  assert.deepEqual([status, text], [200, '# HELP a_metric\n'])
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  const bad = await start(t, {
    metrics: () => {
      throw new Error('a fault of the program')
    },
    onFault: (path) => void faults.push(path),
  })
  assert.equal((await bad.ask('/metrics')).status, 500)
  assert.deepEqual(faults, ['/metrics'])
})

test('Scrapers that never read keep nobody from asking, and a reload may take longer than a connection may be silent.', async (t) => {
  let finish = (): void => {}
  const admin = await start(t, {
    metrics: () => `# ${'x'.repeat(100_000)}\n`,
    reload: () => new Promise((resolve) => (finish = resolve)),
    unreadTimeoutMs: 700,
  })
  const reloading = admin.ask('/reload', {}, 'POST')
  const deaf = Array.from({ length: 40 }, () => {
    const socket = connect(admin.port, '127.0.0.1', () =>
      socket.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(100)),
    )
    socket.on('error', () => {})
    socket.pause()
    return socket
  })
  t.after(() => deaf.forEach((socket) => socket.destroy()))
  await setTimeout(500)
  assert.equal((await admin.ask('/livez')).status, 200)
  assert.equal((await admin.ask('/metrics')).status, 200)
  await setTimeout(1500)
  finish()
  assert.equal((await reloading).status, 200)
})

test('A name that somebody else made lead here is refused, with every path.', async (t) => {
  const admin = await start(t, { names: ['ops.internal'] })
  const { port } = admin
  const own = [`127.0.0.1:${port}`, '10.1.2.3:9000', '[::1]:8081', 'LOCALHOST', 'ops.internal:80']
  for (const host of own) assert.equal((await admin.ask('/status', { host })).status, 200, host)
  const others = [
    'evil.example',
    `localhost.evil.example:${port}`,
    'ops.internal.evil.example',
    'x@127.0.0.1',
    'a b',
  ]
  for (const host of others) {
    for (const [method, path] of [
      ['GET', '/status'],
      ['GET', '/livez'],
      ['POST', '/reload'],
      ['GET', '/nothing'],
    ]) {
      const { status, text } = await admin.ask(path, { host }, method)
      assert.ok(status === 403 || (status === 400 && text === ''), `${host} ${path} ${status}`)
      assert.ok(!text.includes('operator knows') && !text.includes('evil'), text)
    }
  }
  assert.equal(admin.reloads(), 0)
  // A probe of HTTP/1.0 names no host.
  assert.match(await exchange(port, 'GET /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.\d 200 /)
})

test('Requests of pages elsewhere in a browser are refused, and steer nothing.', async (t) => {
  const admin = await start(t)
  const host = `127.0.0.1:${admin.port}`
  const requests: [status: number, headers: { [name: string]: string }][] = [
    [403, { origin: 'https://evil.example' }],
    [403, { origin: 'null' }],
    [403, { origin: `http://127.0.0.1:${admin.port + 1}` }],
    [403, { origin: `http://localhost:${admin.port}` }],
    [403, { 'sec-fetch-site': 'cross-site' }],
    [403, { 'sec-fetch-site': 'same-site' }],
    [200, {}],
    [200, { origin: `http://${host}` }],
    [200, { 'sec-fetch-site': 'none' }],
    [200, { 'sec-fetch-site': 'same-origin' }],
  ]
  for (const [expected, headers] of requests) {
    for (const [method, path] of [
      ['POST', '/reload'],
      ['GET', '/status'],
    ]) {
      const { status, text, headers: sent } = await admin.ask(path, { host, ...headers }, method)
      assert.equal(status, expected, JSON.stringify(headers))
      assert.equal(text.includes('operator knows'), status === 200)
      assert.equal(sent['access-control-allow-origin'], undefined)
    }
  }
  assert.equal(admin.reloads(), 4)
})

test('With a token, status and reload want it, and health does not.', async (t) => {
  const token = 'an-operators-token-of-some-length'
  const admin = await start(t, { token })
  const wrong = ['', `Bearer ${token}x`, `Bearer ${token.slice(0, -1)}`, 'Bearer', `Basic ${token}`, token]
  for (const authorization of wrong) {
    for (const [method, path] of [
      ['GET', '/status'],
      ['POST', '/reload'],
      ['GET', '/livez/../status'],
    ]) {
      const { status, headers, text } = await admin.ask(path, { authorization }, method)
      assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], authorization)
      assert.ok(!text.includes('operator knows') && !text.includes(token))
    }
  }
  assert.equal(admin.reloads(), 0)
  for (const path of ['/livez', '/readyz?x']) assert.equal((await admin.ask(path)).status, 200)
  const authorization = `Bearer ${token}`
  assert.equal((await admin.ask('/status', { authorization })).status, 200)
  assert.equal((await admin.ask('/reload', { authorization }, 'POST')).status, 200)
})

test('A token comes from a file, and one that cannot be used ends the start with a sentence.', async (t) => {
  const folder = temporaryFolder(t)
  const file = join(folder, 'token')
  writeFileSync(file, ' sixteen-or-more-characters\n')
  assert.equal(readToken(file), 'sixteen-or-more-characters')
  for (const text of ['', 'short', 'two words of some length', 'x'.repeat(5000)]) {
    writeFileSync(file, text)
    assert.throws(() => readToken(file), AdminTokenError)
  }
  const token = join(folder, 'nowhere')
  const args = `serve --port=0 --workers=1 --admin-port=0 --snapshots=${folder} --admin-token-file=${token}`
  const { code, stderr } = await runCli(args.split(' '))
  assert.equal(code, 1)
  assert.match(stderr, /groundswell: \S+nowhere: the token cannot be read \(ENOENT\)\n$/)
})
