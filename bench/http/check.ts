/** Before anything is measured: do the servers answer what the oracle, a second and naive implementation, answers? */
import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { createTidePredictor } from '@neaps/tide-predictor'
import { assertAnswer } from '../../test/oracle/compare.ts'
import { compassPoints, expectConditions, QUANTITIES, type Quantity } from '../../test/oracle/conditions.ts'
import {
  energy,
  kilometres,
  makeOracle,
  type Answer,
  type JsonObject,
  type Operation,
  type Question,
} from '../../test/oracle/oracle.ts'
import type { HarbourRecord, PassRecord } from '../../src/sources/source.ts'
import type { Case } from './cases.ts'
import { AS_OF, worldWith, type BenchData } from './data.ts'
import { mapPass, passItem } from './passes.ts'
import type { RawReply } from './raw.ts'

const HOUR = 3600
/** Operations that read the rows of one buoy. */
const OF_ONE_BUOY = new Set<string>(['readings', 'readings_search', 'reading', 'chart', 'series'])
/** Operations whose naive answer takes a tenth of a second and more, and how many of theirs are enough. */
const SLOW = new Map<string, number>([
  ['chart', 50],
  ['series', 12],
])
/** Farther away than the conditions look. */
const AROUND_KM = 60
const HARBOUR_KM = 100
/** Half a step of numbers with one and two decimals. */
const TENTHS = 0.05
const HUNDREDTHS = 0.005
/** Metres: the other program's tide, by a straight line between its heights, and two decimals. */
const TIDE = 0.01
/** Constituents that the other program turns differently or does not know: they may be off by twice their size. */
const UNSETTLED = new Set(['M1', 'M3', 'EPSILON2', 'SA_KV', 'S1_KV'])

export interface Checked {
  /** Answers that were compared. */
  compared: number
  /** Answers that two right programs may give differently. */
  unsure: number
}

/** Knows the right answers. */
export class Checker {
  readonly #data: BenchData
  readonly #counts: ReadonlyMap<number, number>
  #oracle: { id: number; ask: (question: Question) => Answer }

  constructor(data: BenchData) {
    this.#data = data
    this.#counts = new Map(data.buoys.map(({ id, times }) => [id, times.length]))
    this.#oracle = { id: 0, ask: makeOracle(worldWith(data, 0)) }
  }

  /** Of `paths`, at most `most` that can be checked: of one buoy's rows those of the buoys whose rows are at hand, buoy by buoy. */
  choose({ operation }: Case, paths: readonly string[], most: number): string[] {
    const distinct = [...new Set(paths)]
    if (!OF_ONE_BUOY.has(operation)) return distinct.slice(0, most)
    const kept = new Set(this.#data.buoys.flatMap(({ id, rows }) => (rows === null ? [] : [id])))
    return distinct
      .filter((path) => kept.has(buoyOf(path)))
      .slice(0, Math.min(most, SLOW.get(operation) ?? most))
      .toSorted((a, b) => buoyOf(a) - buoyOf(b))
  }

  /** @throws AssertionError at the first difference; returns false where two right programs may differ. */
  check({ operation }: Case, path: string, reply: RawReply): boolean {
    const text = reply.body.toString('utf8')
    if (operation === 'satellites') assertSatellites(reply.status, text, this.#data.passes, path)
    else if (operation === 'satellite_passes') assertPasses(reply.status, text, this.#data.passes, path)
    else if (operation === 'conditions') return this.#assertConditions(reply.status, text, path)
    else {
      const answer = this.#answer(operation, path)
      if (answer.unsure !== null) return false
      const got = operation === 'chart' ? this.#withoutHours(text, path) : text
      assertAnswer({ status: reply.status, text: got }, answer, path)
    }
    return true
  }

  #answer(operation: Operation, path: string): Answer {
    const id = OF_ONE_BUOY.has(operation) ? buoyOf(path) : 0
    if (id !== this.#oracle.id) this.#oracle = { id, ask: makeOracle(worldWith(this.#data, id)) }
    const answer = this.#oracle.ask(questionOf(operation, path))
    this.#correctCounts(answer.body)
    for (const { item } of answer.ranking ?? []) this.#correctCounts(item)
    if (operation === 'map') this.#addPasses(answer.body)
    return answer
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
    const level = harbour === null ? () => null : levelOf(harbour)
    const slack = harbour === null ? 0 : tideSlack(harbour)
    times.forEach((time, i) => {
      const forecast = this.#conditionsAt(buoy.record.lat, buoy.record.lng, time)?.forecast.values
      const isHour = time % HOUR === 0
      assertNear(
        data['forecast_wave_height'][i],
        isHour ? (forecast?.wave_height ?? null) : null,
        HUNDREDTHS,
        path,
      )
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

  #conditionsAt(lat: number, lng: number, time: number): ReturnType<typeof expectConditions> {
    const near = (place: { lat: number; lng: number }): boolean =>
      kilometres(lat, lng, place.lat, place.lng) < AROUND_KM
    return expectConditions(
      {
        asOf: AS_OF,
        harbours: [],
        spots: [],
        points: this.#data.forecasts.filter(near).map(({ lat, lng, runAt, times, values }) => ({
          lat,
          lng,
          run: runAt,
          rows: times.map((time, i) => ({
            time,
            wave_height: values.waveHeight![i],
            wave_period: values.wavePeriod![i],
            wave_direction: values.waveDirection![i],
            wind_speed: values.windSpeed![i],
            wind_direction: values.windDirection![i],
            swell_height: values.swellHeight![i],
            swell_period: values.swellPeriod![i],
            swell_direction: values.swellDirection![i],
          })),
        })),
        buoys: this.#data.buoys
          .filter(({ record }) => near(record))
          .map(({ id, record, recent }) => ({
            id,
            name: record.name,
            lat: record.lat,
            lng: record.lng,
            virtual: record.virtual,
            readings: recent.flatMap((row) =>
              row.significantHeight === null
                ? []
                : [
                    {
                      time: row.time,
                      height: row.significantHeight,
                      maximum: row.maximumHeight,
                      period: row.period,
                      direction: row.direction === 360 ? 0 : row.direction,
                    },
                  ],
            ),
          })),
      },
      lat,
      lng,
      time,
      null,
    )
  }

  #assertConditions(status: number, text: string, path: string): boolean {
    assert.equal(status, 200, path)
    const { searchParams } = new URL(path, 'http://127.0.0.1')
    const [lat, lng] = [Number(searchParams.get('lat')), Number(searchParams.get('lng'))]
    const time = Date.parse(searchParams.get('time')!) / 1000
    const expected = this.#conditionsAt(lat, lng, time)
    if (expected === null) return false
    const { data } = JSON.parse(text) as { data: { [part: string]: { [key: string]: unknown } } }
    const { location, forecast, reading, tide, metadata } = data
    assert.deepEqual([location['lat'], location['lng']], [lat, lng], path)
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
    const harbour = this.#harbourAt(lat, lng)
    assert.equal(tide['harbor'], harbour?.name ?? null, path)
    if (harbour !== null) {
      assertNear(tide['height'], levelOf(harbour)(time), tideSlack(harbour), `${path}: tide`)
    }
    return true
  }
}

const isoTime = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`

const buoyOf = (path: string): number => Number(path.split('/')[2])

/** The oracle's form of a path below the base path. */
function questionOf(operation: Operation, path: string): Question {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1')
  const [, , buoyId, , readingId] = pathname.split('/')
  return {
    operation,
    ...(buoyId === undefined ? {} : { buoyId }),
    ...(readingId === undefined ? {} : { readingId }),
    parameters: new Map(searchParams),
  }
}

/** `got` lies within `most` of `expected`. */
function assertNear(got: unknown, expected: number | null, most: number, what: string): void {
  if (expected === null || got === null) {
    assert.equal(got, expected, what)
    return
  }
  assert.ok(typeof got === 'number', `${what} is no number, wanted ${expected}`)
  assert.ok(Math.abs(got - expected) <= most + 1e-9, `${what} is ${got}, wanted ${expected}`)
}

/** Height over time by the constituents of a harbour, from a package that the product does not use. */
function levelOf({ constituents, datumOffset }: HarbourRecord): (time: number) => number {
  const predictor = createTidePredictor(constituents, { offset: datumOffset, nodeCorrections: 'schureman' })
  const onGrid = (time: number): number =>
    predictor.getWaterLevelAtTime({ time: new Date(time * 1000) }).level
  return (time) => {
    // It knows heights every ten minutes; a straight line between two of them is 2 mm off at most.
    const before = Math.floor(time / 600) * 600
    const share = (time - before) / 600
    return (1 - share) * onGrid(before) + (share === 0 ? 0 : share * onGrid(before + 600))
  }
}

function tideSlack({ constituents }: HarbourRecord): number {
  return constituents.reduce(
    (sum, { name, amplitude }) => sum + (UNSETTLED.has(name) ? 2 * amplitude : 0),
    TIDE,
  )
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

function assertPasses(status: number, text: string, passes: readonly PassRecord[], path: string): void {
  assert.equal(status, 200, path)
  const { searchParams } = new URL(path, 'http://127.0.0.1')
  const mission = searchParams.get('mission')
  const since = Date.parse(searchParams.get('since')!) / 1000
  const wanted = passes
    .filter((pass) => (mission === null || pass.mission === mission) && pass.startedAt >= since)
    .toSorted((a, b) => b.startedAt - a.startedAt)
    .slice(0, 20)
  const { data } = JSON.parse(text) as { data: { satellite_passes: JsonObject[]; count: number } }
  assert.deepEqual(data, { satellite_passes: wanted.map(passItem), count: wanted.length }, path)
}

/** Whether two answers say the same, whenever they were given. */
export function sameAnswer(a: Buffer, b: Buffer): boolean {
  const timeless = (body: Buffer): unknown => {
    const parsed = JSON.parse(body.toString('utf8')) as { meta?: { timestamp?: string } }
    delete parsed.meta?.timestamp
    return parsed
  }
  return isDeepStrictEqual(timeless(a), timeless(b))
}
