/** A folder of a web server as a store: it can be read by name, and nothing else. */
import {
  DEFAULT_LIMITS,
  type GetOptions,
  type ReadableStore,
  type StoreAnswer,
  type StoreContext,
} from './store.ts'
import { statusFault, WebClient, withAttempts, type RequestFault, type WebAnswer } from './web-request.ts'

/** The answers that `StoreAnswer` describes; every other one is a fault. */
const STATUSES: ReadonlySet<number> = new Set([200, 206, 304, 404, 416])
/** A server that asks for a longer wait is left alone: the caller tries again at its own time. */
const LONGEST_RETRY_AFTER_S = 10

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
    const { attempts: most, retryFirstMs: firstPauseMs, retryLongestMs: longestPauseMs } = this.#limits
    const url = new URL(name, this.#base)
    const headers = {
      ...(range !== undefined && { range: `bytes=${range.from}-${range.to ?? ''}` }),
      ...(ifNoneMatch != null && { 'if-none-match': ifNoneMatch }),
    }
    return withAttempts(
      {
        most,
        firstPauseMs,
        longestPauseMs,
        longestRetryAfterS: LONGEST_RETRY_AFTER_S,
        random: this.#random,
        signal,
      },
      async () => {
        const answer = await this.#client.ask({ url, headers, signal, prefix: `${url.href}: ` })
        if (!STATUSES.has(answer.status)) throw faultOf(url, answer)
        if (answer.status !== 200 && answer.status !== 206) answer.body.destroy()
        return answer as StoreAnswer
      },
    )
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
