/** Reading an object by `GET`, the same from a bucket as from a web server. */
import { wholeBody, type CallAnswer, type CallPlan, type Calls } from './calls.ts'
import type { GetOptions, StoreAnswer, StoreObject } from './store.ts'

/** The answers that `StoreAnswer` describes; every other one is a fault. */
export const READ_STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 404, 416])

/**
 * The headers of a request that reads. Without compression: an ETag and a range are of the bytes themselves.
 */
export function readHeaders({ range, ifNoneMatch }: GetOptions): { [name: string]: string } {
  return {
    'accept-encoding': 'identity',
    ...(range !== undefined && { range: `bytes=${range.from}-${range.to ?? ''}` }),
    ...(ifNoneMatch != null && { 'if-none-match': ifNoneMatch }),
  }
}

/** An object as a stream. @throws StoreError */
export async function readStream(calls: Calls, plan: CallPlan): Promise<StoreAnswer> {
  return readAnswer(await calls.answer(plan))
}

/**
 * A small object as a whole; null where there is none, `'unchanged'` where it still has the ETag.
 * @throws StoreError also for more than `maxBytes`, and where the bytes break off
 */
export function readWhole(
  calls: Calls,
  plan: CallPlan,
  maxBytes: number,
): Promise<StoreObject | 'unchanged' | null> {
  return calls.attempt(plan, async (answer) => {
    const { status, headers, body } = readAnswer(answer)
    if (status === 404) return null
    if (status === 304) return 'unchanged'
    const bytes = await wholeBody(plan.what, { status, headers, body }, maxBytes)
    return { bytes, etag: headers.etag ?? null }
  })
}

/** What a call answered, its body only where it is the object's. */
function readAnswer(answer: CallAnswer): StoreAnswer {
  const { status, headers, body } = answer
  // A body of a few bytes leaves the connection to the next call.
  if (status !== 200 && status !== 206) body.resume()
  return { status: status as StoreAnswer['status'], headers, body }
}
