/** Wave spectra in tables of text and JSON: columns by band, the axes of a1 and b1, and what can be wrong. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { between } from '../../src/sea/spectra.ts'
import { waveParameters } from '../../src/sea/wave-parameters.ts'
import { openJsonSource } from '../../src/sources/tables/json.ts'
import { openTable } from '../../src/sources/tables/table.ts'
import type { SourceOptions } from '../../src/sources/source.ts'
import { SOFAR_SPECTRA } from './json_maps.ts'
import { folderOf, record, type Recording } from './recorder.ts'

type Test = Parameters<typeof folderOf>[0]

const PLACE = { stations: [{ identifier: 'spot', name: 'Spot', lat: 36.7, lng: -121.9 }] }

/** Waves of three bands that go east-north-east, 30° from east: they come from 240°. */
const R1 = 0.8
const [A1, B1] = [R1 * Math.cos(Math.PI / 6), R1 * Math.sin(Math.PI / 6)]
const [A2, B2] = [0.5 * Math.cos(Math.PI / 3), 0.5 * Math.sin(Math.PI / 3)]
const BANDS: { readonly [name: string]: readonly (number | string)[] } = {
  f: [0.1, 0.2, 0.3],
  df: [0.05, 0.1, 0.15],
  varianceDensity: [1, 2, 0.5],
  a1: [A1, A1, A1],
  b1: [B1, B1, B1],
  a2: [A2, A2, A2],
  b2: [B2, B2, B2],
  direction: [240, 240, 240],
}

type Changes = { readonly [name: string]: readonly (number | string)[] | undefined }

const tableOf = (...rows: Changes[]): string => {
  const names = Object.keys(BANDS).filter(
    (name) => !rows.some((row) => name in row && row[name] === undefined),
  )
  const header = ['time', 'Hs (m)', ...names.flatMap((name) => BANDS[name].map((_, i) => `${name}_${i}`))]
  const lines = rows.map((row, hour) => {
    const bands = names.flatMap((name) => row[name] ?? BANDS[name])
    return [`2026-03-27T0${hour}:00:00Z`, 2, ...bands].join()
  })
  return `${[header.join(), ...lines].join('\n')}\n`
}

async function read(t: Test, text: string, options: SourceOptions = {}): Promise<Recording> {
  const folder = await folderOf(t, { 'spot.csv': text })
  return record((argument) => openTable(argument, { ...PLACE, ...options }), folder)
}

const mapped = (spectra: object): SourceOptions => ({ tables: [{ spectra }] })
const MAP = {
  frequency: 'f',
  bandwidth: 'df',
  density: 'varianceDensity',
  a1: 'a1',
  b1: 'b1',
  a2: 'a2',
  b2: 'b2',
}

test('Columns by band with well-known names are wave spectra, with directions by the axes of a Spotter.', async (t) => {
  const { spectra, bad, skipped, rows, columns } = await read(t, tableOf({}, {}))
  assert.deepEqual([bad, [...skipped], spectra.length], [[], [], 2])
  const [{ station, time, bands, density, direction, principal, r1, r2 }] = spectra
  assert.deepEqual([station, time], ['spot/0', '2026-03-27T00:00:00Z'])
  assert.deepEqual([[...bands.frequency], [...bands.bandwidth]], [BANDS.f, BANDS.df])
  assert.deepEqual([...density], BANDS.varianceDensity)
  assert.deepEqual(
    [[...direction], [...principal]],
    [
      [240, 240, 240],
      [240, 240, 240],
    ],
  )
  assert.deepEqual(
    [[...r1], [...r2]],
    [
      [0.8, 0.8, 0.8],
      [0.5, 0.5, 0.5],
    ],
  )
  // The columns of bands are nothing else: no direction of the reading, and no column that is not used.
  assert.deepEqual(rows.get('spot/0')?.[0], { time: '2026-03-27T00:00:00Z', significantHeight: 2 })
  assert.match(columns.join(), /24 columns are wave spectra$/)
})

test('Axes that are not those of the table refuse the map, or leave the spectra out where nobody gave one.', async (t) => {
  const { direction: _, ...others } = BANDS
  const towards = tableOf({ direction: [60, 60, 60] })
  const { spectra, doubts, rows } = await read(t, towards)
  assert.deepEqual([spectra.length, rows.get('spot/0')?.length], [0, 1])
  assert.match(
    doubts.join(),
    /grave: a table's own directions are not those of its a1 and b1.*row 2: by 180°/,
  )
  await assert.rejects(
    read(t, towards, mapped({ ...MAP, direction: 'direction' })),
    /set "axes" of "spectra" to/,
  )
  await assert.rejects(
    read(t, tableOf({}), mapped({ ...MAP, direction: 'direction', axes: 'north-from' })),
    /axes/,
  )
  const northern = await read(
    t,
    tableOf({ direction: [30, 30, 30] }),
    mapped({ ...MAP, direction: 'direction', axes: 'north-from' }),
  )
  assert.deepEqual([...northern.spectra[0].direction], [30, 30, 30])
  const near = await read(t, tableOf({ direction: [241.9, 240, 238.1] }))
  assert.equal(near.spectra.length, 1)
  // Where waves have hardly a direction, that of a1 and b1 is one of rounding.
  const round = await read(t, tableOf({ a1: [0.01, A1, A1], b1: [0, B1, B1] }))
  assert.equal(round.spectra.length, 1)
  assert.equal(Object.keys(others).length, 7)
})

test('Without widths bands end half-way, without second moments there are none, and a row of missing cells has no spectrum.', async (t) => {
  const none = ['-', '-', '-']
  const { spectra, bad, skipped } = await read(
    t,
    tableOf(
      { df: undefined, a2: undefined, b2: undefined },
      { varianceDensity: none, f: none, a1: none, b1: none, direction: none },
    ),
  )
  assert.deepEqual([bad, [...skipped], spectra.length], [[], [], 1])
  assert.deepEqual([...spectra[0].bands.bandwidth], [0.1, 0.1, 0.1])
  assert.deepEqual([...spectra[0].r2, ...spectra[0].principal], Array<number>(6).fill(NaN))
})

test('Bands that change between rows make spectra of two sets; faults of a row are counted and its reading stays.', async (t) => {
  const { spectra, skipped, rows } = await read(
    t,
    tableOf(
      { f: [0.1, 0.2, 0.4] },
      {},
      { varianceDensity: [1, -1, 1] },
      { varianceDensity: [1, '-', 1] },
      { varianceDensity: [0, 0, 0] },
      { f: [0.1, 0.1, 0.3] },
      { a1: [2, A1, A1], b1: [2, B1, B1], direction: [225, 240, 240] },
    ),
  )
  assert.deepEqual(
    spectra.map(({ time, bands }) => `${time.slice(11, 13)} ${bands.frequency.join(' ')}`).sort(),
    ['00 0.1 0.2 0.4', '01 0.1 0.2 0.3', '06 0.1 0.2 0.3'],
  )
  assert.deepEqual([...skipped.values()], [1, 1, 1, 1, 1])
  assert.ok([...skipped.keys()].includes('r1 or r2 outside 0 to 1'))
  assert.equal(rows.get('spot/0')?.length, 7)
})

test('A map names columns of other names, and says which of them are not there.', async (t) => {
  const text = tableOf({}).replaceAll('varianceDensity', 'E').replaceAll(/\bf_/g, 'Freq in Hz_')
  const spectra = { ...MAP, frequency: 'Freq in Hz', density: 'E' }
  const found = await read(t, text, mapped(spectra))
  assert.deepEqual([found.spectra.length, found.bad], [1, []])
  const other = await read(t, text, mapped({ ...spectra, density: 'S' }))
  assert.match(other.bad.join(), /the header lacks the columns of density by band/)
  const half = await read(t, text, mapped({ frequency: 'Freq in Hz' }))
  assert.match(half.bad.join(), /names no frequency or no density/)
  const uneven = await read(t, tableOf({}).replace('a1_2', 'other'))
  assert.match(uneven.bad.join(), /different numbers of bands/)
})

test('A table of alpha1, alpha2, r1 and r2 has them as they are.', async (t) => {
  const text = `time,f_1,f_2,spectralDensity_1,spectralDensity_2,alpha1_1,alpha1_2,alpha2_1,alpha2_2,r1_1,r1_2,r2_1,r2_2
2026-03-27T00:00:00Z,0.1,0.2,1,2,10,20,195,25,0.9,0.8,0.7,0.6
`
  const { spectra, rows } = await read(t, text)
  const [{ direction, principal, r1, r2 }] = spectra
  assert.deepEqual(
    [[...direction], [...principal]],
    [
      [10, 20],
      [15, 25],
    ],
  )
  assert.deepEqual(
    [[...r1], [...r2]],
    [
      [0.9, 0.8],
      [0.7, 0.6],
    ],
  )
  assert.equal(rows.size, 0)
})

test("A Spotter's answer in JSON has its spectra as lists, joined to its own network's stations.", async (t) => {
  const { f, df, ...rest } = BANDS
  const document = {
    data: {
      spotterId: 'spot',
      waves: [{ significantWaveHeight: 1.6, timestamp: '2026-03-27T00:00:00Z' }],
      frequencyData: [
        { frequency: f, df, ...rest, timestamp: '2026-03-27T00:10:00Z' },
        { frequency: f, df, ...rest, varianceDensity: [1, null, 2], timestamp: '2026-03-27T01:10:00Z' },
        { frequency: f, df, ...rest, varianceDensity: 'x', timestamp: '2026-03-27T02:10:00Z' },
      ],
    },
  }
  const station = '^/data/spotterId'
  const options = {
    ...PLACE,
    tables: [
      {
        rows: '/data/waves',
        station,
        time: { at: '/timestamp' },
        values: { significantHeight: { at: '/significantWaveHeight', unit: 'm' } },
      },
      { ...SOFAR_SPECTRA, station },
    ],
  }
  const folder = await folderOf(t, { 'spot.json': JSON.stringify(document) })
  const { spectra, rows, skipped, bad } = await record(
    (argument) => openJsonSource(argument, options),
    folder,
  )
  assert.deepEqual([bad, spectra.length, rows.get('spot/0')?.length], [[], 1, 1])
  assert.ok(between(waveParameters(spectra[0]).meanDirection, 240) < 0.01)
  assert.deepEqual(
    [...skipped],
    [
      ['a spectrum without a density in a band', 1],
      ['a row without a value', 1],
    ],
  )
})
