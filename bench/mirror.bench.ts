/**
 * What a half-hourly build costs replicas that mirror it: bytes moved, and time from its publication until
 * each replica serves it. Runs the compiled code (`npm run build` first) on loopback:
 *
 *     node --import tsx bench/mirror.bench.ts [--data big|demo] [--replicas 3] [--builds 5] [--source DIR]
 *
 * The source is built below `bench/data/` once, and goes on by half an hour with each build.
 */
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runCliWell, startServer, type Live } from '../tools/live_server.ts'
import { readManifest } from '../src/snapshot/read-snapshot.ts'
import { SCALES, type ScaleName } from './http/data.ts'

const FIRST_AS_OF = Date.UTC(2026, 10, 15, 12) / 1000
const HALF_HOUR_S = 1800
/** Between two looks at which snapshot a replica serves. */
const LOOK_MS = 20

const { values } = parseArgs({
  options: {
    data: { type: 'string', default: 'demo' },
    replicas: { type: 'string', default: '3' },
    builds: { type: 'string', default: '5' },
    source: { type: 'string' },
  },
})
const scale = values.data as ScaleName
if (!Object.hasOwn(SCALES, scale)) throw new Error(`--data: one of ${Object.keys(SCALES).join(', ')}`)
const source = values.source ?? fileURLToPath(new URL(`data/mirror-${scale}`, import.meta.url))
const buoys = /buoys=\d+/.exec(SCALES[scale])![0]

const textOf = (time: number): string => new Date(time * 1000).toISOString()

async function build(asOf: number, options: string): Promise<number> {
  const began = performance.now()
  await runCliWell(['build', '--source', `demo:${options}`, '--out', source, '--as-of', textOf(asOf)])
  return (performance.now() - began) / 1000
}

/** A static file server with ETag and Range, which counts what it sends. */
async function serveSource(): Promise<{ url: string; sent: () => { bytes: number; requests: number } }> {
  let [bytes, requests] = [0, 0]
  const server = createServer((request, response) => {
    const info = statSync(join(source, request.url ?? '/'), { throwIfNoEntry: false })
    if (info?.isFile() !== true) {
      response.writeHead(404).end()
      return
    }
    const headers = { etag: `"${info.mtimeMs}-${info.size}"`, 'last-modified': info.mtime.toUTCString() }
    if (request.headers['if-none-match'] === headers.etag) {
      response.writeHead(304, headers).end()
      return
    }
    requests++
    bytes += info.size
    response.writeHead(200, { ...headers, 'content-length': info.size })
    createReadStream(join(source, request.url ?? '/')).pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  server.unref()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, sent: () => ({ bytes, requests }) }
}

/** When a replica serves a snapshot, in milliseconds of this process's clock. */
async function servedAt({ base }: Live, id: string): Promise<number> {
  for (;;) {
    const { headers } = await fetch(`${base}/buoys/nearest?lat=43.5&lng=-1.6`)
    if (headers.get('x-snapshot-id') === id) return Date.now()
    await sleep(LOOK_MS)
  }
}

const bytesOf = (parts: readonly { bytes: number }[]): number =>
  parts.reduce((sum, part) => sum + part.bytes, 0)
const mb = (bytes: number): number => Number((bytes / 1e6).toFixed(2))
const seconds = (ms: number): number => Number((ms / 1000).toFixed(2))

if ((await readManifest(source)) === null) await build(FIRST_AS_OF, SCALES[scale])
const first = (await readManifest(source))!
const { url, sent } = await serveSource()
const folder = mkdtempSync(join(tmpdir(), 'groundswell-mirrors-'))
const ends: (() => Promise<void>)[] = []
try {
  const began = Date.now()
  const replicas = await Promise.all(
    Array.from({ length: Number(values.replicas) }, (_, i) =>
      startServer(
        {
          snapshots: join(folder, String(i)),
          args: [`--from=${url}`, '--workers=1', '--admin-port=off', '--drain-time=0'],
        },
        (end) => ends.push(end),
      ),
    ),
  )
  const rows = first.parts.reduce(
    (sum, { kind, rows: count }) => (kind === 'readings' ? sum + count : sum),
    0,
  )
  process.stdout.write(
    `${rows} readings, ${first.parts.length} parts, ${mb(bytesOf(first.parts))} MB; ` +
      `first copy to ${replicas.length} replicas, until they serve: ${seconds(Date.now() - began)} s, ${mb(sent().bytes)} MB\n`,
  )
  const table: { [column: string]: number }[] = []
  for (let i = 1; i <= Number(values.builds); i++) {
    const before = (await readManifest(source))!
    const known = new Set(before.parts.map(({ file }) => file))
    const start = sent()
    const buildTook = await build(before.asOf + HALF_HOUR_S, `scale,${buoys},days=1`)
    const published = (await readManifest(source))!
    const publishedAt = statSync(join(source, 'manifest.msgpack')).mtimeMs
    const served = await Promise.all(replicas.map((replica) => servedAt(replica, published.id)))
    const waits = served.map((at) => at - publishedAt).toSorted((a, b) => a - b)
    const fresh = published.parts.filter(({ file }) => !known.has(file))
    table.push({
      'build, s': Number(buildTook.toFixed(1)),
      'parts new': fresh.length,
      'MB new': mb(bytesOf(fresh)),
      'MB sent to all': mb(sent().bytes - start.bytes),
      requests: sent().requests - start.requests,
      'first replica, s': seconds(waits[0]),
      'last replica, s': seconds(waits.at(-1)!),
    })
  }
  console.table(table)
} finally {
  for (const end of ends) await end()
  rmSync(folder, { recursive: true, force: true })
}
