/** The shipped files of the balancers, each run by its program: nobody notices that replicas go and come. */
import assert from 'node:assert/strict'
import { copyFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { describe, it, test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { issueKey } from '../../src/access/keys-file.ts'
import { fixtureSnapshots } from '../built_once.ts'
import { build, fakeSource, LATER_WORLD, SMALL_WORLD } from '../builder/fake_source.ts'
import { ask, Client, exchange, startLive, temporaryFolder } from '../live.ts'
import { missingTool } from '../programs.ts'
import { rounds } from '../rounds.ts'
import { startProgram, type Program } from '../started_program.ts'
import { until } from '../until.ts'
import { BALANCERS, freePorts, REPLICA_HOSTS, startBalancer, type Balancer, type Ports } from './balancers.ts'

/** The first in every run, all of them in the nightly tier. */
const TRIED = (Object.keys(BALANCERS) as Balancer[]).slice(0, rounds(1, 3))
/** HAProxy refuses HTTP/1.0 itself. */
const TO_HTTP_10 = { haproxy: 505, nginx: 200, caddy: 200 }
const CLIENTS = 16
/** After a replica is ready: two checks of HAProxy and Caddy, and nginx's `fail_timeout`. */
const SETTLE_MS = 2500
const PATHS = [
  '/v2/buoys/1',
  '/v2/buoys/nearest?lat=43.5&lng=-1.6&max_distance=20000',
  '/v2/buoys?active_only=false',
]

const isOk = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  )

/** Starts a replica of the fleet and waits until it is ready. */
async function startReplica(
  t: TestContext,
  host: string,
  ports: Ports,
  args: readonly string[],
): Promise<Program> {
  const own = [`--host=${host}`, `--port=${ports.api}`, `--admin-host=${host}`, `--admin-port=${ports.admin}`]
  const usual = ['--workers=1', '--anonymous-quota=0', '--trusted-proxy=127.0.0.1', '--drain-time=2s']
  const replica = startProgram(t, ['serve', ...own, ...usual, ...args])
  await until(
    async () => replica.hasEnded() || (await isOk(`http://${host}:${ports.admin}/readyz`)),
    () => replica.said,
  )
  return replica
}

/**
 * Asks over kept connections until the signal aborts. Resolves to how many were answered, and to what failed.
 */
async function load(port: number, key: string, signal: AbortSignal) {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const headers = { authorization: `Bearer ${key}` }
  const failed: string[] = []
  let answered = 0
  const client = async (first: number): Promise<void> => {
    for (let i = first; !signal.aborted; i++) {
      const path = PATHS[i % PATHS.length]
      try {
        const { status, isWhole } = await ask(port, path, { agent, headers })
        if (status === 200 && isWhole) answered++
        else failed.push(`${path}: ${status}`)
      } catch (error) {
        failed.push(`${path}: ${(error as Error).message}`)
      }
      await wait(50)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, i) => client(i)))
  agent.destroy()
  return { answered, failed }
}

describe('the shipped file', { concurrency: true }, () => {
  for (const name of TRIED) {
    it(
      `of ${name} lets no request fail when a replica is stopped and another one is killed`,
      { skip: missingTool(name, BALANCERS[name].installs) },
      async (t) => {
        const [ports, snapshots, folder] = [await freePorts(), await fixtureSnapshots(), temporaryFolder(t)]
        const keys = join(folder, 'keys.json')
        const { key } = issueKey(keys, { owner: 'fleet', quota: 1_000_000, now: Date.now() / 1000 })
        // Each counts for itself, beside a keys file of its own.
        const start = (i: number): Promise<Program> => {
          const own = join(folder, `keys-${i}.json`)
          copyFileSync(keys, own)
          return startReplica(t, REPLICA_HOSTS[i], ports, [`--snapshots=${snapshots}`, `--keys=${own}`])
        }
        const replicas = await Promise.all(REPLICA_HOSTS.map((_, i) => start(i)))
        const balancer = startBalancer(t, name, ports)
        await until(
          async () => balancer.hasEnded() || (await isOk(`http://127.0.0.1:${ports.listen}${PATHS[1]}`)),
          () => balancer.said,
        )
        const byHttp10 = await exchange(ports.listen, `GET ${PATHS[1]} HTTP/1.0\r\n\r\n`)
        assert.equal(Number(byHttp10.slice(9, 12)), TO_HTTP_10[name])

        const over = new AbortController()
        const seen = load(ports.listen, key, over.signal)
        await wait(1000)
        assert.equal(await replicas[0].stop(), 0)
        replicas[0] = await start(0)
        await wait(SETTLE_MS)
        replicas[1].kill('SIGKILL')
        assert.equal(await replicas[1].ended, 'SIGKILL')
        replicas[1] = await start(1)
        await wait(SETTLE_MS)
        over.abort()
        const { answered, failed } = await seen
        assert.deepEqual(failed, [])
        assert.ok(answered > 300, `${answered} answered`)
      },
    )
  }
})

test('While replicas swap one after the other, only a client without a pin sees a newer answer and then an older one.', async (t) => {
  const folders = [temporaryFolder(t), temporaryFolder(t)].map((folder) => join(folder, 'snapshots'))
  const swap = async (folder: string): Promise<string> =>
    (await build([fakeSource(LATER_WORLD)], folder, { allowLoss: 1 })).id
  const ids: string[] = []
  for (const folder of folders) ids.push((await build([fakeSource(SMALL_WORLD)], folder)).id)
  const [first] = ids
  assert.deepEqual(ids, [first, first])
  const clients: Client[] = []
  for (const snapshots of folders) clients.push(new Client(await startLive(t, { snapshots })))
  // As a balancer that asks one replica after the other.
  const seen = async (query: string): Promise<unknown[]> => {
    const replies = []
    for (const client of clients) replies.push(await client.get(`/buoys${query}`))
    return replies.map(({ headers, status }) => (status === 200 ? headers['x-snapshot-id'] : status))
  }
  const bytes = async (): Promise<Set<string>> => {
    const replies = await Promise.all(
      clients.map((client) => client.get(`/buoys/1/readings?snapshot=${first}`)),
    )
    return new Set(replies.map(({ text }) => text.replace(/"timestamp":"[^"]*"/, '')))
  }
  const pinned = await bytes()
  assert.equal(pinned.size, 1)
  assert.deepEqual(await seen(''), [first, first])
  const second = await swap(folders[0])
  await until(async () => (await seen(''))[0] === second, 'the first replica does not swap')
  assert.deepEqual(await seen(''), [second, first], 'newer, then older')
  assert.deepEqual(await seen(`?snapshot=${first}`), [first, first])
  assert.deepEqual(await bytes(), pinned)
  assert.equal(await swap(folders[1]), second)
  await until(async () => (await seen(''))[1] === second, 'the second replica does not swap')
  assert.deepEqual(await seen(''), [second, second])
  assert.deepEqual(await bytes(), pinned)
})
