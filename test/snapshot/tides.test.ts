import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Tides, type TideColumns } from '../../src/index/tides.ts'
import { loadSnapshot } from '../../src/snapshot/read-snapshot.ts'
import { buildSnapshot } from '../../src/builder/run-build.ts'
import { openedOf } from '../answered.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { BuildReport } from '../../src/builder/build-report.ts'
import { checkTides } from '../../src/snapshot/check-snapshot.ts'
import { readTides } from '../../src/snapshot/part-kinds.ts'
import { tidesPart } from '../../src/snapshot/make-tides.ts'
import type { Source } from '../../src/sources/source.ts'
import { BuildError } from '../../src/system/build-error.ts'
import type { HarbourRecord } from '../../src/sea/records.ts'
import { folderOf } from '../sources/recorder.ts'
import { entryOf } from './entry_of.ts'

const HARBOURS: HarbourRecord[] = [
  {
    identifier: 'x/2',
    name: 'Second',
    lat: 48.4,
    lng: -4.5,
    datumOffset: 3.781,
    credit: 'Agency B',
    constituents: [
      { name: 'S2', amplitude: 0.75, phase: 178 },
      { name: 'M2', amplitude: 2.05, phase: -221 },
      { name: 'nu2', amplitude: 0, phase: 0 },
    ],
  },
  {
    identifier: 'x/1',
    name: 'First',
    lat: -17,
    lng: 180,
    datumOffset: 0.8,
    credit: 'Agency A',
    constituents: [{ name: 'lambda2', amplitude: 0.02, phase: 725 }],
  },
]

function columnsOf(records: readonly HarbourRecord[]): TideColumns {
  const bytes = encodePart(tidesPart(records).part)
  return readTides(decodePart(bytes, 'part'), 'part')
}

test('Harbours come back from the part by identifier, constituents by name, zeros left out and phases within a circle.', () => {
  const columns = columnsOf(HARBOURS)
  checkTides(columns, entryOf('tides', 2))
  assert.deepEqual(columns.identifiers, ['x/1', 'x/2'])
  assert.deepEqual(columns.names, ['First', 'Second'])
  assert.deepEqual([...columns.lat], [-17, 48.4])
  assert.deepEqual([...columns.lng], [180, -4.5])
  assert.deepEqual([...columns.datumOffset], [0.8, 3.781])
  assert.deepEqual(
    [...columns.credit].map((credit) => columns.credits[credit]),
    ['Agency A', 'Agency B'],
  )
  assert.deepEqual(columns.constituents, ['LAMBDA2', 'M2', 'S2'])
  assert.deepEqual([...columns.start], [0, 1, 3])
  assert.deepEqual([...columns.constituent], [0, 1, 2])
  assert.deepEqual([...columns.phase], [5, 139, 178])
})

test('The part has the same bytes in whatever order harbours and constituents come; of one identifier the first counts.', () => {
  const bytes = encodePart(tidesPart(HARBOURS).part)
  const turned = structuredClone(HARBOURS).toReversed()
  for (const { constituents } of turned) constituents.reverse()
  assert.deepEqual(encodePart(tidesPart(turned).part), bytes)
  const again = [...HARBOURS, { ...HARBOURS[0], name: 'Other' }]
  const { part, rows } = tidesPart(again)
  assert.equal(rows, 2)
  assert.deepEqual(encodePart(part), bytes)
})

test('A harbour with an unknown constituent is a fault of the source.', () => {
  const [harbour] = HARBOURS
  const strange = { ...harbour, constituents: [{ name: 'X9Y', amplitude: 1, phase: 0 }] }
  assert.throws(() => tidesPart([strange]), BuildError)
})

test('A snapshot carries its harbours to the dataset, and one without harbours has no tides.', async (t) => {
  const folder = await folderOf(t, {})
  const report = new BuildReport({ maxBadShare: 0, write: () => {}, clock: () => 0 })
  const build = async (out: string, harbours: readonly HarbourRecord[]) => {
    const source: Source = {
      read(sink) {
        for (const harbour of harbours) sink.harbour(harbour)
        return Promise.resolve()
      },
    }
    await buildSnapshot({ sources: [source], out, asOf: 1_774_602_000, now: 0, report })
    return openedOf(await loadSnapshot(out), 86_400).dataset
  }
  const { tides } = await build(`${folder}/with`, HARBOURS)
  assert.ok(tides instanceof Tides)
  assert.equal(tides.nearest(48.5, -4.6), 1)
  assert.ok(tides.next(1, 1_774_602_000) !== null)
  assert.equal((await build(`${folder}/without`, [])).tides, null)
})
