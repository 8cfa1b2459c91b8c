/** The API as a tool asks it: within bounds of time and bytes; its errors say what to do. */
import type { ErrorAnswer, RateLimitAnswer } from '../../clients/typescript/groundswell.ts'
import { timestampText } from '../sea/time.ts'

/** Ten years of readings as CSV take a few seconds. */
const ANSWER_MS = 30_000
/** Ten years of readings every ten minutes are 30 MB of CSV. */
const MOST_BYTES = 32 * 2 ** 20
/** Characters of a text that comes from a source or a server. */
const LONGEST_TEXT = 500
/** With a smaller share of its quota left, an answer advises to ask less. */
const LOW_QUOTA = 0.1
const OK = 200

/** A call that the assistant has to make in another way, which the message names. */
export class AdviceError extends Error {}

/** A text of others as one line without control characters. */
export function plainText(text: string): string {
  const line = text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length > LONGEST_TEXT ? `${line.slice(0, LONGEST_TEXT)} …` : line
}

/** An answer of the API, with any status. */
export interface ApiAnswer {
  readonly status: number
  readonly header: (name: string) => string | null
  readonly text: string
}

/** An API, and who asks it. */
export interface Api {
  /** Its address, for messages. */
  readonly name: string
  /** A sentence for users without a key: how to get one. */
  readonly keyAdvice: string
  /** @param target a path below the address, with a query @throws AdviceError, and the reason of an abort */
  ask(target: string, signal: AbortSignal): Promise<ApiAnswer>
}

/** An API at an address. @param base of the operations, without a slash at its end */
export function apiAt(base: string, key: string | null): Api {
  const headers: { [name: string]: string } = key === null ? {} : { Authorization: `Bearer ${key}` }
  return {
    name: base,
    keyAdvice: 'The user has to set GROUNDSWELL_KEY; without a key only find_buoys answers.',
    async ask(target, signal) {
      try {
        // A redirect could lead the key elsewhere.
        const answer = await fetch(base + target, { headers, signal, redirect: 'manual' })
        const chunks: Uint8Array[] = []
        let bytes = 0
        for await (const chunk of answer.body ?? []) {
          bytes += chunk.length
          if (bytes > MOST_BYTES) throw new AdviceError(TOO_LONG)
          chunks.push(chunk)
        }
        const text = Buffer.concat(chunks).toString('utf8')
        return { status: answer.status, header: (name) => answer.headers.get(name), text }
      } catch (error) {
        if (error instanceof AdviceError || signal.aborted) throw error
        const { name, cause } = error as Error & { cause?: NodeJS.ErrnoException }
        throw new AdviceError(
          `No API answers at ${base} (${cause?.code ?? name}): it has to be started, or this program needs another --url.`,
        )
      }
    },
  }
}

export const TOO_LONG = 'The answer is too long: ask for a shorter range.'

type Parameters = { readonly [name: string]: string | number | undefined }

/** One call of a tool. All that it asks is answered from one snapshot. */
export class ToolCall {
  readonly #api: Api
  readonly #signal: AbortSignal
  /** Null before the first answer. */
  snapshot: string | null = null
  isDemo = false
  /** Advice about the quota; null while enough is left. */
  quotaAdvice: string | null = null

  /** @param signal ends the call */
  constructor(api: Api, signal: AbortSignal) {
    this.#api = api
    this.#signal = signal
  }

  /** The `data` of an answer in JSON. @throws AdviceError, and the reason of an abort */
  async data<Answer extends { data: unknown }>(
    path: string,
    parameters: Parameters,
  ): Promise<Answer['data']> {
    const text = await this.text(path, parameters)
    const plain = (_: string, value: unknown): unknown =>
      typeof value === 'string' ? plainText(value) : value
    return (JSON.parse(text, plain) as Answer).data
  }

  /** The text of an answer. Parameters that are undefined are not sent. @throws as `data` */
  async text(path: string, parameters: Parameters): Promise<string> {
    const query = new URLSearchParams()
    const given: Parameters = { ...parameters, snapshot: this.snapshot ?? undefined }
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) query.set(name, String(value))
    }
    const late = AbortSignal.timeout(ANSWER_MS)
    try {
      const signal = AbortSignal.any([this.#signal, late])
      return this.#textOf(await this.#api.ask(`${path}?${query.toString()}`, signal))
    } catch (error) {
      if (this.#signal.aborted || !late.aborted) throw error
      throw new AdviceError(
        `The API did not answer within ${ANSWER_MS / 1000} s: ask for a shorter range, or again later.`,
      )
    }
  }

  #textOf({ status, header, text }: ApiAnswer): string {
    if (status !== OK) throw new AdviceError(this.#adviceOf(status, text))
    this.snapshot = header('X-Snapshot-Id')
    if (this.snapshot === null) throw new AdviceError(this.#foreign(status))
    this.isDemo = header('X-Demo') === 'true'
    const of = (name: string): number => Number(header(`X-RateLimit-${name}`) ?? NaN)
    if (of('Remaining') < of('Limit') * LOW_QUOTA)
      this.quotaAdvice = `Of ${of('Limit')} calls ${of('Remaining')} are left until ${timestampText(of('Reset'))}: ask only what is needed.`
    return text
  }

  #foreign(status: number): string {
    return `${this.#api.name} answers (${status}), but not as groundswell does: this program needs another --url.`
  }

  /** Advice after an answer that is not a success. */
  #adviceOf(status: number, text: string): string {
    let body: Partial<ErrorAnswer & RateLimitAnswer> | null
    try {
      body = JSON.parse(text) as typeof body
    } catch {
      body = null
    }
    if (typeof body?.message !== 'string') return this.#foreign(status)
    const said = plainText(body.message)
    const meant = body.details?.did_you_mean
    if (status === 401) return `${said}. ${this.#api.keyAdvice}`
    if (status === 429) return `${said}. Ask again in ${body.retry_after} seconds, at ${body.reset_at}.`
    if (status === 410) return 'The data changed while this was asked: ask again.'
    if (status >= 500) return `${said}. Ask again in a minute.`
    if (status !== 404) return said
    return `${said}. ${meant === undefined ? 'find_buoys finds buoys and their ids' : `Did you mean "${plainText(meant)}"`}.`
  }
}
