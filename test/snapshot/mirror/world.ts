/** Sources for tests of mirrors: a folder that a builder fills, and a web server with manners of choice. */
import { readFileSync, readdirSync, statSync, utimesSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { buildSnapshot } from '../../../src/builder/run-build.ts'
import { checkFolder } from '../../../src/builder/folder-check.ts'
import { BuildReport } from '../../../src/builder/build-report.ts'
import { Mirror, type MirrorOptions } from '../../../src/snapshot/mirror/mirror.ts'
import { MANIFEST_FILE } from '../../../src/snapshot/manifest.ts'
import { readManifest } from '../../../src/snapshot/read-snapshot.ts'
import { openSource } from '../../../src/sources/kinds.ts'
import { openReadable } from '../../../src/snapshot/store/store-address.ts'
import type { ReadableStore } from '../../../src/snapshot/store/store.ts'
import { lineText } from '../../../src/system/log.ts'
import { listening } from '../../listening.ts'
import { temporaryFolder } from '../../live.ts'
import { SHORT_LIMITS } from '../store/opened.ts'

const FIRST = Date.UTC(2026, 2, 10) / 1000
const HALF_HOUR = 1800

/** Builds the snapshot of a half hour in `dir`, dated a minute after the one of the half hour before. */
export async function publish(dir: string, step: number): Promise<string> {
  const asOf = FIRST + step * HALF_HOUR
  const { id } = await buildSnapshot({
    sources: [openSource('demo', 'scale,buoys=4,days=50')],
    out: dir,
    asOf,
    now: asOf,
    report: new BuildReport({ maxBadShare: 0, write: () => {}, clock: () => 0 }),
  })
  dated(dir, FIRST + 60 * step)
  return id
}

/** Sets the time that the source's manifest was published at, epoch seconds. */
export function dated(dir: string, time: number): void {
  utimesSync(join(dir, MANIFEST_FILE), time, time)
}

/** Sends what an answer without a fault would send, or something else. */
export type Misbehaviour = (response: ServerResponse, good: Good) => void

export interface Good {
  status: number
  headers: { [name: string]: string | number }
  bytes: Buffer
}

export interface WebFolder {
  url: string
  /** Of each request the name, and the status of a good answer. */
  asked: { name: string; status: number }[]
  /** What goes wrong with an object; null for nothing. */
  faultOf: (name: string) => Misbehaviour | null
  /** What the server offers. */
  offers: { etag: boolean; date: boolean }
  close(): void
}

/** A web server on loopback that serves a folder. */
export async function serveFolder(t: TestContext, dir: string): Promise<WebFolder> {
  const web: WebFolder = {
    url: '',
    asked: [],
    faultOf: () => null,
    offers: { etag: true, date: true },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  const server = createServer((request, response) => {
    const name = (request.url ?? '/').slice('/data/'.length)
    const good = goodAnswer(dir, name, request, web.offers)
    web.asked.push({ name, status: good.status })
    const fault = web.faultOf(name)
    if (fault !== null) fault(response, good)
    else response.writeHead(good.status, good.headers).end(good.bytes)
  })
  web.url = `http://127.0.0.1:${await listening(t, server)}/data/`
  return web
}

function goodAnswer(dir: string, name: string, request: IncomingMessage, offers: WebFolder['offers']): Good {
  const path = join(dir, name)
  const info = statSync(path, { throwIfNoEntry: false })
  if (info === undefined) return { status: 404, headers: {}, bytes: Buffer.from('not here') }
  const whole = readFileSync(path)
  const etag = `"${info.mtimeMs}-${info.size}"`
  const headers: Good['headers'] = {
    ...(offers.etag && { etag }),
    ...(offers.date && { 'last-modified': info.mtime.toUTCString() }),
  }
  if (offers.etag && request.headers['if-none-match'] === etag) {
    return { status: 304, headers, bytes: Buffer.alloc(0) }
  }
  return { status: 200, headers: { ...headers, 'content-length': whole.length }, bytes: whole }
}

/** A source with the snapshot of the first half hour, and its server. */
export async function sourceOf(t: TestContext): Promise<{ source: string; id: string; web: WebFolder }> {
  const source = join(temporaryFolder(t), 'source')
  return { source, id: await publish(source, 0), web: await serveFolder(t, source) }
}

/** Where a mirror may make its folder. */
export const copyOf = (t: TestContext): string => join(temporaryFolder(t), 'copy')

export interface Mirrored {
  mirror: Mirror
  dir: string
  lines: string[]
  /** Id of the folder's snapshot; null without one. */
  held: () => Promise<string | null>
  status: () => { [member: string]: unknown }
}

/** For a machine that does much else meanwhile. */
const PATIENT = { answerMs: 20_000, stallMs: 20_000, connectMs: 20_000 }

/** A mirror that looks when the test says so. */
export function mirrorOf(
  t: TestContext,
  address: string | ReadableStore,
  dir: string,
  options: Partial<MirrorOptions> = {},
): Mirrored {
  const lines: string[] = []
  const source =
    typeof address === 'string'
      ? openReadable(address, {
          environment: {},
          random: () => 0.5,
          limits: { ...SHORT_LIMITS, attempts: 2, ...PATIENT },
        })
      : address
  const mirror = new Mirror({
    source,
    dir,
    poll: 3600,
    clock: () => FIRST + 86_400,
    random: () => 0.5,
    log: (...event) => lines.push(lineText(...event)),
    ...options,
  })
  t.after(() => mirror.stop())
  return {
    mirror,
    dir,
    lines,
    held: async () => (await readManifest(dir))?.id ?? null,
    status: () => mirror.status() as { [member: string]: unknown },
  }
}

/** What is wrong with a folder: parts that are not whole, and files that a mirror must not leave behind. */
export async function faultsOf(dir: string): Promise<string[]> {
  const odd = readdirSync(dir).filter(
    (name) =>
      !/^(manifest(-\d{6}-[0-9a-f]{24})?|(catalog|readings|weather|aggregates)-[0-9a-f]{32})\.msgpack$|^mirror\.json$/.test(
        name,
      ),
  )
  return [...(await checkFolder(dir)), ...odd]
}
