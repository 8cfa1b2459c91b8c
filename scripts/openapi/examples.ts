/**
 * The answers that the documentation shows as examples: those of a server over the demo data to its requests.
 */
import { setTimeout as wait } from 'node:timers/promises'
import {
  EXAMPLES_AS_OF,
  EXAMPLES_REQUEST_ID,
  OPERATION_TEXTS,
  REFUSED,
  refusalKey,
  type ExampleAnswers,
  type Refused,
} from '../../src/openapi/operations.ts'
import { issueKey } from '../../src/access/keys.ts'
import type { Live } from '../live_server.ts'

/** The snapshot that the examples come from. */
export const EXAMPLES_SOURCE = ['--source', 'demo', '--as-of', EXAMPLES_AS_OF]

/** Seconds to the end of the hour that the documentation's 429 shows. */
const RETRY_AFTER_S = 1800
/** The server sees a new key within a second; on a busy machine that may take longer. */
const KEY_SEEN_MS = 300_000
const LOOK_MS = 100

/** Asks `path`, below the base path, with a key or without one. */
export type Get = (
  path: string,
  key: string | null,
  headers: { [name: string]: string },
) => Promise<{ status: number; text: string }>

/**
 * The answer to each request of the documentation, by request. `live` serves `EXAMPLES_SOURCE`.
 * @throws Error when an answer has another status than the documentation says
 */
export async function exampleAnswers(live: Live, get: Get): Promise<ExampleAnswers> {
  const keys = { good: live.key, none: null, wrong: 'wrong', 'used-up': await usedUpKey(live, get) }
  const answers: { [request: string]: unknown } = {}
  const answerOf = async (request: string, status: number, key: keyof typeof keys): Promise<unknown> => {
    const path = request.replaceAll(/[{}":]/g, encodeURIComponent)
    const answer = await get(path, keys[key], { 'x-request-id': EXAMPLES_REQUEST_ID })
    if (answer.status !== status) {
      throw new Error(`${request} gave ${answer.status} instead of ${status}: ${answer.text.slice(0, 300)}`)
    }
    return atFixedTime(JSON.parse(answer.text))
  }
  for (const request of Object.values(OPERATION_TEXTS).flatMap((texts) => Object.values(texts.examples))) {
    answers[request] = await answerOf(request, 200, 'good')
  }
  for (const refused of REFUSED) {
    answers[refusalKey(refused)] = await answerOf(refused.request, refused.status, keyOf(refused))
  }
  return answers
}

const keyOf = ({ key }: Refused): 'good' | 'none' | 'wrong' | 'used-up' => key ?? 'good'

/** Times of the clock become those of the examples; everything else stays as the server answered it. */
function atFixedTime(body: unknown): unknown {
  const answer = body as { [key: string]: unknown; meta?: { [key: string]: unknown } }
  if (answer.meta !== undefined) answer.meta.timestamp = EXAMPLES_AS_OF
  if (answer.timestamp !== undefined) answer.timestamp = EXAMPLES_AS_OF
  if (answer.retry_after !== undefined) {
    answer.retry_after = RETRY_AFTER_S
    const resetAt = new Date(Date.parse(EXAMPLES_AS_OF) + RETRY_AFTER_S * 1000)
    answer.reset_at = resetAt.toISOString().replace('.000Z', 'Z')
  }
  return answer
}

/** A key of one call an hour that is spent. */
async function usedUpKey(live: Live, get: Get): Promise<string> {
  const { key } = issueKey(live.keysFile, { owner: 'spent', quota: 1, now: Date.now() / 1000 })
  const deadline = Date.now() + KEY_SEEN_MS
  while ((await get('/countries', key, {})).status !== 429) {
    if (Date.now() > deadline) throw new Error('the server never saw the new key')
    await wait(LOOK_MS)
  }
  return key
}
