/** What a build says of buoys and readings that it no longer has, and whose buoys stay without a row. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import fc from 'fast-check'
import { newestReport } from '../../src/builder/report-document.ts'
import { readMonth } from '../../src/snapshot/part-kinds.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { openKind } from '../../src/sources/kinds.ts'
import { BuildError } from '../../src/system/build-error.ts'
import { lineText } from '../../src/system/log.ts'
import { temporaryFolder } from '../live.ts'
import { build, catalogOf, fakeSource, type FakeBuoy, folderOf, northBuoy } from './fake_source.ts'
import { rounds } from '../rounds.ts'

const HEADER = 'time,Hs (m)\n'
const ROWS = `${HEADER}2026-03-01T00:00Z,1.5\n2026-03-01T00:30Z,1.6\n`
const LIST = 'identifier,name,lat,lng\nnorth,North Bank,50,-8\nsouth,South Bank,48,-8\n'
const PLACED = `time,Hs (m),lat,lng\n2026-03-01T00:00Z,1.5,50,-8\n`

/** Builds twice from a folder of tables, which `change` changes in between. */
async function rebuilt(
  t: TestContext,
  files: { [name: string]: string },
  change: (folder: string) => void,
  options?: { [name: string]: unknown },
) {
  const folder = join(temporaryFolder(t), 'tables')
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const out = folderOf(t)
  const log: string[] = []
  const source = openKind('table', folder, options)
  await build([source], out)
  change(folder)
  await build([source], out, { write: (text) => void log.push(text), now: 1 })
  const { identifiers } = await catalogOf(out)
  const report = newestReport(out)
  const silent = report.sources.flatMap(({ doubts }) =>
    doubts.filter(({ what }) => what.startsWith('a listed station')).flatMap(({ examples }) => examples),
  )
  return { buoys: [...identifiers].sort(), rows: await rowsOf(out), report, silent, log: log.join('\n') }
}

async function rowsOf(dir: string): Promise<number> {
  const { parts } = await loadSnapshot(dir)
  return parts.reduce((sum, { entry }) => (entry.kind === 'readings' ? sum + entry.rows : sum), 0)
}

test('A listed buoy whose file is empty, has only a header, or is gone stays with its history, and is named.', async (t) => {
  const changes: [why: string, change: (path: string) => void][] = [
    ['empty', (path) => writeFileSync(path, '')],
    ['only a header', (path) => writeFileSync(path, HEADER)],
    ['gone', (path) => rmSync(path)],
  ]
  for (const [why, change] of changes) {
    const files = { 'north.csv': ROWS, 'south.csv': ROWS, 'stations.csv': LIST }
    const { buoys, rows, report, silent } = await rebuilt(t, files, (folder) =>
      change(join(folder, 'south.csv')),
    )
    assert.deepEqual([buoys, rows], [['north', 'south'], 4], why)
    assert.deepEqual(silent, ['"south"'], why)
    assert.deepEqual(report.losses, { buoys: 0, readings: 0, first: [] }, why)
  }
})

test('A station of the map stays like a listed one, also one with its position in the rows alone.', async (t) => {
  const tables = [{ files: 'a.csv' }, { files: 'b.csv', station: { is: 'Pier' } }]
  const files = { 'a.csv': PLACED, 'b.csv': PLACED }
  const { buoys, silent } = await rebuilt(t, files, (folder) => rmSync(join(folder, 'b.csv')), { tables })
  assert.deepEqual(buoys, ['Pier', 'a'])
  assert.deepEqual(silent, ['"Pier"'])
})

test('A buoy that nothing mentions leaves, and log and report name it, whatever loss is allowed.', async (t) => {
  const files = { 'a.csv': PLACED, 'b.csv': PLACED, 'c.csv': PLACED }
  const { buoys, report, log } = await rebuilt(t, files, (folder) => rmSync(join(folder, 'b.csv')))
  assert.deepEqual(buoys, ['a', 'c'])
  assert.deepEqual(report.losses, {
    buoys: 1,
    readings: 0,
    first: ['"TABLE b (TABLE b) is no longer in the service"'],
  })
  assert.match(log, /lost since the snapshot before: 1 buoy, 0 past readings → /)
  assert.match(log, /"TABLE b \(TABLE b\) is no longer in the service"/)
})

test('The losses are named also where they make a build fail.', async (t) => {
  const out = folderOf(t)
  const log: string[] = []
  await build([fakeSource([northBuoy('A', [{ time: 0, significantHeight: 1 }]), northBuoy('B')])], out, {
    asOf: 9,
  })
  const less = build([fakeSource([northBuoy('B')])], out, {
    asOf: 9,
    allowLoss: 0.1,
    write: (text) => void log.push(text),
  })
  await assert.rejects(less, BuildError)
  assert.match(log.join('\n'), /North A \(Buoy A\) is no longer in the service/)
})

const HALF_HOUR = 1800

test('Whatever a build changes, every lost buoy and every buoy with more than 1 % fewer readings is counted.', async (t) => {
  const world = fc.array(
    fc.record({
      isThere: fc.boolean(),
      from: fc.nat(300),
      rows: fc.nat(400),
      keptTo: fc.nat(700),
      gap: fc.nat(40),
    }),
    { minLength: 1, maxLength: 6 },
  )
  await fc.assert(
    fc.asyncProperty(world, async (buoys) => {
      const timesOf = ({ from, rows }: (typeof buoys)[number]): number[] =>
        Array.from({ length: rows }, (_, i) => (from * 8 + i) * HALF_HOUR)
      const isLeft = ({ keptTo, gap }: (typeof buoys)[number], i: number): boolean =>
        i < keptTo && i % 41 >= gap % 3
      const fake = (i: number, times: number[]): FakeBuoy =>
        northBuoy(
          `N${i}`,
          times.map((time) => ({ time, significantHeight: 1000 })),
        )
      const out = folderOf(t)
      const asOf = 1e8
      await build([fakeSource(buoys.map((buoy, i) => fake(i, timesOf(buoy))))], out, { asOf })
      const left = buoys.flatMap((buoy, i) => {
        const times = timesOf(buoy).filter((_, row) => isLeft(buoy, row))
        return buoy.isThere ? [fake(i, times)] : []
      })
      await build([fakeSource(left)], out, { asOf, fresh: true, allowLoss: 1, now: 1 })
      const lost = buoys.map((buoy) => timesOf(buoy).filter((_, row) => !isLeft(buoy, row)).length)
      const { losses } = newestReport(out)
      assert.equal(losses.buoys, buoys.filter(({ isThere }) => !isThere).length)
      const named = buoys.flatMap(({ isThere, rows }, i) =>
        isThere && lost[i] * 100 > rows ? [lost[i]] : [],
      )
      assert.equal(
        losses.readings,
        named.reduce((sum, count) => sum + count, 0),
      )
    }),
    { numRuns: rounds(15, 200) },
  )
})

test('A reading that a correction takes back counts as lost, and one that it changes does not.', async (t) => {
  const out = folderOf(t)
  const rows = Array.from({ length: 10 }, (_, i) => ({ time: i * HALF_HOUR, significantHeight: 1000 }))
  await build([fakeSource([northBuoy('A', rows)])], out)
  await build(
    [fakeSource([northBuoy('A', [{ time: 0 }, { time: HALF_HOUR, significantHeight: 2000 }])])],
    out,
    { now: 1 },
  )
  const { losses } = newestReport(out)
  assert.deepEqual(losses, {
    buoys: 0,
    readings: 1,
    first: ['"North A (Buoy A) lost 1 of 10 past readings"'],
  })
  const { parts } = await loadSnapshot(out)
  const readings = parts.find(({ entry }) => entry.kind === 'readings')!
  const { time } = readMonth(
    decodePart(readings.bytes, readings.entry.file),
    readings.entry.month!,
    'readings',
  )
  assert.equal(time.length, 9)
})

test('A source keeps its spikes and names them, or leaves them out, counted, in every build.', async (t) => {
  const rows = [1, 1, 9, 1, 1].map((metres, i) => ({ time: i * HALF_HOUR, significantHeight: metres * 1000 }))
  const terms = { name: 'Mine', info: {}, accepts: () => true }
  for (const dropsSpikes of [false, true]) {
    const out = folderOf(t)
    const source = { ...fakeSource([northBuoy('A', rows)]), terms: { ...terms, dropsSpikes } }
    for (const now of [1, 2]) {
      await build([source], out, { now })
      const { networks, losses } = newestReport(out)
      const { impossible, doubtful } = networks.find(({ name }) => name === 'North')!
      const spikes = (dropsSpikes ? impossible : doubtful).filter(({ what }) => what.includes('spike'))
      assert.deepEqual(
        spikes.map(({ what, times }) => [what, times]),
        [[`height a spike between its neighbours${dropsSpikes ? ', left out' : ''}`, 1]],
      )
      assert.deepEqual(spikes[0].examples, ['"A at 1970-01-01T01:00:00Z: 9 m between 1 and 1 m"'])
      assert.equal(losses.readings, 0)
      assert.equal(await rowsOf(out), dropsSpikes ? 4 : 5)
    }
  }
})

test('Rows and values that the configuration takes back are gone from the source and from the history, and counted.', async (t) => {
  const START = Date.UTC(2026, 1, 27) / 1000
  const DAY = 86_400
  const times = Array.from({ length: 12 }, (_, i) => START + i * 43_200)
  const buoy = (identifier: string, from: number, to: number): FakeBuoy =>
    northBuoy(
      identifier,
      times.slice(from, to).map((time) => ({ time, significantHeight: 1000, peakPeriod: 8000 })),
    )
  const range = fc.record({
    station: fc.constantFrom('a', 'b', 'nobody'),
    from: fc.integer({ min: -1, max: 6 }),
    days: fc.integer({ min: 1, max: 3 }),
    measures: fc.constantFrom(null, ['peakPeriod' as const]),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 4 }), async (ranges) => {
      const out = join(temporaryFolder(t), 'out')
      await build([fakeSource([buoy('A', 0, 8), buoy('B', 0, 8)])], out)
      const drop = ranges.map(({ station, from, days, measures }) => {
        const first = START + from * DAY
        return { station, from: first, until: first + days * DAY, measures }
      })
      const source = fakeSource([buoy('A', 6, 12), buoy('B', 6, 12)])
      const terms = { name: 'ours', info: {}, drop, accepts: () => true }
      await build([{ ...source, terms }], out, { allowLoss: 1 })
      const taken = (station: string, time: number, isRow: boolean): boolean =>
        drop.some(
          (one) =>
            one.station === station &&
            time >= one.from &&
            time < one.until &&
            (one.measures === null) === isRow,
        )
      const expected = ['a', 'b'].flatMap((station, i) =>
        times
          .filter((time) => !taken(station, time, true))
          .map((time) => `${i + 1} ${time} ${taken(station, time, false) ? 65_535 : 8000}`),
      )
      assert.deepEqual((await rowsWithPeaks(out)).toSorted(), expected.toSorted())
      const { impossible = [] } = newestReport(out).networks.find(({ name }) => name === 'North') ?? {}
      const rows = ['a', 'b'].flatMap((station) =>
        drop
          .filter((one) => one.station === station)
          .map((one) => times.filter((time) => time >= one.from && time < one.until).length),
      )
      const counted = impossible.filter(({ what }) => what === 'taken back by "drop"')
      assert.equal(
        counted.reduce((sum, { times: count }) => sum + count, 0),
        rows.reduce((sum, count) => sum + count, 0),
      )
    }),
    { numRuns: rounds(15, 200) },
  )
})

test('Rows of a buoy that stays without being mentioned are taken back, and a station that nobody has is named.', async (t) => {
  const START = Date.UTC(2026, 2, 1) / 1000
  const out = folderOf(t)
  const rows = [0, 1, 2].map((hour) => ({ time: START + hour * 3600, significantHeight: 1000 }))
  await build([fakeSource([northBuoy('A', rows), northBuoy('B', rows)])], out)
  const taken = (station: string) => ({ station, from: START, until: START + 3601, measures: null })
  const terms = { name: 'ours', info: {}, drop: [taken('b'), taken('nobody')], accepts: () => true }
  const lines: string[] = []
  // A feed of who reported lately: it mentions A alone.
  const feed = { ...fakeSource([northBuoy('A', rows)]), complete: false, terms }
  await build([feed], out, { allowLoss: 1, write: (...event) => void lines.push(lineText(...event)) })
  assert.equal(await rowsOf(out), 4)
  assert.match(lines.join('\n'), /ours: "drop" names the station "nobody", of which it has nothing/)
  assert.doesNotMatch(lines.join('\n'), /names the station "b"/)
})

/** `buoy time peak` of each reading, the peak as its code. */
async function rowsWithPeaks(dir: string): Promise<string[]> {
  const { parts } = await loadSnapshot(dir)
  return parts
    .filter(({ entry }) => entry.kind === 'readings')
    .flatMap(({ bytes, entry }) => {
      const { buoys, start, time, measures } = readMonth(
        decodePart(bytes, entry.file),
        entry.month!,
        entry.file,
      )
      return Array.from(buoys, (id, i) =>
        Array.from(time.subarray(start[i], start[i + 1]), (at, row) => {
          const { codes, mask } = measures.peakPeriod
          return `${id} ${at} ${mask === 0 ? 65_535 : codes[start[i] + row]}`
        }),
      ).flat()
    })
}
