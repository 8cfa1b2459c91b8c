/** Compares a server's answers with the oracle's: values, order of keys and items, and nothing besides. */
import assert from 'node:assert/strict'
import type { Answer, Expected, Json, JsonObject } from './known.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/
const ERROR_KEYS = new Set('error message timestamp request_id details retry_after reset_at'.split(' '))
/** Characters of a difference: whole lists that are printed twice help nobody. */
const MOST_SAID = 3000

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
  const wanted = settled(expected.body, body)
  if (JSON.stringify(body) === JSON.stringify(wanted)) return
  try {
    assert.deepStrictEqual(body, wanted)
  } catch (error) {
    assert.fail(`${what}: ${(error as Error).message.slice(0, MOST_SAID)}`)
  }
  assert.fail(`${what}: keys in another order`)
}

/** What is right, in the light of what was answered. */
function settled(wanted: Expected, got: Json | undefined): Json {
  if (typeof wanted === 'function') return settled(wanted(got), got)
  if (Array.isArray(wanted)) {
    return (wanted as Expected[]).map((each, i) => settled(each, Array.isArray(got) ? got[i] : undefined))
  }
  if (typeof wanted !== 'object' || wanted === null) return wanted
  const members = (typeof got === 'object' ? got : null) as JsonObject | null
  return Object.fromEntries(Object.entries(wanted).map(([key, each]) => [key, settled(each, members?.[key])]))
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

function assertError(body: JsonObject, { body: expected, names }: Answer, what: string): void {
  assert.equal(body['error'], expected['error'], what)
  const { message } = body
  assert.ok(typeof message === 'string' && message !== '', `${what}: an error without a message`)
  assert.match(text(body['timestamp']), TIME, what)
  assert.match(text(body['request_id']), UUID, what)
  const named = names.length === 0 || names.some((name) => message.includes(name))
  assert.ok(named, `${what}: "${message}" names none of ${names.join(', ')}`)
  for (const key of Object.keys(body)) assert.ok(ERROR_KEYS.has(key), `${what}: ${key} in an error`)
}
