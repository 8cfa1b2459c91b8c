/** Random builds and rollbacks, and what `/changes` says of them against a naive comparison. */
import assert from 'node:assert/strict'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { KEYED } from '../answered.ts'
import {
  build,
  fakeSource,
  NETWORKS,
  northBuoy,
  type FakeBuoy,
  type FakeRow,
} from '../builder/fake_source.ts'
import { Chance } from '../chance.ts'
import { HeldSnapshots, type Held } from './held.ts'

const START = Date.parse('2026-01-30T00:00:00Z') / 1000
const HALF_HOUR = 1800
const DAY = 86_400
const HELD = 3
const MOST_BUOYS = 24

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
    count: number
    buoys: {
      id: number
      source_identifier: string
      readings: { added: number; changed: number; removed: number }[]
    }[]
    readings: { buoy_id: number; change: 'added' | 'changed' | 'removed'; reading: ReadingBody }[]
  }
}

interface Followed {
  builds: number
  rollbacks: number
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

/** None of a buoy that is not there. */
export function rowsOf(buoy: FakeBuoy | undefined): Rows {
  return new Map(
    (buoy?.rows ?? [])
      .filter(isReading)
      .map(({ time, significantHeight, period, waterTemperature }) => [
        time,
        textOf(significantHeight! / 1000, valueOf(period, 1000), valueOf(waterTemperature, 100)),
      ]),
  )
}

export class Follower {
  readonly #chance: Chance
  readonly #dir: string
  readonly counts: Followed = { builds: 0, rollbacks: 0, changed: 0, added: 0, removed: 0, expensive: 0 }
  #world: Map<string, FakeBuoy> = new Map()
  #time = START
  readonly #served = new HeldSnapshots(HELD)
  readonly #worlds = new Map<string, World>()

  constructor(dir: string, seed: number) {
    this.#dir = dir
    this.#chance = new Chance(seed)
    for (let i = 0; i < 8; i++) this.#world.set(`B${i}`, this.#newBuoy(i))
  }

  /** What is published now. */
  get world(): ReadonlyMap<string, FakeBuoy> {
    return this.#world
  }

  /** Answers as the server of what is published would. */
  readonly fetch = (url: string): Promise<Response> => this.#served.fetch(url, { headers: KEYED })

  /** One build, or a rollback. */
  async publish(): Promise<void> {
    if (this.#served.held.length > 1 && this.#chance.next() < 0.12) this.#rollBack()
    else await this.#build()
  }

  #newBuoy(i: number): FakeBuoy {
    const rows = Array.from({ length: this.#chance.below(80) }, (_, row) =>
      this.#row(START - row * HALF_HOUR * 7),
    )
    return northBuoy(`B${i}`, rows.toReversed(), { source: NETWORKS[i % 2].name, lat: i, lng: -i })
  }

  #row(time: number): FakeRow {
    const row: FakeRow = { time }
    if (this.#chance.next() < 0.9) row.significantHeight = this.#chance.below(20_000)
    else row.windSpeed = this.#chance.below(5000)
    if (this.#chance.next() < 0.7) row.period = 1000 + this.#chance.below(15_000)
    if (this.#chance.next() < 0.5) row.waterTemperature = this.#chance.below(3000)
    return row
  }

  /** Changes the world a little: new readings, late corrections, buoys that come, go and are renamed. */
  #mutate(): void {
    this.#time += HALF_HOUR * (1 + this.#chance.below(40))
    const world = new Map(this.#world)
    for (const [identifier, buoy] of world) {
      const dice = this.#chance.next()
      const rows = [...buoy.rows]
      if (dice < 0.6) rows.push(this.#row(this.#time))
      if (this.#chance.next() < 0.2 && rows.length > 0) {
        const at = this.#chance.below(rows.length)
        rows[at] = this.#row(rows[at].time)
      }
      if (this.#chance.next() < 0.05) rows.splice(this.#chance.below(rows.length), 1 + this.#chance.below(5))
      if (this.#chance.next() < 0.03) rows.unshift(this.#row((rows[0]?.time ?? START) - 3 * DAY))
      // Wind alone: the reading is as it was in the answer, and differs all the same.
      if (this.#chance.next() < 0.05 && rows.length > 0) {
        const at = this.#chance.below(rows.length)
        rows[at] = { ...rows[at], gustSpeed: this.#chance.below(5000) }
      }
      const renamed = this.#chance.next() < 0.04 ? { name: `Renamed ${this.#chance.below(100)}` } : {}
      const moved = this.#chance.next() < 0.04 ? { lat: this.#chance.below(80) } : {}
      world.set(identifier, { ...buoy, rows, ...renamed, ...moved })
      if (this.#chance.next() < 0.05 && world.size > 2) world.delete(identifier)
    }
    if (this.#chance.next() < 0.3) {
      const i = this.#chance.below(MOST_BUOYS)
      if (!world.has(`B${i}`)) world.set(`B${i}`, this.#newBuoy(i))
    }
    this.#world = world
  }

  async #build(): Promise<void> {
    this.#mutate()
    const sources = [fakeSource([...this.#world.values()])]
    const { id } = await build(sources, this.#dir, { fresh: true, allowLoss: 1, keep: 2 })
    const loaded = await loadSnapshot(this.#dir, this.#served.held.at(-1)?.loaded)
    assert.equal(loaded.id, id)
    this.#worlds.set(id, new Map(this.#world))
    this.#served.publish(this.#served.opened(loaded))
    this.counts.builds++
  }

  #rollBack(): void {
    const target = this.#served.held[this.#chance.below(this.#served.held.length - 1)]
    this.#world = new Map(this.#worlds.get(target.id))
    this.#served.publish(target)
    this.counts.rollbacks++
  }

  async #ask(url: string): Promise<{ data: Body['data']; next: string | null }> {
    const { status, text, headers, isLater } = await this.#served.get(url)
    assert.equal(status, 200, text)
    if (isLater) this.counts.expensive++
    const { data } = JSON.parse(text) as Body
    const next = /<([^>]*)>; rel="next"/.exec(headers.link ?? '')?.[1]
    return { data, next: next === undefined ? null : url.split('?')[0] + next }
  }

  /** From every held snapshot, the changes lead to the published one. */
  async check(): Promise<void> {
    const now = this.#served.held.at(-1)!
    for (const since of this.#served.held) await this.#checkSince(since, now)
  }

  async #checkSince({ id: since }: Held, { id: until }: Held): Promise<void> {
    const identifiers = new Map<number, string>()
    for (const id of [since, until]) {
      const { data } = await this.#ask(`/v2/buoys?active_only=false&per_page=500&snapshot=${id}`)
      for (const buoy of data.buoys) identifiers.set(buoy.id, buoy.source_identifier)
    }
    const before = this.#worlds.get(since)!
    const copy = new Map([...identifiers.values()].map((one) => [one, rowsOf(before.get(one))]))
    const first = `/v2/changes?since=${since}&include=readings&per_page=7&snapshot=${until}`
    let rows = 0
    for (let target: string | null = first; target !== null;) {
      const { data, next } = await this.#ask(target)
      if (target === first) this.#expectExact(before, data)
      for (const { buoy_id: id, change, reading } of data.readings) {
        const { time, significient_height: height, period, water_temperature: temperature } = reading
        const known = copy.get(identifiers.get(id)!)!
        if (change === 'removed') known.delete(Date.parse(time) / 1000)
        else known.set(Date.parse(time) / 1000, textOf(height, period, temperature))
        this.counts[change]++
      }
      rows += data.readings.length
      if (next === null) assert.equal(rows, data.count)
      target = next
    }
    const inOrder = (some: Rows): object => [...some].toSorted(([a], [b]) => a - b)
    for (const [identifier, known] of copy)
      assert.deepEqual(inOrder(known), inOrder(rowsOf(this.#world.get(identifier))), identifier)
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
      for (const [time, text] of from) {
        if (to.get(time) !== text) own++
      }
      for (const time of to.keys()) {
        if (!from.has(time)) own++
      }
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
}

const sorted = (row: FakeRow): [string, unknown][] =>
  Object.entries(row).toSorted(([a], [b]) => (a < b ? -1 : 1))

/** Follows `builds` steps in the folder `dir`. @throws Error that names the seed */
export async function follow(dir: string, builds: number, seed: number): Promise<Followed> {
  try {
    const follower = new Follower(dir, seed)
    for (let step = 0; step < builds; step++) {
      await follower.publish()
      await follower.check()
    }
    return follower.counts
  } catch (error) {
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error })
  }
}
