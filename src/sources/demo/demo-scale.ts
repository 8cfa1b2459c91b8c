/** `--source demo:scale,…`: as many made-up buoys, for as long, as a bench wants. */
import { wrapLongitude } from '../../sea/geo.ts'
import type { SourceInfo } from '../../sea/records.ts'
import { DAY } from '../../sea/time.ts'
import { BuildError } from '../../system/build-error.ts'
import type { Sink } from '../source.ts'
import { timesBetween, type Fleet, type Mooring } from './demo-rows.ts'
import { draw, keyOf, STEP } from './demo-sea.ts'
import data from './stations.json' with { type: 'json' }

const RANGES = { buoys: [1, 5000], days: [1, 7300], seed: [0, 0xffffffff] }
type ScaleOptions = { [name in keyof typeof RANGES]: number }

/**
 * The options that follow `demo:scale,`, for instance `buoys=500,days=3653`. The defaults are about the size of
 * the real world.
 * @throws BuildError naming an option that is unknown or out of range, and what is allowed
 */
export function scaleOptions(given: readonly string[]): ScaleOptions {
  const options: ScaleOptions = { buoys: 1200, days: 90, seed: 1 }
  for (const option of given) {
    const [, name, digits] = /^(buoys|days|seed)=([0-9]{1,10})$/.exec(option) ?? []
    const [min, max] = RANGES[name as keyof ScaleOptions] ?? [NaN, NaN]
    const value = Number(digits)
    if (!(value >= min && value <= max)) {
      const allowed = 'buoys from 1 to 5000, days from 1 to 7300, seed from 0 to 4294967295'
      throw new BuildError(`demo:scale: not ${JSON.stringify(option.slice(0, 20))}; allowed are ${allowed}`)
    }
    options[name as keyof ScaleOptions] = value
  }
  return options
}

/** Announces the buoys; their window ends at `asOf`, epoch seconds. */
export function scaleFleet(sink: Sink, options: ScaleOptions, asOf: number): Fleet {
  const { buoys, days, seed } = options
  for (const network of data.scale.networks as SourceInfo[]) sink.source(network)
  const from = asOf - days * DAY + 1
  const moorings = Array.from({ length: buoys }, (_, n) => scaleMooring(sink, n, seed))
  return { moorings, seed, from, swellFrom: from }
}

/** Buoy n is at coast n mod 37; the first n buoys are the same however many are asked for. */
function scaleMooring(sink: Sink, n: number, seed: number): Mooring {
  const { name, country, climate, direction, ...coast } = data.coasts[n % data.coasts.length]
  const ordinal = Math.floor(n / data.coasts.length)
  const identifier = `S${String(n + 1).padStart(5, '0')}`
  const key = keyOf(seed, identifier)
  // Within four degrees of the coast's place.
  const near = (degrees: number, index: number): number =>
    Math.round((degrees + 4 * draw(key, index)) * 10_000) / 10_000
  const position = { lat: near(coast.lat, 1), lng: wrapLongitude(near(coast.lng, 2)) }
  // Of every four buoys one is coastal, one measures what most sources do, and two are as NDBC's.
  const { source, instrument } = data.scale.kinds[(ordinal + (n % data.coasts.length)) % 4]
  return {
    ...position,
    climate,
    exposure: 0.9 + 0.3 * draw(key, 3),
    direction,
    instrument,
    key,
    buoy: sink.buoy({ source, identifier, name: `${name} ${ordinal + 1}`, ...position, country }),
    times: (begin, end) => timesBetween(begin, end, STEP),
  }
}
