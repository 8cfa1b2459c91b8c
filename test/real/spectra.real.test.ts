/**
 * Wave spectra of real files: NDBC's parameters of the same samples, and a naive reading of the files, are
 * what comes out.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { distribution, FINE_ANGLES, sectorsOf } from '../../src/sea/maximum-entropy.ts'
import { between, type Spectrum } from '../../src/sea/spectra.ts'
import { waveParameters } from '../../src/sea/wave-parameters.ts'
import { openNdbc } from '../../src/sources/ndbc/ndbc.ts'
import { openJsonSource } from '../../src/sources/tables/json.ts'
import { openTable } from '../../src/sources/tables/table.ts'
import { temporaryFolder } from '../live.ts'
import { SOFAR_SPECTRA } from '../sources/json_maps.ts'
import { record, type Recording } from '../sources/recorder.ts'
import { DATA } from './read-files.ts'

const SPECTRA = join(DATA, 'spectra')
const STATION =
  '<stations><station id="41010" lat="28.9" lon="-78.5" name="CANAVERAL EAST" type="buoy"/></stations>'

/** Reads 41010's files under the names that NDBC gives them. */
async function read41010(t: TestContext, names: { readonly [stored: string]: string }): Promise<Recording> {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'activestations.xml'), STATION)
  mkdirSync(join(folder, 'realtime2'))
  for (const [stored, name] of Object.entries(names))
    copyFileSync(join(SPECTRA, stored), join(folder, 'realtime2', name))
  return record(openNdbc, folder)
}

const linesOf = (file: string): string[] => {
  const bytes = readFileSync(join(SPECTRA, file))
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString()
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
}

const LIVE = ['data_spec', 'swdir', 'swdir2', 'swr1', 'swr2']

const readLive = (t: TestContext): Promise<Recording> =>
  read41010(t, Object.fromEntries(LIVE.map((ending) => [`41010.${ending}.gz`, `41010.${ending}.gz`])))

/** The values of a live file by `YYYY-MM-DDThh:mm`; NaN for 999. */
function naiveLive(ending: string): Map<string, number[]> {
  return new Map(
    linesOf(`41010.${ending}.gz`).map((line) => {
      const [year, month, day, hour, minute] = line.split(/\s+/)
      const values = [...line.matchAll(/([\d.]+) \([\d.]+\)/g)].map(([, value]) => Number(value))
      return [
        `${year}-${month}-${day}T${hour}:${minute}`,
        values.map((value) => (value === 999 ? NaN : value)),
      ]
    }),
  )
}

test('Every value of live files comes out as a naive reading of them says, principal directions but for their end.', async (t) => {
  const { spectra, bad, skipped, doubts } = await readLive(t)
  assert.deepEqual([bad, [...skipped], doubts, spectra.length], [[], [], [], 149])
  const [density, direction, principal, r1, r2] = LIVE.map(naiveLive)
  for (const spectrum of spectra) {
    const time = spectrum.time.slice(0, 16)
    assert.deepEqual([...spectrum.density], density.get(time))
    assert.deepEqual(
      [...spectrum.direction],
      direction.get(time)!.map((one) => one % 360),
    )
    assert.deepEqual([...spectrum.r1], r1.get(time))
    assert.deepEqual([...spectrum.r2], r2.get(time))
    spectrum.principal.forEach((one, i) => {
      const given = principal.get(time)![i]
      assert.equal(Number.isNaN(one), Number.isNaN(given))
      if (!Number.isNaN(one))
        assert.ok((one - given) % 180 === 0 && between(one, spectrum.direction[i]) <= 90)
    })
  }
})

test('Height, average period and direction at the peak are those that NDBC gives for the same samples.', async (t) => {
  const { spectra } = await readLive(t)
  const given = new Map(linesOf('41010.spec').map((line) => [line.slice(0, 13), line.split(/\s+/)]))
  let compared = 0
  for (const spectrum of spectra) {
    const row = given.get(spectrum.time.slice(0, 13).replaceAll(/[-T]/g, ' '))!
    const [height, average, direction] = [row[5], row[13], row[14]].map(Number)
    const found = waveParameters(spectrum)
    assert.ok(Math.abs(found.hm0 - height) <= 0.1, `${spectrum.time} ${found.hm0} ${height}`)
    assert.ok(Math.abs(found.tm02 - average) <= 0.5, `${spectrum.time} ${found.tm02} ${average}`)
    assert.ok(between(found.directionAtPeak, direction) <= 2, `${spectrum.time} ${found.directionAtPeak}`)
    compared++
  }
  assert.equal(compared, 149)
})

test('In annual files the first sample is as written, with r1 and r2 as hundredths.', async (t) => {
  const names = Object.fromEntries(
    ['w', 'd', 'i', 'j', 'k'].map((letter) => [`41010${letter}2019part.txt.gz`, `41010${letter}2019.txt.gz`]),
  )
  const { spectra, bad, doubts } = await read41010(t, names)
  assert.deepEqual([bad, doubts, spectra.length], [[], [], 99])
  const first = spectra.find(({ time }) => time === '2019-02-06T00:40:00Z')!
  const given = (letter: string): number[] =>
    linesOf(`41010${letter}2019part.txt.gz`)[0].trim().split(/\s+/).slice(5).map(Number)
  assert.equal(first.bands.frequency.length, 47)
  assert.deepEqual([...first.density], given('w'))
  assert.deepEqual(
    [...first.direction],
    given('d').map((one) => one % 360),
  )
  assert.deepEqual(
    [...first.r1],
    given('j').map((one) => one / 100),
  )
  assert.deepEqual(
    [...first.r2],
    given('k').map((one) => one / 100),
  )
})

test('Maximum entropy gives the moments of every band back to 1e-6 and is never negative; five bands have no distribution.', async (t) => {
  const { spectra } = await readLive(t)
  const fine = new Float64Array(FINE_ANGLES)
  let [bands, impossible] = [0, 0]
  const expectMoments = (spectrum: Spectrum, band: number): void => {
    const given = {
      direction: spectrum.direction[band],
      principal: spectrum.principal[band],
      r1: spectrum.r1[band],
      r2: spectrum.r2[band],
    }
    if (Number.isNaN(given.direction)) return
    bands++
    if (!distribution(given, fine)) {
      impossible++
      assert.equal(sectorsOf(spectrum, band), 'impossible')
      return
    }
    assert.ok(fine.every((share) => share >= 0))
    for (const [times, r, degrees] of [
      [1, given.r1, given.direction],
      [2, given.r2, given.principal],
    ]) {
      let [a, b] = [0, 0]
      fine.forEach((share, i) => {
        const angle = (2 * Math.PI * (i + 0.5 - 10)) / FINE_ANGLES
        a += share * Math.cos(times * angle)
        b += share * Math.sin(times * angle)
      })
      const angle = (times * degrees * Math.PI) / 180
      assert.ok(Math.hypot(a - r * Math.cos(angle), b - r * Math.sin(angle)) < 1e-6)
    }
    const sectors = sectorsOf(spectrum, band) as Float64Array
    const sum = sectors.reduce((all, one) => all + 5 * one, 0)
    assert.ok(Math.abs(sum - spectrum.density[band]) < 1e-6)
  }
  for (const spectrum of spectra) spectrum.density.forEach((_, band) => expectMoments(spectrum, band))
  assert.deepEqual([bands, impossible], [5419, 5])
})

test("A Spotter's table of 39 bands has its own height, periods and directions within rounding in every row.", async (t) => {
  const folder = temporaryFolder(t)
  copyFileSync(join(SPECTRA, 'spotter_20210929b.csv.gz'), join(folder, 'spotter.csv.gz'))
  const station = { identifier: 'spotter', name: 'Spotter', lat: 36.74, lng: -121.88 }
  const { spectra, bad, skipped } = await record(
    (argument) => openTable(argument, { stations: [station] }),
    folder,
  )
  const [header, ...rows] = gunzipSync(readFileSync(join(SPECTRA, 'spotter_20210929b.csv.gz')))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => line.split(',').map((cell) => cell.trim()))
  assert.deepEqual([bad, [...skipped], spectra.length, rows.length], [[], [], 21, 21])
  const byTime = new Map(spectra.map((spectrum) => [Date.parse(spectrum.time) / 1000, spectrum]))
  for (const row of rows) {
    const own = (name: string): number => Number(row[header.indexOf(name)])
    const spectrum = byTime.get(own('Epoch Time')) ?? assert.fail()
    assert.equal(spectrum.density.length, 39)
    const found = waveParameters(spectrum)
    for (const [value, expected, tolerance] of [
      [found.hm0, own('Significant Wave Height (m)'), 0.001],
      [found.peakPeriod, own('Peak Period (s)'), 0.001],
      [found.tm01, own('Mean Period (s)'), 0.001],
      [found.meanSpread, own('Mean Directional Spread (deg)'), 0.1],
    ]) {
      assert.ok(Math.abs(value - expected) <= tolerance, `${spectrum.time} ${value} ${expected}`)
    }
    assert.ok(between(found.meanDirection, own('Mean Direction (deg)')) <= 0.05, `${found.meanDirection}`)
    assert.ok(between(found.directionAtPeak, own('Peak Direction (deg)')) <= 0.006)
  }
})

test("A Spotter's answer in JSON has eight spectra with the height of its readings.", async (t) => {
  const folder = temporaryFolder(t)
  copyFileSync(join(DATA, 'sofar', 'spotter_20180214.json'), join(folder, 'spotter.json'))
  const options = {
    stations: [{ identifier: 'SPOT-0070', name: 'Spotter', lat: -62, lng: 172 }],
    tables: [{ ...SOFAR_SPECTRA, station: '^/data/spotterId' }],
  }
  const { spectra, bad } = await record((argument) => openJsonSource(argument, options), folder)
  assert.deepEqual(bad, [])
  const heights = [1.62, 1.67, 1.6, 2.43, 2.39, 2.2, 2.28, 2.32]
  assert.deepEqual(
    spectra.map((spectrum) => Number(waveParameters(spectrum).hm0.toFixed(2))),
    heights,
  )
})
