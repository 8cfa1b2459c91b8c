/**
 * `GET /buoys/{id}/spectra`, and spectra in details, lists and filters, against sums over the source's own
 * values.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SpectraBatch, type BandValues } from '../../src/sea/spectra-batch.ts'
import type { Source } from '../../src/sources/source.ts'
import { AskedPath, KEYED, viewOf } from '../answered.ts'
import { build, fakeSource, northBuoy } from '../builder/fake_source.ts'
import { folderOfFile } from '../live.ts'
import { parametersOf } from '../oracle/spectra.ts'

const at = (text: string): number => Date.parse(`${text}Z`) / 1000
const NOON = at('2026-03-27T12:00')
const FREQUENCIES = [0.05, 0.08, 0.1, 0.15, 0.2, 0.3]
const WIDTHS = [0.02, 0.025, 0.03, 0.05, 0.07, 0.1]

type Lists = { [name in 'density' | 'direction' | 'principal' | 'r1' | 'r2']: number[] }

/**
 * The spectrum of the hour `i` before noon: a swell from the west and a wind sea from the south, one band
 * without directions.
 */
function listsOf(i: number): Lists {
  return {
    density: [0.1, 4 + i / 100, 1.2, 0.3, 2.5, 0.4],
    direction: [NaN, 270, 265, 200, 180, 175],
    principal: [NaN, 272, 263, 205, 181, 174],
    r1: [NaN, 0.95, 0.9, 0.5, 0.8, 0.99],
    r2: [NaN, 0.86, 0.7, 0.2, 0.5, 0.2],
  }
}

/** 60 hours of a buoy N1, the last of them the newest, after one with two bands; N2 has none. */
const source: Source = {
  async read(sink, context) {
    const rows = [NOON - 3600, NOON - 600].map((time) => ({ time, significantHeight: 1500 }))
    await fakeSource([northBuoy('N1', rows), northBuoy('N2', rows, { lat: 11 })]).read(sink, context)
    const { rows: _, ...record } = northBuoy('N1')
    const batch = new SpectraBatch({
      frequency: Float64Array.from(FREQUENCIES),
      bandwidth: Float64Array.from(WIDTHS),
    })
    const add = (values: BandValues, time: number): void => assert.equal(batch.add(time, values), null)
    for (let i = 59; i >= 0; i--) add(listsOf(i), NOON - i * 3600)
    sink.spectra(sink.buoy(record), batch.taken())
    const two = new SpectraBatch({
      frequency: Float64Array.of(0.1, 0.2),
      bandwidth: Float64Array.of(0.1, 0.1),
    })
    two.add(NOON - 30 * 3600 - 60, { density: [1, 2] })
    sink.spectra(sink.buoy(record), two.taken())
  },
}

const folder = folderOfFile()
await build([source], folder)
const path = new AskedPath(await viewOf(folder))

interface Sample {
  [name: string]: unknown
  time: string
  density: number[]
  directional_density?: (number[] | null)[]
}
interface Data {
  [name: string]: unknown
  frequencies: number[]
  spectra: Sample[]
  count: number
}

async function answer(
  url: string,
): Promise<{ data: Data; meta: { [name: string]: unknown }; isLater: boolean }> {
  const { status, text, isLater } = await path.getLater(url, KEYED)
  assert.equal(status, 200, text)
  return { ...(JSON.parse(text) as { data: Data; meta: { [name: string]: unknown } }), isLater }
}

const orNull = (values: number[]): (number | null)[] =>
  values.map((value) => (Number.isNaN(value) ? null : value))

/** The parameters of a spectrum by their definitions, band by band. */
const naive = ({ density, direction, r1 }: Lists): { [name: string]: unknown } =>
  parametersOf({
    time: 0,
    frequency: FREQUENCIES,
    bandwidth: WIDTHS,
    density,
    direction: orNull(direction),
    r1: orNull(r1),
  })

test('Without a range the newest spectrum is answered at once, with its bands, its parameters and both times.', async () => {
  const { data, meta, isLater } = await answer('/v2/buoys/buoy-n1/spectra')
  assert.equal(isLater, false)
  const { spectra, buoy, ...rest } = data
  assert.deepEqual(rest, {
    frequencies: FREQUENCIES,
    bandwidths: WIDTHS,
    direction_convention: 'from, degrees true',
    other_bands: 0,
    count: 1,
  })
  assert.equal((buoy as { name: string }).name, 'Buoy N1')
  const lists = listsOf(0)
  const { trains, ...newest } = spectra[0]
  assert.deepEqual(newest, {
    time: '2026-03-27T12:00:00Z',
    reading_time: '2026-03-27T11:50:00Z',
    ...naive(lists),
    density: lists.density,
    direction: orNull(lists.direction),
    principal_direction: orNull(lists.principal),
    r1: orNull(lists.r1),
    r2: orNull(lists.r2),
  })
  assert.deepEqual(
    (trains as { period: number }[]).map(({ period }) => period),
    [5, 12.5],
  )
  assert.deepEqual([meta.page, meta.per_page, meta.total_pages], [1, 20, 1])
})

test('A spectrum without a reading within half an hour says so, and a buoy without spectra has an empty list.', async () => {
  const { data } = await answer('/v2/buoys/buoy-n1/spectra?end_date=2026-03-27T10:00:00Z&per_page=1')
  assert.deepEqual([data.spectra[0].time, data.spectra[0].reading_time], ['2026-03-27T10:00:00Z', null])
  const { data: none } = await answer('/v2/buoys/buoy-n2/spectra')
  assert.deepEqual([none.frequencies, none.spectra, none.count], [[], [], 0])
  assert.equal(path.get('/v2/buoys/nowhere/spectra', KEYED).status, 404)
})

test('Many spectra are made by the thread of long answers, and few at once.', async () => {
  const all = '/v2/buoys/buoy-n1/spectra?start_date=2026-03-20&end_date=now&per_page=50'
  const { data, isLater } = await answer(all)
  assert.deepEqual([isLater, data.count, data.other_bands, data.spectra.length], [true, 59, 1, 50])
  const second = await answer(`${all}&page=2`)
  assert.deepEqual([second.isLater, second.data.spectra.length], [false, 9])
  assert.match(path.get('/v2/buoys/buoy-n1/spectra?include=all', KEYED).text, /include.*directional/)
})

test('The spectrum over directions is never negative, sums up to the density, and says that it is an estimate.', async () => {
  const { data } = await answer('/v2/buoys/buoy-n1/spectra?include=directional')
  assert.deepEqual([data.estimate, data.method], [true, 'maximum entropy (Lygre and Krogstad 1986)'])
  assert.deepEqual(
    data.directions,
    Array.from({ length: 72 }, (_, i) => i * 5),
  )
  const [{ density, directional_density: directional = [], impossible_bands: impossible }] = data.spectra
  // The last band's waves come from one side alone in the first moment, and from all sides in the second.
  assert.deepEqual([directional[0], directional[5], impossible], [null, null, 1])
  for (const band of [1, 2, 3, 4]) {
    const sectors = directional[band] ?? assert.fail()
    assert.ok(sectors.every((value) => value >= 0))
    assert.ok(Math.abs(5 * sectors.reduce((sum, value) => sum + value, 0) - density[band]) < 1e-6)
  }
  const most = directional[1]!.indexOf(Math.max(...directional[1]!))
  assert.ok(Math.abs(most * 5 - 270) <= 10)
})

test('Tables have a row for each spectrum and band, of all bands, and no directions of the estimate.', async () => {
  const all = 'start_date=2026-03-20&end_date=now'
  const { text, headers } = await path.getLater(
    `/v2/buoys/buoy-n1/spectra?${all}&order=asc&format=csv`,
    KEYED,
  )
  const lines = text.trimEnd().split('\n')
  assert.equal(lines.length, 1 + 59 * 6 + 2)
  assert.equal(headers['x-total-count'], String(59 * 6 + 2))
  assert.match(
    lines[0],
    /^time,reading_time,frequency,bandwidth,density,direction,principal_direction,r1,r2,/,
  )
  assert.match(lines[1], /^2026-03-25T01:00:00Z,,0.05,0.02,0.1,,,,,/)
  assert.match(lines[2], /^2026-03-25T01:00:00Z,,0.08,0.025,4.59,270,272,0.95,0.86,/)
  const ndjson = await path.getLater('/v2/buoys/buoy-n1/spectra?format=ndjson', KEYED)
  const rows = ndjson.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { [name: string]: unknown })
  assert.deepEqual(
    rows.map(({ frequency, density, direction }) => [frequency, density, direction]),
    FREQUENCIES.map((hz, i) => [hz, listsOf(0).density[i], orNull(listsOf(0).direction)[i]]),
  )
  const parquet = await path.getLater('/v2/buoys/buoy-n1/spectra?format=parquet', KEYED)
  assert.equal(parquet.bytes.subarray(0, 4).toString(), 'PAR1')
  const refused = await path.getLater('/v2/buoys/buoy-n1/spectra?format=csv&include=directional', KEYED)
  assert.equal(refused.status, 422)
  assert.match(refused.text, /include is not offered in tables/)
})

test('include=spectrum adds the newest spectrum without its bands to details and last readings, in every format.', async () => {
  const times = { time: '2026-03-27T12:00:00Z', reading_time: '2026-03-27T11:50:00Z' }
  const expected: { [name: string]: unknown } = { ...times, ...naive(listsOf(0)) }
  const detail = JSON.parse(path.get('/v2/buoys/buoy-n1?include=spectrum,wind', KEYED).text) as {
    data: { buoy: { id: number; spectrum: object; last_reading: { wind_speed: null } } }
  }
  assert.deepEqual(detail.data.buoy.spectrum, expected)
  assert.equal(detail.data.buoy.last_reading.wind_speed, null)
  const { text } = await path.getLater('/v2/buoys/last_readings?ids=1,2&include=spectrum', KEYED)
  const { buoys } = (JSON.parse(text) as { data: { buoys: { spectrum: object | null }[] } }).data
  assert.deepEqual(
    buoys.map(({ spectrum }) => spectrum),
    [expected, null],
  )
  const csv = await path.getLater('/v2/buoys/last_readings?ids=1,2&include=spectrum&format=csv', KEYED)
  const [names, first, second] = csv.text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(','))
  const column = names.indexOf('spectrum.hm0')
  assert.deepEqual([first[column], second[column]], [String(expected.hm0), ''])
  const geojson = await path.getLater('/v2/buoys/buoy-n1?include=spectrum&format=geojson', KEYED)
  assert.match(geojson.text, /"spectrum.power":\d/)
  assert.doesNotMatch(path.get('/v2/buoys/buoy-n1', KEYED).text, /spectrum/)
})

test('has=spectrum takes the buoys with spectra, together with other filters.', async () => {
  const idsOf = async (query: string): Promise<number[]> => {
    const { text } = await path.getLater(`/v2/buoys?${query}`, KEYED)
    return (JSON.parse(text) as { data: { buoys: { id: number }[] } }).data.buoys.map(({ id }) => id)
  }
  assert.deepEqual(await idsOf('has=significient_height'), [1, 2])
  assert.deepEqual(await idsOf('has=spectrum'), [1])
  assert.deepEqual(await idsOf('has=spectrum,significient_height&max_age=1h'), [1])
  assert.deepEqual(await idsOf('has=spectrum,water_temperature'), [])
  assert.deepEqual(await idsOf('has=spectrum&near=11,-3&radius=20'), [])
})
