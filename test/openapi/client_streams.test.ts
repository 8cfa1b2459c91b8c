/** What the TypeScript client does beyond single calls: walks that hold still, changes, and events. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import {
  Groundswell,
  GroundswellError,
  type EventsState,
  type Reading,
  type SnapshotEvent,
} from '../../clients/typescript/groundswell.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { KEY } from '../answered.ts'
import { HeldSnapshots, type Held } from '../api/held.ts'
import { build, fakeSource, northBuoy, type FakeBuoy } from '../builder/fake_source.ts'
import { fieldOf } from '../fields.ts'
import { listening } from '../listening.ts'
import { temporaryFolder } from '../live.ts'
import { until } from '../until.ts'

const START = Date.parse('2026-03-20T00:00:00Z') / 1000
const HALF_HOUR = 1800
const ROWS = 250
/** Snapshots of the folder; each has a reading more and another correction. */
const STEPS = 4
const HELD = 2

/** What a snapshot holds of the buoy: `TIME HEIGHT`, oldest first. */
const truthAt = (step: number): string[] =>
  Array.from({ length: ROWS + step }, (_, row) => {
    const height = 1 + (row % 50) / 10 + (row === 3 * step ? 0.05 : 0)
    return `${START + row * HALF_HOUR} ${Number(height.toFixed(2))}`
  })

const buoyAt = (step: number): FakeBuoy => {
  const rows = truthAt(step).map((text) => {
    const [time, height] = text.split(' ').map(Number)
    return { time, significantHeight: Math.round(height * 1000) }
  })
  return northBuoy('N1', rows, { name: 'Alpha', lat: 45 })
}

const textOf = ({ time, significient_height: height }: Reading): string =>
  `${Date.parse(time) / 1000} ${height}`
const timeOf = (text: string): number => Number(text.split(' ')[0])

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

const BASE = 'http://groundswell.test/v2'

test('Walks of the client over snapshots that change.', async (t) => {
  const served = new HeldSnapshots(HELD)
  const all: Held[] = []
  const dir = temporaryFolder(t)
  for (let step = 0; step < STEPS; step++) {
    await build([fakeSource([buoyAt(step)])], dir, { fresh: true, allowLoss: 1 })
    all.push(served.opened(await loadSnapshot(dir, all.at(-1)?.loaded)))
  }
  const ids = all.map(({ id }) => id)
  const publish = (...steps: number[]): void => served.publish(...steps.map((step) => all[step]))
  const plain = new Groundswell({ baseUrl: BASE, key: KEY, fetch: served.fetch })
  /** A client before whose second call these snapshots are published. */
  const publishing = (...steps: number[]): Groundswell => {
    let calls = 0
    return new Groundswell({
      baseUrl: BASE,
      key: KEY,
      fetch: (request) => {
        if (++calls === 2) publish(...steps)
        return served.fetch(request)
      },
    })
  }

  await t.test('All readings come once and in order, oldest or newest first, of a range too.', async () => {
    publish(0)
    const rows = truthAt(0)
    assert.deepEqual((await collect(plain.readings('alpha'))).map(textOf), rows)
    const newest = await collect(plain.readings('alpha', { order: 'desc', perPage: 7 }))
    assert.deepEqual(newest.map(textOf), rows.toReversed())
    const since = new Date(timeOf(rows[100]) * 1000)
    const until = new Date(timeOf(rows[149]) * 1000).toISOString()
    const some = await collect(plain.readings('alpha', { since, until, perPage: 20 }))
    assert.deepEqual(some.map(textOf), rows.slice(100, 150))
    assert.deepEqual(await collect(plain.readings('alpha', { since: '2030-01-01' })), [])
  })

  const [old, now] = [truthAt(0), truthAt(3)]
  const untilNinth = { until: new Date(timeOf(old[9]) * 1000), perPage: 5 }
  // Behind the first page, of step 0, the steps are published; the next page is of the last one if 0 is gone.
  const walks: [what: string, options: object, published: number[], expected: string[]][] = [
    ['that is held stays in its snapshot', { order: 'asc' }, [1], old],
    [
      'whose snapshot is gone goes on in another one, oldest first',
      { order: 'asc', perPage: 100 },
      [1, 2, 3],
      [...old.slice(0, 100), ...now.slice(100)],
    ],
    [
      'whose snapshot is gone goes on in another one, newest first',
      { order: 'desc', perPage: 100 },
      [1, 2, 3],
      [...old.toReversed().slice(0, 100), ...now.slice(0, old.length - 100).toReversed()],
    ],
    // Row 9 is another one in step 3.
    [
      'over a range that ends where its snapshot goes has no more rows',
      untilNinth,
      [1, 2, 3],
      [...old.slice(0, 5), ...now.slice(5, 10)],
    ],
  ]
  for (const [what, options, published, expected] of walks) {
    await t.test(`A walk ${what}.`, async () => {
      publish(0)
      const walk = publishing(...published).readings('alpha', options)
      assert.deepEqual((await collect(walk)).map(textOf), expected)
    })
  }

  await t.test('A walk of a named snapshot throws where that is gone.', async () => {
    publish(0)
    await assert.rejects(collect(publishing(1, 2, 3).readings('alpha', { snapshot: ids[0] })), {
      name: 'GroundswellError',
      code: 'snapshot_gone',
      current: ids[3],
    })
  })

  await t.test('A walk survives lost connections and busy answers, and ends with its patience.', async () => {
    publish(0)
    let failing = 0
    const api = new Groundswell({
      baseUrl: BASE,
      key: KEY,
      fetch: (request) => {
        failing++
        if (failing === 2) return Promise.reject(new TypeError('fetch failed'))
        if (failing === 4) return Promise.resolve(new Response('<html>', { status: 502 }))
        return served.fetch(request)
      },
    })
    assert.deepEqual((await collect(api.readings('alpha'))).map(textOf), truthAt(0))
    const gone = new Groundswell({ baseUrl: BASE, fetch: () => Promise.reject(new TypeError('gone')) })
    await assert.rejects(collect(gone.readings('alpha', { patience: 0 })), { message: 'gone' })
    await assert.rejects(collect(plain.readings('atlantis')), { status: 404 })
    const abort = new AbortController()
    const walk = plain.readings('alpha', { signal: abort.signal, perPage: 1 })
    await walk.next()
    abort.abort(new Error('enough'))
    await assert.rejects(walk.next(), { message: 'enough' })
  })

  await t.test('Changes come in pages that compare the same two snapshots.', async () => {
    publish(0)
    publish(1)
    const pages = await collect(publishing(0).changes(ids[0], { perPage: 1 }))
    assert.deepEqual(
      new Set(pages.map(({ since, until }) => `${since} ${until}`)),
      new Set([`${ids[0]} ${ids[1]}`]),
    )
    assert.deepEqual(
      pages.map(({ buoys }) => buoys.length),
      [1, 0, 0],
    )
    const rows = pages.flatMap(({ readings }) =>
      readings.map(({ change, reading }) => `${change} ${textOf(reading)}`),
    )
    const now = truthAt(1)
    assert.deepEqual(rows, [`changed ${now[0]}`, `changed ${now[3]}`, `added ${now.at(-1)}`])
    const [same] = await collect(plain.changes(ids[0]))
    assert.deepEqual([same.until, same.buoys, same.readings, same.count], [ids[0], [], [], 0])
    await assert.rejects(collect(plain.changes(ids[3])), { code: 'snapshot_gone' })
  })
})

const eventOf = (id: string, since: string | null = null): SnapshotEvent => ({
  snapshot: id,
  as_of: '2026-03-20T00:00:00Z',
  since,
  changes: null,
})
const frame = (event: object, id = ''): string =>
  `event: snapshot\nid: ${id}\ndata: ${JSON.stringify(event)}\n\n`

type Script = (response: ServerResponse, request: IncomingMessage) => void

/** A server whose connections follow scripts, one after the other; the last script serves all others. */
async function scripted(
  t: TestContext,
  scripts: Script[],
): Promise<{ api: Groundswell; requests: IncomingMessage[]; ends: number[]; states: EventsState[] }> {
  const requests: IncomingMessage[] = []
  const ends: number[] = []
  const server = createServer((request, response) => {
    const at = requests.push(request) - 1
    response.on('close', () => ends.push(at))
    scripts[Math.min(at, scripts.length - 1)](response, request)
  })
  const port = await listening(t, server)
  const api = new Groundswell({ baseUrl: `http://127.0.0.1:${port}/v2`, key: 'KEY' })
  return { api, requests, ends, states: [] }
}

const stream = (response: ServerResponse, text: string): ServerResponse => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(text)
  return response
}

async function take(events: AsyncIterable<SnapshotEvent>, count: number): Promise<string[]> {
  const ids: string[] = []
  for await (const { snapshot } of events) {
    if (ids.push(snapshot) === count) break
  }
  return ids
}

test('Events go on over connections that end, from the last one, and each snapshot comes once.', async (t) => {
  const { api, requests, ends, states } = await scripted(t, [
    (response) => stream(response, `retry: 100\n\n: \n\n${frame(eventOf('A'))}`).end(),
    (response) => stream(response, frame(eventOf('A'))).end(),
    (response) => response.destroy(),
    (response) =>
      stream(response, `${frame(eventOf('B', 'A'))}event: other\ndata: x\n\n${frame(eventOf('C'))}`),
  ])
  const ids = await take(api.events({ buoys: [7, 'anglet'], onState: (state) => states.push(state) }), 3)
  assert.deepEqual(ids, ['A', 'B', 'C'])
  assert.deepEqual(
    requests.map(({ headers, url }) => [
      headers['last-event-id'],
      headers.authorization,
      headers.accept,
      url,
    ]),
    [undefined, 'A', 'A', 'A'].map((id) => [
      id,
      'Bearer KEY',
      'text/event-stream',
      '/v2/events?buoy=7%2Canglet',
    ]),
  )
  // Who leaves the loop leaves the connection.
  await until(() => ends.length === 4, 'the connection is still open')
  const waits = states.flatMap((state) => (state.state === 'waiting' ? [state.waitMs] : []))
  assert.equal(waits.length, 3)
  // Half to one and a half of what the server asks for, doubled where a connection brought nothing.
  for (const [i, ms] of waits.entries()) {
    const middle = i === 2 ? 200 : 100
    assert.ok(ms >= middle / 2 && ms <= middle * 1.5, `${i}: ${ms} ms`)
  }
  assert.deepEqual(
    fieldOf(states, 'state'),
    'connecting live waiting connecting live waiting connecting waiting connecting live live'.split(' '),
  )
})

test('A stream of garbage, a line without end and silence cost one connection each.', async (t) => {
  const { api, states } = await scripted(t, [
    (response) =>
      stream(response, 'retry: 100\n\n\0\xff{"event"}\n\n\n:::\ndata\n\nevent: snapshot\ndata: {"sna\n\n'),
    (response) => stream(response, `${frame(eventOf('A'))}event: snapshot\ndata: ${'x'.repeat(70_000)}`),
    (response) => stream(response, `event: snapshot\n${`data: ${'x'.repeat(60_000)}\n`.repeat(5)}`),
    (response) => stream(response, `${frame(eventOf('A'))}event: snapshot\ndata: null\n\n`),
    (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
    (response) => stream(response, `${frame(eventOf('A'))}: still there\n`),
    (response) => stream(response, frame(eventOf('B'))),
  ])
  const onState = (state: EventsState): void => void states.push(state)
  assert.deepEqual(await take(api.events({ onState, silenceMs: 400 }), 2), ['A', 'B'])
  const errors = states.flatMap((state) => (state.state === 'waiting' ? [state.error.message] : []))
  assert.match(errors[0], /JSON/)
  assert.match(errors[1], /too long/)
  assert.match(errors[2], /too long/)
  assert.match(errors[3], /cannot be understood/)
  assert.match(errors[4], /no stream of events/)
  assert.match(errors[5], /silent/)
  assert.equal(errors.length, 6)
})

test('A server that is full is asked again when it says; one that refuses is not.', async (t) => {
  const refuse =
    (status: number, headers = {}): Script =>
    (response) =>
      void response.writeHead(status, headers).end(JSON.stringify({ error: 'unauthorized', message: 'no' }))
  const full = await scripted(t, [
    refuse(503, { 'retry-after': '1' }),
    (response) => stream(response, frame(eventOf('A'))),
  ])
  const states: EventsState[] = []
  assert.deepEqual(await take(full.api.events({ onState: (state) => states.push(state) }), 1), ['A'])
  const [first] = states.flatMap((state) => (state.state === 'waiting' ? [state] : []))
  assert.ok(first.waitMs >= 1000 && first.waitMs < 2000, `${first.waitMs} ms`)
  assert.equal((first.error as GroundswellError).status, 503)
  for (const status of [400, 401, 404]) {
    const { api, requests } = await scripted(t, [refuse(status)])
    await assert.rejects(take(api.events(), 1), { name: 'GroundswellError', status })
    assert.equal(requests.length, 1)
  }
})

test('A signal ends events wherever they are: waiting, connecting and reading.', async (t) => {
  const scripts: Script[] = [
    (response) => response.writeHead(503).end(),
    () => {},
    (response) => stream(response, frame(eventOf('A'))),
  ]
  for (const script of scripts) {
    const { api, ends } = await scripted(t, [script])
    const abort = new AbortController()
    const events = collect(api.events({ signal: abort.signal }))
    setTimeout(() => abort.abort(new Error('enough')), 200)
    await assert.rejects(events, { message: 'enough' })
    await until(() => ends.length === 1, 'the connection is still open')
  }
  await assert.rejects(
    collect(new Groundswell({ baseUrl: 'http://127.0.0.1:1' }).events({ signal: AbortSignal.abort() })),
    { name: 'AbortError' },
  )
})

/** Lines that say nothing of an event. */
const NOISE = [': ', ':x', 'retry: 100', 'retry: x', 'id: 7', 'é', 'date', 'foo: bar']

const blocks = fc.array(
  fc.record({
    event: fc.constantFrom('event: snapshot', 'event:snapshot', 'event: other', ':'),
    id: fc.nat(5),
    data: fc.constantFrom('none', 'one line', 'two lines'),
    isEventLast: fc.boolean(),
    noise: fc.array(fc.constantFrom(...NOISE), { maxLength: 2 }),
  }),
  { maxLength: 20 },
)

test('Events are the same in whatever pieces and with whatever ends of lines a stream comes.', async () => {
  const end = fc.constantFrom('\n', '\r\n', '\r')
  await fc.assert(
    fc.asyncProperty(blocks, end, fc.array(fc.nat(800), { maxLength: 20 }), async (all, lineEnd, cuts) => {
      const expected: string[] = []
      const texts = all.map(({ event, id, data, isEventLast, noise }) => {
        const snapshot = data === 'one line' ? `S${id} é\u2028` : `S${id}`
        const lines = {
          none: [],
          'one line': [`data: ${JSON.stringify(eventOf(snapshot))}`],
          'two lines': [`data: {"snapshot":"${snapshot}",`, 'data:"as_of":"x"}'],
        }[data]
        const isTold = data !== 'none' && event.endsWith('snapshot')
        if (isTold && expected.at(-1) !== snapshot) expected.push(snapshot)
        return [...noise, ...(isEventLast ? [...lines, event] : [event, ...lines]), '', ''].join('\n')
      })
      const whole = `${texts.join('')}${frame(eventOf('END'))}`
      const bytes = Buffer.from(whole.replaceAll('\n', lineEnd))
      const places = [0, ...cuts.filter((cut) => cut < bytes.length).toSorted((a, b) => a - b), bytes.length]
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const [i, to] of places.slice(1).entries())
            controller.enqueue(Uint8Array.from(bytes.subarray(places[i], to)))
        },
      })
      const headers = { 'content-type': 'text/event-stream' }
      const api = new Groundswell({
        baseUrl: 'http://test',
        fetch: () => Promise.resolve(new Response(body, { headers })),
      })
      const events = api.events({ signal: AbortSignal.timeout(20_000) })
      assert.deepEqual(await take(events, expected.length + 1), [...expected, 'END'])
    }),
    { numRuns: 200 },
  )
})
