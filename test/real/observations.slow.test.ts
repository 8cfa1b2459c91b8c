/**
 * Real files of Copernicus Marine, Candhis and NDBC, against a plain reading of the same files: whole texts,
 * documents and arrays, with the units done in whole numbers.
 *
 * The files are not part of the repository; with made-up data the same is tested in test/sources.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { openCandhis } from '../../src/sources/candhis.ts'
import { openCmems } from '../../src/sources/cmems.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { folderOf, record, type Row } from '../sources/recorder.ts'
import { fieldsOf } from '../fields.ts'
import type { Measures, WorldRow } from '../oracle/world.ts'
import { DATA, test, COLUMNS, withoutRepeats, type StationLine } from './read-files.ts'

const CMEMS = join(DATA, 'cmems-insitu')
const LATEST = join(DATA, 'ndbc', 'latest_obs')

/** A line for each row: epoch seconds, then codes in thousandths and hundredths, `-` where there is none. */
function linesOf(
  rows: readonly (Row | WorldRow)[],
  names: readonly (readonly [keyof Measures, number])[],
): string[] {
  return rows.map((row) => {
    const cells = names.map(([name, scale]) => {
      const value = row[name] ?? null
      const code = Math.round(Number(value) * scale)
      // North is 0 or 360 in files.
      return value === null ? '-' : name.endsWith('irection') ? code % 36_000 : code
    })
    return [
      new Date(typeof row.time === 'number' ? row.time * 1000 : row.time).getTime() / 1000,
      ...cells,
    ].join(' ')
  })
}

const digest = (lines: readonly string[]): string =>
  createHash('sha256').update(lines.join('\n')).digest('hex')

const WAVES_AND_WIND = [
  ['significantHeight', 1000],
  ['maximumHeight', 1000],
  ['period', 1000],
  ['peakPeriod', 1000],
  ['windSpeed', 100],
  ['windDirection', 100],
] as const

const ALL = [
  ['significantHeight', 1000],
  ['period', 1000],
  ['direction', 100],
  ['waterTemperature', 100],
  ['windSpeed', 100],
  ['windDirection', 100],
  ['gustSpeed', 100],
] as const

test('Two days and a month of a Norwegian platform come out value by value', async () => {
  const { rows, buoys, bad, skipped, understood, doubts } = await record(openCmems, CMEMS)
  assert.deepEqual([bad, [...skipped], doubts], [[], [], []])
  assert.deepEqual(Object.fromEntries(understood), {
    'AR_TS_MO_Draugen_202307.nc': 2952,
    'AR_TS_MO_Draugen_20230820.nc': 7,
    'AR_TS_MO_Draugen_20230821.nc': 42,
  })
  assert.deepEqual(fieldsOf(buoys, 'identifier', 'name', 'lat', 'lng', 'type'), [
    ['Draugen', 'Draugen', 64.352, 7.77915, 'subsurface mooring'],
  ])
  const lines = linesOf(rows.get('Draugen/0') ?? [], WAVES_AND_WIND)
  // By h5py, a different library in a different language, from the raw numbers and flags of the three files.
  assert.equal(lines.length, 3001)
  assert.equal(lines[0], '1688169600 1040 1680 10280 10280 1368 3700')
  assert.equal(lines[1234], '1688910600 530 860 7470 7470 2484 4100')
  assert.equal(lines.at(-1), '1692660000 1660 2730 14090 14090 720 20600')
  assert.equal(digest(lines), '62dd76afa681d77ba6a33918d2d0feb210b69ebe4c1db614a2385aa222efc482')
  // And by the raw arrays of each file, three levels a row: wind in the first, waves in the third.
  const h5 = await import('h5wasm/node')
  await h5.ready
  const again: string[] = []
  for (const name of readdirSync(CMEMS).toSorted()) {
    const file = new h5.File(join(CMEMS, name), 'r')
    const raw = (variable: string) => [
      ...((file.get(variable) as InstanceType<typeof h5.Dataset>).value as Int32Array),
    ]
    const [days, height, maximum, peak, wind, from] = ['TIME', 'VAVH', 'VZMX', 'VTPK', 'WSPD', 'WDIR'].map(
      raw,
    )
    for (const [i, day] of days.entries()) {
      const [air, surface] = [3 * i, 3 * i + 2]
      const values = [height[surface], maximum[surface], peak[surface], peak[surface]]
      // A metre a second is 3.6 km/h; a millimetre a second is 0.36 hundredths of them.
      const weather = [Math.floor((wind[air] * 36 + 50) / 100), Math.floor((from[air] + 5) / 10) % 36_000]
      again.push([Math.round(day * 86_400) - 631_152_000, ...values, ...weather].join(' '))
    }
    file.close()
  }
  assert.equal(digest(again), digest(lines))
})

interface CandhisAnswer {
  entete: string[]
  results: string[][]
}

test('Real answers of Candhis come out cell by cell', async (t) => {
  const folder = await folderOf(t, {})
  const samples = join(DATA, 'api-samples')
  const info = JSON.parse(
    readFileSync(join(samples, 'candhis_getCampInfos_02911.json'), 'utf8'),
  ) as CandhisAnswer
  const shapes = ['directionnel_H13', 'directionnel_Hm0', 'non_directionnel_H13']
  for (const [i, shape] of shapes.entries()) {
    cpSync(join(samples, `candhis_getCampTR_${shape}.json`), join(folder, `getCampTR_0000${i}.json`))
    cpSync(join(samples, 'candhis_getCampInfos_02911.json'), join(folder, `getCampInfos_0000${i}.json`))
  }
  for (const name of ['getCampListe', 'getCampZone', 'no_data'])
    cpSync(join(samples, `candhis_${name}.json`), join(folder, `${name}.json`))
  const { rows, buoys, bad, skipped } = await record(openCandhis, folder)
  assert.deepEqual(bad, [])
  assert.deepEqual(Object.fromEntries(skipped), {
    'an answer without positions and measurements': 2,
    'an answer without rows': 1,
  })
  for (const { name, lat, lng } of buoys) {
    assert.deepEqual([name, String(lat), String(lng)], info.results[0].slice(0, 3))
  }
  const labels: { [label: string]: keyof Row } = {
    'H1/3 (m)': 'significantHeight',
    'Hm0 (m)': 'significantHeight',
    'Hmax (m)': 'maximumHeight',
    'TH1/3 (s)': 'period',
    'T. au pic (s)': 'peakPeriod',
    'Dir. au pic (°)': 'direction',
    'Temp. mer (°C)': 'waterTemperature',
  }
  for (const [i, shape] of shapes.entries()) {
    const { entete, results } = JSON.parse(
      readFileSync(join(samples, `candhis_getCampTR_${shape}.json`), 'utf8'),
    ) as CandhisAnswer
    const expected = results.map((cells) => {
      const row: { [name: string]: string | number } = { time: `${cells[0].replace(' ', 'T')}:00Z` }
      for (const [at, label] of entete.entries()) {
        if (label in labels && cells[at] !== '999.9999') row[labels[label]] = Number(cells[at])
      }
      return row
    })
    assert.deepEqual(rows.get(`0000${i}/1`), expected, shape)
  }
})

/**
 * Copies of latest_obs.txt by path, in the order in which the product reads them: files of a folder, then its
 * folders.
 */
function latestTexts(): string[] {
  const names = readdirSync(LATEST).filter((name) => name.endsWith('.txt'))
  const older = readdirSync(join(LATEST, 'history'))
  return [
    ...names.toSorted().map((name) => readFileSync(join(LATEST, name), 'latin1')),
    ...older
      .toSorted()
      .map((name) => gunzipSync(readFileSync(join(LATEST, 'history', name))).toString('latin1')),
  ]
}

test('Fifty copies of latest_obs.txt come out as a plain reading of them', async (t) => {
  const folder = await folderOf(t, {})
  symlinkSync(LATEST, join(folder, 'latest_obs'))
  const { rows, buoys, bad, understood } = await record(openNdbc, folder)
  assert.deepEqual(bad, [])

  const stations = new Map<string, Map<number, StationLine>>()
  const places = new Map<string, Set<string>>()
  let count = 0
  for (const text of latestTexts()) {
    const [header, , ...lines] = text.trim().split('\n')
    const labels = header.slice(1).trim().split(/\s+/)
    for (const line of lines) {
      count++
      const cells = line.trim().split(/\s+/)
      assert.equal(cells.length, labels.length, line)
      const cell = (label: string): string => cells[labels.indexOf(label)]
      const values = Object.fromEntries(
        COLUMNS.map((label) => [label, cell(label) === 'MM' ? null : Number(cell(label))]),
      )
      if (['WVHT', 'WTMP', 'WDIR', 'WSPD', 'GST'].every((label) => values[label] === null)) continue
      if (values['DPD'] === 0) values['DPD'] = null
      const [year, month, day, hour, minute] = ['YYYY', 'MM', 'DD', 'hh', 'mm'].map(cell)
      const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:00Z`) / 1000
      const station = cell('STN')
      stations.set(station, (stations.get(station) ?? new Map()).set(time, { time, values }))
      places.set(station, (places.get(station) ?? new Set()).add(`${+cell('LAT')} ${+cell('LON')}`))
    }
  }
  assert.equal(
    [...understood.values()].reduce((sum, n) => sum + n, 0),
    count,
  )
  assert.equal(buoys.length, stations.size)

  const inOrder = <T>(all: ReadonlyMap<string, T>): [string, T][] =>
    [...all].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const expected = inOrder(stations).flatMap(([station, lines]) =>
    linesOf(withoutRepeats([...lines.values()]), ALL).map((line) => `${station} ${line}`),
  )
  const got = inOrder(rows).flatMap(([key, list]) =>
    linesOf(list, ALL).map((line) => `${key.replace('/1', '')} ${line}`),
  )
  assert.equal(got.length, expected.length)
  const differing = got.findIndex((line, i) => line !== expected[i])
  assert.equal(got[differing], expected[differing])
  t.diagnostic(`${count} lines, ${got.length} rows, ${buoys.length} stations`)

  for (const { identifier, lat, lng } of buoys) {
    assert.ok(
      places.get(identifier)?.has(`${lat} ${lng}`),
      `${identifier} lies where no file says: ${lat} ${lng}`,
    )
  }
})
