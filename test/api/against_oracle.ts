/**
 * A server over a made-up world, and the one question asked of it thousands of times: do you answer as the
 * oracle does?
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import * as fc from 'fast-check'
import { Client, startLive, temporaryFolder } from '../live.ts'
import { assertAnswer } from '../oracle/compare.ts'
import { makeOracle, type Operation } from '../oracle/oracle.ts'
import { requestsFor, type ApiRequest } from '../oracle/requests.ts'
import { makeWorld, writeCsv } from '../oracle/world.ts'

/** Failing runs print their seed; GROUNDSWELL_SEED repeats one, or tries another. */
const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_260_327)

export interface Rehearsal {
  /** Sends `runs` generated requests of an operation and compares every answer. */
  compare: (operation: Operation, runs: number) => Promise<void>
}

/** Builds the world's snapshot, serves it, and gives back the comparison. */
export async function rehearse(t: TestContext): Promise<Rehearsal> {
  const world = makeWorld(SEED)
  const folder = join(temporaryFolder(t), 'world')
  writeCsv(world, folder)
  const live = await startLive(t, { sourceArgs: ['--source', `csv:${folder}`] })
  const client = new Client(live)
  t.after(() => client.close())
  const oracle = makeOracle(world)
  const requests = requestsFor(world)

  let asked = 0
  const check = async (request: ApiRequest): Promise<boolean> => {
    const answer = oracle(request.question)
    const reply = await client.get(request.url)
    if (answer.unsure !== null) {
      assert.ok(reply.status === 200 || reply.status === 404, request.url)
      return false
    }
    const what = request.url.slice(0, 500)
    assertAnswer(reply, answer, what)
    // The second answer may come out of a cache, or from the other worker.
    if (asked++ % 3 === 0) assertAnswer(await client.get(request.url), answer, `again ${what}`)
    return true
  }

  return {
    async compare(operation, runs) {
      let unsure = 0
      const property = fc.asyncProperty(requests[operation], async (request) => {
        if (!(await check(request))) unsure++
      })
      await fc.assert(property, { numRuns: runs, seed: SEED, includeErrorInReport: true })
      // An oracle that looks away too often proves nothing.
      assert.ok(unsure <= runs * 0.03, `${unsure} of ${runs} answers could not be compared`)
    },
  }
}
