/**
 * Many listeners of `/events`: what they take, when the last of them hears of a swap, and what ordinary
 * requests notice of both. Loopback alone; it ends by itself.
 *
 *     npm run build && node --import tsx bench/events.bench.ts --listeners 10000 --seconds 60
 *
 * The same server answers ordinary requests at a steady rate for so many seconds, with a swap at the
 * beginning of each minute, first without listeners, then with them, then without again.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runCliWell, startServer, type Live } from '../tools/live_server.ts'
import { rollback } from '../src/snapshot/retained.ts'
import { readManifest } from '../src/snapshot/read-snapshot.ts'

const { values } = parseArgs({
  options: {
    listeners: { type: 'string', default: '10000' },
    seconds: { type: 'string', default: '60' },
    /** Between two swaps. */
    every: { type: 'string', default: '60' },
    rate: { type: 'string', default: '500' },
    workers: { type: 'string', default: '2' },
    engine: { type: 'string', default: 'auto' },
  },
})
const [listeners, seconds, every] = [values.listeners, values.seconds, values.every].map(Number)
const TARGET = '/v2/buoys/nearest?lat=43.5&lng=-1.6'
const SETTLE_MS = 3000
const PATIENCE_MS = 120_000

const at = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const children: ChildProcess[] = []
function child(file: string, args: (string | number)[]): ChildProcess {
  const started = fork(at(file), args.map(String), { execArgv: [] })
  children.push(started)
  return started
}

function answer<T>(from: ChildProcess, question?: object): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('a client does not answer')), PATIENCE_MS)
    from.once('message', (message) => {
      clearTimeout(late)
      resolve(message as T)
    })
    if (question !== undefined) from.send(question)
  })
}

interface State {
  rss: number
  cpuSeconds: number
  open: number
}

async function stateOf(live: Live): Promise<State> {
  const admin = /admin port on (\S+)/
    .exec(live.output().stdout + live.output().stderr)![1]
    .replace(/[,;]$/, '')
  const text = await (await fetch(`${admin}/metrics`)).text()
  const of = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)![1])
  const status = (await (await fetch(`${admin}/status`)).json()) as { listeners: { open: number } }
  return {
    rss: of('process_resident_memory_bytes'),
    cpuSeconds: of('process_cpu_seconds_total'),
    open: status.listeners.open,
  }
}

interface Readers {
  requests: number
  failed: number
  p50: number
  p99: number
  p999: number
  max: number
}
interface Heard {
  heard: number
  lost: number
  first: number
  median: number
  last: number
}

const folder = mkdtempSync(join(tmpdir(), 'groundswell-events-'))
const ends: (() => Promise<void>)[] = []
let server: Live | null = null
try {
  const dir = join(folder, 'snapshots')
  const ids: string[] = []
  for (const time of ['2026-11-01T06:00:00Z', '2026-11-01T06:30:00Z']) {
    await runCliWell(['build', '--source', 'demo', '--as-of', time, '--out', dir])
    ids.push((await readManifest(dir))!.id)
  }
  let swaps = 0
  const swap = async (): Promise<number> => {
    await rollback(dir, ids[swaps++ % 2], Date.now() / 1000)
    return performance.timeOrigin + performance.now()
  }
  const live = await startServer(
    {
      snapshots: dir,
      quota: 1_000_000_000,
      args: [
        `--workers=${values.workers}`,
        `--engine=${values.engine}`,
        `--max-listeners=${listeners}`,
        `--max-listeners-per-key=${Math.min(listeners, 65_535)}`,
        '--max-connections=1000',
        '--admin-port=0',
      ],
    },
    (end) => ends.push(end),
  )
  server = live
  print(
    `${listeners} listeners, ${values.workers} workers, ${seconds} s a part, a swap every ${every} s, ${values.rate} requests/s`,
  )
  const readers = child('events_readers.mjs', [live.port, values.rate, TARGET, live.key])
  await wait(SETTLE_MS)

  const part = async (name: string, crowd: ChildProcess | null): Promise<void> => {
    await answer<Readers>(readers, {})
    const before = await stateOf(live)
    const heard: Heard[] = []
    const until = performance.now() + seconds * 1000
    while (performance.now() < until) {
      const published = await swap()
      crowd?.send({ publish: published })
      await wait(Math.min(every * 1000, Math.max(0, until - performance.now())))
      if (crowd === null) continue
      let report = await answer<Heard>(crowd, { report: true })
      for (const late = performance.now() + PATIENCE_MS; report.heard + report.lost < listeners;) {
        if (performance.now() > late) throw new Error(`${report.heard} have heard of the swap`)
        await wait(SETTLE_MS / 10)
        report = await answer<Heard>(crowd, { report: true })
      }
      heard.push(report)
    }
    const asked = await answer<Readers>(readers, {})
    const after = await stateOf(live)
    const cpu = (100 * (after.cpuSeconds - before.cpuSeconds)) / seconds
    print(
      `${name}: ${asked.requests} requests (${asked.failed} failed), ms: p50 ${asked.p50.toFixed(2)}, p99 ${asked.p99.toFixed(2)}, p99.9 ${asked.p999.toFixed(2)}, longest ${asked.max.toFixed(1)}; ${cpu.toFixed(0)} % of a core`,
    )
    for (const { heard: count, first, median, last, lost } of heard) {
      print(
        `  a swap was heard of by ${count} (${lost} lost), ms after it was published: first ${first.toFixed(0)}, median ${median.toFixed(0)}, last ${last.toFixed(0)}`,
      )
    }
  }

  await part('without listeners', null)
  const empty = await stateOf(live)
  const began = performance.now()
  const crowd = child('events_listeners.mjs', [live.port, listeners, '/v2/events', live.key])
  const { open } = await answer<{ open: number }>(crowd)
  const took = (performance.now() - began) / 1000
  await wait(SETTLE_MS)
  const full = await stateOf(live)
  print(
    `${open} streams opened in ${took.toFixed(1)} s (${full.open} by the server's count): ${((full.rss - empty.rss) / open / 1024).toFixed(1)} KiB of the process for each`,
  )
  await part('with listeners', crowd)
  crowd.disconnect()
  await wait(SETTLE_MS)
  await part('without listeners again', null)
} catch (error) {
  const { stdout, stderr } = server?.output() ?? { stdout: '', stderr: '' }
  print(`the server wrote:\n${stdout}\n${stderr}`)
  throw error
} finally {
  for (const one of children) one.kill()
  for (const end of ends) await end()
  rmSync(folder, { recursive: true, force: true })
}
