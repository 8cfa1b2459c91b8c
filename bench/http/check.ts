/**
 * Before anything is measured: does the server answer what the oracle, a second and naive implementation,
 * answers?
 */
import assert from 'node:assert/strict'
import { assertAnswer } from '../../test/oracle/compare.ts'
import { makeOracle, type JsonObject, type Operation, type Question } from '../../test/oracle/oracle.ts'
import { BASE_PATH, type Case } from './cases.ts'
import type { Server } from './servers.ts'
import type { BenchWorld } from './world.ts'

/** Requests of a case that are compared. */
const COMPARED = 40
/** Operations that read the rows of one buoy. */
const OF_ONE_BUOY = new Set<string>(['readings', 'readings_search', 'reading', 'chart', 'series'])
const OF_PASSES = ['pass_id', 'satellite_pass_id', 'external_id', 'pass_name', 'pass_platform']

export interface Reply {
  status: number
  /** Status line and headers without those that the engine writes itself. */
  head: string
  text: string
}

export async function get(server: Server, path: string, key: string): Promise<Reply> {
  const reply = await fetch(`http://127.0.0.1:${server.port}${BASE_PATH}${path}`, {
    headers: { authorization: key.slice(key.indexOf(' ') + 1), 'accept-encoding': 'identity' },
  })
  const lines = [...reply.headers].filter(
    ([name]) => !/^(content-length|date|connection|keep-alive)$/.test(name),
  )
  const head = [`${reply.status} ${reply.statusText}`, ...lines.map(([name, value]) => `${name}: ${value}`)]
  return { status: reply.status, head: head.join('\r\n'), text: await reply.text() }
}

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

/**
 * Compares answers to some of a case's paths. The oracle knows all rows of some buoys, and no passes,
 * forecasts and tides. @throws AssertionError at the first difference
 * @returns how many answers were compared
 */
export async function checkCase(
  { world, checked }: BenchWorld,
  { operation }: Case,
  paths: readonly string[],
  server: Server,
  key: string,
): Promise<number> {
  if (operation === null) return 0
  const oracle = makeOracle(world)
  const known = (path: string): boolean =>
    !OF_ONE_BUOY.has(operation) || checked.has(Number(path.split('/')[2]))
  let compared = 0
  for (const path of [...new Set(paths)].filter(known).slice(0, COMPARED)) {
    const { status, text } = await get(server, path, key)
    const answer = oracle(questionOf(operation, path))
    if (answer.unsure !== null) continue
    if (operation === 'chart' && hasHours(text)) continue
    assertAnswer({ status, text: operation === 'map' ? withoutPasses(text) : text }, answer, path)
    compared++
  }
  return compared
}

/** Whether a chart has hours of a forecast or a tide. */
function hasHours(text: string): boolean {
  const { data } = JSON.parse(text) as { data: { [array: string]: unknown[] } }
  return [...data['forecast_wave_height'], ...data['tide_level']].some((value) => value !== null)
}

function withoutPasses(text: string): string {
  const body = JSON.parse(text) as { data: { buoys: JsonObject[] } }
  for (const buoy of body.data.buoys) {
    if (buoy['virtual'] === true) for (const name of OF_PASSES) buoy[name] = null
  }
  return JSON.stringify(body)
}

/** Two answers are the same bytes but for the second at which they were given. @throws AssertionError */
export function assertSame(a: Reply, b: Reply, path: string): void {
  const timeless = ({ text }: Reply): string => text.replace(/"timestamp":"[^"]*"/, '')
  assert.equal(a.status, b.status, path)
  assert.ok(timeless(a) === timeless(b), `${path}: a kept answer is not the fresh one`)
}
