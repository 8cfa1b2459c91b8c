/** A folder of a web server as a store: it can be read by name, and nothing else. */
import {
  DEFAULT_LIMITS,
  type GetOptions,
  type ReadableStore,
  type StoreContext,
  type StoreStream,
} from './store.ts'
import { statusFault, WebClient, withAttempts, type RequestFault, type WebAnswer } from './web-request.ts'

export class WebStore implements ReadableStore {
  readonly address: string
  readonly #base: URL
  readonly #attempts: number
  readonly #random: () => number
  readonly #client: WebClient

  constructor(base: URL, { limits, random }: Pick<StoreContext, 'limits' | 'random'>) {
    this.address = base.href
    this.#base = base
    const { attempts, ...bounds } = { ...DEFAULT_LIMITS, ...limits }
    this.#attempts = attempts
    this.#random = random
    this.#client = new WebClient(bounds)
  }

  get(name: string, { ifNoneMatch, signal }: GetOptions = {}): Promise<StoreStream | 'unchanged' | null> {
    const url = new URL(name, this.#base)
    const headers = ifNoneMatch == null ? {} : { 'if-none-match': ifNoneMatch }
    return withAttempts({ most: this.#attempts, random: this.#random, signal }, async () => {
      const answer = await this.#client.ask({ url, headers, signal, prefix: `${url.href}: ` })
      const { status, headers: told, body } = answer
      if (status === 200) {
        const modified = Date.parse(told['last-modified'] ?? '') / 1000
        return { etag: told.etag ?? null, modified: Number.isNaN(modified) ? null : modified, body }
      }
      body.destroy()
      if (status === 404) return null
      if (status === 304 && ifNoneMatch != null) return 'unchanged'
      throw faultOf(url, answer)
    })
  }

  close(): Promise<void> {
    this.#client.close()
    return Promise.resolve()
  }
}

function faultOf(url: URL, answer: WebAnswer): RequestFault {
  const { status, headers } = answer
  if (status === 401 || status === 403) {
    return statusFault(`${url.href}: the web server refuses access (${status})`, answer)
  }
  if (status >= 300 && status < 400) {
    const location = headers.location ?? ''
    const to = URL.canParse(location, url.href) ? new URL(location, url) : null
    const where = to === null || to.username !== '' ? '' : ` to ${to.origin}${to.pathname}`
    return statusFault(
      `${url.href}: the web server redirects (${status})${where}; name the address that it redirects to`,
      answer,
    )
  }
  return statusFault(`${url.href}: the web server answered ${status}`, answer)
}
