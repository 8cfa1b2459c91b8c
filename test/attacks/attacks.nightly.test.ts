/**
 * Ten attacks upon a real server of each engine: it lives, no thread of it is replaced, it gives back memory
 * and connections, and somebody else, who asks all the while, sees no failure. How slow the others are is not
 * looked at: the machine may be busy.
 */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { builtOnce } from '../built_once.ts'
import { Chance } from '../chance.ts'
import { ENGINES, missing } from '../http/server_for_tests.ts'
import { adminOf, ask, runCliWell, startLive, type Live } from '../live.ts'
import { parseExposition } from '../server/metrics_text.ts'
import { until } from '../until.ts'
import { ENDS, withMark } from './odd_requests.ts'

const SEED = Number(process.env['GROUNDSWELL_SEED'] ?? 20_261_128)
const KB = 1024
/** An answer to somebody else that takes longer has failed. */
const ANSWER_LIMIT_MS = 30_000
const BYSTANDER_PAUSE_MS = 20
/**
 * Memory that an attack may take; that which may be left of it, since allocators and caches give back late.
 */
const MORE_BYTES = 300e6
const LEFT_BYTES = 150e6
/** Open files that may be left: connections of the bystander. */
const LEFT_FILES = 40

/**
 * Opens so many connections, some hundred at a time, and says what `onOpen` writes. Those that do not read
 * are paused.
 */
async function crowd(
  port: number,
  count: number,
  { reads, onOpen }: { reads: boolean; onOpen: (socket: Socket) => void },
): Promise<Socket[]> {
  const sockets: Socket[] = []
  const enter = async (): Promise<void> => {
    while (sockets.length < count) {
      const socket = connect(port, '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => {})
      if (reads) socket.resume()
      else socket.pause()
      await new Promise<void>((resolve) => {
        socket.once('connect', resolve).once('close', () => resolve())
      })
      if (!socket.destroyed) onOpen(socket)
    }
  }
  await Promise.all(Array.from({ length: 128 }, enter))
  return sockets
}

const dismiss = (sockets: readonly Socket[]): void => {
  for (const socket of sockets) socket.resetAndDestroy()
}

interface Target {
  live: Live
  bearer: string
  /** Slug of a buoy with long seasons. */
  buoy: string
}

/** A request with the key, as bytes of HTTP/1.1. */
const get = (path: string, bearer: string, method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${bearer}\r\n\r\n`

/** Sends requests one behind the other, and counts the statuses of what comes back. */
async function pipeline(port: number, request: string, connections: number, bytes: number) {
  const statuses = new Map<string, number>()
  const each = Math.ceil(bytes / request.length)
  const sockets = await crowd(port, connections, {
    reads: true,
    onOpen: (socket) => {
      socket.on('data', (chunk: Buffer) => {
        for (const [, status] of chunk.toString('latin1').matchAll(/HTTP\/1\.1 (\d{3}) /g))
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
      })
      socket.write(request.repeat(each) + request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    },
  })
  await until(() => sockets.every(({ destroyed }) => destroyed), 'pipelined requests are never answered')
  return statuses
}

const ATTACKS: { readonly [name: string]: (target: Target) => Promise<void> } = {
  'a hundred connections send pipelined requests and read no answer': async ({ live, bearer }) => {
    const sockets = await crowd(live.port, 100, {
      reads: false,
      onOpen: (socket) => socket.write(get('/v2/buoys/map', bearer).repeat(1000)),
    })
    await wait(2000)
    dismiss(sockets)
  },
  'pipelined requests by the thousand are all read': async ({ live, bearer }) => {
    const statuses = await pipeline(live.port, get('/v2/countries', bearer, 'HEAD'), 50, 200 * KB)
    // With node:http a connection with more than 256 requests waiting is cut.
    assert.ok((statuses.get('200') ?? 0) >= 50, JSON.stringify([...statuses]))
    assert.deepEqual(
      [...statuses.keys()].filter((status) => Number(status) >= 500 && status !== '503'),
      [],
    )
  },
  'two thousand connections say nothing': async ({ live }) => {
    const sockets = await crowd(live.port, 2000, { reads: true, onOpen: () => {} })
    await wait(1000)
    dismiss(sockets)
  },
  'heads come byte by byte and never end': async ({ live }) => {
    const sockets = await crowd(live.port, 300, {
      reads: true,
      onOpen: (socket) => {
        socket.write('GET /v2/buoys HTTP/1.1\r\nHost: a\r\nX-Slow: ')
        const trickle = setInterval(() => socket.write('x'), 200)
        socket.once('close', () => clearInterval(trickle))
      },
    })
    await until(
      () => sockets.every(({ destroyed }) => destroyed),
      'a head without an end is waited for without an end',
    )
  },
  'connections come and go': async ({ live, bearer }) => {
    for (let round = 0; round < 10; round++) {
      const request = get('/v2/buoys?per_page=500', bearer)
      dismiss(await crowd(live.port, 300, { reads: false, onOpen: (socket) => socket.write(request) }))
    }
  },
  'one key asks for a hundred hourly series and leaves': async ({ live, bearer, buoy }) => {
    const path = `/v2/buoys/${buoy}/readings/series?metric=significient_height&bucket=hour`
    const sockets = await crowd(live.port, 100, {
      reads: true,
      onOpen: (socket) => socket.write(get(path, bearer)),
    })
    await wait(1000)
    dismiss(sockets)
  },
  'three hundred long downloads are begun and not read': async ({ live, bearer, buoy }) => {
    const sockets = await crowd(live.port, 300, {
      reads: false,
      onOpen: (socket) => socket.write(get(`/v2/buoys/${buoy}/readings?format=csv&per_page=100000`, bearer)),
    })
    await wait(2000)
    dismiss(sockets)
  },
  'requests whose end two readers see in different places': async ({ live }) => {
    const served: string[] = []
    for (const [what, bytes] of ENDS) {
      const { marked, request } = withMark(bytes)
      const socket = connect(live.port, '127.0.0.1').on('error', () => {})
      let said = ''
      socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
      for (let at = 0; at < request.length; at += 400) socket.write(request.slice(at, at + 400), 'latin1')
      await until(() => socket.destroyed, `${what}: the connection stays open`)
      if (said.includes(marked) || said.split('HTTP/1.1 ').length > 2) served.push(what)
    }
    assert.deepEqual(served, [], 'served what stood behind them')
  },
  'keys that nobody was given': async ({ live }) => {
    const chance = new Chance(SEED)
    const guess = (): string =>
      `gsw_${Array.from({ length: 49 }, () => chance.below(36).toString(36)).join('')}`
    for (let round = 0; round < 400; round++) {
      const key = chance.percent(20) ? `${live.key}x` : guess()
      const inQuery = chance.percent(50)
      const { status, text } = await ask(live.port, `/v2/buoys${inQuery ? `?api_key=${key}` : ''}`, {
        headers: inQuery ? {} : { authorization: `Bearer ${key}` },
      })
      assert.equal(status, 401)
      assert.ok(!text.includes('gsw_'), 'a key stands in an answer')
    }
    const { stdout, stderr } = live.output()
    assert.ok(!`${stdout}${stderr}`.includes(live.key.slice(0, 12)), 'a key stands in the log')
  },
  'paths, parameters and headers at random': async ({ live, bearer, buoy }) => {
    const chance = new Chance(SEED + 1)
    const words = [buoy, '', ..."buoys map nearest readings series .. %2e%2e %00 é ' 1e999".split(' ')]
    const names = 'lat lng bounds ids page per_page date format snapshot include x'.split(' ')
    const values = [...'-1 1e308 NaN { [[[[ %F0%28%8C%28 0x10 now-9999999h ,,,'.split(' '), 'a'.repeat(3000)]
    for (let round = 0; round < 3000; round++) {
      const path = Array.from({ length: chance.below(5) }, () => chance.pick(words)).join('/')
      const query = chance.some(names, 25).map((name) => `${name}=${chance.pick(values)}`)
      const target = encodeURI(`/v2/${path}?${query.join('&')}`).replaceAll('%25', '%')
      const headers = chance.percent(80) ? { authorization: bearer, range: chance.pick(values) } : {}
      const { status, isWhole } = await ask(live.port, target, {
        headers,
        method: chance.pick(['GET', 'HEAD']),
      })
      assert.ok(status < 500 && (isWhole || status === 206), `${status} to ${target.slice(0, 300)}`)
    }
  },
}

interface Health {
  bytes: number
  files: number
  replaced: number
  serving: number
}

async function healthOf(admin: string): Promise<Health> {
  const samples = parseExposition(await (await fetch(`${admin}/metrics`)).text())
  const valueOf = (name: string, state?: string): number =>
    samples.find(
      (sample) => sample.name === name && (state === undefined || sample.labels['state'] === state),
    )?.value ?? assert.fail(`no metric ${name}`)
  return {
    bytes: valueOf('process_resident_memory_bytes'),
    files: valueOf('process_open_fds'),
    replaced: valueOf('groundswell_workers_replaced_total'),
    serving: valueOf('groundswell_workers', 'serving'),
  }
}

/** Somebody else, who asks ordinary things until the signal aborts; resolves to what failed. */
async function bystander({ live, bearer, buoy }: Target, signal: AbortSignal): Promise<string[]> {
  const failures: string[] = []
  const paths = [`/v2/buoys/${buoy}`, '/v2/buoys/search?query=an', `/v2/buoys/${buoy}/readings?per_page=20`]
  for (let i = 0; !signal.aborted; i++) {
    const path = paths[i % paths.length]
    const late = wait(ANSWER_LIMIT_MS, { status: 0 }, { ref: false })
    const answered = ask(live.port, path, { headers: { authorization: bearer } }).catch(
      (error: Error) => error,
    )
    const answer = await Promise.race([answered, late])
    const what = answer instanceof Error ? answer.message : `status ${answer.status}`
    if (what !== 'status 200') failures.push(`${path}: ${what}`)
    await wait(BYSTANDER_PAUSE_MS)
  }
  return failures
}

for (const engine of ENGINES) {
  test(
    `A server on ${engine} lives through every attack, and others see no failure.`,
    { skip: missing(engine) },
    async (t) => {
      const sources = ['--source', 'demo', '--source', 'demo:scale,buoys=4,days=4748']
      const snapshots = await builtOnce('attacked', (out) => runCliWell(['build', ...sources, '--out', out]))
      const live = await startLive(t, {
        snapshots,
        args: [`--engine=${engine}`, '--admin-port=0', '--answer-cache=8MiB'],
      })
      const admin = await adminOf(live)
      const bearer = `Bearer ${live.key}`
      const list = await ask(live.port, '/v2/buoys?per_page=500&active_only=false', {
        headers: { authorization: bearer },
      })
      const { buoys } = (
        JSON.parse(list.text) as { data: { buoys: { slug: string; readings_count: number }[] } }
      ).data
      const [{ slug: buoy }] = buoys.toSorted((a, b) => b.readings_count - a.readings_count)
      const target = { live, bearer, buoy }
      for (const [name, attack] of Object.entries(ATTACKS)) {
        await t.test(`It lives while ${name}.`, async () => {
          const before = await healthOf(admin)
          const over = new AbortController()
          const others = bystander(target, over.signal)
          await attack(target)
          const during = await healthOf(admin)
          over.abort()
          assert.deepEqual(await others, [], 'what others saw')
          assert.ok(during.bytes - before.bytes < MORE_BYTES, `${during.bytes - before.bytes} bytes more`)
          let after = during
          const isBack = async (): Promise<boolean> => {
            after = await healthOf(admin)
            return after.bytes - before.bytes < LEFT_BYTES && after.files - before.files < LEFT_FILES
          }
          await until(isBack, () => `not given back: ${JSON.stringify([before, after])}`)
          assert.deepEqual([after.replaced, after.serving], [before.replaced, before.serving], 'threads')
          assert.doesNotMatch(live.output().stderr, /^fault/m)
        })
      }
    },
  )
}
