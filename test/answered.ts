/** Requests put straight to the request path of one thread, over a real snapshot and without a socket. */
import { createHash } from 'node:crypto'
import { TrustedProxies } from '../src/addresses.ts'
import { openDataset } from '../src/dataset.ts'
import { headText, type Exchange, type HeaderName } from '../src/http/exchange.ts'
import { KeyRing } from '../src/keys.ts'
import type { View } from '../src/operation.ts'
import { QuotaCounters } from '../src/quota.ts'
import { RequestPath, type RequestPathOptions } from '../src/request.ts'
import { OPERATIONS } from '../src/routes.ts'
import { renderShapes } from '../src/shapes.ts'
import { loadSnapshot } from '../src/snapshot/read.ts'
import { finish } from '../src/steps.ts'
import { Totals } from '../src/totals.ts'

/** A snapshot of a folder as a worker serves it. */
export async function viewOf(snapshots: string): Promise<View> {
  const dataset = finish(openDataset(await loadSnapshot(snapshots), 86400))
  return { dataset, shapes: finish(renderShapes(dataset)) }
}

export interface Answered {
  status: number
  /** Lower-case names. */
  headers: { [name: string]: string }
  text: string
}

/** One request, and what was answered to it at once. */
class Asked implements Exchange {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly #headers: { [name: string]: string }
  answer: Answered | null = null

  constructor(url: string, headers: { [name: string]: string }, method: string) {
    const mark = url.indexOf('?')
    this.method = method
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
    this.#headers = headers
  }

  header({ text }: HeaderName): string {
    return this.#headers[text] ?? ''
  }

  headerValues(name: HeaderName): string {
    return this.header(name)
  }

  address(): string {
    return '192.0.2.1'
  }

  send(head: string | Uint8Array, body: Uint8Array | null): void {
    const [status, ...lines] = headText(head).split('\r\n')
    this.answer = {
      status: Number(status.slice(0, 3)),
      headers: Object.fromEntries(
        lines.map((line) => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
        }),
      ),
      text: Buffer.from(body ?? []).toString(),
    }
  }

  later(): null {
    return null
  }
}

/** A request path with the base path `/v2`, and what it answers. */
export class AskedPath {
  readonly path: RequestPath

  /** `keys`: texts of good keys, each with a quota of a million. */
  constructor(view: View, options: Partial<RequestPathOptions> = {}, keys: readonly Uint8Array[] = []) {
    const entries = keys.map((key, slot) => ({
      id: `k_${slot}`,
      hash: createHash('sha256').update(key).digest('hex'),
      quota: 1_000_000,
      slot,
    }))
    this.path = new RequestPath(
      {
        operations: OPERATIONS,
        basePath: '/v2',
        quota: new QuotaCounters(QuotaCounters.allocate(Math.max(1, keys.length))),
        addresses: null,
        proxies: new TrustedProxies([]),
        anonymousQuota: 0,
        answerCache: 2 ** 20,
        settingsTag: '',
        refreshEvery: 1800,
        totals: new Totals(Totals.allocate(1), 0),
        clock: () => Date.now() / 1000,
        onFault: (error) => {
          throw error
        },
        ...options,
      },
      new KeyRing(KeyRing.build(entries)),
    )
    this.path.setView(view)
  }

  get(url: string, headers: { [name: string]: string } = {}, method = 'GET'): Answered {
    const asked = new Asked(url, headers, method)
    this.path.handle(asked)
    if (asked.answer === null) throw new Error(`no answer to ${url}`)
    return asked.answer
  }
}
