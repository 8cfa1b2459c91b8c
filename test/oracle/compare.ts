/** Compares a server's answers with the oracle's: values, order of keys and items, and nothing besides. */
import assert from 'node:assert/strict'
import { TIMESTAMP } from './oracle.ts'
import type { Answer, Json, JsonObject, Ranked } from './oracle.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/
const ERROR_KEYS = new Set([
  'error',
  'message',
  'timestamp',
  'request_id',
  'details',
  'retry_after',
  'reset_at',
])
/** Characters of a difference: whole lists that are printed twice help nobody. */
const MOST_SAID = 3000
/** Two ways to compute a great circle agree to this, in km. */
const SAME_KM = 1e-6

export interface Got {
  status: number
  text: string
}

/** @throws AssertionError at the first difference; `what` says which request it was. */
export function assertAnswer(got: Got, expected: Answer, what: string): void {
  const body = parsed(got.text, what)
  assert.equal(got.status, expected.status, `${what}: ${got.text.slice(0, 400)}`)
  if (expected.status >= 400) {
    assertError(body, expected, what)
    return
  }
  assertTimestamp(body, what)
  const wanted = structuredClone(expected.body)
  if (expected.ranking !== null) adoptOrder(wanted, body, expected.ranking, what)
  adoptTies(wanted, body, expected.either)
  assertFields(wanted, body, what)
  if (JSON.stringify(body) === JSON.stringify(wanted)) return
  try {
    assert.deepStrictEqual(body, wanted)
  } catch (error) {
    assert.fail(`${what}: ${(error as Error).message.slice(0, MOST_SAID)}`)
  }
  assert.fail(`${what}: keys in another order`)
}

/** A text as it is, anything else as something that matches no pattern. */
const text = (value: Json | undefined) => (typeof value === 'string' ? value : 'no text')

function parsed(json: string, what: string): JsonObject {
  try {
    return JSON.parse(json) as JsonObject
  } catch {
    return assert.fail(`${what}: no JSON: ${json.slice(0, 400)}`)
  }
}

function assertError(body: JsonObject, expected: Answer, what: string): void {
  assert.equal(body['error'], expected.body['error'], what)
  const { message } = body
  assert.ok(typeof message === 'string' && message !== '', `${what}: an error without a message`)
  assert.match(text(body['timestamp']), TIME, what)
  assert.match(text(body['request_id']), UUID, what)
  const { names } = expected
  const named = names.length === 0 || names.some((name) => message.includes(name))
  assert.ok(named, `${what}: "${message}" names none of ${names.join(', ')}`)
  for (const key of Object.keys(body)) assert.ok(ERROR_KEYS.has(key), `${what}: ${key} in an error`)
}

function assertTimestamp(body: JsonObject, what: string): void {
  const meta = body['meta'] as JsonObject
  assert.match(text(meta?.['timestamp']), TIME, what)
  const age = Math.abs(Date.now() - Date.parse(text(meta['timestamp'])))
  assert.ok(age < 30_000, `${what}: meta.timestamp is not now`)
  meta['timestamp'] = TIMESTAMP
}

/**
 * Points equally far away may stand in either order, unless they are one point: then the lower id comes
 * first.
 */
function adoptOrder(wanted: JsonObject, body: JsonObject, ranking: Ranked[], what: string): void {
  const data = wanted['data'] as JsonObject
  const gotData = body['data'] as JsonObject
  const many = Array.isArray(data['buoys'])
  const got = (many ? gotData['buoys'] : [gotData['buoy']]) as JsonObject[]
  if (!Array.isArray(got)) return
  const chosen: Json[] = []
  const seen = new Set<number>()
  for (const [index, item] of got.entries()) {
    const place = ranking[index]
    const mine = ranking.find((entry) => entry.id === item?.['id'])
    if (place === undefined || mine === undefined || Math.abs(place.km - mine.km) > SAME_KM) return
    const before = ranking.find((entry) => entry.place === mine.place && !seen.has(entry.id))
    assert.equal(before?.id, mine.id, `${what}: buoys at one place are not in the order of their ids`)
    seen.add(mine.id)
    chosen.push(mine.item)
  }
  if (many && chosen.length === (data['buoys'] as Json[]).length) data['buoys'] = chosen
  else if (!many) data['buoy'] = chosen[0] ?? null
}

/** On a rounding tie of a circular mean both neighbours are right. */
function adoptTies(wanted: JsonObject, body: JsonObject, either: Map<string, number>): void {
  if (either.size === 0) return
  const years = (data: JsonObject) => data['years'] as { year: number; points: JsonObject[] }[]
  const got = years(body['data'] as JsonObject)
  for (const { year, points } of years(wanted['data'] as JsonObject)) {
    const gotPoints = got?.find((one) => one.year === year)?.points ?? []
    for (const one of points) {
      const other = either.get(`${year}/${one['bucket_index'] as number}`)
      const same = gotPoints.find((candidate) => candidate['bucket_index'] === one['bucket_index'])
      if (other !== undefined && same?.['value'] === other) one['value'] = other
    }
  }
}

/** `fields` of a chart is text for people: that each array is described is enough. */
function assertFields(wanted: JsonObject, body: JsonObject, what: string): void {
  const data = body['data'] as JsonObject
  if (!('fields' in (wanted['data'] as JsonObject))) return
  const fields = data['fields'] as { [array: string]: JsonObject }
  for (const array of [
    'significant_height',
    'maximum_height',
    'period',
    'forecast_wave_height',
    'tide_level',
  ]) {
    assert.equal(typeof fields?.[array]?.['label'], 'string', `${what}: fields.${array}.label`)
    assert.equal(typeof fields?.[array]?.['unit'], 'string', `${what}: fields.${array}.unit`)
  }
  data['fields'] = {}
}
