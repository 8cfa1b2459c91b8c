/** Texts and example requests of operations (`operation-texts.json`), and their answers (`examples.json`). */
import type { Declared } from '../operation/operation.ts'
import type { Format } from '../operation/shape.ts'
import EXAMPLES from './examples.json' with { type: 'json' }
import TEXTS from './operation-texts.json' with { type: 'json' }

/** Time of the demo snapshot and of its answers in the examples: `AS_OF` in requests. */
export const EXAMPLES_AS_OF = '2026-11-01T06:00:00Z'
/** Id of the demo snapshot, which changes with the demo data: `SNAPSHOT` in requests. */
const EXAMPLES_SNAPSHOT = '2fa22e07feec41162baf62e5'
export const EXAMPLES_REQUEST_ID = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff'

export const TAGS: { readonly [tag: string]: string } = TEXTS.tags

export const PATH_PARAMETERS: { readonly [name: string]: { description: string; example: string } } =
  TEXTS.pathParameters

interface OperationTexts {
  tag: string
  /** Markdown. */
  description: string
  /** Requests below the base path, the simplest first, by a word for the documentation's list. */
  examples: { readonly [word: string]: string }
}

export const OPERATION_TEXTS: { readonly [operation: string]: OperationTexts } = Object.fromEntries(
  Object.entries(TEXTS.operations).map(([name, { examples, ...texts }]) => [
    name,
    {
      ...texts,
      examples: Object.fromEntries(
        Object.entries(examples).map(([word, request]) => [
          word,
          request.replace('AS_OF', EXAMPLES_AS_OF).replace('SNAPSHOT', EXAMPLES_SNAPSHOT),
        ]),
      ),
    },
  ]),
)

/** Texts of a stream, by a word for the documentation's list. */
export const STREAM_EXAMPLES: { readonly [word: string]: string } = {
  begin: `retry: 5000\n\nevent: snapshot\nid: ${EXAMPLES_SNAPSHOT}\ndata: {"snapshot":"${EXAMPLES_SNAPSHOT}","as_of":"${EXAMPLES_AS_OF}","since":null,"changes":null}\n\n`,
  later: `event: snapshot\nid: ${EXAMPLES_SNAPSHOT}\ndata: {"snapshot":"${EXAMPLES_SNAPSHOT}","as_of":"${EXAMPLES_AS_OF}","since":"0123456789abcdef01234567","changes":{"buoys":{"added":0,"changed":2,"removed":0},"readings":{"added":2,"changed":0,"removed":0},"passes":false,"forecast":true}}\n\n`,
}

export interface Refused {
  status: 400 | 401 | 404 | 410 | 422 | 429
  word: string
  request: string
  /** The request carries this instead of a valid key. */
  key?: 'none' | 'wrong' | 'used-up'
}

/** Requests that are refused, by a word for the documentation's list. */
export const REFUSED = TEXTS.refused as readonly Refused[]

/** Bodies by request, of refusals by `refusalKey`. Parquet is a table of its content, CSV a text. */
export type ExampleAnswers = { readonly [request: string]: unknown }

/** Written by `npm run openapi`; a test checks that a server over the demo still answers so. */
export const EXAMPLE_ANSWERS: ExampleAnswers = EXAMPLES

interface ExampleRequest {
  word: string
  request: string
}

/** The example requests of a format: all requests of JSON, and the first in another. */
export function exampleRequests({ name }: Declared, format: Format): ExampleRequest[] {
  const requests = Object.entries(OPERATION_TEXTS[name].examples).map(([word, request]) => ({
    word,
    request,
  }))
  if (format === 'json') return requests
  return requests.slice(0, 1).map(({ word, request }) => ({
    word,
    request: `${request}${request.includes('?') ? '&' : '?'}format=${format}`,
  }))
}

/** The key of a refusal among the examples: one request may be refused in several ways. */
export function refusalKey({ status, request, word }: Refused): string {
  return `${status} ${word} ${request}`
}
