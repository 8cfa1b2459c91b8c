/** What the shipped files of the balancers do with streams, clients that go, absent replicas and keys. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { test, type TestContext } from 'node:test'
import { missingTool } from '../programs.ts'
import { until } from '../until.ts'
import { BALANCERS, freePorts, REPLICA_HOSTS, startBalancer, type Ports } from './balancers.ts'

/** A replica that answers on the API's port and on the admin port. Resolves to what ends it. */
async function startReplica(
  t: TestContext,
  host: string,
  { api, admin }: Ports,
  answer: RequestListener,
): Promise<() => void> {
  const servers = [api, admin].map((port) => createServer(answer).listen(port, host))
  const end = (): void => {
    for (const server of servers) {
      server.close()
      server.closeAllConnections()
    }
  }
  t.after(end)
  await Promise.all(servers.map((server) => once(server, 'listening')))
  return end
}

test(
  'HAProxy counts streams apart, gives back the place of a client that has gone, and answers in JSON itself.',
  { skip: missingTool('haproxy', 'haproxy') },
  async (t) => {
    const ports = await freePorts()
    startBalancer(t, 'haproxy', ports)
    const address = `http://127.0.0.1:${ports.listen}/v2`
    const statusOf = (url: string): Promise<number> =>
      fetch(url).then(
        ({ status }) => status,
        () => 0,
      )
    await until(async () => (await statusOf(address)) === 503, 'HAProxy does not answer')
    const refused = await fetch(`${address}/buoys`)
    assert.deepEqual(
      [refused.headers.get('retry-after'), refused.headers.get('content-type')],
      ['1', 'application/json'],
    )
    assert.equal(((await refused.json()) as { error: string }).error, 'service_unavailable')

    const streams = new Set<ServerResponse>()
    const answered = [0, 0, 0]
    /** It is ready, answers at once, and begins streams that it never writes to. */
    const start = (i: number): Promise<unknown> =>
      startReplica(t, REPLICA_HOSTS[i], ports, (request, response) => {
        if (request.url !== '/v2/events') {
          answered[i] += request.url === '/v2/buoys' ? 1 : 0
          response.end('{}')
          return
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
        streams.add(response)
        // As our engines do.
        request.socket.on('end', () => request.socket.destroy())
        response.on('close', () => streams.delete(response))
      })
    // The third one comes later, as after a restart.
    await Promise.all([start(0), start(1)])
    const isUp = async (): Promise<boolean> => (await statusOf(`${address}/buoys`)) === 200
    await until(isUp, 'no replica is up')
    const clients = Array.from({ length: 40 }, () => connect(ports.listen, '127.0.0.1'))
    t.after(() => clients.forEach((client) => client.destroy()))
    for (const client of clients)
      client.on('error', () => {}).write('GET /v2/events HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => streams.size === 40, 'the streams are not open')
    await start(2)
    await until(async () => (await isUp()) && answered[2] > 0, 'the third replica is not up')
    answered.fill(0)
    for (let i = 0; i < 300; i++) assert.ok(await isUp())
    assert.ok(Math.min(...answered) > 50, `ordinary requests: ${answered.join()}`)

    const began = performance.now()
    for (const client of clients) client.end()
    await until(() => streams.size === 0, 'streams of clients that have gone are open')
    assert.ok(performance.now() - began < 15_000, 'sooner than a comment could have failed')
  },
)

const KEYS = Array.from({ length: 300 }, (_, i) => `Bearer gsw_${String(i).padStart(49, '0')}`)

/** What a file says for each key to go to one replica, in place of what it says. */
const CHANGES = {
  haproxy: [],
  nginx: [
    ['    least_conn;\n', ''],
    ['    #hash $groundswell_client consistent;\n', '    hash $groundswell_client consistent;\n'],
  ],
} as const

for (const name of ['haproxy', 'nginx'] as const) {
  test(
    `${name} sends each key to one replica, and moves only the keys of one that goes.`,
    { skip: missingTool(name, BALANCERS[name].installs) },
    async (t) => {
      const ports = await freePorts()
      const ends = await Promise.all(
        REPLICA_HOSTS.map((host) => startReplica(t, host, ports, (_, response) => response.end(host))),
      )
      startBalancer(t, name, ports, (shipped) => {
        let text = shipped
        for (const [before, after] of CHANGES[name]) {
          assert.ok(text.includes(before), before)
          text = text.replace(before, after)
        }
        return text
      })
      const ask = async (authorization?: string): Promise<string> => {
        const headers = authorization === undefined ? {} : { authorization }
        return (await fetch(`http://127.0.0.1:${ports.listen}/v2/countries`, { headers })).text()
      }
      const isReplica = (answer: string): boolean => REPLICA_HOSTS.includes(answer)
      await until(async () => isReplica(await ask().catch(() => '')))
      const replicaOf = async (): Promise<string[]> => {
        const found: string[] = []
        for (const key of KEYS) found.push(await ask(key))
        return found
      }
      const counts = (found: readonly string[]): number[] =>
        REPLICA_HOSTS.map((host) => found.filter((each) => each === host).length)
      // HAProxy may not have checked all of them yet.
      let first: string[] = []
      await until(async () => {
        const before = first
        first = await replicaOf()
        return first.every(isReplica) && first.join() === before.join()
      })
      for (const count of counts(first)) assert.ok(count > KEYS.length / 6, counts(first).join())
      ends[0]()
      let second: string[] = []
      await until(async () => {
        second = await replicaOf()
        return second.every((each) => isReplica(each) && each !== REPLICA_HOSTS[0])
      })
      for (const [i, before] of first.entries()) {
        if (before !== REPLICA_HOSTS[0]) assert.equal(second[i], before)
      }
      for (const count of counts(second).slice(1)) assert.ok(count > KEYS.length / 4, counts(second).join())
    },
  )
}
