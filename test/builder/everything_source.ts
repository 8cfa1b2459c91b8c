/** The small world of the build tests with something of every kind of part. */
import { SpectraBatch } from '../../src/sea/spectra-batch.ts'
import type { Sink, Source } from '../../src/sources/source.ts'
import { fakeSource, SMALL_WORLD } from './fake_source.ts'

const at = (text: string): number => Date.parse(text) / 1000
const START = at('2026-03-25T00:00:00Z')

/** Spectra of the first buoy: three with directions, of one set of bands, and one without, of another. */
function sendSpectra(sink: Sink): void {
  const { rows: _rows, ...record } = SMALL_WORLD[0]
  const handle = sink.buoy(record)
  const directional = new SpectraBatch({
    frequency: Float64Array.of(0.05, 0.1, 0.2),
    bandwidth: Float64Array.of(0.01, 0.05, 0.1),
  })
  for (const hour of [6, 7, 8]) {
    const values = {
      direction: [270, NaN, 10],
      principal: [265, NaN, 12],
      r1: [0.9, NaN, 0.5],
      r2: [0.7, NaN, 0.2],
    }
    directional.add(at('2026-03-27T00:00:00Z') + hour * 3600, { density: [0.2, 1.5, 0.7], ...values })
  }
  const plain = new SpectraBatch({
    frequency: Float64Array.of(0.1, 0.2),
    bandwidth: Float64Array.of(0.1, 0.1),
  })
  plain.add(at('2026-03-27T08:30:00Z'), { density: [1, 0.5] })
  sink.spectra(handle, directional.taken())
  sink.spectra(handle, plain.taken())
}

/** Passes of two missions over the virtual buoy, forecasts at two points, harbours and spots. */
export function everythingSource(): Source {
  return {
    async read(sink, context) {
      await fakeSource(SMALL_WORLD).read(sink, context)
      sendSpectra(sink)
      const virtual = SMALL_WORLD.find((buoy) => buoy.virtual === true)!
      const { rows: _rows, ...record } = virtual
      const handle = sink.buoy(record)
      for (const [i, mission] of ['sentinel-3a', 'saral', 'sentinel-3a'].entries()) {
        const startedAt = at('2026-03-25T23:50:00Z') - i * 86_400
        sink.pass({
          mission,
          cycle: 80 + i,
          number: 17 + i,
          startedAt,
          endedAt: startedAt + 2800,
          bounds: { south: -66, west: 170, north: 66, east: -20 },
          observations: i === 0 ? [{ buoy: handle, time: at('2026-03-26T00:00:00Z') }] : [],
        })
      }
      const times = Array.from({ length: 120 }, (_, hour) => START + hour * 3600)
      for (const [lat, lng] of [
        [45.5, -3.2],
        [-12.1, 179.9],
      ]) {
        const wave = (scale: number): number[] =>
          times.map((_, i) => Number((scale * (2 + Math.sin(i / 7))).toFixed(2)))
        sink.forecast({
          lat,
          lng,
          runAt: START,
          times,
          values: {
            waveHeight: wave(1),
            wavePeriod: wave(4),
            waveDirection: wave(100),
            windSpeed: wave(20),
            windDirection: wave(90),
            swellHeight: wave(0.5),
            swellPeriod: wave(5),
          },
        })
      }
      for (const [i, name] of ['Brest', 'Lorient', 'Suva'].entries()) {
        sink.harbour({
          identifier: `h${i}`,
          name,
          lat: [45.4, 47.7, -12.05][i],
          lng: [-3.3, -3.35, 179.95][i],
          datumOffset: 4.1 - i,
          credit: `made up ${i % 2}`,
          constituents: [
            { name: 'M2', amplitude: 2.05, phase: 138 },
            { name: 'S2', amplitude: 0.75, phase: 178 },
            { name: 'K1', amplitude: 0.07, phase: 75 },
            { name: 'O1', amplitude: 0.06, phase: 328 },
            { name: 'M4', amplitude: 0.05, phase: 100 },
          ],
        })
      }
      sink.spot({ id: 7, name: 'La Nord', lat: 45.45, lng: -3.2 })
      sink.spot({ id: 4_000_000_000, name: 'Far', lat: -12, lng: 179.9 })
    },
  }
}
