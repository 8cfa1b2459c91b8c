/**
 * What a swap of snapshots each second, and a neighbour with the longest answers, do to others: p99 of light
 * requests at a constant rate, in turns with the same without.
 *
 *     node --import tsx bench/http/swap.ts [--data demo|long|tiny] [--rate 2000] [--seconds 10] [--rounds 3]
 *
 * The server runs on core 0 with one worker; this process, which asks and publishes, on core 1.
 */
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { Agent, get as httpGet } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { BASE_PATH, casesOf, draw } from './cases.ts'
import { issueKey, leaveServersCore, startProduct, stoppingAll, type Server } from './servers.ts'
import { AS_OF, BENCH_DATA, readWorld, SCALES, snapshotsOf, type Scale } from './world.ts'

const { values: options } = parseArgs({
  options: {
    data: { type: 'string', default: 'demo' },
    rate: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
  },
})
if (!Object.hasOwn(SCALES, options.data)) throw new Error(`--data: ${Object.keys(SCALES).join(' or ')}`)
const [rate, seconds, rounds] = [options.rate, options.seconds, options.rounds].map(Number)
/** One more than a server holds in memory, so that none of them is there when its turn comes. */
const SNAPSHOTS = 4
const HALF_HOUR = 1800
const TICK_MS = 1
const LIGHT = new Set(['detail', 'last readings of 3', 'reading by id', 'nearest 1', 'search', 'readings 20'])

interface Latencies {
  p50: number
  p99: number
  most: number
}

/**
 * Asks `paths` in turn at the rate, whatever the answers take; a latency counts from when its request was
 * due.
 */
async function latencies(server: Server, paths: readonly string[], key: string): Promise<Latencies> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const headers = { authorization: key.slice(key.indexOf(' ') + 1) }
  const took: number[] = []
  let failed = 0
  const began = performance.now()
  const answers: Promise<void>[] = []
  const ask = (path: string, due: number): Promise<void> =>
    new Promise((resolve) => {
      const call = httpGet(
        { agent, host: '127.0.0.1', port: server.port, path: BASE_PATH + path, headers },
        (reply) => {
          if (reply.statusCode !== 200) failed++
          reply.resume().once('end', () => {
            took.push(performance.now() - due)
            resolve()
          })
        },
      )
      call.once('error', () => {
        failed++
        resolve()
      })
    })
  for (let sent = 0; sent < rate * seconds; await wait(TICK_MS)) {
    const now = performance.now()
    for (; sent < Math.min(rate * seconds, ((now - began) / 1000) * rate); sent++)
      answers.push(ask(paths[sent % paths.length], began + (1000 * sent) / rate))
  }
  await Promise.all(answers)
  agent.destroy()
  if (failed > 0) throw new Error(`${failed} of ${rate * seconds} requests failed`)
  took.sort((a, b) => a - b)
  const at = (share: number): number => Number(took[Math.floor(share * (took.length - 1))].toFixed(2))
  return { p50: at(0.5), p99: at(0.99), most: at(1) }
}

/** Publishes one of a folder's manifests, as a builder does. */
function publish(folder: string, manifest: string): void {
  const fresh = join(folder, 'bench-manifest.new')
  copyFileSync(join(folder, manifest), fresh)
  renameSync(fresh, join(folder, 'manifest.msgpack'))
}

/** Publishes each second until the signal aborts. */
async function swapEachSecond(folder: string, signal: AbortSignal): Promise<void> {
  const manifests = readdirSync(folder)
    .filter((file) => /^manifest-\d+-/.test(file))
    .toSorted()
  if (manifests.length !== SNAPSHOTS) throw new Error(`${folder} has ${manifests.length} snapshots`)
  for (let i = 0; !signal.aborted; i++) {
    publish(folder, manifests[i % manifests.length])
    await wait(1000)
  }
  publish(folder, manifests.at(-1)!)
}

/** Asks for the longest answers, one after the other, until the signal aborts. */
async function askLongest(
  server: Server,
  ids: readonly number[],
  key: string,
  signal: AbortSignal,
): Promise<void> {
  const headers = { authorization: key.slice(key.indexOf(' ') + 1) }
  for (let i = 0; !signal.aborted; i++) {
    const path = `/buoys/${ids[i % ids.length]}/readings/series?metric=significient_height&bucket=hour`
    const reply = await fetch(`http://127.0.0.1:${server.port}${BASE_PATH}${path}`, { headers })
    await reply.arrayBuffer()
  }
}

async function main(): Promise<void> {
  const dist = fileURLToPath(new URL('../../dist', import.meta.url))
  const revision = { name: '', folder: dist }
  const scale = options.data as Scale
  const times = Array.from({ length: SNAPSHOTS }, (_, i) => AS_OF - (SNAPSHOTS - 1 - i) * HALF_HOUR)
  const folder = snapshotsOf(revision, scale, times)
  const world = await readWorld(revision, scale)
  mkdirSync(BENCH_DATA, { recursive: true })
  const keysFile = join(BENCH_DATA, `keys-${process.pid}.json`)
  process.once('exit', () => rmSync(keysFile, { force: true }))
  const cli = join(dist, 'cli.js')
  const key = issueKey(cli, keysFile)
  const paths = casesOf(world)
    .filter(({ name }) => LIGHT.has(name))
    .flatMap((one, i) => draw(one, 1000, i))
    .map((_path, i, all) => all[(i * 1009) % all.length])
  leaveServersCore()
  const server = await startProduct(cli, folder, keysFile, [])
  const beside: { [what: string]: (signal: AbortSignal) => Promise<void> } = {
    'a swap each second': (signal) => swapEachSecond(folder, signal),
    'a neighbour with hourly series': (signal) => askLongest(server, [...world.checked], key, signal),
  }
  const rows: object[] = []
  await latencies(server, paths, key)
  for (let round = 0; round < rounds; round++) {
    for (const [what, run] of Object.entries(beside)) {
      rows.push({ beside: 'nothing', ...(await latencies(server, paths, key)) })
      const stop = new AbortController()
      const running = run(stop.signal)
      rows.push({ beside: what, ...(await latencies(server, paths, key)) })
      stop.abort()
      await running
    }
  }
  console.table(rows)
}

await stoppingAll(main)
