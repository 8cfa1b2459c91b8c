/** Wave spectra in builds: which of two counts, how long they stay, and what the report says. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { SpectraSpool } from '../../src/builder/spectra-spool.ts'
import { newestReport } from '../../src/builder/report-document.ts'
import { SpectraBatch } from '../../src/sea/spectra-batch.ts'
import { decodePart } from '../../src/snapshot/part-columns.ts'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { rollback } from '../../src/snapshot/retained.ts'
import { readSpectra } from '../../src/snapshot/spectra.ts'
import type { Source } from '../../src/sources/source.ts'
import { temporaryFolder } from '../live.ts'
import { mirrorOf, serveFolder } from '../snapshot/mirror/world.ts'
import { build, fakeSource, folderOf, NETWORKS, northBuoy, type FakeRow } from './fake_source.ts'

const at = (text: string): number => Date.parse(`${text}Z`) / 1000
const NOON = at('2026-03-27T12:00')

interface Given {
  time: string
  /** Of the lower one of two bands; the other has half of it. */
  density?: number
  feed?: number
}

/** Bands of 0.1 Hz each: a density d has an hm0 of 4√(0.15 d). */
function batchOf(spectra: readonly Given[]): SpectraBatch {
  const batch = new SpectraBatch({
    frequency: Float64Array.of(0.1, 0.2),
    bandwidth: Float64Array.of(0.1, 0.1),
  })
  for (const { time, density = 1 } of spectra) batch.add(at(time), { density: [density, density / 2] })
  return batch
}

/** A buoy N1 with these spectra, and rows. */
function source(
  spectra: readonly Given[],
  rows: FakeRow[] = [{ time: NOON, significantHeight: 1549 }],
): Source {
  const { rows: _, ...record } = northBuoy('N1')
  return {
    async read(sink, context) {
      await fakeSource([northBuoy('N1', rows)], NETWORKS).read(sink, context)
      const handle = sink.buoy(record)
      for (const one of spectra) sink.spectra(handle, batchOf([one]).taken(), one.feed ?? 0)
    },
  }
}

/** The spectra of a snapshot as `TIME PEAK`, oldest first. */
async function spectraIn(dir: string): Promise<string[]> {
  const { parts } = await loadSnapshot(dir)
  const months = parts.filter(({ entry }) => entry.kind === 'spectra')
  return months.flatMap(({ entry, bytes }) => {
    const { time, peak } = readSpectra(decodePart(bytes, entry.file), entry.month!, entry.file)
    return Array.from(time, (epoch, i) => {
      const text = new Date(epoch * 1000).toISOString().slice(0, 16)
      return peak[i] === 1 ? text : `${text} ${peak[i]}`
    })
  })
}

test('Of two spectra of a time the one of the lower feed counts, of one feed the later one, and a new one replaces an old one.', async (t) => {
  const dir = folderOf(t)
  const time = '2026-03-27T11:00'
  await build(
    [
      source([
        { time, density: 2, feed: 1 },
        { time, density: 3 },
        { time, density: 4 },
        { time, density: 5, feed: 1 },
      ]),
    ],
    dir,
  )
  assert.deepEqual(await spectraIn(dir), [`${time} 4`])
  await build([source([{ time, density: 6, feed: 1 }])], dir)
  assert.deepEqual(await spectraIn(dir), [`${time} 6`])
  await build([source([{ time: '2026-03-27T10:00' }])], dir)
  assert.deepEqual(await spectraIn(dir), ['2026-03-27T10:00', `${time} 6`])
})

test('A spectrum up to half an hour after the newest reading stays, a later one does not; a requested time is exact.', async (t) => {
  const times = ['2026-03-27T11:50', '2026-03-27T12:30', '2026-03-27T12:31'].map((time) => ({ time }))
  const dir = folderOf(t)
  await build([source(times)], dir)
  assert.deepEqual(await spectraIn(dir), ['2026-03-27T11:50', '2026-03-27T12:30'])
  assert.match(JSON.stringify(newestReport(dir)), /later than the time of the data/)
  await build([source(times)], dir, { asOf: NOON })
  assert.deepEqual(await spectraIn(dir), ['2026-03-27T11:50'])
})

test('Spectra older than 45 days before the newest one go, in whole days; all of them stay if so told.', async (t) => {
  const days = ['2026-02-09T23:00', '2026-02-10T00:00', '2026-02-10T13:00', '2026-03-27T11:00'].map(
    (time) => ({ time }),
  )
  const dir = folderOf(t)
  await build([source(days)], dir)
  assert.deepEqual(await spectraIn(dir), ['2026-02-10T00:00', '2026-02-10T13:00', '2026-03-27T11:00'])
  // The next day takes a day away, from a month of which no new spectrum comes.
  const later = [{ time: NOON + 86_400, significantHeight: 1549 }]
  await build([source([{ time: '2026-03-28T11:00' }], later)], dir)
  assert.deepEqual(await spectraIn(dir), ['2026-03-27T11:00', '2026-03-28T11:00'])
  const all = folderOf(t)
  await build([source(days)], `${all}-all`, { spectraDays: Infinity })
  assert.equal((await spectraIn(`${all}-all`)).length, 4)
  await build([source([{ time: '2026-03-27T10:00' }])], `${all}-all`, { spectraDays: Infinity })
  assert.equal((await spectraIn(`${all}-all`)).length, 5)
  await build([source([{ time: '2026-03-27T10:00' }])], `${all}-all`, { spectraDays: 2 })
  assert.deepEqual(await spectraIn(`${all}-all`), ['2026-03-27T10:00', '2026-03-27T11:00'])
})

test('A spectrum whose height is not that of its reading is a doubt, one without a reading near it is none.', async (t) => {
  const dir = folderOf(t)
  const spectra = [
    { time: '2026-03-27T12:10' },
    { time: '2026-03-27T11:40', density: 1.3 },
    { time: '2026-03-27T11:20', density: 9 },
  ]
  await build([source(spectra)], dir)
  const [north] = newestReport(dir).networks
  assert.deepEqual(
    north.doubtful
      .filter(({ what }) => /spectrum/.test(what))
      .map(({ times, examples }) => [times, ...examples]),
    [[1, '"N1"']],
  )
  assert.equal((await spectraIn(dir)).length, 3)
})

test('A build without new spectra gives the same snapshot, and one without any has no part of them.', async (t) => {
  const dir = folderOf(t)
  const { id } = await build([source([{ time: '2026-03-27T11:00' }])], dir)
  assert.equal((await build([source([])], dir)).id, id)
  assert.equal((await build([source([{ time: '2026-03-27T11:00' }])], dir, { fresh: true })).id, id)
  const without = await build([source([])], dir, { fresh: true })
  assert.ok(without.parts.every(({ kind }) => kind !== 'spectra'))
})

test('Spectra are mirrored, rolled back and found damaged as all parts are.', async (t) => {
  const dir = folderOf(t)
  const older = await build([source([{ time: '2026-03-27T11:00' }])], dir)
  const { mirror, dir: copy } = mirrorOf(t, (await serveFolder(t, dir)).url, join(temporaryFolder(t), 'copy'))
  await build([source([{ time: '2026-03-27T11:00' }, { time: '2026-03-27T12:00', density: 2 }])], dir)
  await mirror.look()
  assert.deepEqual(await spectraIn(copy), ['2026-03-27T11:00', '2026-03-27T12:00 2'])
  await rollback(dir, older.id, NOON)
  await mirror.look()
  for (const folder of [dir, copy]) assert.deepEqual(await spectraIn(folder), ['2026-03-27T11:00'])
  assert.deepEqual(await checkFolder(dir), [])
  const { file } = older.parts.find(({ kind }) => kind === 'spectra')!
  const bytes = readFileSync(join(dir, file))
  bytes[bytes.length - 1] ^= 1
  writeFileSync(join(dir, file), bytes)
  assert.match((await checkFolder(dir)).join(), /spectra-/)
  await assert.rejects(loadSnapshot(dir), /spectra-/)
})

test('Spectra beyond the budget of memory wait in files, which are gone afterwards.', (t) => {
  const dir = temporaryFolder(t)
  const spool = new SpectraSpool(`${dir}/spool`, 200)
  const given = ['2026-02-28T23:00', '2026-03-01T00:00', '2026-03-02T00:00', '2026-02-01T00:00'].map(
    (time) => ({ time }),
  )
  for (const [handle, one] of given.entries()) spool.add(handle, 0, batchOf([one]).taken())
  spool.add(9, 1, batchOf([given[2], given[1], given[0], { ...given[2], density: 5 }]).taken())
  assert.equal(spool.months().length, 2)
  const [february, march] = spool.months().map((month) => spool.take(month))
  const listed = (runs: ReturnType<SpectraSpool['take']>): string[] =>
    runs.map(
      ({ handle, feed, spectra }) => `${handle}/${feed} ${spectra.time.join(' ')} ${spectra.peak.join(' ')}`,
    )
  const [a, b, c, d] = given.map(({ time }) => at(time))
  assert.deepEqual(listed(february), [`0/0 ${a} 1`, `3/0 ${d} 1`, `9/1 ${a} 1`])
  assert.deepEqual(listed(march), [`1/0 ${b} 1`, `2/0 ${c} 1`, `9/1 ${b} ${c} 1 5`])
  assert.ok(march.every(({ spectra }) => spectra.density instanceof Uint16Array))
  spool.close()
})
