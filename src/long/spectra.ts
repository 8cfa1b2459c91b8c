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
  runOf,
  writeOne,
} from '../handlers/spectra.ts'
import type { Run } from '../index/segments.ts'
import { refused } from '../operation/errors.ts'
import { type LongJson, tablePage, writePaging } from '../operation/operation.ts'
import type { MakeRequest } from './maker.ts'

type Request = MakeRequest<typeof parameters>

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

/** The bands of a spectrum. */
interface SpectrumRun extends Run {
  readonly spectrum: TimedSpectrum
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
  const { ordinal, first, end } = runOf(view, query, buoyId)
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const { from, to, paging } = tablePage(Math.max(0, end - first), isWhole, query.page, perPage)
  const positions = Array.from({ length: to - from }, (_, i) =>
    query.order === 'asc' ? first + from + i : end - 1 - from - i,
  )
  const band = (name: string, member: 'density' | 'direction' | 'principal' | 'r1' | 'r2', unit = '') =>
    number(name, (row, { spectrum }: SpectrumRun) => spectrum[member][row], unit)
  const DEGREE = 'degree'
  return {
    columns: [
      time('time', (_row, { spectrum }: SpectrumRun) => spectrum.time),
      time('reading_time', (_row, { spectrum }: SpectrumRun) => spectrum.readingTime),
      number('frequency', (row, { spectrum }: SpectrumRun) => spectrum.bands.frequency[row], 'Hz'),
      number('bandwidth', (row, { spectrum }: SpectrumRun) => spectrum.bands.bandwidth[row], 'Hz'),
      band('density', 'density', 'm²/Hz'),
      band('direction', 'direction', DEGREE),
      band('principal_direction', 'principal', DEGREE),
      band('r1', 'r1'),
      band('r2', 'r2'),
      ...buoyBeside(dataset, () => ordinal, false),
    ],
    runs: positions.map((position) => (): SpectrumRun => {
      const spectrum = spectrumAt(dataset, ordinal, position)
      return { from: 0, step: 1, count: spectrum.density.length, spectrum }
    }),
    about: { buoy: dataset.catalog.slugs[ordinal], ...readingsAbout(dataset, [ordinal]) },
    place: null,
    ...(paging && { paging }),
    total: positions.reduce((sum, position) => sum + bandCount(dataset, ordinal, position), 0),
    name: `${dataset.catalog.slugs[ordinal]}_spectra`,
    list: null,
  }
}

function bandCount({ spectra }: Dataset, ordinal: number, position: number): number {
  const { month, row } = spectra.rowAt(ordinal, position)
  return month.first[row + 1] - month.first[row]
}
