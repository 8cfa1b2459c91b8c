/** The climate of buoys, question by question against the oracle, and in other formats against its JSON. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { Chance } from '../chance.ts'
import { fieldOf, flat, parseCsv } from '../formats/parse.ts'
import { folderOfFile } from '../live.ts'
import * as oracle from '../oracle/climate.ts'
import type { Json, JsonObject } from '../oracle/known.ts'
import { rounds } from '../rounds.ts'
import {
  type Asked,
  buildClimate,
  climateBuoys,
  questionOf,
  rowsInUnits,
  usualBuoys,
} from './climate_world.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)
/** Questions for each operation. */
const QUESTIONS = rounds(12, 400)
/** Of the numbers, which are rounded to five decimals. */
const TOLERANCE = 1.1e-5

const buoys = climateBuoys(SEED)
const dir = join(folderOfFile(), 'climate')
await buildClimate(buoys, dir)
const path = new AskedPath(await viewOf(dir))
const rowsOf = new Map(buoys.map(({ name, rows }) => [name, rowsInUnits(rows)]))

interface Found {
  status: number
  text: string
  body: { data: JsonObject; meta: JsonObject; message: string; details?: JsonObject }
}

function ask(name: string, asked: string, question: oracle.ClimateQuestion): Found {
  const below = asked === 'climate' ? '' : `/${asked}`
  const url = `/v2/buoys/${name}/climate${below}?${new URLSearchParams(question).toString()}`
  const { status, text } = path.get(url, KEYED)
  const body = (question['format'] === undefined ? JSON.parse(text) : {}) as Found['body']
  return { status, text, body }
}

/** Every member is there and no other one; numbers are the same to the last decimal of the answer. */
function assertNear(got: Json, wanted: Json, what: string): void {
  if (typeof wanted === 'number') {
    assert.ok(
      typeof got === 'number' && Math.abs(got - wanted) <= TOLERANCE,
      `${what}: ${JSON.stringify(got)}, not ${wanted}`,
    )
  } else if (Array.isArray(wanted)) {
    assert.ok(
      Array.isArray(got) && got.length === wanted.length,
      `${what}: ${JSON.stringify(got)?.slice(0, 300)}`,
    )
    for (const [i, each] of wanted.entries()) assertNear(got[i], each, `${what}[${i}]`)
  } else if (typeof wanted === 'object' && wanted !== null) {
    assert.deepEqual(Object.keys(got as JsonObject), Object.keys(wanted), what)
    for (const [key, each] of Object.entries(wanted))
      assertNear((got as JsonObject)[key], each, `${what}.${key}`)
  } else assert.equal(got, wanted, what)
}

/** The rows of an answer in other formats. */
function rowsIn(asked: Asked, data: JsonObject): JsonObject[] {
  const lists: { [asked: string]: Json[] } = {
    climate: [...((data.periods ?? []) as Json[]), data.overall],
    records: [
      ...(data.ever === null ? [] : [data.ever]),
      ...((data.months ?? []) as Json[]),
      ...((data.years ?? []) as Json[]),
    ],
    table: data.bins as Json[],
    storms: data.storms as Json[],
    extremes: data.levels as Json[],
  }
  return lists[asked] as JsonObject[]
}

/** NDJSON says what is in the JSON, and CSV what is in NDJSON. */
function assertFormats(name: string, asked: Asked, question: oracle.ClimateQuestion, data: JsonObject): void {
  const paged = { page: '1', per_page: '100', ...question }
  const query = asked === 'storms' ? paged : question
  const lines = ask(name, asked, { ...query, format: 'ndjson' })
    .text.split('\n')
    .slice(0, -1)
  const [names, ...cells] = parseCsv(ask(name, asked, { ...query, format: 'csv' }).text)
  const rows = rowsIn(asked, data)
  const what = `${name} ${asked} ${JSON.stringify(question)}`
  assert.deepEqual([lines.length, cells.length], [rows.length, rows.length], what)
  for (const [i, row] of rows.entries()) {
    const [wanted, line] = [flat(row), flat(JSON.parse(lines[i]) as JsonObject)]
    for (const [member, value] of line) {
      if (member === 'period' || member === 'of') continue
      const given = member === 'years' ? (row.years as number[]).join(' ') : (wanted.get(member) ?? null)
      assert.equal(value, given, `${what} ${member}`)
      assert.equal(cells[i][names.indexOf(member)], fieldOf(value), `${what} ${member} in CSV`)
    }
    assert.ok(line.size > 3, what)
    assert.equal(cells[i][names.indexOf('buoy_name')], name)
  }
}

const ANSWERS: {
  readonly [asked in Exclude<Asked, 'extremes'>]: (
    rows: readonly oracle.ClimateRow[],
    question: oracle.ClimateQuestion,
  ) => JsonObject
} = {
  climate: oracle.climate,
  records: oracle.records,
  table: oracle.table,
  storms: (rows, question) => oracle.storms(rows, question).data,
}

for (const asked of Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]) {
  test(`Of the climate of a buoy, ${asked} answers as the oracle does, in all formats.`, () => {
    const chance = new Chance(SEED + asked.length)
    for (let i = 0; i < QUESTIONS; i++) {
      // Each buoy is asked about, and then any.
      const { name } = buoys[i < buoys.length ? i : chance.below(buoys.length)]
      const question = questionOf(chance, asked)
      const what = `${name} ${asked} ${JSON.stringify(question)}`
      const { status, body } = ask(name, asked, question)
      assert.equal(status, 200, `${what}: ${body.message}`)
      const { buoy, ...data } = body.data
      assert.equal((buoy as JsonObject).name, name)
      assertNear(data, ANSWERS[asked](rowsOf.get(name)!, question), what)
      if (asked === 'storms') {
        const { timestamp: _, ...meta } = body.meta
        assert.deepEqual(meta, oracle.storms(rowsOf.get(name)!, question).meta, what)
      }
      if (i % 3 === 0) assertFormats(name, asked, question, body.data)
    }
  })
}

test('Return levels are those of a likelihood that nothing near them beats, or too few years are named.', () => {
  const chance = new Chance(SEED)
  let fitted = 0
  for (let i = 0; i < QUESTIONS; i++) {
    const { name } = i % 2 === 0 ? buoys[0] : chance.pick(buoys)
    const question = questionOf(chance, 'extremes')
    const what = `${name} ${JSON.stringify(question)}`
    const { taken, years } = oracle.maxima(rowsOf.get(name)!, question)
    const used = years.filter(({ reason }) => reason === null)
    const { status, body } = ask(name, 'extremes', question)
    if (used.length < 15) {
      assert.equal(status, 422, what)
      assert.equal(body.details!.complete_years, used.length, what)
      for (const { year } of used) assert.match(body.message, new RegExp(`\\b${year}\\b`), what)
      continue
    }
    const values = used.map(({ best }) => best!.value)
    if (new Set(values).size === 1) {
      assert.equal(status, 422, what)
      continue
    }
    assert.equal(status, 200, `${what}: ${body.message}`)
    fitted++
    const { data } = body
    assert.equal(data.count, taken.samples.length)
    assert.deepEqual(
      (data.maxima as JsonObject[]).map(({ year, value }) => [year, value]),
      used.map(({ year }, j) => [year, values[j]]),
      what,
    )
    const others = years.filter(({ reason }) => reason !== null)
    assertNear(
      data.years_left_out,
      others.map(({ year, reason, coverage, best }) => ({
        year,
        reason,
        coverage,
        maximum: best?.value ?? null,
        time: best === null ? null : new Date(best.time * 1000).toISOString().replace('.000', ''),
      })),
      what,
    )
    const highest = Math.max(...values)
    const noted = others.filter(({ best }) => best !== null && best.value > highest).length
    assert.equal((data.notes as string[]).filter((note) => note.includes('too low')).length, noted, what)
    assertLevels(data, values, what)
    if (i % 4 === 0) assertFormats(name, 'extremes', question, data)
  }
  assert.ok(fitted > QUESTIONS / 4, `${fitted} were fitted`)
})

interface Level {
  return_period: number
  level: number
  low: number | null
  high: number | null
  extrapolated: boolean
}

function assertLevels(data: JsonObject, values: readonly number[], what: string): void {
  const { location, scale, shape } = data.parameters as { [name: string]: number }
  const at = [location, scale, shape] as const
  const cost = ([l, logScale, s]: number[]): number => oracle.costOf(values, [l, Math.exp(logScale), s])
  const spread = Math.max(...values) - Math.min(...values)
  const starts = [
    [location, Math.log(scale), shape],
    [values[0], Math.log(spread / 3), -0.1],
  ]
  const least = Math.min(...starts.map((start) => oracle.leastCost(cost, start, 0.05).value))
  const found = data.negative_log_likelihood as number
  assert.ok(Math.abs(found - least) < 2e-3, `${what}: ${found}, not ${least}`)
  for (const { return_period: period, level, low, high, extrapolated } of data.levels as unknown as Level[]) {
    const exact = oracle.levelAt(at, period)
    assert.ok(
      Math.abs(level - exact) <= 1e-3 * Math.max(1, Math.abs(exact)),
      `${what}: ${level}, not ${exact}`,
    )
    assert.equal(extrapolated, period > 4 * values.length)
    for (const end of [low, high]) {
      if (end === null) continue
      // The likelihood is 1.92 lower at the ends, the best of all scales and shapes taken.
      const profile = ([logScale, s]: number[]): number => {
        const width = Math.exp(logScale)
        return oracle.costOf(values, [end - oracle.levelAt([0, width, s], period), width, s])
      }
      // At the scale of the fit such a level may leave the support.
      const value = Math.min(
        ...[1, 3, 9].map((wider) => oracle.leastCost(profile, [Math.log(wider * scale), shape], 0.05).value),
      )
      assert.ok(Math.abs(value - least - 1.9207) < 0.02, `${what} ${period}: ${value - least} at ${end}`)
    }
    assert.ok(low !== null && low <= level && (high === null || high >= level), what)
  }
}

test('A year of half-hours between hourly ones weighs no more, and the answer names the intervals.', () => {
  const { data } = ask('half-hours', 'climate', {}).body
  const rows = rowsOf.get('half-hours')!.filter(({ time }) => new Date(time * 1000).getUTCMonth() === 0)
  const means = [2022, 2023, 2024].map((year) => {
    const own = rows.filter(({ time }) => new Date(time * 1000).getUTCFullYear() === year)
    return own.reduce((sum, { significantHeight }) => sum + significantHeight!, 0) / own.length
  })
  const [january] = data.periods as JsonObject[]
  assert.deepEqual(january.years, [2022, 2023, 2024])
  assertNear(january.mean, means.reduce((sum, mean) => sum + mean) / 3, 'the mean of January')
  assert.deepEqual(january.intervals, [
    { minutes: 30, years: [2023] },
    { minutes: 60, years: [2022, 2024] },
  ])
  assert.equal((data.notes as Json[]).length, 1)
})

test('A winter without most of its data gives no maximum, and what it had is said.', () => {
  const { data } = ask('long', 'extremes', {}).body
  const maxima = data.maxima as { year: number; value: number }[]
  assert.ok(maxima.every(({ value }) => value < 14))
  const leftOut = data.years_left_out as { year: number; reason: string; maximum: number }[]
  assert.ok(
    leftOut.some(({ year, reason, maximum }) => year === 2012 && reason === 'quarter' && maximum === 14),
  )
  assert.match((data.notes as string[])[0], /2012, 14 m.*too low/)
})

test('What stands alone is doubtful, and suspect readings are in no statistic.', () => {
  const { data } = ask('faulty', 'records', {}).body
  assert.deepEqual(data.left_out, { spike: 2, stuck: 12, dead: 170 })
  const { greatest } = data.ever as { greatest: JsonObject }
  assert.ok((greatest.value as number) < 9 && greatest.doubtful === false)
  const { data: half } = ask('faulty', 'records', { metric: 'water_temperature' }).body
  assert.deepEqual(half.left_out, { spike: 0, stuck: 0, dead: 0 })
})

test('After a swap questions are answered from the new snapshot, and pinned ones from the one they name.', async () => {
  const few = buoys.filter(({ name }) => ['faulty', 'half-hours', 'few'].includes(name))
  const states = [few.map(({ name, rows }) => ({ name, rows: rows.slice(0, -3) })), few]
  const views = []
  for (const [i, state] of states.entries()) {
    const folder = join(folderOfFile(), `state-${i}`)
    await buildClimate(state, folder)
    views.push(await viewOf(folder))
  }
  const [older, newer] = views
  const swapped = new AskedPath(older, { answerCache: 2 ** 20 })
  const chance = new Chance(SEED)
  const kinds = Object.keys(ANSWERS) as (keyof typeof ANSWERS)[]
  for (let i = 0; i < 4 * QUESTIONS; i++) {
    if (i === 2 * QUESTIONS) swapped.path.hold([older, newer], 3)
    const asked = chance.pick(kinds)
    const [{ name }, question] = [chance.pick(few), questionOf(chance, asked)]
    // Before the swap the newer snapshot is not known.
    const isPinned = chance.percent(50)
    const state = i < 2 * QUESTIONS || (isPinned && chance.percent(50)) ? 0 : 1
    const query = { ...question, ...(isPinned && { snapshot: views[state].dataset.snapshotId }) }
    const below = asked === 'climate' ? '' : `/${asked}`
    const url = `/v2/buoys/${name}/climate${below}?${new URLSearchParams(query).toString()}`
    const { rows } = states[state].find((one) => one.name === name)!
    const { buoy: _, ...data } = (JSON.parse(swapped.get(url, KEYED).text) as Found['body']).data
    assertNear(data, ANSWERS[asked](rowsInUnits(rows), question), url)
  }
})

test('What cannot be asked is refused with the parameter and what is allowed.', () => {
  const refused: [string, string, string, RegExp][] = [
    ['long', 'climate', 'metric=salinity', /metric.*significient_height/],
    ['long', 'climate', 'min_coverage=1.5', /min_coverage/],
    ['long', 'climate', 'start_year=2025&end_year=2024', /start_year.*end_year/],
    ['long', 'records', 'metric=direction', /metric.*direction/],
    ['long', 'extremes', 'metric=wind_direction', /metric.*direction/],
    ['long', 'extremes', 'return_periods=1', /return_periods.*2 to 10000/],
    [
      'long',
      'extremes',
      `return_periods=${Array.from({ length: 21 }, () => 2).join()}`,
      /return_periods.*20/,
    ],
    ['long', 'table', 'x=month&x_bin=2', /x_bin.*x=month/],
    ['long', 'table', 'x_bin=0.15', /x_bin.*0\.1$/],
    ['long', 'table', 'y=period', /y.*maximum_height/],
    ['long', 'storms', 'threshold=p50', /threshold.*p95/],
    ['long', 'storms', 'threshold=-1', /threshold/],
    ['long', 'storms', 'gap=31d', /gap.*30d/],
    ['long', 'storms', 'per_page=0', /per_page/],
    ['bare', 'extremes', '', /the same maximum/],
  ]
  for (const [name, asked, query, message] of refused) {
    const { status, body } = ask(name, asked, Object.fromEntries(new URLSearchParams(query)))
    assert.ok(status === 400 || status === 422, `${asked}?${query}: ${status}`)
    assert.match(body.message, message)
  }
  assert.equal(ask('nowhere', 'climate', {}).status, 404)
})

test('How usual the last reading is, every operation with last readings says as the oracle does.', async () => {
  const many = usualBuoys(SEED, rounds(16, 300))
  const folder = join(folderOfFile(), 'usual')
  await buildClimate(many, folder)
  const view = await viewOf(folder)
  const other = new AskedPath(view)
  const dataOf = (url: string): JsonObject =>
    (JSON.parse(other.get(`/v2${url}`, KEYED).text) as Found['body']).data
  const all = (dataOf('/buoys?per_page=500&active_only=false').buoys as JsonObject[]).map(({ id, name }) => ({
    id,
    name,
  }))
  const usual = new Map(many.map(({ name, rows }) => [name, oracle.usual(rowsInUnits(rows))]))
  let said = 0
  for (const [name, wanted] of usual) {
    if (wanted !== null) said++
    const { buoy } = dataOf(`/buoys/${name}?include=usual`) as { buoy: JsonObject }
    assertNear(buoy.usual, wanted, name)
    const { id } = all.find((one) => one.name === name)!
    const {
      buoys: [last],
    } = dataOf(`/buoys/last_readings?ids=${id as number}&include=usual`) as { buoys: JsonObject[] }
    assertNear(last.usual, wanted, name)
  }
  assert.ok(said > many.length / 3 && said < many.length, `of ${said}`)
  const { buoys: map } = dataOf('/buoys/map?include=usual,wind') as { buoys: JsonObject[] }
  assert.ok(map.length > 0)
  for (const buoy of map) assertNear(buoy.usual, usual.get(buoy.name as string)!, buoy.name as string)
  const near = dataOf('/buoys/nearest?lat=10&lng=-3&include=usual') as { buoy: JsonObject }
  const { reading } = dataOf('/conditions?lat=10&lng=-3&include=usual&time=2026-03-15T12:30:00Z') as {
    reading: JsonObject
  }
  assert.ok(map.some(({ usual }) => JSON.stringify(usual) === JSON.stringify(near.buoy.usual)))
  assert.ok('usual' in reading)
  const lines = other.get('/v2/buoys/map?include=usual&format=ndjson', KEYED).text.split('\n').slice(0, -1)
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as JsonObject).usual),
    (dataOf('/buoys/map?include=usual') as { buoys: JsonObject[] }).buoys.map(({ usual }) => usual),
  )
  assert.equal(other.get('/v2/readings?include=usual', KEYED).status, 400)
})
