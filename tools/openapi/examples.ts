/**
 * The answers that the documentation shows as examples: those of a server over the demo data to its requests.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { parquetMetadata, parquetReadObjects, parquetSchema } from 'hyparquet'
import {
  EXAMPLES_AS_OF,
  EXAMPLES_REQUEST_ID,
  exampleRequests,
  REFUSED,
  refusalKey,
  type ExampleAnswers,
  type Refused,
} from '../../src/openapi/operation-texts.ts'
import { issueKey } from '../../src/access/keys-file.ts'
import type { Format } from '../../src/operation/shape.ts'
import { OPERATIONS } from '../../src/routes.ts'
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
) => Promise<{ status: number; bytes: Uint8Array }>

/**
 * The answer to each request of the documentation, by request. `live` serves `EXAMPLES_SOURCE`.
 * @throws Error when an answer has another status than the documentation says
 */
export async function exampleAnswers(live: Live, get: Get): Promise<ExampleAnswers> {
  const keys = { good: live.key, none: null, wrong: 'wrong', 'used-up': await usedUpKey(live, get) }
  const answers: { [request: string]: unknown } = {}
  const answerOf = async (
    request: string,
    status: number,
    key: keyof typeof keys,
    format: Format,
  ): Promise<unknown> => {
    const path = request.replaceAll(/[{}":]/g, encodeURIComponent)
    const answer = await get(path, keys[key], { 'x-request-id': EXAMPLES_REQUEST_ID })
    const text = new TextDecoder().decode(answer.bytes)
    if (answer.status !== status) {
      throw new Error(`${request} gave ${answer.status} instead of ${status}: ${text.slice(0, 300)}`)
    }
    if (format === 'parquet') return parquetText(answer.bytes)
    return format === 'json' || format === 'geojson' ? atFixedTime(JSON.parse(text)) : text
  }
  for (const operation of OPERATIONS) {
    for (const format of operation.tables?.formats ?? (['json'] as const)) {
      for (const { request } of exampleRequests(operation, format)) {
        answers[request] = await answerOf(request, 200, 'good', format)
      }
    }
  }
  for (const refused of REFUSED) {
    answers[refusalKey(refused)] = await answerOf(refused.request, refused.status, keyOf(refused), 'json')
  }
  return answers
}

/** What readers show of a file: a line for each column, its type and its values, then the file's metadata. */
async function parquetText(bytes: Uint8Array): Promise<string> {
  const file = new Uint8Array(bytes).buffer
  const metadata = parquetMetadata(file)
  const rows = await parquetReadObjects({ file })
  const lines = parquetSchema(metadata).children.map(({ element: { name, type, logical_type: logical } }) => {
    const values = rows.map((row) => {
      const value: unknown = row[name]
      return value instanceof Date ? value.toISOString() : String(value)
    })
    return [name, logical?.type ?? String(type), ...values].join(' | ')
  })
  const more = metadata.key_value_metadata?.map(({ key, value }) => `${key}: ${value}`) ?? []
  return [
    `A binary file with ${rows.length} rows. Its columns, with their types and values:`,
    '',
    ...lines,
    '',
    'Metadata of the file:',
    '',
    ...more,
    '',
  ].join('\n')
}

const keyOf = ({ key }: Refused): 'good' | 'none' | 'wrong' | 'used-up' => key ?? 'good'

/** Times of the clock become those of the examples; everything else stays as the server answered it. */
function atFixedTime(body: unknown): unknown {
  const answer = body as { [key: string]: unknown; meta?: { [key: string]: unknown } }
  if (answer.meta?.timestamp !== undefined) answer.meta.timestamp = EXAMPLES_AS_OF
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
