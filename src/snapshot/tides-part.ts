/** The tides part: harbours with their harmonic constituents. */
import type { TideColumns } from '../index/tides.ts'
import { constituentOf, MAX_AMPLITUDE } from '../sea/tidal-constituents.ts'
import { BuildError } from '../system/build-error.ts'
import type { HarbourRecord } from '../sea/records.ts'
import { compareText } from '../system/compare-text.ts'
import { column } from './part-columns.ts'
import { expect, SnapshotError, texts, type Part, type PartEntry } from './snapshot-format.ts'
import type { Column } from '../sea/columns.ts'

/**
 * Mean sea level above chart datum: national levels lie within some metres of the sea, a tide within 16 m.
 */
const MAX_DATUM_OFFSET_M = 200
/**
 * Names of constituents in a part: all databases together use some 160, no harbour more than 120. A level of
 * the sea costs as many cosines.
 */
const MAX_CONSTITUENTS = 512
/** The world has some ten thousand tide stations. */
const MAX_HARBOURS = 100_000

/**
 * Harbours as a part, ascending by identifier; of several with one identifier the first counts. Some 8 bytes
 * a constituent and 40 a harbour: 3,600 harbours take 1.9 MB.
 * @throws BuildError for an unknown constituent
 */
export function tidesPart(records: readonly HarbourRecord[]): { part: Part; rows: number } {
  const byIdentifier = new Map<string, HarbourRecord>()
  for (const record of records)
    if (!byIdentifier.has(record.identifier)) byIdentifier.set(record.identifier, record)
  const harbours = [...byIdentifier.values()].sort((a, b) => compareText(a.identifier, b.identifier))
  const moving = harbours.map(({ identifier, constituents }) =>
    constituents
      .filter(({ amplitude }) => amplitude > 0)
      .map(({ name, amplitude, phase }) => {
        const known = constituentOf(name)
        if (known === null)
          throw new BuildError(`harbour ${identifier}: unknown constituent ${JSON.stringify(name)}`)
        return { name: known.name, amplitude, phase: ((phase % 360) + 360) % 360 }
      })
      .sort((a, b) => compareText(a.name, b.name)),
  )
  const names = [...new Set(moving.flat().map(({ name }) => name))].sort(compareText)
  const credits = [...new Set(harbours.map(({ credit }) => credit))].sort(compareText)
  const nameIndex = new Map(names.map((name, i) => [name, i]))
  const creditIndex = new Map(credits.map((credit, i) => [credit, i]))
  const start = new Uint32Array(harbours.length + 1)
  moving.forEach(({ length }, i) => (start[i + 1] = start[i] + length))
  const all = moving.flat()
  const lat = Float64Array.from(harbours, (harbour) => harbour.lat)
  const lng = Float64Array.from(harbours, (harbour) => harbour.lng)
  const part: Part = {
    kind: 'tides',
    meta: {
      constituents: names,
      credits,
      identifiers: harbours.map(({ identifier }) => identifier),
      names: harbours.map(({ name }) => name),
    },
    columns: new Map<string, Column>([
      ['lat', lat],
      ['lng', lng],
      ['datum_offset', Float64Array.from(harbours, ({ datumOffset }) => datumOffset)],
      ['credit', Uint16Array.from(harbours, ({ credit }) => creditIndex.get(credit)!)],
      ['start', start],
      ['constituent', Uint16Array.from(all, ({ name }) => nameIndex.get(name)!)],
      ['amplitude', Float32Array.from(all, ({ amplitude }) => amplitude)],
      ['phase', Float32Array.from(all, ({ phase }) => phase)],
    ]),
  }
  return { part, rows: harbours.length }
}

/** @throws SnapshotError when anything in the part is not what `tidesPart` writes. */
export function readTides(part: Part, file: string): TideColumns {
  return {
    constituents: texts(part.meta.constituents, `${file}: constituents`),
    credits: texts(part.meta.credits, `${file}: credits`),
    identifiers: texts(part.meta.identifiers, `${file}: identifiers`),
    names: texts(part.meta.names, `${file}: names`),
    lat: column(part, 'lat', Float64Array, file),
    lng: column(part, 'lng', Float64Array, file),
    datumOffset: column(part, 'datum_offset', Float64Array, file),
    credit: column(part, 'credit', Uint16Array, file),
    start: column(part, 'start', Uint32Array, file),
    constituent: column(part, 'constituent', Uint16Array, file),
    amplitude: column(part, 'amplitude', Float32Array, file),
    phase: column(part, 'phase', Float32Array, file),
  }
}

/** The harbours of a part as a source gave them. */
export function harbourRecords(tides: TideColumns): HarbourRecord[] {
  const { start, constituent, amplitude, phase } = tides
  return tides.identifiers.map((identifier, i) => ({
    identifier,
    name: tides.names[i],
    lat: tides.lat[i],
    lng: tides.lng[i],
    datumOffset: tides.datumOffset[i],
    credit: tides.credits[tides.credit[i]],
    constituents: Array.from({ length: start[i + 1] - start[i] }, (_, n) => {
      const at = start[i] + n
      return { name: tides.constituents[constituent[at]], amplitude: amplitude[at], phase: phase[at] }
    }),
  }))
}

/** What must hold of a tides part. @throws SnapshotError saying what does not */
export function checkTides(tides: TideColumns, { file, rows }: PartEntry): void {
  const { identifiers, start, constituent, amplitude, phase } = tides
  const perHarbour = [tides.names, identifiers, tides.lat, tides.lng, tides.datumOffset, tides.credit]
  expect(
    perHarbour.every(({ length }) => length === rows) && start.length === rows + 1,
    file,
    'its columns differ in length',
  )
  const count = constituent.length
  expect(amplitude.length === count && phase.length === count, file, 'its constituents differ in length')
  expect(start[0] === 0 && start[rows] === count, file, 'harbours and constituents disagree')
  expect(rows <= MAX_HARBOURS, file, `it has ${rows} harbours, at most ${MAX_HARBOURS} are read`)
  expect(
    tides.constituents.length <= MAX_CONSTITUENTS,
    file,
    `it names ${tides.constituents.length} constituents, at most ${MAX_CONSTITUENTS} are read`,
  )
  tides.constituents.forEach((name, i) => {
    // The name may be any text: it is cut.
    expect(
      constituentOf(name)?.name === name,
      file,
      `constituent ${JSON.stringify(name.slice(0, 16))} is not known`,
    )
    expect(i === 0 || name > tides.constituents[i - 1], file, 'the names of constituents do not ascend')
  })
  for (let i = 0; i < rows; i++) {
    expect(start[i + 1] > start[i] && start[i + 1] <= count, file, 'a harbour has no constituents')
    const own = start[i + 1] - start[i]
    expect(
      own <= MAX_CONSTITUENTS,
      file,
      `a harbour has ${own} constituents, at most ${MAX_CONSTITUENTS} are read`,
    )
    expect(i === 0 || identifiers[i] > identifiers[i - 1], file, 'identifiers do not ascend')
    expect(
      Math.abs(tides.lat[i]) <= 90 && Math.abs(tides.lng[i]) <= 180,
      file,
      'a position is not on the globe',
    )
    expect(Math.abs(tides.datumOffset[i]) <= MAX_DATUM_OFFSET_M, file, 'a harbour has an impossible datum')
    expect(tides.credit[i] < tides.credits.length, file, 'a harbour has no credit')
  }
  for (let i = 0; i < count; i++) {
    if (!(amplitude[i] >= 0 && amplitude[i] <= MAX_AMPLITUDE && phase[i] >= 0 && phase[i] <= 360))
      throw new SnapshotError(`${file}: a constituent has a value outside its limits`)
    if (constituent[i] >= tides.constituents.length)
      throw new SnapshotError(`${file}: a constituent has no name`)
  }
}
