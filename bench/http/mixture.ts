/**
 * What many clients ask together: drawn kinds of requests, popular buoys by Zipf's law, compressed,
 * conditional, some with a wrong key; and what the server answers to each.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { BASE_PATH, casesOf, type Case } from './cases.ts'
import { sameBytes } from './same.ts'
import { AS_OF, type BenchData } from './data.ts'
import { LISTS } from './load.ts'
import type { OpenRequest } from './open-loop.ts'
import { isCompressed, LEAST_COMPRESSED_BYTES, RawClient, type RawReply } from './raw.ts'
import type { CeilingAnswer, Server } from './servers.ts'
import { seededRandom, zipfRanks } from './statistics.ts'

const DAY = 86_400

interface Kind extends Case {
  /** Per cent of all requests. */
  weight: number
}

/** One request in so many. */
const ONE_IN = { gzip: 3, conditional: 10, wrongKey: 100, last: 100 }
/** A third of what is read of one buoy is a page of a hundred, of its last weeks. */
const LAST_WEEKS = 4

/** Map, list, detail and last readings 70 %, readings 20, charts 5, nearest and search 3, the costliest 2. */
export function kindsOf(data: BenchData): Kind[] {
  const cases = casesOf(data)
  const named = (start: string): Case => cases.find(({ name }) => name.startsWith(start))!
  const random = seededRandom(21)
  // Popularity has nothing to do with ids or places.
  const order = (ids: readonly number[]): number[] =>
    ids
      .map((id) => ({ id, at: random() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ id }) => id)
  const measuring = data.buoys.filter(({ record, times }) => !record.virtual && times.length > 0)
  const all = popular(order(data.buoys.map(({ id }) => id)))
  const physical = popular(order(measuring.map(({ id }) => id)))
  const kind = (name: string, weight: number, of: string, draw?: Case['draw']): Kind => {
    const one = named(of)
    return { ...one, name, weight, bar: null, peers: {}, draw: draw ?? one.draw }
  }
  const timeOf = (epoch: number): string => `${new Date(epoch * 1000).toISOString().slice(0, 19)}Z`
  return [
    kind('map', 3, 'map'),
    kind('list', 12, 'list page'),
    kind('detail', 30, 'detail', (draw) => `/buoys/${all(draw)}`),
    kind(
      'last_readings',
      25,
      'last_readings',
      (draw) => `/buoys/last_readings?ids=${[0, 0, 0].map(() => all(draw)).join()}`,
    ),
    kind('readings', 20, 'readings 20', (draw) => {
      const weeks = 1 + Math.floor(draw() * LAST_WEEKS)
      const perPage = draw() < 1 / 3 ? 100 : 20
      const start = timeOf(AS_OF - weeks * 7 * DAY)
      return `/buoys/${physical(draw)}/readings?start_date=${start}&end_date=${timeOf(AS_OF)}&page=1&per_page=${perPage}`
    }),
    kind('chart', 5, 'chart', (draw) => `/buoys/${physical(draw)}/readings/chart`),
    kind('nearest', 2, 'nearest 20'),
    kind('search', 1, 'search'),
    kind('series', 1, 'series', (draw) =>
      named('series')
        .draw(draw)
        .replace(/\/buoys\/\d+\//, `/buoys/${physical(draw)}/`),
    ),
    kind('conditions', 1, 'conditions'),
  ]
}

/** Draws of them by Zipf's law, the first most often. */
function popular(ids: readonly number[]): (random: () => number) => number {
  const ranks = zipfRanks(ids.length)
  return (random) => ids[ranks(random)]
}

/** A request of the mixture. */
interface Wanted {
  kind: number
  /** Below the base path. */
  path: string
  gzip: boolean
  conditional: boolean
  wrongKey: boolean
}

const textOf = (one: Wanted): string => [one.path, one.gzip, one.conditional, one.wrongKey].join('\n')

export interface Mixture {
  kinds: readonly Kind[]
  /** In the order in which they are asked. */
  wanted: readonly Wanted[]
}

/** A public operation ignores a wrong key. */
const PUBLIC = /^\/buoys\/(search|nearest)\?/

export function drawMixture(data: BenchData, count: number): Mixture {
  const kinds = kindsOf(data)
  const random = seededRandom(22)
  const sums = kinds.map((_, i) => kinds.slice(0, i + 1).reduce((sum, { weight }) => sum + weight, 0))
  const isOneOf = (many: number): boolean => random() < 1 / many
  const wanted = Array.from({ length: count }, (): Wanted => {
    const share = random() * sums.at(-1)!
    const kind = sums.findIndex((sum) => share < sum)
    const path = kinds[kind].draw(random)
    return {
      kind,
      path,
      gzip: isOneOf(ONE_IN.gzip),
      conditional: isOneOf(ONE_IN.conditional),
      wrongKey: isOneOf(ONE_IN.wrongKey) && !PUBLIC.test(path),
    }
  })
  return { kinds, wanted }
}

/** Large and costly answers are no measure of what a client feels that asks for others. */
const HEAVY = new Set(['map', 'series', 'chart'])

/** The light requests of a mixture. */
export function lightOf({ kinds, wanted }: Mixture): Mixture {
  return { kinds, wanted: wanted.filter(({ kind }) => !HEAVY.has(kinds[kind].name)) }
}

/** The distinct paths with who checks their answers. */
export function distinctPaths({ kinds, wanted }: Mixture): { one: Case; path: string }[] {
  const found = new Map(wanted.map(({ kind, path }) => [path, { one: kinds[kind], path }]))
  return [...found.values()]
}

interface Learnt {
  headers: string[]
  answer: CeilingAnswer
  /** Where the client names the answer of another snapshot. */
  after: CeilingAnswer
  status: number
}

export interface LearntMixture {
  /** For the open loop, and for `wrk`. */
  openFile: string
  closedFile: string
  /**
   * What the ceiling answers, and in which order: while known answers are those of the snapshot, and when it
   * is another one.
   */
  answers: CeilingAnswer[]
  order: number[]
  orderAfter: number[]
  /** Each as it is asked over a kept connection. */
  requests: ListedRequest[]
  /** Share of the requests that are answered 401. */
  refused: number
  /** Distinct requests, headers among them, whose answers were compared. */
  compared: number
}

const MOST_TRIES = 2000
const BETWEEN_TRIES_MS = 5
/** Asked together while answers are learnt. */
const CLIENTS = 8

/**
 * Asks every distinct request of the mixture, with the headers that it will have, and keeps what comes back:
 * compressed and known answers are those that the plain requests get, wrong keys are refused.
 * @throws AssertionError where one is not
 */
export async function learn(
  mixture: Mixture,
  server: Server,
  key: string,
  name: string,
): Promise<LearntMixture> {
  const plain = await plainReplies(mixture, server, key)
  const distinct = [...new Map(mixture.wanted.map((one) => [textOf(one), one])).values()]
  const learnt = new Map<string, Learnt>()
  await together(distinct, async (one) => {
    const headers = [one.wrongKey ? wrong(key) : key, ...(one.gzip ? ['Accept-Encoding: gzip'] : [])]
    const whole = await askUntilPacked(server, headers, one)
    if (one.conditional && !one.wrongKey) headers.push(`If-None-Match: ${tagOf(whole)}`)
    const reply = await ask(server, headers, one)
    assertSame(one, reply, plain.get(one.path)!)
    const [answer, after] = [reply, whole].map(({ head, body }) => ({
      head: ownLines(head),
      length: body.length,
    }))
    learnt.set(textOf(one), { headers, answer, after, status: reply.status })
  })
  const ordinals = new Map([...learnt.keys()].map((text, ordinal) => [text, ordinal]))
  const order = mixture.wanted.map((one) => ordinals.get(textOf(one))!)
  const requests = mixture.wanted.map((one): ListedRequest => {
    const { headers, status } = learnt.get(textOf(one))!
    // After a swap a known answer is another one.
    const statuses = status === 304 ? [304, 200] : [status]
    return { target: BASE_PATH + one.path, lines: headers, kind: one.kind, statuses }
  })
  const asked = requests.map((request, i) =>
    i % ONE_IN.last === ONE_IN.last - 1
      ? { ...request, lines: [...request.lines, 'Connection: close'] }
      : request,
  )
  return {
    ...writeLists(asked, name),
    requests,
    answers: [...learnt.values()]
      .map(({ answer }) => answer)
      .concat([...learnt.values()].map(({ after }) => after)),
    order,
    orderAfter: order.map((ordinal) => learnt.size + ordinal),
    refused: mixture.wanted.filter(({ wrongKey }) => wrongKey).length / mixture.wanted.length,
    compared: learnt.size,
  }
}

/** Answers to the distinct paths, asked for plainly. */
async function plainReplies(
  mixture: Mixture,
  server: Server,
  key: string,
): Promise<ReadonlyMap<string, RawReply>> {
  const replies = new Map<string, RawReply>()
  await together(distinctPaths(mixture), async ({ path }) => {
    replies.set(path, await ask(server, [key], { path }))
  })
  return replies
}

function assertSame(one: Wanted, reply: RawReply, plain: RawReply): void {
  const what = `${one.path} (${JSON.stringify(one)})`
  assert.equal(plain.status, 200, `${what}: ${plain.body.toString()}`)
  if (one.wrongKey) assert.equal(reply.status, 401, what)
  else if (one.conditional) assert.deepEqual([reply.status, reply.body.length], [304, 0], what)
  else {
    assert.equal(reply.status, 200, what)
    assert.ok(one.gzip || !isCompressed(reply), `${what}: compressed without being asked for`)
    const body = isCompressed(reply) ? gunzipSync(reply.body) : reply.body
    assert.ok(sameBytes(body, plain.body), `${what}: not the bytes of the plain answer`)
  }
}

/** A key of the same form that nobody was given. */
const wrong = (key: string): string => key.slice(0, -4) + (key.endsWith('AAAA') ? 'BBBB' : 'AAAA')

function tagOf({ head }: RawReply): string {
  const tag = /\r\netag: *(.*)/i.exec(head)?.[1]
  if (tag === undefined) throw new Error(`an answer without an ETag:\n${head}`)
  return tag
}

/** Asks until the answer comes as it will come from then on: it is compressed in the background. */
async function askUntilPacked(server: Server, headers: readonly string[], one: Wanted): Promise<RawReply> {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const reply = await ask(server, headers, one)
    const isPlain = reply.status === 200 && !isCompressed(reply)
    if (!one.gzip || !isPlain || reply.body.length < LEAST_COMPRESSED_BYTES) return reply
    await wait(BETWEEN_TRIES_MS)
  }
  throw new Error(`${one.path} is not compressed`)
}

async function ask(
  server: Server,
  headers: readonly string[],
  { path }: { path: string },
): Promise<RawReply> {
  const client = new RawClient(server.port, headers)
  try {
    return await client.get(BASE_PATH + path)
  } finally {
    client.close()
  }
}

/** Does `work` for all items, some at a time. */
async function together<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let at = 0
  const some = async (): Promise<void> => {
    while (at < items.length) await work(items[at++])
  }
  await Promise.all(Array.from({ length: CLIENTS }, some))
}

/** Status and headers as the product gives them to the engine, which adds the others by itself. */
export function ownLines(head: string): string {
  return head
    .slice('HTTP/1.1 '.length)
    .split('\r\n')
    .filter((line) => !/^(content-length|date|connection|transfer-encoding):/i.test(line))
    .join('\r\n')
}

export interface ListedRequest {
  target: string
  lines: readonly string[]
  kind: number
  statuses: readonly number[]
}

/** Writes requests for both load generators. */
export function writeLists(
  requests: readonly ListedRequest[],
  name: string,
): { openFile: string; closedFile: string } {
  mkdirSync(LISTS, { recursive: true })
  const file = join(LISTS, name.replaceAll(/[^a-z0-9]+/g, '-'))
  const [openFile, closedFile] = [`${file}.json`, `${file}.txt`]
  const open = requests.map(({ target, lines, kind, statuses }): OpenRequest => {
    const text = [`GET ${target} HTTP/1.1`, 'Host: 127.0.0.1', ...lines, '', ''].join('\r\n')
    return { text, kind, statuses }
  })
  writeFileSync(openFile, JSON.stringify(open))
  writeFileSync(
    closedFile,
    requests.map(({ target, lines }) => `${[target, ...lines].join('\t')}\n`).join(''),
  )
  return { openFile, closedFile }
}

/** Lists of one small request: over kept connections, and over a new one each. */
export function connectionLists(key: string): { kept: string; closed: string } {
  const line = (more: readonly string[]) => ({
    target: '/v2/buoys/1',
    lines: [`Authorization: Bearer ${key}`, ...more],
    kind: 0,
    statuses: [200],
  })
  return {
    kept: writeLists([line([])], 'connection-kept').closedFile,
    closed: writeLists([line(['Connection: close'])], 'connection-new').closedFile,
  }
}
