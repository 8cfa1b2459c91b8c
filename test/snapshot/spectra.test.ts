/** Monthly parts of wave spectra: every spectrum comes back, and what a part takes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { BAND_NAMES, type Spectra } from '../../src/sea/spectra.ts'
import { SpectraBatch, slice } from '../../src/sea/spectra-batch.ts'
import { decodePart, encodePart } from '../../src/snapshot/part-columns.ts'
import { runsOf, spectraPart } from '../../src/builder/write-spectra.ts'
import { readSpectra } from '../../src/snapshot/spectra.ts'

const MONTH = (2026 - 1970) * 12 + 2
const START = Date.parse('2026-03-01T00:00:00Z') / 1000

const shares = fc.oneof(fc.constant(NaN), fc.double({ min: 0, max: 1, noNaN: true }))
const degrees = fc.oneof(fc.constant(NaN), fc.double({ min: 0, max: 359, noNaN: true }))

/** Spectra of one of two sets of bands, from a row of the month on. */
const runs = fc
  .record({
    bands: fc.constantFrom(2, 5),
    isDirectional: fc.boolean(),
    spectra: fc.array(
      fc.array(fc.record({ density: fc.double({ min: 0.01, max: 99, noNaN: true }), degrees, shares }), {
        minLength: 5,
        maxLength: 5,
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ bands, isDirectional, spectra }) => (from: number): Spectra => {
    const frequency = Float64Array.from({ length: bands }, (_, i) => (i + 1) / 20)
    const batch = new SpectraBatch({ frequency, bandwidth: frequency.map(() => 0.05) })
    spectra.forEach((values, i) => {
      const of = (name: 'degrees' | 'shares'): number[] | null =>
        isDirectional ? values.map((value) => value[name]) : null
      const density = values.map((value) => value.density)
      const directions = {
        direction: of('degrees'),
        principal: of('degrees'),
        r1: of('shares'),
        r2: of('shares'),
      }
      assert.equal(batch.add(START + (from + i) * 1800, { density, ...directions }), null)
    })
    return batch.taken()
  })

/** Each spectrum of runs as text. */
const listed = (all: readonly Spectra[]): string[] =>
  all.flatMap((run) =>
    Array.from(run.time, (time, i) => {
      const one = slice(run, i, i + 1)
      return [time, one.peak, run.bands.frequency, ...BAND_NAMES.map((name) => one[name])].join(' ')
    }),
  )

test('Every spectrum of a month comes back through its part, of whatever bands, with directions or without.', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(runs, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      (given) => {
        const buoys = given.map((made, i) => ({ buoy: 3 + i, runs: made.map((make, at) => make(at * 10)) }))
        const { part, rows } = spectraPart(MONTH, buoys)
        const month = readSpectra(decodePart(encodePart(part), 'f'), MONTH, 'f')
        assert.equal(rows, listed(buoys.flatMap((buoy) => buoy.runs)).length)
        assert.deepEqual(
          [...month.buoys],
          buoys.map(({ buoy }) => buoy),
        )
        buoys.forEach((buoy, i) => assert.deepEqual(listed(runsOf(month, i)), listed(buoy.runs)))
      },
    ),
  )
})

test('A spectrum of 46 bands with directions takes at most 400 bytes, one without less than a third of that.', () => {
  const frequency = Float64Array.from({ length: 46 }, (_, i) => (i + 1) / 100)
  const bands = { frequency, bandwidth: frequency.map(() => 0.01) }
  const sizeOf = (isDirectional: boolean): number => {
    const batch = new SpectraBatch(bands)
    const values = Array.from({ length: 46 }, (_, i) => i + 1)
    const shares = values.map((value) => value / 50)
    const directions = isDirectional ? { direction: values, principal: values, r1: shares, r2: shares } : {}
    for (let i = 0; i < 700; i++) batch.add(START + i * 3600, { density: values, ...directions })
    const { part } = spectraPart(MONTH, [{ buoy: 1, runs: [batch.taken()] }])
    return encodePart(part).length / 700
  }
  assert.ok(sizeOf(true) <= 400, String(sizeOf(true)))
  assert.ok(sizeOf(false) < 130, String(sizeOf(false)))
})
