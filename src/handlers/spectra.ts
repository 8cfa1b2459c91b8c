/**
 * `GET /buoys/{buoy_id}/spectra`: wave spectra of one buoy, by default the newest one. An answer has one set
 * of bands, that of the newest spectrum of the range; spectra with other bands are counted and left out, and
 * are in tables. The spectrum over directions is an estimate by maximum entropy (`sea/maximum-entropy.ts`).
 */
import type { Dataset } from '../dataset/dataset.ts'
import type { JsonWriter } from '../dataset/json-writer.ts'
import { type TimedSpectrum, spectrumAt, writeNumbers, writeSpectrum } from '../dataset/spectra-json.ts'
import type { View } from '../dataset/view.ts'
import { page } from '../operation/filters.ts'
import { operation, refuseBackwards, requireBuoy, rowsOfPage, writePaging } from '../operation/operation.ts'
import { choice, integer, type QueryOf, timestamp, wordSet } from '../operation/parameters.ts'
import { SECTOR_DEGREES, SECTORS } from '../sea/maximum-entropy.ts'
import { type Bands, bandsKey } from '../sea/spectra.ts'
import { endOf } from '../sea/time.ts'

export const MAX_PER_PAGE = 500

export const parameters = {
  start_date: timestamp({
    description:
      'First moment of the range; a date alone is its first second. Without a range: the newest spectrum.',
  }),
  end_date: timestamp({
    description: 'Last moment of the range, included; a date alone is its last second.',
  }),
  order: choice({
    values: ['asc', 'desc'],
    default: 'desc',
    description: 'By time, oldest or newest first.',
  }),
  page,
  per_page: integer({
    minimum: 1,
    default: 20,
    description: `Spectra a page; more than ${MAX_PER_PAGE} is taken as ${MAX_PER_PAGE}.`,
  }),
  include: wordSet({
    values: ['directional'],
    description:
      '`directional`: the spectrum over directions, an estimate by maximum entropy (Lygre and Krogstad 1986); in JSON alone.',
  }),
}

type Query = QueryOf<typeof parameters>

/** Spectra that are written at once: 20 of 46 bands take half a millisecond. */
const MOST_AT_ONCE = 20
/** Rows of a range that are looked through at once. */
const MOST_ROWS = 10_000

/** The spectra of an answer. */
interface AskedSpectra {
  readonly ordinal: number
  /** Null where the range has no spectrum. */
  readonly bands: Bands | null
  /** Positions of the spectra with these bands, in the order of the answer, over all pages. */
  readonly positions: Uint32Array
  /** Spectra of the range with other bands. */
  readonly others: number
  /** Rows of the page. */
  readonly from: number
  readonly to: number
  readonly perPage: number
}

/** Positions from `first` up to `end` of a buoy's spectra in the range. @throws ApiError 404 or 422 */
export function runOf(
  view: View,
  query: Query,
  buoyId: string,
): { ordinal: number; first: number; end: number } {
  const ordinal = requireBuoy(view, buoyId)
  const { spectra } = view.dataset
  const start = query.start_date?.epoch ?? null
  const last = query.end_date === undefined ? null : endOf(query.end_date)
  if (start !== null && last !== null) refuseBackwards(start, last)
  const count = spectra.count(ordinal)
  if (start === null && last === null) return { ordinal, first: Math.max(0, count - 1), end: count }
  return { ordinal, ...spectra.between(ordinal, start, last) }
}

/** @throws ApiError 404 or 422 */
export function askedSpectra(view: View, query: Query, buoyId: string): AskedSpectra {
  const { ordinal, first, end } = runOf(view, query, buoyId)
  const perPage = Math.min(query.per_page, MAX_PER_PAGE)
  const { bands, positions } = ofOneSet(view.dataset, ordinal, first, end)
  if (query.order === 'desc') positions.reverse()
  const { from, to } = rowsOfPage(positions.length, query.page, perPage)
  const others = Math.max(0, end - first) - positions.length
  return { ordinal, bands, positions, others, from, to, perPage }
}

/** The bands of the newest spectrum of a range, and the positions of all with these bands, ascending. */
function ofOneSet(
  { spectra }: Dataset,
  ordinal: number,
  first: number,
  end: number,
): { bands: Bands | null; positions: Uint32Array } {
  const found = new Uint32Array(Math.max(0, end - first))
  let bands: Bands | null = null
  let key = ''
  let at = found.length
  let position = end
  for (const { month, from, count } of spectra.runs(ordinal, first, end, false)) {
    const { sets, set } = month
    bands ??= sets[set[from]]
    key ||= bandsKey(bands)
    const wanted = sets.findIndex((one) => bandsKey(one) === key)
    for (let row = from; row > from - count; row--) {
      position--
      if (set[row] === wanted) found[--at] = position
    }
  }
  return { bands, positions: found.subarray(at) }
}

const DIRECTIONS = Array.from({ length: SECTORS }, (_, i) => i * SECTOR_DEGREES)
const METHOD = 'maximum entropy (Lygre and Krogstad 1986)'
const BANDS_BYTES = 400

/** `data` up to its first spectrum. */
export function beginSpectra(
  { fragments: { writer, summary } }: View,
  into: JsonWriter,
  { ordinal, bands }: AskedSpectra,
  directional: boolean,
): void {
  into.text('{"buoy":')
  if (into === writer) summary.write(ordinal)
  else summary.writeTo(into, ordinal)
  into.text(',"frequencies":')
  writeNumbers(into, bands?.frequency ?? [])
  into.text(',"bandwidths":')
  writeNumbers(into, bands?.bandwidth ?? [])
  into.ensure(BANDS_BYTES)
  into.text(',"direction_convention":"from, degrees true"')
  if (directional) {
    into.text(`,"method":"${METHOD}","estimate":true,"directions":`)
    writeNumbers(into, DIRECTIONS)
  }
  into.text(',"spectra":[')
}

export function writeOne(
  writer: JsonWriter,
  dataset: Dataset,
  { ordinal, positions, from }: AskedSpectra,
  index: number,
  directional: boolean,
): void {
  if (index > from) {
    writer.ensure(1)
    writer.comma()
  }
  const spectrum: TimedSpectrum = spectrumAt(dataset, ordinal, positions[index])
  writeSpectrum(writer, spectrum, directional)
}

/** `data` after its last spectrum. */
export function endSpectra(writer: JsonWriter, { positions, others }: AskedSpectra): void {
  writer.text(`],"other_bands":${others},"count":${positions.length}}`)
}

export const listSpectra = operation({
  name: 'listSpectra',
  path: '/buoys/{buoy_id}/spectra',
  access: 'keyed',
  summary: 'Wave spectra of a buoy',
  parameters,
  refusal: 'validation_failed',
  errors: ['resource_not_found', 'validation_failed'],
  answer(view, query, [buoyId]) {
    const { first, end } = runOf(view, query, buoyId)
    if (query.include !== undefined || end - first > MOST_ROWS) return 'long'
    const asked = askedSpectra(view, query, buoyId)
    if (asked.to - asked.from > MOST_AT_ONCE) return 'long'
    const { writer } = view.fragments
    beginSpectra(view, writer, asked, false)
    for (let i = asked.from; i < asked.to; i++) writeOne(writer, view.dataset, asked, i, false)
    endSpectra(writer, asked)
    return writePaging(writer, asked.positions.length, query.page, asked.perPage)
  },
  tables: { formats: ['json', 'csv', 'ndjson', 'parquet'], isList: false },
})
