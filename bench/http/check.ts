/**
 * Before anything is measured: do the servers answer what the oracle, a second and naive implementation,
 * answers?
 */
import assert from 'node:assert/strict'
import { assertAnswer } from '../../test/oracle/compare.ts'
import {
  compassPoints,
  expectConditions,
  QUANTITIES,
  type ConditionsWorld,
  type Quantity,
} from '../../test/oracle/conditions.ts'
import {
  energy,
  kilometres,
  makeOracle,
  type Answer,
  type JsonObject,
  type Operation,
  type Question,
} from '../../test/oracle/oracle.ts'
import type { World, WorldRow } from '../../test/oracle/world.ts'
import { timezoneAt } from '../../src/sea/territory.ts'
import type { HarbourRecord, PassRecord } from '../../src/sea/records.ts'
import { conditionsBuoy, conditionsPoint, levelOf, tideSlack } from './around.ts'
import { buoyOf, EVER, groupOf, OF_ONE_BUOY, placeOf, questionOf, spanOf, type Asked } from './asked.ts'
import type { Case } from './cases.ts'
import {
  AS_OF,
  rowsWithin,
  worldWith,
  type BenchBuoy,
  type BenchData,
  type History,
  type Span,
} from './data.ts'
import { mapPass, passItem } from './passes.ts'
import type { RawReply } from './raw.ts'
import { isText } from './same.ts'
import { fillYears } from './series.ts'

const HOUR = 3600
const DAY = 24 * HOUR
/**
 * The oracle looks at every row it knows for every request: its worlds hold the rows of so many seconds, or
 * of a single answer that needs more. 4 to 8 requests for 30 days of one buoy share a world, which then costs
 * them less than their rows do.
 */
const SECONDS_OF_A_WORLD = 120 * DAY
/** Farther away than the conditions look. */
const AROUND_KM = 60
const HARBOUR_KM = 100
/** Half a step of numbers with one and two decimals. */
const TENTHS = 0.05
const HUNDREDTHS = 0.005
/** Seconds between the heights that are looked at before a turn of the tide. */
const TIDE_STEP = 600

type Oracle = (question: Question) => Answer

/** Requests that are asked of one world of the oracle. */
interface Batch {
  asked: readonly Asked[]
  world: () => World
}

/** Knows the right answers. */
export class Checker {
  readonly #data: BenchData
  readonly #histories: ReadonlyMap<number, History>
  readonly #counts: ReadonlyMap<number, number>
  /** As the oracle of the conditions takes them. */
  readonly #points: ConditionsWorld['points']
  readonly #buoys: ConditionsWorld['buoys']
  /** By newest first, each as it is shown. */
  readonly #passes: readonly { pass: PassRecord; item: ReturnType<typeof passItem> }[]
  readonly #levels = new Map<HarbourRecord, (time: number) => number>()
  readonly #zones = new Set<string>()

  constructor(data: BenchData, histories: ReadonlyMap<number, History>) {
    this.#data = data
    this.#histories = histories
    this.#counts = new Map(data.buoys.map(({ id, times }) => [id, times.length]))
    this.#points = data.forecasts.map(conditionsPoint)
    this.#buoys = data.buoys.map(conditionsBuoy)
    this.#passes = data.passes
      .toSorted((a, b) => b.startedAt - a.startedAt)
      .map((pass) => ({ pass, item: passItem(pass) }))
  }

  /**
   * Compares the answers that `get` gives to all of `asked`. Returns the requests of each case to which two
   * right programs may answer differently: those are not compared. @throws AssertionError at the first
   * difference
   */
  async check(
    asked: readonly Asked[],
    get: (path: string) => Promise<RawReply>,
  ): Promise<ReadonlyMap<Case, number>> {
    const unsure = new Map<Case, number>()
    const batches = this.#batches(asked)
    const paths = batches.flatMap((batch) => batch.asked.map(({ path }) => path))
    let next = 0
    // Asked while the answer before it is compared.
    let coming = get(paths[next++])
    for (const batch of batches) {
      let oracle: Oracle | null = null
      const ask: Oracle = (question) => (oracle ??= makeOracle(batch.world()))(question)
      for (const { one, path } of batch.asked) {
        const reply = await coming
        // A series takes seconds to compare, and a server gives up a reader that takes nothing for ten.
        const isLong = one.operation === 'series'
        const askNext = (): void => {
          if (next < paths.length) coming = get(paths[next++])
        }
        if (!isLong) askNext()
        if (!this.#isRight(ask, one, path, reply)) unsure.set(one, (unsure.get(one) ?? 0) + 1)
        if (isLong) askNext()
      }
    }
    return unsure
  }

  /**
   * Requests in the order in which they are asked, those together that one small world of the oracle can
   * answer. A world leaves out only what cannot be in any of its answers: rows of other buoys and of other
   * times than asked for, buoys farther away than the radius.
   */
  #batches(asked: readonly Asked[]): Batch[] {
    const groups = new Map<string, Asked[]>()
    for (const request of asked) {
      const key = groupOf(request)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [request])
      else group.push(request)
    }
    return [...groups].flatMap(([key, group]): Batch[] => {
      const [{ one, path }] = group
      // Of whole histories there is the way of `series.ts`.
      if (key === 'series') return [{ asked: group, world: () => worldWith(this.#data, () => []) }]
      if (OF_ONE_BUOY.has(one.operation)) return this.#batchesOfBuoy(buoyOf(path), group)
      if (key !== '') return [{ asked: group, world: () => this.#worldAround(group) }]
      return [{ asked: group, world: () => worldWith(this.#data, newestOf) }]
    })
  }

  #batchesOfBuoy(id: number, asked: readonly Asked[]): Batch[] {
    const batches: (Batch & { asked: Asked[]; spans: Span[]; seconds: number; reached: number })[] = []
    const spanned = asked.map((request) => ({ request, span: spanOf(request) }))
    for (const { request, span } of spanned.toSorted((a, b) => a.span.from - b.span.from)) {
      const last = batches.at(-1)
      const more = span.to - Math.max(span.from, last?.reached ?? 0)
      if (last !== undefined && last.seconds + more <= SECONDS_OF_A_WORLD) {
        last.asked.push(request)
        last.spans.push(span)
        last.seconds += Math.max(0, more)
        last.reached = Math.max(last.reached, span.to)
      } else {
        const spans = [span]
        batches.push({
          asked: [request],
          spans,
          seconds: span.to - span.from,
          reached: span.to,
          world: () =>
            worldWith(this.#data, (buoy) =>
              buoy.id === id ? rowsWithin(this.#histories.get(id)!, spans) : [],
            ),
        })
      }
    }
    return batches
  }

  /** A buoy without rows is not active, and these operations do not show it. */
  #worldAround(asked: readonly Asked[]): World {
    const places = asked.map(({ one, path }) => placeOf(one.operation, path)!)
    const [{ lat, lng }] = places
    // A km more: a buoy near the border of the radius has to be known as such.
    const most =
      Math.max(...places.map((place) => kilometres(lat, lng, place.lat, place.lng))) +
      Math.max(...places.map(({ radius }) => radius)) +
      1
    return worldWith(this.#data, (buoy) =>
      kilometres(lat, lng, buoy.record.lat, buoy.record.lng) <= most ? newestOf(buoy) : [],
    )
  }

  /** Returns false where two right programs may differ. */
  #isRight(ask: Oracle, { operation }: Case, path: string, reply: RawReply): boolean {
    const text = reply.body.toString('utf8')
    if (operation === 'satellites') assertSatellites(reply.status, text, this.#data.passes, path)
    else if (operation === 'satellite_passes') this.#assertPasses(reply.status, text, path)
    else if (operation === 'conditions') return this.#assertConditions(reply.status, text, path)
    else {
      const answer = this.#answer(ask, operation, path)
      if (answer.unsure !== null) return false
      const got = operation === 'chart' ? this.#withoutHours(text, path) : text
      // The same bytes are the same answer, and most are; the long way knows what else is right.
      if (reply.status !== answer.status || !isText(got, answer.body)) {
        assertAnswer({ status: reply.status, text: got }, answer, path)
      }
    }
    return true
  }

  #answer(ask: Oracle, operation: Operation, path: string): Answer {
    const question = questionOf(operation, path)
    if (operation === 'series') return this.#series(ask, question)
    const answer = ask(question)
    if (operation === 'list' || operation === 'detail') {
      this.#correctCounts(answer.body)
      for (const { item } of answer.ranking ?? []) this.#correctCounts(item)
    }
    if (operation === 'map') this.#addPasses(answer.body)
    return answer
  }

  /**
   * The oracle takes 1.6 s for ten years of a buoy: it gives the answer around the points, from a world
   * without rows, and the points come from `series.ts`. Of the first series in each time zone it gives all,
   * and that has to be the same.
   */
  #series(ask: Oracle, question: Question): Answer {
    const { id, record } = this.#data.buoys[Number(question.buoyId) - 1]
    const history = this.#histories.get(id)!
    const answer = ask(question)
    const isFilled = fillYears(answer.body, history, record.timezone, question.parameters)
    if (isFilled && this.#zones.has(record.timezone)) return answer
    this.#zones.add(record.timezone)
    const rows = rowsWithin(history, [EVER])
    const whole = makeOracle(worldWith(this.#data, (buoy) => (buoy.id === id ? rows : [])))(question)
    if (isFilled) {
      const same = JSON.stringify(answer.body) === JSON.stringify(whole.body)
      assert.ok(same, `series.ts and the oracle differ in the series of buoy ${id}`)
    }
    return whole
  }

  /** The oracle's world has no satellites. */
  #addPasses(body: JsonObject): void {
    for (const item of (body['data'] as JsonObject)['buoys'] as JsonObject[]) {
      if (item['virtual'] !== true) continue
      const id = item['id'] as number
      Object.assign(item, mapPass(this.#data.passes, id, this.#data.buoys[id - 1].newest!.time))
    }
  }

  /** The oracle's world holds one row of most buoys. */
  #correctCounts(value: unknown): void {
    if (Array.isArray(value)) for (const item of value) this.#correctCounts(item)
    else if (typeof value === 'object' && value !== null) {
      const object = value as JsonObject
      if ('readings_count' in object) object['readings_count'] = this.#counts.get(object['id'] as number)!
      for (const member of Object.values(object)) this.#correctCounts(member)
    }
  }

  /** A chart as it would be without forecast and tide, after checking both. */
  #withoutHours(text: string, path: string): string {
    const body = JSON.parse(text) as { data: { [array: string]: unknown[] } }
    const { data } = body
    const buoy = this.#data.buoys[buoyOf(path) - 1]
    const readings = new Set(buoy.times)
    const times = (data['time'] as string[]).map((time) => Date.parse(time) / 1000)
    const harbour = this.#harbourAt(buoy.record.lat, buoy.record.lng)
    const level = harbour === null ? () => null : this.#levelOf(harbour)
    const slack = harbour === null ? 0 : tideSlack(harbour)
    // A chart's forecast knows no readings.
    const world = { ...this.#conditionsAround(buoy.record.lat, buoy.record.lng), buoys: [] }
    times.forEach((time, i) => {
      const isHour = time % HOUR === 0
      const forecast = isHour
        ? expectConditions(world, buoy.record.lat, buoy.record.lng, time, null)?.forecast.values.wave_height
        : null
      assertNear(data['forecast_wave_height'][i], forecast ?? null, HUNDREDTHS, path)
      assertNear(data['tide_level'][i], isHour ? level(time) : null, slack, path)
    })
    for (const array of ['time', 'significant_height', 'maximum_height', 'period']) {
      data[array] = data[array].filter((_, i) => readings.has(times[i]))
    }
    for (const array of ['forecast_wave_height', 'tide_level']) data[array] = data['time'].map(() => null)
    return JSON.stringify(body)
  }

  #harbourAt(lat: number, lng: number): HarbourRecord | null {
    const [nearest] = this.#data.harbours
      .map((harbour) => ({ harbour, km: kilometres(lat, lng, harbour.lat, harbour.lng) }))
      .toSorted((a, b) => a.km - b.km)
    return nearest === undefined || nearest.km > HARBOUR_KM ? null : nearest.harbour
  }

  #levelOf(harbour: HarbourRecord): (time: number) => number {
    const known = this.#levels.get(harbour)
    if (known !== undefined) return known
    const level = levelOf(harbour)
    this.#levels.set(harbour, level)
    return level
  }

  #conditionsAround(lat: number, lng: number): ConditionsWorld {
    const near = (place: { lat: number; lng: number }): boolean =>
      kilometres(lat, lng, place.lat, place.lng) < AROUND_KM
    return {
      asOf: AS_OF,
      harbours: [],
      spots: [],
      points: this.#points.filter(near),
      buoys: this.#buoys.filter(near),
    }
  }

  #assertConditions(status: number, text: string, path: string): boolean {
    assert.equal(status, 200, path)
    const { searchParams } = new URL(path, 'http://127.0.0.1')
    const [lat, lng] = [Number(searchParams.get('lat')), Number(searchParams.get('lng'))]
    const time = Date.parse(searchParams.get('time')!) / 1000
    const expected = expectConditions(this.#conditionsAround(lat, lng), lat, lng, time, null)
    if (expected === null) return false
    const { data } = JSON.parse(text) as { data: { [part: string]: { [key: string]: unknown } } }
    const { location, forecast, reading, tide, metadata, units } = data
    assert.deepEqual(location, { lat, lng, timezone: timezoneAt(lat, lng) }, path)
    assert.deepEqual(units, { height: 'm', speed: 'km/h' }, path)
    for (const [column, key] of Object.entries(QUANTITIES) as [Quantity, string][]) {
      const value = expected.forecast.values[column]
      if (value === null || !column.endsWith('direction')) {
        assertNear(forecast[key], value, column === 'wind_speed' ? TENTHS : HUNDREDTHS, `${path}: ${key}`)
      } else assert.ok(compassPoints(value).includes(String(forecast[key])), `${path}: ${key}`)
    }
    if (expected.reading === null) assert.deepEqual(reading, { exists: false }, path)
    else {
      const { buoy, km, reading: found } = expected.reading
      const { buoy: gotBuoy, ...rest } = reading
      assert.deepEqual(
        rest,
        {
          exists: true,
          significient_height: found.height,
          maximum_height: found.maximum,
          direction_degrees: found.direction,
          period: found.period,
          time: isoTime(found.time),
          wave_energy: energy(found.height, found.period),
        },
        path,
      )
      const { id, name, distance_km: distance } = gotBuoy as JsonObject
      assert.deepEqual([id, name], [buoy.id, buoy.name], path)
      assertNear(distance, km, HUNDREDTHS, `${path}: distance_km`)
      assertNear(
        metadata['reading_age_minutes'],
        (time - found.time) / 60,
        0.5,
        `${path}: reading_age_minutes`,
      )
    }
    assert.equal(
      forecast['wave_energy'],
      energy(number(forecast['waves_height']), number(forecast['waves_period'])),
      path,
    )
    const { run } = expected.forecast
    assert.equal(metadata['forecast_updated_at'], run === null ? null : isoTime(run), path)
    this.#assertTide(tide, lat, lng, time, path)
    assert.equal(metadata['tide_source'], this.#harbourAt(lat, lng)?.credit ?? null, path)
    return true
  }

  #assertTide(tide: { [key: string]: unknown }, lat: number, lng: number, time: number, path: string): void {
    const harbour = this.#harbourAt(lat, lng)
    if (harbour === null) {
      assert.ok(
        Object.values(tide).every((value) => value === null),
        `${path}: a tide without a harbour`,
      )
      return
    }
    const isRising = tide['direction'] === 'rising'
    assert.deepEqual(
      [tide['harbor'], tide['time'], tide['direction'], tide['next_tide']],
      [harbour.name, isoTime(time), isRising ? 'rising' : 'falling', isRising ? 'high' : 'low'],
      path,
    )
    const wait = tide['seconds_to_next_tide_change']
    assert.ok(typeof wait === 'number' && Number.isInteger(wait) && wait > 0 && wait < DAY, path)
    const [level, slack] = [this.#levelOf(harbour), tideSlack(harbour)]
    const next = level(time + wait)
    assertNear(tide['height'], level(time), slack, `${path}: tide`)
    assertNear(tide['next_tide_height'], next, slack, `${path}: next tide`)
    // When still water turns the programs tell differently, but neither before that time nor soon after it is
    // there a higher or a lower one.
    const sign = isRising ? 1 : -1
    for (let at = time; at < time + wait + HOUR / 2; at += TIDE_STEP) {
      assert.ok(sign * (level(at) - next) <= slack, `${path}: the tide does not turn in ${wait} s`)
      if (at >= time + wait) continue
      assert.ok(
        sign * (level(at) - level(time)) >= -slack,
        `${path}: the tide is not ${isRising ? 'rising' : 'falling'}`,
      )
    }
  }

  #assertPasses(status: number, text: string, path: string): void {
    assert.equal(status, 200, path)
    const { searchParams } = new URL(path, 'http://127.0.0.1')
    const mission = searchParams.get('mission')
    const since = Date.parse(searchParams.get('since')!) / 1000
    const wanted = this.#passes
      .filter(({ pass }) => (mission === null || pass.mission === mission) && pass.startedAt >= since)
      .slice(0, 20)
      .map(({ item }) => item)
    const { data } = JSON.parse(text) as { data: { satellite_passes: JsonObject[]; count: number } }
    assert.deepEqual(data, { satellite_passes: wanted, count: wanted.length }, path)
  }
}

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`
const newestOf = ({ newest }: BenchBuoy): WorldRow[] => (newest === null ? [] : [newest])
const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)

/** `got` lies within `most` of `expected`. */
function assertNear(got: unknown, expected: number | null, most: number, what: string): void {
  if (expected === null || got === null) {
    assert.equal(got, expected, what)
    return
  }
  assert.ok(typeof got === 'number', `${what} is no number, wanted ${expected}`)
  assert.ok(Math.abs(got - expected) <= most + 1e-9, `${what} is ${got}, wanted ${expected}`)
}

function assertSatellites(status: number, text: string, passes: readonly PassRecord[], what: string): void {
  assert.equal(status, 200, what)
  const { data } = JSON.parse(text) as { data: { satellites: { slug: string; pass_count: number }[] } }
  const counts = new Map(data.satellites.map(({ slug, pass_count }) => [slug, pass_count]))
  for (const slug of new Set(passes.map(({ mission }) => mission))) {
    assert.equal(
      counts.get(slug),
      passes.filter(({ mission }) => mission === slug).length,
      `${what}: ${slug}`,
    )
  }
}
