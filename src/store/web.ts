/** A folder of a web server as a store: it can be read by name, and nothing else. */
import { Calls, isPassing, retryAfterOf, wholeBody, type CallAnswer, type CallPlan } from './calls.ts'
import { asBucket } from './address.ts'
import {
  StoreError,
  type GetOptions,
  type Listing,
  type Store,
  type StoreAnswer,
  type StoreContext,
  type StoreObject,
} from './store.ts'

export const READ_STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 404, 416])

export class WebStore implements Store {
  readonly address: string
  readonly #base: URL
  readonly #calls: Calls

  constructor(base: URL, context: StoreContext) {
    this.address = base.href
    this.#base = base
    this.#calls = new Calls(context)
  }

  async get(name: string, options: GetOptions = {}): Promise<StoreAnswer> {
    return readAnswer(await this.#calls.answer(this.#plan(name, options)))
  }

  async read(
    name: string,
    {
      maxBytes,
      ...options
    }: { maxBytes: number; ifNoneMatch?: string | null; signal?: AbortSignal | undefined },
  ): Promise<StoreObject | 'unchanged' | null> {
    const plan = this.#plan(name, options)
    return this.#calls.attempt(plan, (answer) => wholeObject(plan.what, readAnswer(answer), maxBytes))
  }

  put(): Promise<never> {
    return Promise.reject(WebStore.readOnly(this.#base))
  }

  list(): Promise<Listing> {
    return Promise.reject(WebStore.readOnly(this.#base))
  }

  remove(): Promise<never> {
    return Promise.reject(WebStore.readOnly(this.#base))
  }

  close(): Promise<void> {
    return this.#calls.close()
  }

  /** The fault of writing to a web server. */
  static readOnly(base: URL): StoreError {
    const bucket = asBucket(base)
    return new StoreError(
      `${base.href}: a web server can be read and not written to${bucket === null ? '; expected s3://BUCKET/PREFIX' : `, did you mean "${bucket}"?`}`,
    )
  }

  #plan(name: string, options: GetOptions): CallPlan {
    const url = new URL(name, this.#base)
    return {
      what: url.href,
      make: () => Promise.resolve({ method: 'GET', url, headers: readHeaders(options) }),
      accepted: READ_STATUSES,
      faultOf: (answer) => this.#faultOf(url, answer),
      signal: options.signal,
    }
  }

  #faultOf(url: URL, answer: CallAnswer): StoreError {
    const { status, headers } = answer
    const fault = { status, passing: isPassing(status), retryAfter: retryAfterOf(answer) }
    if (status === 401 || status === 403) {
      return new StoreError(`${url.href}: the web server refuses access (${status})`, fault)
    }
    if (status >= 300 && status < 400) {
      const location = headers.location ?? ''
      const to = URL.canParse(location, url.href) ? new URL(location, url) : null
      const where = to === null || to.username !== '' ? '' : ` to ${to.origin}${to.pathname}`
      return new StoreError(
        `${url.href}: the web server redirects (${status})${where}; name the address that it redirects to`,
        fault,
      )
    }
    return new StoreError(`${url.href}: the web server answered ${status}`, fault)
  }
}

/** The headers of a request that reads. Without compression: an ETag and a range are of the bytes themselves. */
export function readHeaders({ range, ifNoneMatch }: GetOptions): { [name: string]: string } {
  return {
    'accept-encoding': 'identity',
    ...(range !== undefined && { range: `bytes=${range.from}-${range.to ?? ''}` }),
    ...(ifNoneMatch != null && { 'if-none-match': ifNoneMatch }),
  }
}

/** What a call answered, its body only where it is the object's. */
export function readAnswer(answer: CallAnswer): StoreAnswer {
  const { status, headers, body } = answer
  // A body of a few bytes leaves the connection to the next call.
  if (status !== 200 && status !== 206) body.resume()
  return { status: status as StoreAnswer['status'], headers, body }
}

/** @throws StoreError for more than `maxBytes`, and where the bytes break off */
export async function wholeObject(
  what: string,
  { status, headers, body }: StoreAnswer,
  maxBytes: number,
): Promise<StoreObject | 'unchanged' | null> {
  if (status === 404) return null
  if (status === 304) return 'unchanged'
  const bytes = await wholeBody(what, { status, headers, body }, maxBytes)
  return { bytes, etag: headers.etag ?? null }
}
