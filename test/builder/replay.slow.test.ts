/**
 * NDBC's `latest_obs.txt` names each station that reported lately with its newest row of any kind. Replayed
 * as builds, one file after another, it must give each buoy its newest wave reading over all files, and keep
 * what a file leaves out.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { cataloguedBuoys } from '../../src/snapshot/catalog.ts'
import { type Manifest } from '../../src/snapshot/manifest.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { readMonth } from '../../src/snapshot/part-kinds.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { temporaryFolder } from '../live.ts'
import { build, catalogOf } from './fake_source.ts'

const MONTHS_A_YEAR = 12

const monthOfEpoch = (epoch: number): number => {
  const date = new Date(epoch * 1000)
  return (date.getUTCFullYear() - 1970) * MONTHS_A_YEAR + date.getUTCMonth()
}

interface Row {
  station: string
  time: number
  hasWaves: boolean
}

/** The rows of a file, read by splitting at blanks. */
function rowsOf(text: string): Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const cells = line.trim().split(/\s+/)
      const [year, month, day, hour, minute] = cells.slice(3, 8).map(Number)
      return {
        station: cells[0].toUpperCase(),
        time: Date.UTC(year, month - 1, day, hour, minute) / 1000,
        hasWaves: cells[11] !== 'MM',
      }
    })
}

interface World {
  manifest: Manifest
  /** Id by identifier. */
  ids: Map<string, number>
  /** Time of the newest reading by identifier. */
  newest: Map<string, number>
}

async function worldOf(out: string, manifest: Manifest): Promise<World> {
  const { parts } = await loadSnapshot(out)
  const decoded = parts.map(({ entry, bytes }) => ({
    entry,
    part: decodePart(bytes, entry.file),
  }))
  const buoys = cataloguedBuoys(await catalogOf(out))
  const names = new Map(buoys.map(({ id, identifier }) => [id, identifier]))
  const newest = new Map<string, number>()
  for (const { entry, part } of decoded) {
    if (entry.kind !== 'readings') continue
    const { buoys: inMonth, start, time } = readMonth(part, entry.month ?? 0, entry.file)
    inMonth.forEach((id, i) => {
      const name = names.get(id)
      if (name !== undefined) newest.set(name, Math.max(newest.get(name) ?? 0, time[start[i + 1] - 1]))
    })
  }
  return { manifest, ids: new Map(buoys.map(({ id, identifier }) => [identifier, id])), newest }
}

/**
 * Builds from each file in turn, as if it had just been fetched, and compares with what all files so far say.
 */
async function replay(
  t: TestContext,
  files: readonly { text: string; now: number }[],
  stations: string,
): Promise<void> {
  const root = temporaryFolder(t)
  const [folder, out] = [join(root, 'ndbc'), join(root, 'out')]
  mkdirSync(join(folder, 'latest_obs'), { recursive: true })
  if (stations !== '') writeFileSync(join(folder, 'activestations.xml'), stations)
  const expected = new Map<string, number>()
  let before: World | null = null
  for (const [n, { text, now }] of files.entries()) {
    writeFileSync(join(folder, 'latest_obs', 'latest_obs.txt'), text)
    const ndbc = openNdbc(folder)
    const source = { complete: false, read: ndbc.read.bind(ndbc) }
    const manifest = await build([source], out, { now, latest: now + 3600 })
    const world = await worldOf(out, manifest)
    const rows = rowsOf(text)
    for (const { station, time, hasWaves } of rows) {
      if (hasWaves) expected.set(station, Math.max(expected.get(station) ?? 0, time))
    }
    for (const [station, time] of expected) {
      if (time <= manifest.asOf) assert.equal(world.newest.get(station), time, `${station} after file ${n}`)
    }
    assert.equal(world.newest.size, expected.size, `buoys with waves after file ${n}`)
    if (before !== null) {
      for (const [station, id] of before.ids) assert.equal(world.ids.get(station), id, `id of ${station}`)
      const months = new Set(rows.map(({ time }) => monthOfEpoch(time)))
      const names = new Set(world.manifest.parts.map(({ file }) => file))
      // A year of aggregates begins with its January.
      const isTouched = (kind: string, month: number): boolean =>
        kind === 'aggregates'
          ? [...months].some((touched) => touched >= month && touched < month + 12)
          : months.has(month)
      for (const { kind, file, month } of before.manifest.parts) {
        if (month !== null && !isTouched(kind, month))
          assert.ok(names.has(file), `${file} is rewritten by file ${n}`)
      }
    }
    before = world
    // Kept snapshots are of no use here, and hundreds of files slow the builds down.
    for (const file of readdirSync(out)) if (/^manifest-\d/.test(file)) rmSync(join(out, file))
  }
}

const HEADER =
  '#STN       LAT      LON  YYYY MM DD hh mm WDIR WSPD   GST WVHT  DPD APD MWD   PRES  PTDY  ATMP  WTMP  DEWP  VIS   TIDE\n' +
  '#text      deg      deg   yr mo day hr mn degT  m/s   m/s   m   sec sec degT   hPa   hPa  degC  degC  degC  nmi     ft\n'

function bits(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32LE(0)
}

test('A day of made-up half hours over the end of a month.', async (t) => {
  const begin = Date.UTC(2026, 1, 28, 4) / 1000
  const files = Array.from({ length: 48 }, (_, n) => {
    const now = begin + n * 1800
    const lines = Array.from({ length: 30 }, (_unused, i) => {
      const station = `4${String(1000 + i * 7)}`
      const roll = bits(`${station} ${n}`)
      // Some stations are not heard of for a while.
      if (roll % 5 === 0) return ''
      const time = new Date((now - (roll % 3) * 600) * 1000)
      const part = (from: number, to: number): string => time.toISOString().slice(from, to)
      const waves = (roll >>> 8) % 3 > 0 ? `${1 + ((roll >>> 16) % 60) / 10}   8  5.1 270` : 'MM  MM   MM  MM'
      return `${station} ${20 + i}.500 -70.250 ${part(0, 4)} ${part(5, 7)} ${part(8, 10)} ${part(11, 13)} ${part(14, 16)} 200  5.0  6.0 ${waves} 1015.0 -0.1 15.0 14.5 MM MM MM\n`
    })
    return { text: HEADER + lines.toSorted((a, b) => bits(a) - bits(b)).join(''), now }
  })
  const stations = Array.from(
    { length: 30 },
    (_, i) => `<station id="4${1000 + i * 7}" lat="${20 + i}.5" lon="-70.25" name="S${i}" type="buoy"/>`,
  )
  // Two of three stations are on the list; the others are placed by their rows.
  const listed = stations.filter((_, i) => i % 3 > 0).join('\n')
  await replay(
    t,
    files,
    `<?xml version="1.0"?>\n<stations created="2026-02-28T00:00:00UTC" count="20">${listed}</stations>\n`,
  )
})

const REAL = fileURLToPath(new URL('../../../shared/data/ndbc/latest_obs/history', import.meta.url))

test(
  'Forty-eight real files of six days.',
  {
    timeout: 600_000,
    skip: existsSync(REAL) ? false : 'needs the real files, which are not part of the program',
  },
  async (t) => {
    const files = readdirSync(REAL)
      .toSorted()
      .map((name) => {
        const [, day, clock] = /_(\d{8})T(\d{4})Z/.exec(name) ?? assert.fail(name)
        const date = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${clock.slice(0, 2)}:${clock.slice(2)}:00Z`
        return {
          text: gunzipSync(readFileSync(join(REAL, name))).toString('latin1'),
          now: Date.parse(date) / 1000,
        }
      })
    assert.equal(files.length, 48)
    await replay(t, files, '')
  },
)
