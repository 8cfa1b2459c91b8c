/** Wave spectra: the JSON of many, and the table of their bands. */
import { buoyBeside, readingsAbout } from '../dataset/buoy-table.ts'
import type { Dataset } from '../dataset/dataset.ts'
import { spectrumAt, type TimedSpectrum } from '../dataset/spectra-json.ts'
import { number, type Table, time } from '../dataset/table.ts'
import {
  askedSpectra,
  beginSpectra,
  endSpectra,
  MAX_PER_PAGE,
  type parameters,
  rangeOf,
  writeOne,
} from '../handlers/spectra.ts'
import { refused } from '../operation/errors.ts'
import { type LongJson, tablePage, writePaging } from '../operation/operation.ts'
import type { MakeRequest } from './maker.ts'

type Request = MakeRequest<typeof parameters>

/** Bytes of a piece. */
const PIECE_BYTES = 100_000

export function spectraOf({ view, query, path: [buoyId] }: Request): LongJson {
  const asked = askedSpectra(view, query, buoyId)
  const directional = query.include !== undefined
  let next = asked.from
  return {
    paging: { page: query.page, pages: Math.ceil(asked.positions.length / asked.perPage) },
    next(writer) {
      const begin = writer.at
      if (next === asked.from) beginSpectra(view, writer, asked, directional)
      while (next < asked.to && writer.at - begin < PIECE_BYTES) {
        writeOne(writer, view.dataset, asked, next++, directional)
      }
      if (next < asked.to) return false
      endSpectra(writer, asked)
      writePaging(writer, asked.positions.length, query.page, asked.perPage)
      return true
    },
  }
}

/**
 * A row for each band of each spectrum of the range, or of its page, whatever the bands of each. @throws
 * ApiError 422
 */
export function spectraTable({ view, query, path: [buoyId], isWhole }: Request): Table {
  if (query.include !== undefined) {
    const problem = 'is not offered in tables. Allowed: without format, or with format=json'
    throw refused('include', problem, 'validation_failed')
  }
  const { dataset } = view
  const { ordinal, first, end } = rangeOf(view, query, buoyId)
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const { from, to, paging } = tablePage(Math.max(0, end - first), isWhole, query.page, perPage)
  const positions = Array.from({ length: to - from }, (_, i) =>
    query.order === 'asc' ? first + from + i : end - 1 - from - i,
  )
  const cursor = { spectrum: null as TimedSpectrum | null }
  const of = (name: 'density' | 'direction' | 'principal' | 'r1' | 'r2') => (band: number) =>
    cursor.spectrum![name][band]
  const DEGREE = 'degree'
  return {
    columns: [
      time('time', () => cursor.spectrum!.time),
      time('reading_time', () => cursor.spectrum!.readingTime),
      number('frequency', (band) => cursor.spectrum!.bands.frequency[band], 'Hz'),
      number('bandwidth', (band) => cursor.spectrum!.bands.bandwidth[band], 'Hz'),
      number('density', of('density'), 'm²/Hz'),
      number('direction', of('direction'), DEGREE),
      number('principal_direction', of('principal'), DEGREE),
      number('r1', of('r1')),
      number('r2', of('r2')),
      ...buoyBeside(dataset, () => ordinal, false),
    ],
    runs: positions.map((position) => () => {
      cursor.spectrum = spectrumAt(dataset, ordinal, position)
      return { from: 0, step: 1, count: cursor.spectrum.density.length }
    }),
    about: { buoy: dataset.catalog.slugs[ordinal], ...readingsAbout(dataset, [ordinal]) },
    place: null,
    ...(paging && { paging }),
    total: positions.reduce((sum, position) => sum + bandCount(dataset, ordinal, position), 0),
    name: `${dataset.catalog.slugs[ordinal]}_spectra`,
    list: null,
  }
}

function bandCount({ spectra: { rows, months } }: Dataset, ordinal: number, position: number): number {
  const segment = rows.segmentOf(ordinal, position)
  const { first } = months[rows.month[segment]]
  const row = rows.from[segment] + position - rows.before[segment]
  return first[row + 1] - first[row]
}
