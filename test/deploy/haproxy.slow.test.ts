/** What the shipped file for HAProxy does with streams of events, with clients that go, and when no replica is there. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { missingTool } from '../programs.ts'
import { until } from '../until.ts'
import { freePorts, REPLICA_HOSTS, startBalancer } from './balancers.ts'

/** A replica that is ready, answers at once, and begins streams that it never writes to. */
class Replica {
  readonly streams = new Set<ServerResponse>()
  answered = 0

  async start(t: TestContext, host: string, ports: readonly number[]): Promise<void> {
    for (const port of ports) {
      const server = createServer((request, response) => {
        if (request.url!.startsWith('/readyz')) {
          response.end()
        } else if (request.url!.split('?')[0].endsWith('/events')) {
          response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
          this.streams.add(response)
          // As our engines do.
          request.socket.on('end', () => request.socket.destroy())
          response.on('close', () => this.streams.delete(response))
        } else {
          this.answered++
          response.end('{}')
        }
      })
      server.listen(port, host)
      await once(server, 'listening')
      t.after(() => {
        server.closeAllConnections()
        server.close()
      })
    }
  }
}

test(
  'HAProxy counts streams apart, gives back the place of a client that has gone, and answers in JSON itself.',
  { skip: missingTool('haproxy', 'haproxy') },
  async (t) => {
    const ports = await freePorts()
    const { listen, api, admin } = ports
    startBalancer(t, 'haproxy', ports)
    const address = `http://127.0.0.1:${listen}/v2`
    await until(
      () =>
        fetch(address).then(
          ({ status }) => status === 503,
          () => false,
        ),
      'HAProxy does not answer',
    )
    const refused = await fetch(`${address}/buoys`)
    assert.deepEqual(
      [refused.headers.get('retry-after'), refused.headers.get('content-type')],
      ['1', 'application/json'],
    )
    assert.equal(((await refused.json()) as { error: string }).error, 'service_unavailable')

    const replicas = REPLICA_HOSTS.map(() => new Replica())
    // The third one comes later, as after a restart.
    for (const i of [0, 1]) await replicas[i].start(t, REPLICA_HOSTS[i], [api, admin])
    const isUp = (): Promise<boolean> => fetch(`${address}/buoys`).then(({ ok }) => ok)
    await until(isUp, 'no replica is up')
    const clients: Socket[] = []
    const openStreams = (): number => replicas.reduce((sum, { streams }) => sum + streams.size, 0)
    for (let i = 0; i < 40; i++) {
      const client = connect(listen, '127.0.0.1')
      client.write('GET /v2/events HTTP/1.1\r\nHost: a\r\n\r\n')
      client.on('error', () => {})
      clients.push(client)
    }
    t.after(() => clients.forEach((client) => client.destroy()))
    await until(() => openStreams() === 40, 'the streams are not open')
    await replicas[2].start(t, REPLICA_HOSTS[2], [api, admin])
    await until(async () => (await isUp()) && replicas[2].answered > 0, 'the third replica is not up')
    for (const replica of replicas) replica.answered = 0
    for (let i = 0; i < 300; i++) assert.equal((await fetch(`${address}/buoys`)).status, 200)
    const shares = replicas.map(({ answered }) => answered)
    assert.ok(Math.min(...shares) > 50, `ordinary requests: ${shares.join()}`)

    const began = performance.now()
    for (const client of clients) client.end()
    await until(() => openStreams() === 0, 'streams of clients that have gone are open')
    assert.ok(performance.now() - began < 15_000, 'sooner than a comment could have failed')
  },
)
