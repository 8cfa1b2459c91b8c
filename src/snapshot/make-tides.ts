/** Makes the tides part of the harbours of sources, and gives it back as sources would. */
import type { TideColumns } from '../index/tides.ts'
import type { Column } from '../sea/columns.ts'
import type { HarbourRecord } from '../sea/records.ts'
import { constituentOf } from '../sea/tidal-constituents.ts'
import { BuildError } from '../system/build-error.ts'
import { compareText } from '../system/text.ts'
import { sums } from './part-columns.ts'
import { type Part } from './snapshot-format.ts'

/** Harbours ascend by identifier, the first of each. @throws BuildError for an unknown constituent */
export function tidesPart(records: readonly HarbourRecord[]): { part: Part; rows: number } {
  const byIdentifier = new Map<string, HarbourRecord>()
  for (const record of records) {
    if (!byIdentifier.has(record.identifier)) byIdentifier.set(record.identifier, record)
  }
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
      ['start', sums(moving.map(({ length }) => length))],
      ['constituent', Uint16Array.from(all, ({ name }) => nameIndex.get(name)!)],
      ['amplitude', Float32Array.from(all, ({ amplitude }) => amplitude)],
      ['phase', Float32Array.from(all, ({ phase }) => phase)],
    ]),
  }
  return { part, rows: harbours.length }
}

/** The harbours as a source gave them. */
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
