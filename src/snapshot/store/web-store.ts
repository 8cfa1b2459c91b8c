/** A folder of a web server as a store: it can be read by name, and nothing else. */
import {
  attemptsWithin,
  DEFAULT_LIMITS,
  READ_STATUSES,
  type GetOptions,
  type ReadableStore,
  type StoreAnswer,
  type StoreContext,
} from './store.ts'
import { statusFault, WebClient, withAttempts, type RequestFault, type WebAnswer } from './web-request.ts'

export class WebStore implements ReadableStore {
  readonly address: string
  readonly #base: URL
  readonly #limits: typeof DEFAULT_LIMITS
  readonly #random: () => number
  readonly #client: WebClient

  constructor(base: URL, { limits, random }: Pick<StoreContext, 'limits' | 'random'>) {
    this.address = base.href
    this.#base = base
    this.#limits = { ...DEFAULT_LIMITS, ...limits }
    this.#random = random
    this.#client = new WebClient(this.#limits)
  }

  get(name: string, { range, ifNoneMatch, signal }: GetOptions = {}): Promise<StoreAnswer> {
    const url = new URL(name, this.#base)
    const headers = {
      ...(range !== undefined && { range: `bytes=${range.from}-${range.to ?? ''}` }),
      ...(ifNoneMatch != null && { 'if-none-match': ifNoneMatch }),
    }
    return withAttempts(attemptsWithin(this.#limits, this.#random, signal), async () => {
      const answer = await this.#client.ask({ url, headers, signal, prefix: `${url.href}: ` })
      if (!READ_STATUSES.has(answer.status)) throw faultOf(url, answer)
      if (answer.status !== 200 && answer.status !== 206) answer.body.destroy()
      return answer as StoreAnswer
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
