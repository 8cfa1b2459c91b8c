/**
 * A copy of all readings that is kept by `/changes` alone, over random builds. `node --import tsx
 * test/api/copy.ts 200 [SEED]` follows so many and says what they did.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { View } from '../../src/dataset/view.ts'
import { changesBetween } from '../../src/snapshot/compare-snapshots.ts'
import { reversed, type Changes } from '../../src/snapshot/row-changes.ts'
import { loadSnapshot, type LoadedSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { LaterAnswers } from '../../src/http/later-answers.ts'
import { finish } from '../../src/system/steps.ts'
import { AskedPath, openedOf } from '../answered.ts'
import { build, fakeSource, NETWORKS, type FakeBuoy, type FakeRow } from '../builder/fake_source.ts'
import { randomNumbers } from '../oracle/world.ts'

const START = Date.parse('2026-01-30T00:00:00Z') / 1000
const HALF_HOUR = 1800
const DAY = 86_400
const HELD = 3
const MOST_BUOYS = 24
const key = Buffer.from(`gsw_${'A'.repeat(49)}`)
const KEYED = { authorization: `Bearer ${key.toString()}` }

type World = ReadonlyMap<string, FakeBuoy>
type Rows = Map<number, string>

interface ReadingBody {
  time: string
  significient_height: number
  period: number | null
  water_temperature: number | null
}

/** What is used of the answers' bodies. */
interface Body {
  data: {
    until: string
    count: number
    buoy: { source_identifier: string; name: string; lat: number; slug: string }
    buoys: {
      id: number
      change: string
      readings: { added: number; changed: number; removed: number }[]
    }[]
    readings: (ReadingBody & { buoy_id: number; change: string; reading: ReadingBody })[]
  }
}

/** What somebody knows who has only asked the API. */
interface Copy {
  since: string
  buoys: Map<number, { identifier: string; name: string; lat: number; slug: string; rows: Rows }>
}

interface Held {
  id: string
  world: World
  loaded: LoadedSnapshot
  view: View
}

export interface Followed {
  builds: number
  rollbacks: number
  lists: number
  rows: number
  changed: number
  added: number
  removed: number
  expensive: number
}

export const textOf = (height: number, period: number | null, temperature: number | null): string =>
  `${height} ${period} ${temperature}`
const isReading = ({ significantHeight }: FakeRow): boolean => significantHeight !== undefined
const valueOf = (code: number | undefined, scale: number): number | null =>
  code === undefined ? null : code / scale

export function rowsOf({ rows }: FakeBuoy): Rows {
  return new Map(
    rows
      .filter(isReading)
      .map(({ time, significantHeight, period, waterTemperature }) => [
        time,
        textOf(significantHeight! / 1000, valueOf(period, 1000), valueOf(waterTemperature, 100)),
      ]),
  )
}

export class Follower {
  readonly #random: () => number
  readonly #dir: string
  readonly counts: Followed = {
    builds: 0,
    rollbacks: 0,
    lists: 0,
    rows: 0,
    changed: 0,
    added: 0,
    removed: 0,
    expensive: 0,
  }
  #world: Map<string, FakeBuoy> = new Map()
  #time = START
  #held: Held[] = []
  #changes: Changes[] = []
  #path: AskedPath | null = null
  #copy: Copy | null = null

  constructor(dir: string, seed: number) {
    this.#dir = dir
    this.#random = randomNumbers(seed)
    for (let i = 0; i < 8; i++) this.#world.set(`B${i}`, this.#newBuoy(i))
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit)
  }

  /** What is published now. */
  get world(): ReadonlyMap<string, FakeBuoy> {
    return this.#world
  }

  /** Answers as the server of what is published would. */
  readonly fetch = async (url: string): Promise<Response> => {
    const { pathname, search } = new URL(url)
    const { status, headers, text } = await this.#path!.getLater(pathname + search, KEYED)
    return new Response(text, { status, headers })
  }

  /** One build, or a rollback. */
  async publish(): Promise<void> {
    if (this.#held.length > 1 && this.#random() < 0.12) this.#rollBack()
    else await this.#build()
  }

  /** Something is published; then the copy follows, mostly. */
  async step(): Promise<void> {
    await this.publish()
    if (this.#copy !== null && this.#random() < 0.15) return
    await this.#follow()
    this.#compare()
  }

  #newBuoy(i: number): FakeBuoy {
    const rows = Array.from({ length: this.#below(80) }, (_, row) => this.#row(START - row * HALF_HOUR * 7))
    return {
      source: NETWORKS[i % 2].name,
      identifier: `B${i}`,
      name: `Buoy ${i}`,
      lat: i,
      lng: -i,
      country: 'FR',
      timezone: 'Europe/Paris',
      rows: rows.toReversed(),
    }
  }

  #row(time: number): FakeRow {
    const row: FakeRow = { time }
    if (this.#random() < 0.9) row.significantHeight = this.#below(20_000)
    else row.windSpeed = this.#below(5000)
    if (this.#random() < 0.7) row.period = 1000 + this.#below(15_000)
    if (this.#random() < 0.5) row.waterTemperature = this.#below(3000)
    return row
  }

  /**
   * Changes the world a little: new readings, late corrections, buoys that come, go, move and are renamed.
   */
  #mutate(): void {
    this.#time += HALF_HOUR * (1 + this.#below(40))
    const world = new Map(this.#world)
    for (const [identifier, buoy] of world) {
      const dice = this.#random()
      const rows = [...buoy.rows]
      if (dice < 0.6) rows.push(this.#row(this.#time))
      if (this.#random() < 0.2 && rows.length > 0) {
        const at = this.#below(rows.length)
        rows[at] = this.#row(rows[at].time)
      }
      if (this.#random() < 0.05) rows.splice(this.#below(rows.length), 1 + this.#below(5))
      if (this.#random() < 0.03) rows.unshift(this.#row((rows[0]?.time ?? START) - 3 * DAY))
      // Wind alone: the reading is as it was in the answer, and differs all the same.
      if (this.#random() < 0.05 && rows.length > 0) {
        const at = this.#below(rows.length)
        rows[at] = { ...rows[at], gustSpeed: this.#below(5000) }
      }
      const renamed = this.#random() < 0.04 ? { name: `Renamed ${this.#below(100)}` } : {}
      const moved = this.#random() < 0.04 ? { lat: this.#below(80) } : {}
      world.set(identifier, { ...buoy, rows, ...renamed, ...moved })
      if (this.#random() < 0.05 && world.size > 2) world.delete(identifier)
    }
    if (this.#random() < 0.3) {
      const i = this.#below(MOST_BUOYS)
      if (!world.has(`B${i}`)) world.set(`B${i}`, this.#newBuoy(i))
    }
    this.#world = world
  }

  async #build(): Promise<void> {
    this.#mutate()
    const sources = [fakeSource([...this.#world.values()])]
    const { id } = await build(sources, this.#dir, { fresh: true, allowLoss: 1, keep: 2 })
    const previous = this.#held.at(-1)?.loaded
    const loaded = await loadSnapshot(this.#dir, previous)
    assert.equal(loaded.id, id)
    const view: View = { ...openedOf(loaded, DAY), changesSince: (since) => this.#since(id, since) }
    this.#hold({ id, world: new Map(this.#world), loaded, view })
    this.counts.builds++
  }

  #rollBack(): void {
    const target = this.#held[this.#below(this.#held.length - 1)]
    this.#world = new Map(target.world)
    this.#hold(target)
    this.counts.rollbacks++
  }

  #hold(next: Held): void {
    this.#held = [...this.#held.filter(({ id }) => id !== next.id), next].slice(-HELD)
    const ids = new Set(this.#held.map(({ id }) => id))
    this.#changes = this.#changes.filter(({ since, until }) => ids.has(since) && ids.has(until))
    for (const { id, loaded } of this.#held) {
      const isKnown = this.#changes.some(
        ({ since, until }) => (since === id && until === next.id) || (since === next.id && until === id),
      )
      if (!isKnown && id !== next.id) this.#changes.push(finish(changesBetween(loaded, next.loaded, DAY)))
    }
    const later = new LaterAnswers(() => 0)
    this.#path ??= new AskedPath(next.view, { later }, [key])
    this.#path.path.hold(
      this.#held.map(({ view }) => view),
      HELD,
    )
  }

  #since(until: string, since: string): ReturnType<NonNullable<View['changesSince']>> {
    const before = this.#held.find(({ id }) => id === since)?.view.dataset
    if (before === undefined) return null
    const known = this.#changes.find((one) => one.since === since && one.until === until)
    if (known !== undefined) return { changes: known, before }
    const other = this.#changes.find((one) => one.since === until && one.until === since)
    return other === undefined ? null : { changes: reversed(other), before }
  }

  async #ask(url: string): Promise<{ status: number; body: Body; next: string | null }> {
    const { status, text, headers, isLater } = await this.#path!.getLater(url, KEYED)
    if (isLater) this.counts.expensive++
    const next = /<([^>]*)>; rel="next"/.exec(headers.link ?? '')
    return { status, body: JSON.parse(text) as Body, next: next === null ? null : next[1] }
  }

  /** Brings the copy up to date. */
  async #follow(): Promise<void> {
    const copy = this.#copy
    if (copy === null) return this.#takeLists()
    const first = await this.#ask(`/v2/changes?since=${copy.since}&include=readings&per_page=7`)
    if (first.status === 410) return this.#takeLists()
    assert.equal(first.status, 200, JSON.stringify(first.body))
    const { until, buoys } = first.body.data
    const before = this.#held.find(({ id }) => id === copy.since)!.world
    this.#expectExact(before, first.body.data)
    for (const { id, change } of buoys) {
      if (change === 'removed') copy.buoys.delete(id)
      else await this.#takeBuoy(copy, id, until)
    }
    let page = await this.#ask(
      `/v2/changes?since=${copy.since}&include=readings&per_page=7&snapshot=${until}`,
    )
    let rows = 0
    for (;;) {
      for (const { buoy_id: id, change, reading } of page.body.data.readings) {
        rows++
        this.counts[change as 'added']++
        const known = copy.buoys.get(id)?.rows
        const time = Date.parse(reading.time) / 1000
        if (change === 'removed') known?.delete(time)
        else known!.set(time, textOf(reading.significient_height, reading.period, reading.water_temperature))
      }
      if (page.next === null) break
      page = await this.#ask(page.next)
    }
    assert.equal(rows, page.body.data.count)
    this.counts.rows += rows
    copy.since = until
  }

  /** What the answer counts is what a naive comparison of the two worlds counts. */
  #expectExact(before: World, { buoys, count }: Body['data']): void {
    const rows = (buoy: FakeBuoy | undefined): Map<number, string> =>
      new Map((buoy?.rows ?? []).filter(isReading).map((row) => [row.time, JSON.stringify(sorted(row))]))
    let differing = 0
    const named = new Set<string>()
    for (const identifier of new Set([...before.keys(), ...this.#world.keys()])) {
      const [a, b] = [before.get(identifier), this.#world.get(identifier)]
      const [from, to] = [rows(a), rows(b)]
      let own = 0
      for (const [time, text] of from) if (to.get(time) !== text) own++
      for (const time of to.keys()) if (!from.has(time)) own++
      differing += own
      const isOther = a?.name !== b?.name || a?.lat !== b?.lat
      if (own > 0 || isOther) named.add(identifier)
    }
    assert.equal(count, differing)
    // Others became active or inactive.
    assert.ok(buoys.length >= named.size)
    const total = buoys
      .flatMap(({ readings }) => readings)
      .reduce((sum, { added, changed, removed }) => sum + added + changed + removed, 0)
    assert.equal(total, count)
  }

  async #takeBuoy(copy: Copy, id: number, snapshot: string): Promise<void> {
    const { status, body } = await this.#ask(`/v2/buoys/${id}?snapshot=${snapshot}`)
    assert.equal(status, 200)
    const { source_identifier: identifier, name, lat, slug } = body.data.buoy
    copy.buoys.set(id, { identifier, name, lat, slug, rows: copy.buoys.get(id)?.rows ?? new Map() })
  }

  async #takeLists(): Promise<void> {
    this.counts.lists++
    const since = this.#held.at(-1)!.id
    const copy: Copy = { since, buoys: new Map() }
    for (let next: string | null = `/v2/buoys?active_only=false&snapshot=${since}`; next !== null;) {
      const page = await this.#ask(next)
      for (const { id } of page.body.data.buoys) await this.#takeBuoy(copy, id, since)
      next = page.next
    }
    for (const [id, { rows }] of copy.buoys) {
      for (let next: string | null = `/v2/buoys/${id}/readings?snapshot=${since}`; next !== null;) {
        const page = await this.#ask(next)
        for (const reading of page.body.data.readings) {
          const { significient_height: height, period, water_temperature: temperature } = reading
          rows.set(Date.parse(reading.time) / 1000, textOf(height, period, temperature))
        }
        next = page.next
      }
    }
    this.#copy = copy
  }

  /** The copy is the world, reading by reading. */
  #compare(): void {
    const found = [...this.#copy!.buoys.values()].map(({ identifier, name, lat, rows }) => ({
      identifier,
      name,
      lat,
      rows: [...rows].toSorted(([a], [b]) => a - b),
    }))
    const expected = [...this.#world.values()].map((buoy) => ({
      identifier: buoy.identifier,
      name: buoy.name,
      lat: buoy.lat,
      rows: [...rowsOf(buoy)].toSorted(([a], [b]) => a - b),
    }))
    const byIdentifier = (a: { identifier: string }, b: { identifier: string }): number =>
      a.identifier < b.identifier ? -1 : 1
    assert.deepEqual(found.toSorted(byIdentifier), expected.toSorted(byIdentifier))
  }
}

const sorted = (row: FakeRow): [string, unknown][] =>
  Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Follows `builds` steps. @throws Error that names the seed */
export async function follow(builds: number, seed: number): Promise<Followed> {
  const dir = mkdtempSync(join(tmpdir(), 'groundswell-copy-'))
  try {
    const follower = new Follower(dir, seed)
    for (let step = 0; step < builds; step++) await follower.step()
    return follower.counts
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const seed = Number(process.argv[3] ?? 1)
  process.stdout.write(`${JSON.stringify(await follow(Number(process.argv[2] ?? 200), seed))}\n`)
}
