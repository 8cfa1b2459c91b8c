/** A client that pages through everything while snapshots are swapped under it. */
import assert from 'node:assert/strict'
import { copyFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { listKept } from '../../src/snapshot/retained.ts'
import { MANIFEST_FILE } from '../../src/snapshot/manifest.ts'
import { build, fakeSource, northBuoy, type FakeBuoy, type FakeRow } from '../builder/fake_source.ts'
import type { Client } from '../live.ts'

const START = Date.parse('2026-03-20T00:00:00Z') / 1000
const HALF_HOUR = 1800
const ROWS = 230
/** Snapshots that are swapped in rotation. */
export const STEPS = 12

/** What the snapshot of a step holds: rows by identifier of the buoy, newest first, as `TIME HEIGHT`. */
type Truth = ReadonlyMap<string, readonly string[]>

/** Some buoys are not there in some steps; all have a reading more with each, and some late corrections. */
function worldAt(buoys: number, step: number): FakeBuoy[] {
  const present = Array.from({ length: buoys }, (_, i) => i).filter((i) => (i + step) % 7 !== 0)
  return present.map((i) => {
    const rows = Array.from({ length: ROWS - (i % 50) + step }, (_, row): FakeRow => {
      const isCorrected = (row + i) % 29 === 0 && step % 3 === 1
      const significantHeight = 500 + ((row * 7 + i) % 900) * 10 + (isCorrected ? 10 : 0)
      return { time: START + row * HALF_HOUR, significantHeight }
    })
    return northBuoy(`B${i}`, rows, { lat: (i % 140) - 70, lng: ((i * 7) % 340) - 170 })
  })
}

const truthOf = (world: readonly FakeBuoy[]): Truth =>
  new Map(
    world.map(({ identifier, rows }) => [
      identifier,
      rows.map(({ time, significantHeight }) => `${time} ${significantHeight! / 1000}`).toReversed(),
    ]),
  )

interface Snapshots {
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
  meta: { snapshot?: string }
}

export interface Walked {
  rows: number
  /** Snapshots that were served meanwhile, as requests without a pin found them. */
  served: number
}

/**
 * Walks `/buoys` and the readings of each buoy there, page by page, in the snapshot of the first answer.
 * @throws AssertionError for an item that is missing, comes twice, out of order, or is of another snapshot
 */
export async function walk(client: Client, truths: ReadonlyMap<string, Truth>): Promise<Walked> {
  const served = new Set<string>()
  const look = async (): Promise<string> => {
    const { headers } = await client.get('/countries')
    served.add(String(headers['x-snapshot-id']))
    return String(headers['x-snapshot-id'])
  }
  const id = await look()
  const truth = truths.get(id)!
  const pages = async <T>(path: string, items: (body: Body) => T[]): Promise<T[]> => {
    const all: T[] = []
    for (let target: string | undefined = `${path}&per_page=100&snapshot=${id}`; target !== undefined;) {
      const { status, headers, text } = await client.get(target)
      assert.equal(status, 200, `${target} → ${text.slice(0, 200)}`)
      const body = JSON.parse(text) as Body
      assert.deepEqual([body.meta.snapshot, headers['x-snapshot-id']], [id, id])
      all.push(...items(body))
      const next = /<([^>]*)>; rel="next"/.exec(String(headers.link ?? ''))?.[1]
      target = next && path.split('?')[0] + next
      await look()
    }
    return all
  }
  const buoys = await pages('/buoys?active_only=false', ({ data }) => data.buoys)
  assert.deepEqual(buoys.map((one) => one.source_identifier).toSorted(), [...truth.keys()].toSorted())
  let rows = 0
  for (const { id: buoy, source_identifier: identifier } of buoys) {
    const found = await pages(`/buoys/${buoy}/readings?order=desc`, ({ data }) =>
      data.readings.map(({ time, significient_height: height }) => `${Date.parse(time) / 1000} ${height}`),
    )
    assert.deepEqual(found, truth.get(identifier))
    rows += found.length
  }
  return { rows, served: served.size }
}
