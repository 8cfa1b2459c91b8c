/** The requests that each case asks, and their comparison with the oracle. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BASE_PATH, type Case } from './cases.ts'
import { buoyOf, OF_ONE_BUOY, type Asked } from './asked.ts'
import type { Checker } from './check.ts'
import { LISTS } from './load.ts'
import { ownLines } from './mixture.ts'
import {
  CHECKED,
  CHECKED_BUOYS,
  COLD,
  HOT_CACHE,
  HOT_DISTINCT,
  HOT_DRAWN,
  HOT_MODES,
  wants,
} from './options.ts'
import { RawClient } from './raw.ts'
import type { Results } from './report.ts'
import type { Server } from './servers.ts'
import { seededRandom, zipfRanks } from './statistics.ts'

/** Writes a list of paths for the load generators. */
export function listFile(name: string, paths: readonly string[]): string {
  mkdirSync(LISTS, { recursive: true })
  const file = join(LISTS, `${name.replaceAll(/[^a-z0-9]+/g, '-')}.txt`)
  writeFileSync(file, paths.map((path) => `${BASE_PATH}${path}\n`).join(''))
  return file
}

/** How many distinct requests the hot server can keep the answers of. */
const keepable = (bytes: number): number =>
  Math.max(4, Math.min(HOT_DISTINCT, Math.floor((HOT_CACHE * 2 ** 20) / 3 / bytes)))

function draw(one: Case, count: number, seed: number): string[] {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => one.draw(random))
}

/** What is asked of a case. */
export interface Plan {
  one: Case
  cold: string[]
  /** Of the first of them: the product's head, and the mean length of the bodies. */
  shape: { head: string; length: number }
  /** Empty in a run that asks nothing hot. */
  hot: {
    distinct: string[]
    /** Places in `distinct`, in the order in which they are asked. */
    order: number[]
  }
}

export async function planOf(one: Case, server: Server, key: string): Promise<Plan> {
  const cold = draw(one, COLD, 7)
  const shape = await probe(server, [key], cold)
  if (HOT_MODES.length === 0 || (!wants('check') && !wants('table')))
    return { one, cold, shape, hot: { distinct: [], order: [] } }
  const distinct = [...new Set(draw(one, HOT_DISTINCT * 2, 11))].slice(0, keepable(shape.length))
  const [rank, random] = [zipfRanks(distinct.length), seededRandom(12)]
  return { one, cold, shape, hot: { distinct, order: Array.from({ length: HOT_DRAWN }, () => rank(random)) } }
}

/** Asks some of the paths one by one: a head, and the mean length of the bodies. */
export async function probe(
  server: Server,
  headers: readonly string[],
  paths: readonly string[],
): Promise<{ head: string; length: number }> {
  const client = new RawClient(server.port, headers)
  let head = ''
  let bytes = 0
  const some = paths.slice(0, 500)
  for (const path of some) {
    const reply = await client.get(BASE_PATH + path)
    if (reply.status !== 200) throw new Error(`${reply.status} to ${path}: ${reply.body.toString()}`)
    head = reply.head
    bytes += reply.body.length
  }
  client.close()
  return { head: ownLines(head), length: Math.round(bytes / some.length) }
}
/** The requests of a list that are checked. */
export function checkable({ operation }: Case, paths: readonly string[]): string[] {
  const distinct = [...new Set(paths)]
  const id = (path: string): number => (OF_ONE_BUOY.has(operation) ? buoyOf(path) : 0)
  return distinct.filter((path) => id(path) <= CHECKED_BUOYS).slice(0, CHECKED)
}

/**
 * Compares the answers to all requests of the run with those of the oracle. @throws AssertionError at the
 * first difference
 */
export async function checkPlans(
  checker: Checker,
  plans: readonly Plan[],
  server: Server,
  key: string,
): Promise<Results['checked']> {
  const client = new RawClient(server.port, [key])
  const asked = plans.flatMap(({ one, cold, hot }): Asked[] =>
    [...new Set([...checkable(one, cold), ...checkable(one, hot.distinct)])].map((path) => ({ one, path })),
  )
  const unsure = await checker.check(asked, (path) => client.get(BASE_PATH + path))
  client.close()
  return plans.map(({ one, cold, hot }) => ({
    case: one.name,
    requests: new Set([...cold, ...hot.distinct]).size,
    compared: asked.filter((request) => request.one === one).length - (unsure.get(one) ?? 0),
    unsure: unsure.get(one) ?? 0,
    kept: {},
  }))
}
