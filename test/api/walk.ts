/**
 * A client that pages through everything while snapshots are swapped under it. `node --import tsx
 * test/api/walk.ts 1200 1000` walks 1,200 buoys with a swap a second and says what came of it.
 */
import assert from 'node:assert/strict'
import { copyFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listKept } from '../../src/snapshot/retained.ts'
import { MANIFEST_FILE } from '../../src/snapshot/manifest.ts'
import { startServer, type Live } from '../../tools/live_server.ts'
import { build, fakeSource, type FakeBuoy, type FakeRow } from '../builder/fake_source.ts'
import { Client, type Reply } from '../live.ts'

const START = Date.parse('2026-03-20T00:00:00Z') / 1000
const HALF_HOUR = 1800
const ROWS = 230
/** Snapshots that are swapped in rotation. */
const STEPS = 12
const QUOTA = 100_000_000

/** What the snapshot of a step holds: rows by identifier of the buoy, newest first, as `TIME HEIGHT`. */
export type Truth = ReadonlyMap<string, readonly string[]>

/** Some buoys are not there in some steps; all have a reading more with each, and some late corrections. */
function worldAt(buoys: number, step: number): FakeBuoy[] {
  const present = Array.from({ length: buoys }, (_, i) => i).filter((i) => (i + step) % 7 !== 0)
  return present.map((i) => ({
    source: 'North',
    identifier: `B${i}`,
    name: `Buoy ${i}`,
    lat: (i % 140) - 70,
    lng: ((i * 7) % 340) - 170,
    country: 'FR',
    timezone: 'Europe/Paris',
    rows: Array.from({ length: ROWS - (i % 50) + step }, (_, row): FakeRow => {
      const isCorrected = (row + i) % 29 === 0 && step % 3 === 1
      return {
        time: START + row * HALF_HOUR,
        significantHeight: 500 + ((row * 7 + i) % 900) * 10 + (isCorrected ? 10 : 0),
      }
    }),
  }))
}

const truthOf = (world: readonly FakeBuoy[]): Truth =>
  new Map(
    world.map(({ identifier, rows }) => [
      identifier,
      rows.map(({ time, significantHeight }) => `${time} ${significantHeight! / 1000}`).toReversed(),
    ]),
  )

export interface Snapshots {
  dir: string
  truths: ReadonlyMap<string, Truth>
  /** Makes the next snapshot in rotation the current one. */
  swap: () => void
}

export async function buildSnapshots(dir: string, buoys: number): Promise<Snapshots> {
  const truths = new Map<string, Truth>()
  for (let step = 0; step < STEPS; step++) {
    const world = worldAt(buoys, step)
    const { id } = await build([fakeSource(world)], dir, { fresh: true, allowLoss: 1, keep: STEPS })
    truths.set(id, truthOf(world))
  }
  const files = listKept(dir).map(({ file }) => file)
  assert.equal(files.length, STEPS)
  let at = 0
  return {
    dir,
    truths,
    swap: () => {
      copyFileSync(join(dir, files[at++ % STEPS]), join(dir, 'next'))
      renameSync(join(dir, 'next'), join(dir, MANIFEST_FILE))
    },
  }
}

interface Body {
  data: {
    buoys: { id: number; source_identifier: string }[]
    readings: { time: string; significient_height: number }[]
  }
  meta: { page: number; total_pages: number; snapshot?: string }
}

export interface Walked {
  /** Items of `/buoys` and rows that came several times, or not at all, against the snapshot walked. */
  repeated: number
  lost: number
  /** Those that are not of the snapshot walked, or not as they are there. */
  strange: number
  requests: number
  /** Snapshots that answers named. */
  seen: number
  rows: number
}

/** The target of the link `next`, without the base path; null on the last page. */
function nextOf({ headers }: Reply, base: string): string | null {
  const link = /<([^>]*)>; rel="next"/.exec(String(headers.link ?? ''))
  return link === null ? null : link[1].slice(base.length)
}

/** Walks `/buoys` and the readings of each buoy there, page by page. */
export async function walk(
  client: Client,
  truths: ReadonlyMap<string, Truth>,
  isPinned: boolean,
  base = '/v2',
): Promise<Walked> {
  const walked: Walked = { repeated: 0, lost: 0, strange: 0, requests: 0, seen: 0, rows: 0 }
  const seen = new Set<string>()
  const ask = async (target: string): Promise<{ reply: Reply; body: Body }> => {
    const reply = await client.get(target)
    walked.requests++
    assert.equal(reply.status, 200, `${target} → ${reply.status} ${reply.text.slice(0, 200)}`)
    seen.add(String(reply.headers['x-snapshot-id']))
    return { reply, body: JSON.parse(reply.text) as Body }
  }
  const first = await client.get('/buoys?per_page=1')
  const id = String(first.headers['x-snapshot-id'])
  const truth = truths.get(id)!
  const pages = async (path: string, take: (body: Body) => void): Promise<void> => {
    const start = `${path}&per_page=100`
    let target: string | null = isPinned ? `${start}&snapshot=${id}` : start
    for (let page = 2; target !== null; page++) {
      const { reply, body } = await ask(target)
      take(body)
      if (isPinned) assert.equal(body.meta.snapshot, id)
      const more = body.meta.page < body.meta.total_pages ? `${start}&page=${page}` : null
      target = isPinned ? nextOf(reply, base) : more
    }
  }
  const count = (expected: readonly string[], found: readonly string[]): void => {
    const given = new Set(found)
    const right = new Set(expected)
    walked.repeated += found.length - given.size
    walked.lost += expected.filter((item) => !given.has(item)).length
    walked.strange += [...given].filter((item) => !right.has(item)).length
    // In their order, too.
    if (isPinned) assert.deepEqual(found, expected)
  }
  const listed: { id: number; source_identifier: string }[] = []
  await pages('/buoys?active_only=false', ({ data }) => listed.push(...data.buoys))
  const identifiers = listed.map(({ source_identifier: identifier }) => identifier)
  count([...truth.keys()].toSorted(), isPinned ? identifiers.toSorted() : identifiers)
  for (const [identifier, buoy] of new Map(listed.map((one) => [one.source_identifier, one.id]))) {
    const rows: string[] = []
    try {
      await pages(`/buoys/${buoy}/readings?order=desc`, ({ data }) => {
        for (const { time, significient_height: height } of data.readings) {
          rows.push(`${Date.parse(time) / 1000} ${height}`)
        }
      })
    } catch (error) {
      // Without a pin a buoy may have left meanwhile.
      if (isPinned || !/→ 404/.test((error as Error).message)) throw error
    }
    walked.rows += rows.length
    count(truth.get(identifier) ?? [], rows)
  }
  return { ...walked, seen: seen.size }
}

/** Serves `snapshots`, and swaps them every `everyMs` until `end`. */
export async function serveSwapping(
  { dir, swap }: Snapshots,
  everyMs: number,
  args: string[] = [],
): Promise<{ live: Live; end: () => Promise<void> }> {
  let endLive = (): Promise<void> => Promise.resolve()
  const live = await startServer(
    { snapshots: dir, quota: QUOTA, args: [`--hold-snapshots=${STEPS}`, ...args] },
    (end) => (endLive = end),
  )
  const timer = setInterval(swap, everyMs)
  return {
    live,
    end: async () => {
      clearInterval(timer)
      await endLive()
    },
  }
}

async function long(buoys: number, everyMs: number): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'groundswell-walk-'))
  try {
    const snapshots = await buildSnapshots(dir, buoys)
    const { live, end } = await serveSwapping(snapshots, everyMs)
    const client = new Client(live)
    try {
      for (const isPinned of [true, false]) {
        const began = performance.now()
        const result = await walk(client, snapshots.truths, isPinned)
        const seconds = Math.round((performance.now() - began) / 1000)
        process.stdout.write(
          `${isPinned ? 'pinned' : 'not pinned'}: ${JSON.stringify({ ...result, seconds })}\n`,
        )
      }
    } finally {
      client.close()
      await end()
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await long(Number(process.argv[2] ?? 1200), Number(process.argv[3] ?? 1000))
}
