/** Requests for streams of events. */
import type { View } from '../answers/operation.ts'
import type { Exchange } from '../http/exchange.ts'
import { timestampText } from '../sea/time.ts'
import { FULL_RETRY_SECONDS } from './event-streams.ts'
import { callersRequestId, sendError, streamHead, TAKES_NO_BODY } from './reply.ts'
import type { RequestState } from './request-state.ts'
import type { StreamTarget } from './request-target.ts'

const TOO_MANY_STREAMS = 'Too many streams of events are open. Try again later'
const TOO_MANY_STREAMS_OF_ONE = 'Too many streams of events are open with this key. Close one first'

/** Answers an admitted request with a stream of events. @throws ApiError */
export function beginStream(
  state: RequestState,
  exchange: Exchange,
  view: View,
  { stream, reader, index }: StreamTarget,
  now: number,
): void {
  const { clock, leases, stream: streaming } = state.options
  const buoys = stream.buoys(view, reader.read(state.raw, state.digest.begin(index)))
  const holder = state.admission.holder(clock, (slot, hour) => leases?.ask(slot, hour, 1))
  const headers = state.commonHeaders(stream)
  const head = streamHead(callersRequestId(exchange), headers)
  const { place } = holder
  const refusal = streaming!.streams.begin(exchange, { head, buoys, holder, place })
  if (refusal === null) return
  if (refusal === 'body') {
    sendError(exchange, 'bad_request', TAKES_NO_BODY, now, { headers })
    return
  }
  const full = { headers: `${headers}\r\nRetry-After: ${FULL_RETRY_SECONDS}` }
  if (refusal === 'in all') {
    sendError(exchange, 'service_unavailable', TOO_MANY_STREAMS, now, full)
    return
  }
  sendError(exchange, 'rate_limit_exceeded', TOO_MANY_STREAMS_OF_ONE, now, {
    ...full,
    more: { retry_after: FULL_RETRY_SECONDS, reset_at: timestampText(now + FULL_RETRY_SECONDS) },
  })
}
