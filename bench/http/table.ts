/** Cases against the ceiling, the revision of before and peers: cold, hot, and several requests together. */
import { setTimeout as wait } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { BASE_PATH, HOT_BAR, PIPELINED_BARS, type Case } from './cases.ts'
import { sameBytes } from './same.ts'
import { RefusedError, saturate, type Load, type Sample } from './load.ts'
import { HOT_MODES, MODES, ROUNDS, say, SECONDS, type HotMode } from './options.ts'
import type { Peer } from './peers.ts'
import { checkable, listFile, probe, type Plan } from './plans.ts'
import { isCompressed, LEAST_COMPRESSED_BYTES, RawClient } from './raw.ts'
import type { PeerRow, Results, ShareRow } from './report.ts'
import { isStopping, type Ceiling, type Server } from './servers.ts'
import { median, medians } from './statistics.ts'

interface Asked {
  server: Server
  load: Load
  /** Called where the server's limits refuse the load: it is left out of the rounds, and has no sample. */
  onRefused?: (refusal: RefusedError) => void
}

/** Rounds in which each server is asked once, every other time in reverse. */
async function alternate(servers: readonly Asked[], rounds: number): Promise<Sample[][]> {
  const leftOut = new Set<number>()
  const samples: Sample[][] = servers.map(() => [])
  for (let round = 0; round < rounds; round++) {
    const order = servers.map((_, i) => i)
    if (round % 2 === 1) order.reverse()
    for (const i of order) {
      if (isStopping()) return await new Promise(() => {})
      if (leftOut.has(i)) continue
      const { server, load, onRefused } = servers[i]
      try {
        samples[i].push(await saturate(server, load))
      } catch (error) {
        if (onRefused === undefined || !(error instanceof RefusedError)) throw error
        onRefused(error)
        leftOut.add(i)
        samples[i].length = 0
      }
    }
  }
  return samples
}

const ratio = (of: readonly Sample[], to: readonly Sample[], what: 'rate' | 'cpu'): number =>
  median(of.map((sample, i) => sample[what] / to[i][what]))
/** Of the servers of a case, the same rounds. */
interface Rounds {
  own: readonly Sample[]
  ceiling: readonly Sample[]
  spread?: readonly Sample[] | undefined
  before?: readonly Sample[] | undefined
}

function shareRow(
  one: Case,
  mode: ShareRow['mode'],
  depth: number,
  { own, ceiling, spread, before }: Rounds,
): ShareRow {
  const [ours, theirs] = [medians(own), medians(ceiling)]
  const pipelinedBar = mode === 'cold' ? PIPELINED_BARS.cold : PIPELINED_BARS.hot
  return {
    case: one.name,
    mode,
    depth,
    bytes: ours.bytes,
    rate: ours.rate,
    ceilingRate: theirs.rate,
    share: ratio(own, ceiling, 'rate'),
    ...(spread === undefined ? {} : { spreadShare: ratio(own, spread, 'rate') }),
    ...(before === undefined
      ? {}
      : {
          before: {
            share: ratio(before, ceiling, 'rate'),
            cpuShare: ratio(ceiling, before, 'cpu'),
            cpu: medians(before).cpu,
            cpuRatio: ratio(own, before, 'cpu'),
          },
        }),
    cpuShare: ratio(ceiling, own, 'cpu'),
    cpu: ours.cpu,
    ceilingCpu: theirs.cpu,
    busy: ours.busy,
    ceilingBusy: theirs.busy,
    p50: ours.p50,
    p99: ours.p99,
    bar: depth > 1 ? pipelinedBar : mode === 'cold' ? one.bar : HOT_BAR,
  }
}

interface Measured {
  cold: Server
  hot: Server
  /** The revision before: its servers, as ours. */
  before: { cold: Server; hot: Server } | null
  ceiling: Ceiling
  peers: readonly Peer[]
  key: string
}

/** A case cold: ours, the ceiling, the revision before, and peers in the same rounds. */
async function measureCold(
  { one, cold: paths, shape }: Plan,
  file: string,
  { cold, before, ceiling, peers, key }: Omit<Measured, 'hot'>,
  results: Results,
): Promise<void> {
  const load: Load = { file, headers: [key], depth: 1, seconds: SECONDS }
  await ceiling.answerWith(shape.head, shape.length)

  const comparable = []
  for (const peer of peers) {
    const bar = one.peers[peer.name]
    if (bar === undefined) continue
    try {
      comparable.push({ peer, bar, ready: await peer.prepare(one, paths, cold, key) })
    } catch (error) {
      results.notRun.push(`${peer.name}, ${one.name}: ${(error as Error).message.split('\n', 1)[0]}`)
    }
  }
  // Some revisions admit fewer series of one client at a time than there are connections.
  const onRefused = ({ message }: RefusedError): void =>
    void results.notRun.push(`before, ${one.name}: ${message}`)
  const servers = [
    { server: cold, load },
    { server: ceiling, load },
    ...(before === null ? [] : [{ server: before.cold, load, onRefused }]),
    ...comparable.flatMap(({ ready }) => (ready.server === null ? [] : [{ server: ready.server, load }])),
  ]
  // A round that does not count: V8 compiles what is asked for the first time.
  await alternate(servers, 1)
  const samples = await alternate(servers, ROUNDS)
  let next = 2
  const earlier = before === null ? undefined : samples[next++]
  const isMeasured = earlier !== undefined && earlier.length > 0
  const row = shareRow(one, 'cold', 1, {
    own: samples[0],
    ceiling: samples[1],
    before: isMeasured ? earlier : undefined,
  })
  results.shares.push(row)
  for (const { peer, bar, ready } of comparable) {
    const theirs = ready.server === null ? ready.measure(ROUNDS, SECONDS) : samples[next++]
    const peerRow: PeerRow = {
      peer: peer.name,
      case: one.name,
      rate: medians(theirs).rate,
      // Asked by a client of its own, only CPU time says how much it could take.
      ratio: ready.server === null ? ratio(theirs, samples[0], 'cpu') : ratio(samples[0], theirs, 'rate'),
      cpuRatio: ratio(theirs, samples[0], 'cpu'),
      bar,
      ...(peer.note === undefined ? {} : { note: peer.note }),
    }
    results.peers.push(peerRow)
    say(`  ${peer.name.padEnd(14)} ${Math.round(peerRow.rate)}/s, we ${peerRow.ratio.toFixed(2)} times`)
  }
  sayRow(row)
}

export async function measureCase(
  plan: Plan,
  { cold, hot, before, ceiling, peers, key }: Measured,
  results: Results,
): Promise<void> {
  const { one, cold: paths, shape } = plan
  const { distinct, order } = plan.hot
  const headers = [key]
  const coldFile = listFile(`${one.name} cold`, paths)
  if (MODES.has('cold')) await measureCold(plan, coldFile, { cold, before, ceiling, peers, key }, results)
  const load = (file: string, depth = 1, more: readonly string[] = []): Load => ({
    file,
    headers: [...headers, ...more],
    depth,
    seconds: SECONDS,
  })
  const drawn = order.map((place) => distinct[place])
  const hotFile = listFile(`${one.name} hot`, drawn)
  for (const [mode, more] of HOT_MODES) {
    const plain = [await keep(plan, mode, more, { cold, hot, key }, results)]
    const hotShape = await probe(hot, [...headers, ...more], drawn)
    await ceiling.answerWith(hotShape.head, hotShape.length, order)
    if (before !== null) plain.push(await warm(plan, mode, more, { hot: before.hot, key }))
    const [own, limit, third] = await alternate(
      // A third rival a round is enough of the time.
      [hot, ceiling, before?.hot ?? ceiling.spread].map((server) => ({
        server,
        load: load(hotFile, 1, more),
      })),
      ROUNDS,
    )
    const rivals = before === null ? { spread: third } : { before: third }
    const hotRow = shareRow(one, mode, 1, { own, ceiling: limit, ...rivals })
    if (mode === 'hot gzip' && plain.some((count) => count > 0))
      hotRow.note = `of ${distinct.length} answers ${plain.join(', before ')} not compressed`
    results.shares.push(hotRow)
    sayRow(hotRow)
  }
  if (one.pipelined !== true) return
  for (const [mode, server, file] of [
    ['cold', cold, coldFile],
    ['hot', hot, hotFile],
  ] as const) {
    if (!MODES.has(mode)) continue
    await ceiling.answerWith(shape.head, shape.length)
    const [own, limit, earlierOne] = await alternate(
      [server, ceiling, ...(before === null ? [] : [before[mode]])].map((asked) => ({
        server: asked,
        load: load(file, 16),
      })),
      ROUNDS,
    )
    const pipelined = shareRow(one, mode, 16, { own, ceiling: limit, before: earlierOne })
    results.shares.push(pipelined)
    sayRow(pipelined)
  }
}

/** Compressing 10,000 lists takes a thread that is asked by one client some 5 s. */
const MOST_COMPRESSING_MS = 30_000
const BETWEEN_TRIES_MS = 5

/**
 * Has a hot server keep the answers to a hot list, compressed where they are asked for so: it compresses as it
 * has time, and what it still had to compress would be measured with the answers.
 * @returns how many are not compressed after all that is waited for
 */
async function warm(
  { hot: { distinct } }: Pick<Plan, 'hot'>,
  mode: HotMode,
  more: readonly string[],
  { hot, key }: Pick<Measured, 'hot' | 'key'>,
): Promise<number> {
  const client = new RawClient(hot.port, [key, ...more])
  // Twice: what is asked for once need not be worth keeping, or compressing.
  for (const path of [...distinct, ...distinct]) await client.get(BASE_PATH + path)
  const deadline = performance.now() + MOST_COMPRESSING_MS
  let plain = mode === 'hot gzip' ? distinct : []
  while (plain.length > 0 && performance.now() < deadline) {
    const asked = plain
    plain = []
    for (const path of asked) {
      const reply = await client.get(BASE_PATH + path)
      if (!isCompressed(reply) && reply.body.length >= LEAST_COMPRESSED_BYTES) plain.push(path)
    }
    if (plain.length > 0) await wait(BETWEEN_TRIES_MS)
  }
  client.close()
  return plain.length
}

/**
 * Has the hot server keep the answers to a hot list before any clock runs, and compares them with fresh ones,
 * byte for byte.
 * @returns how many are not compressed although they are asked for so
 * @throws Error at the first that differs
 */
export async function keep(
  plan: Plan,
  mode: HotMode,
  more: readonly string[],
  { cold, hot, key }: Pick<Measured, 'cold' | 'hot' | 'key'>,
  results: Results,
): Promise<number> {
  const plain = await warm(plan, mode, more, { hot, key })
  const {
    one,
    hot: { distinct },
  } = plan
  const [kept, fresh] = [new RawClient(hot.port, [key, ...more]), new RawClient(cold.port, [key])]
  const compared = checkable(one, distinct)
  for (const path of compared) {
    const [a, b] = await Promise.all([kept.get(BASE_PATH + path), fresh.get(BASE_PATH + path)])
    const body = isCompressed(a) ? gunzipSync(a.body) : a.body
    if (a.status !== b.status || !sameBytes(body, b.body)) {
      throw new Error(`a kept answer is not the fresh one: ${path}\n${body.toString()}\n${b.body.toString()}`)
    }
  }
  kept.close()
  fresh.close()
  results.checked.find((row) => row.case === one.name)!.kept[mode] = compared.length
  return plain
}

function sayRow({ case: name, mode, depth, rate, ceilingRate, share, cpuShare, bar }: ShareRow): void {
  const met = bar === null ? '' : share >= bar ? 'met' : `BELOW ${bar}`
  say(
    `${name.padEnd(20)} ${mode.padEnd(8)} ${String(depth).padStart(2)} ${Math.round(rate)}/s of ${Math.round(ceilingRate)}/s: ${share.toFixed(2)}, by CPU ${cpuShare.toFixed(2)} ${met}`,
  )
}
