/**
 * Quotas over replicas: real servers, a real Redis, and more requests than the quota. `npm run bench:quotas
 * -- [REPLICAS] [CASE…]`, by default 4 and all cases. Needs redis-server.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findFreePort } from '../../src/http/port.ts'
import { DEMANDS, QuotaFleet, type Outcome, type Run } from '../../tools/quota_fleet.ts'

const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const QUOTA = 5000
const REQUESTS = 8000
const SECONDS = 20

const replicas = Number(process.argv[2] ?? 4)
const wanted = process.argv.slice(3)
const folder = mkdtempSync(join(tmpdir(), 'groundswell-quotas-'))
const children: ChildProcess[] = []

async function startRedis(port: number): Promise<void> {
  const where = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder]
  const child = spawn('redis-server', [...where, '--save', '', '--appendonly', 'no'], { stdio: 'ignore' })
  children.push(child)
  for (let tries = 0; tries < 500; tries++) {
    try {
      if (redis(port, 'PING') === 'PONG') return
    } catch {
      // Not yet.
    }
    await sleep(20)
  }
  throw new Error('redis-server does not start')
}

const redis = (port: number, ...words: string[]): string =>
  execFileSync('redis-cli', ['-p', String(port), ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

const usual: Omit<Run, 'demand'> = { quota: QUOTA, requests: REQUESTS, seconds: SECONDS }

async function cases(snapshots: string): Promise<void> {
  const port = await findFreePort('127.0.0.1', 0)
  await startRedis(port)
  const fleet = new QuotaFleet(folder, snapshots)
  const rows: { [name: string]: object } = {}
  const run = async (name: string, what: Run): Promise<Outcome | null> => {
    if (wanted.length > 0 && !wanted.some((part) => name.includes(part))) return null
    const outcome = await fleet.run(what)
    const { latency, ...rest } = outcome
    rows[name] = { ...rest, ...latency }
    console.log(name, JSON.stringify(outcome))
    return outcome
  }
  try {
    const store = `--quota-store=redis://127.0.0.1:${port}/0`
    await fleet.start(replicas, [store])
    for (const [name, demand] of Object.entries(DEMANDS)) {
      await run(name, { ...usual, demand })
      await run(`${name}, offered exactly the quota`, { ...usual, requests: QUOTA, demand })
    }
    await run('quota of 10', { quota: 10, requests: 40, seconds: 4, demand: DEMANDS.even })
    await run('emptied', {
      ...usual,
      demand: DEMANDS.even,
      events: [{ at: 0.3, happen: () => redis(port, 'FLUSHALL') }],
    })
    console.table(rows)
    const log = fleet.servers[0].output().split('\n')
    console.log(log.filter((line) => /warning|quotas|Redis|fault/.test(line)).join('\n'))
  } finally {
    await fleet.close()
  }
}

try {
  const snapshots = join(folder, 'snapshots')
  execFileSync(process.execPath, [CLI, 'build', '--source=demo', '--out', snapshots], { stdio: 'ignore' })
  await cases(snapshots)
} finally {
  for (const child of children) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
