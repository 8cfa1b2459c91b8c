/** Unreadable sources take nothing away: what each gave last stays until it is read or removed. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { cataloguedBuoys } from '../../src/snapshot/catalog.ts'
import { readForecast, readPasses, readTides } from '../../src/snapshot/part-kinds.ts'
import { checkFolder } from '../../src/builder/folder-check.ts'
import { resume } from '../../src/snapshot/retained.ts'
import { newestReport, reportLines, type ReportDocument } from '../../src/builder/report-document.ts'
import { type Source } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import { startDrill } from '../faults/drill.ts'
import { fieldsOf } from '../fields.ts'
import { batchOf, catalogOf, folderOf, northBuoy, partOf, silentReport } from './fake_source.ts'

const NOON = Date.UTC(2026, 2, 27, 12) / 1000

/** What a source gives, each thing under a number or letter of its own. */
interface Gift {
  /** Identifiers of buoys of the network North. */
  buoys?: string
  /** Identifiers of virtual buoys of the network Sky. */
  virtual?: string
  /** Numbers of passes, each with an observation at every virtual buoy. */
  passes?: number[]
  /** Of Sentinel-3A, where it is not said. */
  missions?: string[]
  /** Latitudes of forecast points; the run is that of the model's hour. */
  points?: number[]
  run?: number
  harbours?: string
  spots?: number[]
}

function record(source: string, identifier: string): BuoyRecord {
  const { rows: _rows, ...buoy } = northBuoy(identifier)
  return { ...buoy, source, lat: identifier.charCodeAt(0) - 64 }
}

/** A source of the configuration; with `fault` it gives all and then fails, as one past --max-bad does. */
function source(
  name: string,
  gift: Gift,
  { fault, ...more }: Partial<Source> & { fault?: string } = {},
): Source {
  return {
    terms: { name, info: {}, accepts: () => true },
    ...more,
    async read(sink) {
      const time = NOON
      if (gift.buoys !== undefined) sink.source({ name: 'North', network: 'national' })
      for (const letter of gift.buoys ?? '') {
        sink.rows(sink.buoy(record('North', letter)), batchOf([{ time, significantHeight: 1000 }]))
      }
      if (gift.virtual !== undefined) sink.source({ name: 'Sky', network: 'satellite' })
      const handles = (gift.virtual ?? '').split('').map((letter) => {
        const handle = sink.buoy({ ...record('Sky', letter), virtual: true })
        sink.rows(handle, batchOf([{ time, significantHeight: 2000 }]))
        return handle
      })
      for (const [i, number] of (gift.passes ?? []).entries()) {
        sink.pass({
          mission: gift.missions?.[i] ?? 'sentinel-3a',
          cycle: 81,
          number,
          startedAt: time - 60 * number,
          endedAt: time,
          bounds: { south: -1, west: -4, north: 11, east: -2 },
          observations: handles.map((buoy) => ({ buoy, time })),
        })
      }
      for (const lat of gift.points ?? []) {
        const values = { waveHeight: [gift.run ?? 1, null] }
        sink.forecast({
          lat,
          lng: 0,
          runAt: NOON + 3600 * (gift.run ?? 1),
          times: [NOON, NOON + 3600],
          values,
        })
      }
      for (const letter of gift.harbours ?? '') {
        sink.harbour({
          identifier: letter,
          name: `Harbour ${letter}`,
          lat: 45,
          lng: 0,
          datumOffset: 2.1,
          credit: `from ${name}`,
          constituents: [{ name: 'M2', amplitude: 1.3, phase: 123.4 }],
        })
      }
      for (const id of gift.spots ?? []) sink.spot({ id, name: `Spot ${id} of ${name}`, lat: id, lng: 0 })
      await Promise.resolve()
      if (fault !== undefined) throw new BuildError(fault)
    },
  }
}

interface Built {
  buoys: string
  passes: number[]
  observations: number
  points: number[]
  harbours: string
  spots: number[]
  id: string
  document: ReportDocument
}

async function build(
  out: string,
  sources: Source[],
  more: Partial<Parameters<typeof buildSnapshot>[0]> = {},
): Promise<Built> {
  const report = silentReport()
  const { id } = await buildSnapshot({ sources, out, asOf: null, now: NOON, report, ...more })
  await resume(out)
  return { ...(await contentOf(out)), id, document: newestReport(out) }
}

async function contentOf(out: string): Promise<Omit<Built, 'id' | 'document'>> {
  const catalog = await catalogOf(out)
  const [passes, forecast, tides] = await Promise.all([
    partOf(out, 'passes').then((part) => part && readPasses(part, 'f')),
    partOf(out, 'forecast').then((part) => part && readForecast(part, 'f')),
    partOf(out, 'tides').then((part) => part && readTides(part, 'f')),
  ])
  return {
    buoys: cataloguedBuoys(catalog)
      .map(({ identifier }) => identifier)
      .toSorted()
      .join(''),
    passes: [...(passes?.number ?? [])].toSorted((a, b) => a - b),
    observations: passes?.buoy.length ?? 0,
    points: [...(forecast?.lat ?? [])],
    harbours: tides?.identifiers.join('') ?? '',
    spots: catalog.spots.map(({ id }) => id),
  }
}

const FIRST: Gift = { buoys: 'ABS', virtual: 'V', passes: [1], points: [10], harbours: 'gh', spots: [1] }
const SECOND: Gift = { buoys: 'CDS', virtual: 'W', passes: [2], points: [20], harbours: 'hi', spots: [2] }

const ALL = {
  buoys: 'ABCDSVW',
  passes: [1, 2],
  observations: 2,
  points: [10, 20],
  harbours: 'ghi',
  spots: [1, 2],
}

/** A folder that was built from both sources. */
async function begun(t: TestContext): Promise<string> {
  const out = folderOf(t)
  await build(out, [source('one', FIRST), source('two', SECOND)])
  return out
}

const contentIn = ({ id: _id, document: _document, ...content }: Built): object => content

test('The report and the status of a server say which sources are silent, and since when.', async (t) => {
  const out = await begun(t)
  const silent = source('two', {}, { fault: 'garbled' })
  for (const hours of [1, 2]) {
    const { document } = await build(out, [source('one', FIRST), silent], { now: NOON + 3600 * hours })
    const [one, two] = document.sources
    assert.deepEqual([one.refused, one.last_read], [null, null])
    assert.deepEqual([two.refused, two.last_read], ['garbled', '2026-03-27T12:00:00Z'])
    assert.match(reportLines(document).join('\n'), /garbled; in use: its data of 2026-03-27T12:00:00Z/)
  }
  assert.deepEqual(await contentOf(out), ALL)
  const drill = await startDrill(t, out)
  const { silent_sources: silentSources } = await drill.status()
  assert.deepEqual(fieldsOf(silentSources, 'name', 'reason'), [['two', 'garbled']])
  await drill.stop()
  const { document } = await build(out, [source('one', FIRST), source('new', {}, { fault: 'never there' })])
  assert.equal(document.sources[1].last_read, null)
})

test('A source that gives nothing is not called read, and what it gave before stays.', async (t) => {
  const empty = [source('one', FIRST), source('two', {})]
  for (const [out, content, refused] of [
    [await begun(t), ALL, 'it is empty now, and was not before'],
    [folderOf(t), null, 'nothing in it could be read'],
  ] as const) {
    const built = await build(out, empty)
    if (content !== null) assert.deepEqual(contentIn(built), content)
    assert.equal(built.document.sources[1].refused, refused)
  }
})

test('A damaged file of source states is reported by check, and a build without one of the sources is refused.', async (t) => {
  const out = folderOf(t)
  const { id } = await build(out, [source('one', FIRST), source('two', SECOND)])
  writeFileSync(join(out, `given-${id}.jsonl`), '{"format":"groundswell-given"')
  assert.match((await checkFolder(out)).join(), new RegExp(`given-${id}\\.jsonl: `))
  await assert.rejects(
    build(out, [source('one', FIRST), source('two', {}, { fault: 'away' })]),
    /two cannot be read, and the folder lacks its last data/,
  )
  assert.deepEqual(contentIn(await build(out, [source('one', FIRST), source('two', SECOND)])), ALL)
})

test('What is carried over of a silent source passes the filter of today.', async (t) => {
  const out = folderOf(t)
  const terms = { name: 'two', info: {}, accepts: ({ identifier }: BuoyRecord) => identifier !== 'D' }
  await build(out, [source('one', FIRST), source('two', SECOND)])
  const silent = { ...source('two', {}, { fault: 'away' }), terms }
  assert.equal((await build(out, [source('one', FIRST), silent])).buoys, 'ABCSVW')
})

test('What is carried over of a silent source hinders no other source.', async (t) => {
  const out = await begun(t)
  const coastal: Source = {
    ...source('one', FIRST),
    async read(sink, context) {
      sink.source({ name: 'Sky', network: 'coastal' })
      await source('one', { buoys: 'ABS', points: [10], harbours: 'gh', spots: [1, 2] }).read(sink, context)
    },
  }
  const built = await build(out, [source('two', {}, { fault: 'away' }), coastal], { allowLoss: 1 })
  assert.deepEqual([built.document.sources[1].refused ?? null, built.spots], [null, [1, 2]])
})

test('A build that loses much of any kind of part is refused.', async (t) => {
  const whole: Gift = {
    buoys: 'ABCD',
    virtual: 'VW',
    passes: [1, 2, 3],
    missions: ['sentinel-3a', 'saral', 'swot'],
    points: [1, 2, 3],
    harbours: 'ghi',
    spots: [1, 2, 3],
  }
  const losses: [what: RegExp, gift: Gift][] = [
    [/only 2 of the folder's 6 buoys/, { ...whole, buoys: 'A', virtual: 'V' }],
    [/only 1 of the folder's 3 passes/, { ...whole, passes: [1] }],
    [/only \d+ of the folder's \d+ rows of forecast/, { ...whole, points: [1] }],
    [/only 0 of the folder's 3 harbours/, { ...whole, harbours: '' }],
    [/only 1 of the folder's 3 spots/, { ...whole, spots: [3] }],
  ]
  const out = folderOf(t)
  const { id } = await build(out, [source('one', whole)])
  for (const [what, gift] of losses) {
    await assert.rejects(
      build(out, [source('one', gift)]),
      (error) => error instanceof BuildError && what.test(error.message),
      String(what),
    )
  }
  assert.equal((await build(out, [source('one', whole)])).id, id)
  await build(out, [source('one', losses.at(-1)![1])], { allowLoss: 1 })
})
