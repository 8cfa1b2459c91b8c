/**
 * An hour of service at speed, whose clock stands still while a build is under way: two networks whose files
 * grow, a server of theirs that misbehaves, builds on schedule, and a running service that takes each of them
 * over. In the end the snapshot is that of a fresh build from the same rows.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fetchSources } from '../../../src/builder/fetch/fetch-sources.ts'
import { Schedule } from '../../../src/server/build-schedule.ts'
import { buildSnapshot } from '../../../src/builder/run-build.ts'
import type { Manifest } from '../../../src/snapshot/manifest.ts'
import { BuildReport } from '../../../src/builder/build-report.ts'
import { readConfiguration } from '../../../src/sources/configuration.ts'
import { Client, startLive, temporaryFolder } from '../../live.ts'
import { FAULTS, startOrigin, type Fault, type Origin } from './origin.ts'

/** The hour goes over the end of a month. */
const BEGIN = Date.UTC(2026, 1, 28, 23, 30) / 1000
const HOUR = 3600
/** Simulated seconds in one of ours. */
const SPEED = 450
/** Real milliseconds between two looks at the service. */
const STEP_MS = 50
const EVERY = 300
const ROW_STEP = 300
/** Each file holds rows of so many seconds before the hour, too. */
const BEFORE = 3 * HOUR

const STATIONS = ['41001', '46240', '44025']
const CAMPAIGNS = ['06403', '02B04']

/** 32 bits of (text, number). */
function bits(key: string, n: number): number {
  return createHash('sha256').update(`${key} ${n}`).digest().readUInt32LE(0)
}

function times(until: number): number[] {
  const first = BEGIN - BEFORE
  return Array.from({ length: Math.floor((until - first) / ROW_STEP) + 1 }, (_, i) => first + i * ROW_STEP)
}

const two = (n: number): string => String(n).padStart(2, '0')

/** NDBC's file of a station: newest first; a height is corrected twenty minutes after it first came. */
function realtime(station: string, now: number): string {
  const rows = times(now).map((time) => {
    const at = new Date(time * 1000)
    const date = [
      at.getUTCFullYear(),
      two(at.getUTCMonth() + 1),
      two(at.getUTCDate()),
      two(at.getUTCHours()),
      two(at.getUTCMinutes()),
    ]
    const hasWaves = bits(station, time) % 4 > 0
    const height = (10 + (bits(station, time) % 50) + (now - time > 1200 ? 1 : 0)) / 10
    const waves = hasWaves
      ? [height.toFixed(1), String(5 + (bits(station, time) % 9)), '5.1', '270']
      : ['MM', 'MM', 'MM', 'MM']
    return [...date, '200', '5.0', '6.0', ...waves, '1015.0', '15.0', '14.5', 'MM', 'MM', 'MM', 'MM'].join(
      ' ',
    )
  })
  const header =
    '#YY MM DD hh mm WDIR WSPD GST WVHT DPD APD MWD PRES ATMP WTMP DEWP VIS PTDY TIDE\n' +
    '#yr mo dy hr mn degT m/s m/s m sec sec degT hPa degC degC degC nmi hPa ft\n'
  return `${header}${rows.toReversed().join('\n')}\n`
}

function reel(campaign: string, now: number): string {
  const rows = times(now).map((time) => {
    const date = new Date(time * 1000).toISOString().slice(0, 19).replace('T', ' ')
    const height = 5 + (bits(campaign, time) % 40)
    return `${date};${(height / 10).toFixed(1)};${((height + 7) / 10).toFixed(1)};8.1;280;20;15.2`
  })
  return `Date;H1/3;Hmax;Th1/3;DirPic;EtalPic;TempMer\n${rows.join('\n')}\n`
}

function publish({ files }: Origin, now: number): void {
  for (const station of STATIONS) files.set(`/realtime2/${station}.txt`, realtime(station, now))
  for (const campaign of CAMPAIGNS) files.set(`/candhis/${campaign}.csv`, reel(campaign, now))
  const list = STATIONS.map(
    (id, i) => `<station id="${id}" lat="${30 + i}" lon="-70" name="Station ${id}" type="buoy"/>`,
  )
  files.set(
    '/activestations.xml',
    `<?xml version="1.0"?>\n<stations created="2026-02-28T00:00:00UTC" count="3">${list.join('\n')}</stations>\n`,
  )
  const campaigns = CAMPAIGNS.map((id, i) => `${id},Campagne ${i},${43 + i},-1.5`)
  files.set('/candhis/stations.csv', `ID,name,lat,lon\n${campaigns.join('\n')}\n`)
}

const CHANCE: Fault[] = [
  FAULTS.broken,
  FAULTS.busy,
  FAULTS.cut,
  FAULTS.cutChunked,
  FAULTS.longLength,
  FAULTS.badGzip,
  FAULTS.bomb,
  FAULTS.loop,
  FAULTS.page,
  FAULTS.empty,
  FAULTS.nonsense,
  FAULTS.silent,
]

/** Every part and its hash. */
const partsOf = ({ asOf, parts }: Manifest): unknown => [
  asOf,
  parts.map(({ file, sha256, rows, month }) => [file, sha256, rows, month]),
]

test(
  'An hour of faults ends with the snapshot that a fresh build makes of the same rows.',
  { timeout: 600_000 },
  async (t) => {
    const root = temporaryFolder(t)
    const out = join(root, 'snapshots')
    const origin = await startOrigin(t)
    const configFile = join(root, 'groundswell.config.json')
    const fetch = (path: string, to: string, stations?: string[]): object => ({
      url: `${origin.url}${path}`,
      to,
      maxBytes: 1_000_000,
      ...(stations !== undefined && { stations }),
    })
    writeFileSync(
      configFile,
      JSON.stringify({
        sources: [
          {
            name: 'NDBC',
            kind: 'ndbc',
            folder: 'ndbc',
            refresh: '5m',
            fetch: [
              fetch('/activestations.xml', 'activestations.xml'),
              fetch('/realtime2/{station}.txt', 'realtime2/{station}.txt', STATIONS),
            ],
          },
          {
            name: 'Candhis',
            kind: 'candhis',
            folder: 'candhis',
            refresh: '5m',
            fetch: [
              fetch('/candhis/stations.csv', 'candhis_stations.csv'),
              fetch('/candhis/{station}.csv', 'Candhis_{station}_2026_reel.csv', CAMPAIGNS),
            ],
          },
        ],
        hosts: { [new URL(origin.url).host]: { connections: 2, gapMs: 0 } },
      }),
    )
    // Moves on between builds alone, so that a busy machine makes the hour longer and nothing else.
    let hour = 0
    let isBuilding = false
    const clock = (): number => BEGIN + hour
    let asked = 0
    let isFaulty = false
    origin.chance = (path) => {
      if (!isFaulty) return null
      // For a quarter of an hour one network is gone.
      const minute = (clock() - BEGIN) / 60
      if (minute > 20 && minute < 35 && path.startsWith('/candhis/')) return FAULTS.broken
      const roll = bits('fault', asked++)
      return roll % 10 < 5 ? CHANCE[(roll >>> 8) % CHANCE.length] : null
    }
    const tally = { fetched: 0, unchanged: 0, failed: 0 }
    const build = async (now: number, fresh = false, folder = out): Promise<Manifest> => {
      const configuration = readConfiguration(configFile, {})
      const report = new BuildReport({ maxBadShare: 0.1, write: () => {}, terminal: false, clock: () => 0 })
      const outcomes = await fetchSources(configuration, {
        clock: () => now,
        random: () => 0,
        report,
        // A server that says nothing is waited for this long; a good one has all the time it may need.
        limits: isFaulty
          ? { connectMs: 5000, answerMs: 1000, stallMs: 1000, slowestBytesPerSecond: 0, wholeMs: 5000 }
          : {
              connectMs: 30_000,
              answerMs: 30_000,
              stallMs: 30_000,
              slowestBytesPerSecond: 0,
              wholeMs: 60_000,
            },
        pause: () => Promise.resolve(),
      })
      for (const outcome of outcomes) {
        report.fetched(outcome)
        for (const name of ['fetched', 'unchanged', 'failed'] as const) tally[name] += outcome[name]
      }
      return buildSnapshot({
        sources: configuration.sources.map(({ source }) => source),
        out: folder,
        asOf: null,
        now: Date.now() / 1000,
        latest: now + HOUR,
        report,
        fresh,
      })
    }

    publish(origin, BEGIN)
    await build(BEGIN)
    const live = await startLive(t, { snapshots: out })
    const client = new Client(live)
    t.after(() => client.close())
    isFaulty = true
    let running = Promise.resolve()
    const schedule = new Schedule({
      every: EVERY / SPEED,
      jitter: 0,
      lastBuilt: clock() / SPEED,
      clock: () => clock() / SPEED,
      random: () => 0,
      log: () => {},
      build: () => {
        const now = clock()
        publish(origin, now)
        isBuilding = true
        const done = build(now)
          .then(() => {})
          .finally(() => {
            isBuilding = false
          })
        running = done.catch(() => {})
        return done
      },
    })
    t.after(() => schedule.stop())
    const served = new Set<string>()
    while (clock() < BEGIN + HOUR) {
      const { status, headers } = await client.get('/buoys?per_page=5')
      assert.equal(status, 200)
      served.add(String(headers['x-snapshot-id']))
      await sleep(STEP_MS)
      if (!isBuilding) hour += (STEP_MS / 1000) * SPEED
    }
    schedule.stop()
    await running
    const { built, failures_in_row: failures, last_error: lastError } = schedule.state
    assert.ok(built >= 5 && failures === 0, `${built} builds, ${failures} failures, ${lastError}`)
    assert.ok(served.size >= 3, `${served.size} snapshots were served`)
    assert.ok(tally.failed > 5 && tally.fetched > 20, JSON.stringify(tally))

    // The last word of the networks, without faults.
    isFaulty = false
    publish(origin, BEGIN + HOUR + EVERY)
    const before = await build(BEGIN + HOUR + EVERY)
    const end = BEGIN + HOUR + 2 * EVERY
    publish(origin, end)
    const last = await build(end)
    const folder = join(root, 'fresh')
    cpSync(out, folder, { recursive: true, verbatimSymlinks: true })
    const fresh = await build(end + 1, true, folder)
    assert.deepEqual(partsOf(fresh), partsOf(last))
    assert.equal(fresh.id, last.id)
    for (const { file } of last.parts) {
      assert.ok(readFileSync(join(folder, file)).equals(readFileSync(join(out, file))), file)
    }
    assert.ok(
      last.parts.some(({ month }) => month === 673) && last.parts.some(({ month }) => month === 674),
      'two months',
    )
    // A month that is over is written no more once its last correction has come.
    const february = ({ parts }: Manifest): string[] =>
      parts.filter(({ month }) => month === 673).map(({ file }) => file)
    assert.deepEqual(february(last), february(before))
    assert.notEqual(last.id, before.id)
    // The service has it within seconds.
    for (let waited = 0; ; waited += 100) {
      const { headers } = await client.get('/buoys?per_page=5')
      if (headers['x-snapshot-id'] === last.id) break
      assert.ok(waited < 60_000, 'the last snapshot is served')
      await sleep(100)
    }
  },
)
