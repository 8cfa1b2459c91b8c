/**
 * The server that is attacked: a compiled one in a process of its own, with two workers, and what it looks
 * like from outside.
 */
import { readdirSync, rmSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { issueKey, residentMegabytes, startServer, type Server } from '../http/servers.ts'
import type { Target } from './attack.ts'
import { until } from './crowd.ts'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const AS_OF = '2026-11-01T00:00:00Z'
/** Every kind of data there is, and a few buoys with half-hourly rows of 13 years. */
const SOURCES = ['demo', 'demo:scale,buoys=8,years=13']
const WORKERS = 2
const ANSWER_CACHE = '8MiB'
const SAMPLE_MS = 100
/** For `/status`, which the main thread answers. */
const STATUS_LIMIT_MS = 5000

/** What servers are started from. */
export interface Corpus {
  cli: string
  folder: string
  snapshots: string
  keysFile: string
  attackersKey: string
  bystandersKey: string
  buoys: string[]
  download: string
  seed: number
  /** Removes all of it. */
  remove(): void
}

/**
 * Builds a snapshot and issues keys, in a folder of its own. `cli` is another compiled command line than the
 * one of this tree.
 */
export function prepareCorpus(cli = join(DIST, 'cli.js'), seed = 1): Corpus {
  const folder = mkdtempSync(join(tmpdir(), 'groundswell-attack-'))
  const snapshots = join(folder, 'snapshots')
  const keysFile = join(folder, 'keys.json')
  const sources = SOURCES.flatMap((source) => ['--source', source])
  const args = [cli, 'build', ...sources, '--as-of', AS_OF, '--out', snapshots]
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`no snapshot: ${stderr}`)
  return {
    cli,
    folder,
    snapshots,
    keysFile,
    attackersKey: issueKey(cli, keysFile, 'attackers'),
    bystandersKey: issueKey(cli, keysFile, 'bystander'),
    buoys: [],
    download: downloadOf(cli),
    seed,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The largest file of the pages, by its name below `/docs/`. */
function downloadOf(cli: string): string {
  const files = readdirSync(join(cli, '..', 'site', 'docs'))
  const script = files.find((file) => file.startsWith('scalar-') && file.endsWith('.js'))
  if (script === undefined) throw new Error('the pages are not built: npm run build')
  return `/docs/${script}`
}

interface Workers {
  wanted: number
  serving: number
  replaced: number
}

export interface Memory {
  /** MB. */
  peak: number
  stop(): void
}

export interface Patient {
  target: Target
  server: Server
  /** Asked of the admin port; null where it does not answer. */
  workers(): Promise<Workers | null>
  /** MB. */
  resident(): number
  /** Open files, connections among them. */
  files(): number
  /** Looks at the memory until it is stopped. */
  watchMemory(): Memory
}

/** The paths of a bystander: what most clients ask for. */
export function ordinaryPaths(buoys: readonly string[]): string[] {
  return buoys.flatMap((buoy, i) => [
    `/v2/buoys/${buoy}`,
    `/v2/buoys/nearest?lat=${43 + i / 10}&lng=-1.${i}&max_distance=20000`,
    `/v2/buoys/${buoy}/readings?per_page=20&page=${i + 1}`,
    '/v2/buoys/search?query=an',
    `/v2/buoys?per_page=20&page=${1 + (i % 2)}`,
    `/v2/conditions?lat=43.${i}&lng=-1.7`,
  ])
}

export async function startPatient(
  corpus: Corpus,
  engine: Target['engine'],
  more: readonly string[] = [],
): Promise<Patient> {
  const { cli, snapshots, keysFile, attackersKey, download } = corpus
  const server = await startServer({
    name: 'groundswell',
    command: [
      process.execPath,
      cli,
      'serve',
      `--snapshots=${snapshots}`,
      `--keys=${keysFile}`,
      `--engine=${engine}`,
      `--workers=${WORKERS}`,
      '--port=0',
      '--admin-port=0',
      '--anonymous-quota=0',
      '--drain-time=0',
      // Kept answers would look like a leak.
      `--answer-cache=${ANSWER_CACHE}`,
      ...more,
    ],
    ready: /listening on http:\/\/127\.0\.0\.1:(\d+)/,
  })
  const adminPattern = /admin port on http:\/\/127\.0\.0\.1:(\d+)/
  await until(() => adminPattern.test(server.output()), STATUS_LIMIT_MS)
  const adminPort = Number(adminPattern.exec(server.output())?.[1])
  const target: Target = {
    port: server.port,
    adminPort,
    engine,
    key: attackersKey,
    buoys: corpus.buoys,
    download,
    snapshots,
    keysFile,
    cli,
    seed: corpus.seed,
  }
  if (corpus.buoys.length === 0) corpus.buoys.push(...(await longBuoys(server.port, attackersKey)))
  return {
    target,
    server,
    async workers() {
      try {
        const reply = await fetch(`http://127.0.0.1:${adminPort}/status`, {
          signal: AbortSignal.timeout(STATUS_LIMIT_MS),
        })
        return ((await reply.json()) as { workers: Workers }).workers
      } catch {
        return null
      }
    },
    resident: () => (server.ended() === null ? residentMegabytes(server.pid) : 0),
    files: () => (server.ended() === null ? readdirSync(`/proc/${server.pid}/fd`).length : 0),
    watchMemory() {
      const memory = { peak: 0, stop: () => clearInterval(timer) }
      const look = (): void => {
        if (server.ended() === null) memory.peak = Math.max(memory.peak, residentMegabytes(server.pid))
      }
      const timer = setInterval(look, SAMPLE_MS)
      look()
      return memory
    },
  }
}

/** Slugs of the buoys with the most readings. */
async function longBuoys(port: number, key: string): Promise<string[]> {
  const reply = await fetch(`http://127.0.0.1:${port}/v2/buoys?per_page=500&active_only=false`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await reply.json()) as { data: { buoys: { slug: string; readings_count: number }[] } }
  return data.buoys
    .toSorted((a, b) => b.readings_count - a.readings_count)
    .slice(0, 8)
    .map(({ slug }) => slug)
}
