/** A request that was admitted, as a value that goes from one step of its way to the next. */
import type { Declared } from '../operation/operation.ts'
import type { Client } from './admission.ts'
import type { Exchange } from './exchange.ts'
import type { Moment } from './envelope.ts'
import { rateHeaders, VARY_BY_KEY, type Asker } from './reply.ts'
import type { ServedView } from './served.ts'

export interface Admitted extends Asker {
  readonly exchange: Exchange
  readonly operation: Declared
  readonly client: Client
  /** The current snapshot, or a pinned one. */
  readonly served: ServedView
  /** Epoch seconds with a fraction. */
  readonly now: number
  readonly moment: Moment
}

/** What an operation's errors share with its successes. */
export function commonHeaders({ served, operation, client, ignored }: Admitted): string {
  const vary = operation.access === 'keyed' ? VARY_BY_KEY : ''
  return served.header + vary + rateHeaders(client.charge) + ignored
}
