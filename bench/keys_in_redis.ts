/**
 * Keys in Redis under load: `node --import tsx bench/keys_in_redis.ts [--keys=100000] [--servers=2]
 * [--seconds=10]`, after `npm run build`. Starts a Redis and servers of its own on loopback,
 * and prints how long a start takes, what memory it needs, how long requests take without and with changes of
 * keys, and how soon a key that ends is refused everywhere, with publication and by the poll alone.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { hashOf, issued, withQuota, type IssuedKey } from '../src/access/key-records.ts'
import { KeysInRedis } from '../src/access/keys-redis.ts'
import { parseAddress } from '../src/access/redis/redis-address.ts'
import { RedisConnection } from '../src/access/redis/redis-connection.ts'
import { runCliWell } from '../tools/live_server.ts'

const { values } = parseArgs({
  options: {
    keys: { type: 'string', default: '100000' },
    servers: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '10' },
    port: { type: 'string', default: '16399' },
  },
})
const [COUNT, SERVERS, SECONDS, PORT] = [values.keys, values.servers, values.seconds, values.port].map(Number)
const ADDRESS = `redis://127.0.0.1:${PORT}/0`
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const folder = mkdtempSync(join(tmpdir(), 'groundswell-keys-bench-'))
const children: ChildProcess[] = []

interface Server {
  port: number
  adminPort: number
  pid: number
}

async function startServer(number: number, keys = ADDRESS): Promise<Server> {
  const args = [
    'serve',
    `--snapshots=${folder}/snapshots`,
    `--keys=${keys}`,
    `--keys-copy=${folder}/copy${number}.json`,
    '--port=0',
    '--admin-port=0',
    '--workers=1',
  ]
  const child = spawn(process.execPath, ['dist/cli.js', ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => (output += bytes.toString()))
  for (;;) {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
    const admin = /admin port on http:\/\/127\.0\.0\.1:(\d+)/.exec(output)?.[1]
    if (port !== undefined && admin !== undefined)
      return { port: Number(port), adminPort: Number(admin), pid: child.pid ?? 0 }
    if (child.exitCode !== null) throw new Error(output)
    await sleep(5)
  }
}

const residentMiB = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

function ask(agent: Agent, port: number, key: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(
      { agent, host: '127.0.0.1', port, path: '/v2/countries', headers: { authorization: `Bearer ${key}` } },
      (answer) => {
        answer.resume()
        answer.once('end', () => resolve(answer.statusCode ?? 0))
      },
    )
    call.once('error', reject)
    call.end()
  })
}

/** Latencies in ms of two clients a server, sorted, and answers that were not 200. */
async function load(
  servers: Server[],
  key: string,
  seconds: number,
): Promise<{ times: number[]; wrong: number }> {
  const times: number[] = []
  let wrong = 0
  const until = performance.now() + seconds * 1000
  await Promise.all(
    servers.flatMap(({ port }) =>
      [0, 1].map(async () => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        while (performance.now() < until) {
          const from = performance.now()
          if ((await ask(agent, port, key)) !== 200) wrong++
          times.push(performance.now() - from)
        }
        agent.destroy()
      }),
    ),
  )
  return { times: times.toSorted((a, b) => a - b), wrong }
}

function shown({ times, wrong }: { times: number[]; wrong: number }): string {
  const at = (share: number): string =>
    (times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0).toFixed(2)
  return `${times.length} answers, ${wrong} wrong, ms p50 ${at(0.5)}, p99 ${at(0.99)}, p99.9 ${at(0.999)}, worst ${at(1)}`
}

async function revoke(store: KeysInRedis, servers: Server[], what: string): Promise<void> {
  const waits: number[] = []
  const agent = new Agent({ keepAlive: true })
  for (let round = 0; round < 5; round++) {
    const { record, key } = await issue(store, `${what} ${round}`)
    while (
      (await Promise.all(servers.map(({ port }) => ask(agent, port, key)))).some((status) => status !== 200)
    )
      await sleep(5)
    const from = performance.now()
    await store.revoke(record.id)
    while (
      (await Promise.all(servers.map(({ port }) => ask(agent, port, key)))).some((status) => status !== 401)
    )
      await sleep(2)
    waits.push(performance.now() - from)
  }
  agent.destroy()
  print(
    `a key that ends is refused by all servers (${what}): ${waits.map((wait) => wait.toFixed(0)).join(', ')} ms`,
  )
}

function open(): KeysInRedis {
  const connection = new RedisConnection({
    address: parseAddress(ADDRESS),
    tls: { authorities: null, own: null },
    log: () => {},
    clock: () => Date.now() / 1000,
    random: () => 0.5,
  })
  return new KeysInRedis(connection, print)
}

async function main(): Promise<void> {
  const redisArgs = ['--port', String(PORT), '--bind', '127.0.0.1', '--save', '', '--dir', folder]
  children.push(spawn('redis-server', redisArgs, { stdio: 'ignore' }))
  const store = open()
  await runCliWell(['build', '--source', 'demo', '--out', `${folder}/snapshots`])
  const lines = Array.from({ length: COUNT }, (_, at) =>
    JSON.stringify({
      id: `k_${String(at).padStart(10, '0')}`,
      owner: `Owner number ${at}`,
      hash: hashOf(`key ${at}`),
      quota: 1000,
      created: '2026-03-27T12:00:00Z',
    }),
  )
  writeFileSync(`${folder}/keys.json`, `{"format":1,"keys":[\n${lines.join(',\n')}\n]}\n`)
  writeFileSync(`${folder}/none.json`, '{"format":1,"keys":[]}')
  let from = performance.now()
  await runCliWell(['keys', 'import', `${folder}/keys.json`, '--keys', ADDRESS])
  print(`keys import of ${COUNT} keys: ${(performance.now() - from).toFixed(0)} ms`)
  const { key } = COUNT < 100_000 ? await issue(store, 'load') : await makeRoom(store)
  for (const [what, place] of [
    ['no keys', `${folder}/none.json`],
    ['a file of all keys', `${folder}/keys.json`],
  ]) {
    from = performance.now()
    const server = await startServer(0, place)
    const took = (performance.now() - from).toFixed(0)
    print(`with ${what}: listens after ${took} ms, ${residentMiB(server.pid).toFixed(0)} MiB resident`)
    children.pop()?.kill('SIGKILL')
  }
  const servers: Server[] = []
  for (let number = 0; number < SERVERS; number++) {
    from = performance.now()
    servers.push(await startServer(number))
    print(
      `server ${number} listens after ${(performance.now() - from).toFixed(0)} ms, ${residentMiB(servers[number].pid).toFixed(0)} MiB resident`,
    )
  }
  print(`no changes: ${shown(await load(servers, key, SECONDS))}`)
  const changing = new AbortController()
  const changes = change(store, changing.signal)
  print(`with changes: ${shown(await load(servers, key, SECONDS))}`)
  changing.abort()
  print(`changes a second: ${((await changes) / SECONDS).toFixed(1)}`)
  print(`resident afterwards: ${servers.map(({ pid }) => residentMiB(pid).toFixed(0)).join(', ')} MiB`)
  const background = load(servers, key, SECONDS)
  await revoke(store, servers, 'under load')
  // Messages are published, and nobody may hear them.
  await runRedisCli('ACL', 'SETUSER', 'default', '-subscribe')
  await runRedisCli('CLIENT', 'KILL', 'TYPE', 'pubsub')
  await runRedisCli('CLIENT', 'KILL', 'TYPE', 'normal')
  await sleep(1000)
  await revoke(store, servers, 'under load, by the poll alone')
  print(`meanwhile: ${shown(await background)}`)
  from = performance.now()
  const again = await startServer(0)
  print(
    `a start from its copy: ${(performance.now() - from).toFixed(0)} ms, ${residentMiB(again.pid).toFixed(0)} MiB resident`,
  )
  store.close()
}

function runRedisCli(...words: string[]): Promise<void> {
  const child = spawn('redis-cli', ['-p', String(PORT), ...words], { stdio: 'ignore' })
  return new Promise((resolve) => child.once('close', () => resolve()))
}

function issue(store: KeysInRedis, owner: string): Promise<IssuedKey> {
  return store.change((records) => issued(records, { owner, quota: 2 ** 30, now: Date.now() / 1000 }))
}

/** Changes quotas, one after the other. @returns how many */
async function change(store: KeysInRedis, signal: AbortSignal): Promise<number> {
  let count = 0
  for (; !signal.aborted; count++) {
    const id = `k_${String(randomInt(Math.floor(COUNT * 0.9))).padStart(10, '0')}`
    await store.change((records) => withQuota(records, id, randomInt(1, 1000)))
  }
  return count
}

/** A full set takes one more key only when others end. */
async function makeRoom(store: KeysInRedis): Promise<{ key: string }> {
  for (let at = 0; at < 30; at++) await store.revoke(`k_${String(COUNT - 1 - at).padStart(10, '0')}`)
  return issue(store, 'load')
}

try {
  await main()
} finally {
  for (const child of children) child.kill('SIGKILL')
  await sleep(200)
  rmSync(folder, { recursive: true, force: true })
}
