/** Records the requests of one worker: counts and times each. */
import type { Answered, Exchange, Recorder } from '../http/exchange.ts'
import { OTHER_ROUTES, type RequestCounts } from '../metrics/requests.ts'
import type { Operation } from '../answers/operation.ts'

/**
 * The routes by their ordinals, as labels: those of operations, then `OTHER_ROUTES`.
 * @param basePath as in `/v2`
 */
export function routeNames(operations: readonly Operation[], basePath: string): string[] {
  return [...operations.map(({ path }) => `${basePath}${path}`), ...OTHER_ROUTES]
}

export class RequestRecorder implements Recorder {
  readonly #counts: RequestCounts
  /** Of requests that were not routed. */
  readonly #none: number

  /** @param routes how many there are */
  constructor(counts: RequestCounts, routes: number) {
    this.#counts = counts
    this.#none = routes - OTHER_ROUTES.length + OTHER_ROUTES.indexOf('none')
  }

  begin(): number {
    return this.#counts.begin()
  }

  answered({ route, method, status, bytes }: Answered, begun: number): void {
    this.#counts.count(route < 0 ? this.#none : route, method, status, bytes, begun)
  }

  deferred({ route, method }: Exchange, begun: number): (status: number, bytes: number) => void {
    // It takes so long that being timed costs it nothing.
    const since = begun === 0 ? performance.now() : begun
    return (status, bytes) => this.#counts.count(route < 0 ? this.#none : route, method, status, bytes, since)
  }
}
