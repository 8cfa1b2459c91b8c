/** A request that was admitted, as a value that goes from one step of its way to the next. */
import type { Declared } from '../operation/operation.ts'
import type { Client } from './admission.ts'
import type { Exchange } from './exchange.ts'
import type { Moment } from './moment.ts'
import { callersRequestId, rateHeaders, varyOf, VARY_BY_KEY, type HeadFields } from './reply.ts'
import type { ServedView } from './served.ts'

export interface Admitted {
  readonly exchange: Exchange
  readonly operation: Declared
  readonly client: Client
  /** The current snapshot, or a pinned one. */
  readonly served: ServedView
  /** Header line of ignored parameters, begun by CRLF, or ''. */
  readonly ignored: string
  /** Epoch seconds with a fraction. */
  readonly now: number
  readonly moment: Moment
}

/** An ETag's lower 32 bits, and the 16 above. */
export interface Tag {
  readonly low: number
  readonly high: number
}

/** What an operation's errors share with its successes. */
export function commonHeaders({ served, operation, client, ignored }: Omit<Admitted, 'moment'>): string {
  const vary = operation.access === 'keyed' ? VARY_BY_KEY : ''
  return served.header + vary + rateHeaders(client.charge) + ignored
}

/** `lifetime` in seconds; `link`: more header lines, each begun by CRLF. */
export function headFields(
  { exchange, operation, client, ignored }: Admitted,
  { low, high }: Tag,
  lifetime: number,
  link: Uint8Array,
): HeadFields {
  return {
    low,
    high,
    personal: client.isPersonal,
    lifetime,
    vary: varyOf(operation, client.isPage),
    charge: client.charge,
    encoding: null,
    requestId: callersRequestId(exchange),
    link,
    ignored,
  }
}
