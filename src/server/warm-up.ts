/** Questions of every kind before clients can ask: a fault refuses the snapshot; the code gets compiled. */
import { TrustedProxies } from '../access/trusted-proxies.ts'
import { SnapshotError } from '../snapshot/snapshot-format.ts'
import {
  headText,
  NO_KEY,
  NO_ROUTE,
  type Exchange,
  type LaterEvents,
  type LaterReply,
} from '../http/exchange.ts'
import { KeyRing } from '../access/key-ring.ts'
import type { View } from '../dataset/view.ts'
import { QuotaCounters } from '../access/quota.ts'
import { LongAnswers, type LongPort } from '../http/long-answers.ts'
import { RequestPath } from '../http/request.ts'
import { OPERATIONS } from '../routes.ts'
import type { Steps } from '../system/steps.ts'
import { dateText } from '../sea/time.ts'
import { Totals } from '../http/totals.ts'

/** Nobody makes the long answers of a warm-up. */
const NOWHERE: LongPort = { postMessage() {}, on() {} }

/** Times each question is asked of a first snapshot: V8 compiles what has run often. */
const FIRST_ROUNDS = 20

/** @param first whether this thread has served nothing yet @throws SnapshotError when an answer is a fault */
export function* warmUp(view: View, first: boolean): Steps<void> {
  const path = pathWithoutSocket(view, () => view.dataset.asOf)
  const exchange = new SilentExchange()
  for (let round = 0; round < (first ? FIRST_ROUNDS : 1); round++) {
    for (const url of questions(view, first && round < 3)) {
      exchange.ask(url)
      path.handle(exchange)
      if (exchange.status >= 500) throw new SnapshotError(`the snapshot cannot answer ${url.split('?')[0]}`)
      yield
    }
  }
}

/** The way of a request over `view`, every operation public, without quotas and kept answers, and by default without long ones. */
export function pathWithoutSocket(view: View, clock: () => number, long = new LongAnswers()): RequestPath {
  if (!long.isConnected) long.connect(NOWHERE)
  const path = new RequestPath(
    {
      operations: OPERATIONS.map((operation) => ({ ...operation, access: 'public' })),
      basePath: '',
      quota: new QuotaCounters(QuotaCounters.allocate(1)),
      addresses: null,
      proxies: new TrustedProxies([]),
      anonymousQuota: 0,
      anonymousAccess: 'keyed',
      explorerQuota: 1,
      answerCache: 0,
      settingsTag: '',
      refreshEvery: 0,
      totals: new Totals(Totals.allocate(1), 0),
      long,
      clock,
      onFault: () => {},
    },
    new KeyRing(KeyRing.build([])),
  )
  path.setView(view)
  return path
}

/** One question of each operation, about a buoy with readings; `long` adds those that take milliseconds. */
function questions({ dataset: { catalog, readings, groups, asOf } }: View, long: boolean): string[] {
  const ordinal = groups.everywhere.active.length > 0 ? groups.everywhere.active[0] : 0
  const general = [
    '/buoys',
    '/countries',
    '/buoys/map',
    '/buoys/satellites',
    '/buoys/satellite_passes',
    '/buoys/search?query=st',
  ]
  if (catalog.id.length === 0) return general
  const id = catalog.id[ordinal]
  const position = `lat=${catalog.lat[ordinal]}&lng=${catalog.lng[ordinal]}`
  const box = JSON.stringify({ north: 60, south: -60, west: 100, east: -100 })
  return [
    ...general,
    `/buoys/${id}`,
    `/buoys?near=${catalog.lat[ordinal]},${catalog.lng[ordinal]}&radius=500`,
    `/buoys?bounds=${encodeURIComponent(box)}`,
    `/buoys/last_readings?ids=${id}`,
    `/buoys/nearest?${position}`,
    `/buoys/nearest?${position}&limit=20&max_distance=5000`,
    `/buoys/${id}/readings?per_page=100`,
    `/buoys/${id}/readings/search?date=${dateText(asOf)}&time=00:00`,
    ...(readings.count(ordinal) > 0
      ? [`/buoys/${id}/readings/${id * 1e10 + readings.timeAt(ordinal, 0)}`]
      : []),
    `/conditions?${position}`,
    ...(long ? [`/buoys/${id}/readings/chart`] : []),
  ]
}

/** An exchange without a client; it remembers the status and the length of the last answer. */
export class SilentExchange implements Exchange {
  readonly method = 'GET'
  path = ''
  query = ''
  route = NO_ROUTE
  keyRow = NO_KEY
  readonly mayWait = false
  status = 0
  bytes = 0

  ask(url: string): void {
    const mark = url.indexOf('?')
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
  }

  header(): string {
    return ''
  }

  headerValues(): string {
    return ''
  }

  address(): string {
    return ''
  }

  send(head: string | Uint8Array, body: Uint8Array | null): void {
    this.status = Number(headText(head).slice(0, 3))
    this.bytes = body?.length ?? 0
  }

  later(_events: LaterEvents): LaterReply | null {
    return null
  }
}
