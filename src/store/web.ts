/** A folder of a web server as a store: it can be read by name, and nothing else. */
import { asBucket } from './address.ts'
import { Calls, isPassing, retryAfterOf, type CallAnswer, type CallPlan } from './calls.ts'
import { READ_STATUSES, readHeaders, readStream, readWhole } from './reading.ts'
import {
  StoreError,
  type GetOptions,
  type Listing,
  type ReadOptions,
  type Store,
  type StoreAnswer,
  type StoreContext,
  type StoreObject,
} from './store.ts'

export class WebStore implements Store {
  readonly address: string
  readonly #base: URL
  readonly #calls: Calls

  constructor(base: URL, context: StoreContext) {
    this.address = base.href
    this.#base = base
    this.#calls = new Calls(context)
  }

  get(name: string, options: GetOptions = {}): Promise<StoreAnswer> {
    return readStream(this.#calls, this.#plan(name, options))
  }

  read(name: string, options: ReadOptions): Promise<StoreObject | 'unchanged' | null> {
    return readWhole(this.#calls, this.#plan(name, options), options.maxBytes)
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
