/** Requests of the operations that answer with readings of one buoy. */
import * as fc from 'fast-check'
import type { Known } from './oracle.ts'
import type { Paths } from './paths.ts'
import {
  assemble,
  booleans,
  everyByte,
  extras,
  integers,
  page,
  part,
  perPage,
  requestsOf,
  validPart,
  type ApiRequest,
  type ParameterKind,
  type Part,
} from './request_parts.ts'
import type { World } from './world.ts'

const iso = (epoch: number) => new Date(epoch * 1000).toISOString().slice(0, 19)
const offsetIso = (epoch: number, minutes: number) => {
  const two = (value: number) => String(value).padStart(2, '0')
  const ahead = Math.abs(minutes)
  return `${iso(epoch + minutes * 60)}${minutes < 0 ? '-' : '+'}${two(Math.floor(ahead / 60))}:${two(ahead % 60)}`
}
const timeTexts: ((epoch: number) => string)[] = [
  (epoch) => `${iso(epoch)}Z`,
  (epoch) => `${iso(epoch)}Z`,
  (epoch) => `${iso(epoch)}.000Z`,
  (epoch) => offsetIso(epoch, 120),
  (epoch) => offsetIso(epoch, -210),
  (epoch) => offsetIso(epoch, 0),
  (epoch) => iso(epoch).slice(0, 10),
]

export type Times = ReturnType<typeof timesOf>

/** Times, days and timestamps as parameters, most of them of readings. */
export function timesOf(world: World, buoy: fc.Arbitrary<Known>) {
  const readingTimes = fc.oneof(
    buoy
      .filter((one) => one.readings.length > 0)
      .chain((one) => fc.constantFrom(...one.readings))
      .map((row) => row.time),
    fc.integer({ min: world.asOf - 70 * 86_400, max: world.asOf + 86_400 }),
  )
  const timeText = fc
    .tuple(readingTimes, fc.constantFrom(-1, 0, 0, 1, 3600), fc.constantFrom(...timeTexts))
    .map(([epoch, shift, write]) => write(epoch + shift))
  /** A time whose `+` may stand raw: it is a plus there, not a blank. */
  const timePart = (name: string) =>
    fc
      .tuple(
        timeText,
        fc.constantFrom((text: string) => text, encodeURIComponent, everyByte),
      )
      .map(([value, write]) => ({
        name,
        raw: `${name}=${write(value)}`,
        value,
      }))

  const dayText = readingTimes.map((epoch) => iso(epoch).slice(0, 10))
  const stampText = fc
    .tuple(readingTimes, fc.constantFrom(-5400, -5401, 0, 5400, 5401))
    .map(([epoch, shift]) => String(epoch + shift))
  return { readingTimes, timePart, dayText, stampText }
}

/** @param buoys all of the world */
export function readingsRequests(
  buoys: readonly Known[],
  { knownPath, unknownPath }: Paths,
  { timePart, dayText, stampText }: Times,
): fc.Arbitrary<ApiRequest> {
  const order: ParameterKind = {
    name: 'order',
    valid: fc.constantFrom('asc', 'desc'),
  }
  const readingPage: ParameterKind = {
    ...perPage,
    valid: fc.constantFrom('1', '2', '19', '20', '99', '100', '101', '1000'),
  }
  const readingsCommon = [order, page, readingPage]
  const rangeParts = fc.oneof(
    fc.tuple(timePart('start_date'), timePart('end_date')).map((list): Part[] => {
      const [start, end] = list.map(({ value }) => Date.parse(value)) as [number, number]
      if (start <= end) return list
      // Turned round, so that most ranges are ranges.
      const [first, second] = list
      return [
        { ...second, name: 'start_date', raw: second.raw.replace('end_date', 'start_date') },
        { ...first, name: 'end_date', raw: first.raw.replace('start_date', 'end_date') },
      ]
    }),
    fc.tuple(timePart('start_date'), timePart('end_date')).map((list): Part[] => list),
    timePart('start_date').map((one) => [one]),
    timePart('end_date').map((one) => [one]),
    part('date', dayText).map((one) => [one]),
    part('timestamp', stampText).map((one) => [one]),
    // At most one of these can be meant.
    fc.tuple(part('date', dayText), part('timestamp', stampText)).map((list): Part[] => list),
    fc.tuple(timePart('start_date'), part('date', dayText)).map((list): Part[] => list),
    fc.tuple(timePart('end_date'), part('timestamp', stampText)).map((list): Part[] => list),
  )
  const hasReadings = new Set(buoys.flatMap((one) => (one.newest !== null ? [String(one.id), one.slug] : [])))

  const readings: fc.Arbitrary<ApiRequest> = requestsOf({
    operation: 'readings',
    path: knownPath('/readings').filter(({ ids }) => hasReadings.has(ids.buoyId)),
    kinds: [order, page, readingPage, extras],
    special: fc.tuple(rangeParts, ...readingsCommon.map(validPart)).map((lists) => lists.flat()),
  })
  const silentReadings = fc
    .tuple(
      fc.oneof(
        fc.constantFrom(...buoys.filter((one) => one.newest === null).map((one) => one.slug)),
        unknownPath,
      ),
      fc.oneof(
        fc.constant<Part[]>([]),
        part('date', dayText).map((one) => [one]),
        part('timestamp', stampText).map((one) => [one]),
      ),
    )
    .map(([id, parts]) => assemble('readings', `/buoys/${id}/readings`, parts, { buoyId: id }))

  return fc.oneof({ weight: 6, arbitrary: readings }, { weight: 1, arbitrary: silentReadings })
}

export function closestReadingRequests(
  { knownPath, buoyPath }: Paths,
  { readingTimes, dayText }: Times,
): fc.Arbitrary<ApiRequest> {
  const clock: ParameterKind = {
    name: 'time',
    required: true,
    valid: readingTimes.map((epoch) => iso(epoch).slice(11, 16)),
  }
  const tolerance: ParameterKind = {
    name: 'tolerance_hours',
    ...integers(1, 24, [1, 3, 12, 24]),
  }

  return fc.oneof(
    requestsOf({
      operation: 'readings_search',
      path: knownPath('/readings/search'),
      kinds: [{ name: 'date', required: true, valid: dayText }, clock, tolerance, extras],
    }),
    requestsOf({
      operation: 'readings_search',
      path: buoyPath('/readings/search'),
      kinds: [],
      special: fc
        .tuple(readingTimes, fc.constantFrom(-1440, -61, 0, 0, 1, 30, 181), validPart(tolerance))
        .map(([epoch, minutes, more]) => {
          const text = iso(epoch + minutes * 60)
          return more.concat(
            { name: 'date', raw: `date=${text.slice(0, 10)}`, value: text.slice(0, 10) },
            { name: 'time', raw: `time=${text.slice(11, 16)}`, value: text.slice(11, 16) },
          )
        }),
    }).filter((request) => request.question.parameters.has('date')),
  )
}

export function readingRequests(buoy: fc.Arbitrary<Known>, { unknownPath }: Paths): fc.Arbitrary<ApiRequest> {
  const readingPath = fc
    .tuple(
      buoy
        .filter((one) => one.readings.length > 0)
        .chain((one) => fc.constantFrom(...one.readings.map((row) => ({ one, time: row.time })))),
      buoy,
      fc.constantFrom('id', 'id', 'uuid', 'uuid', 'other buoy', 'no time', 'no id', 'strange'),
      unknownPath,
    )
    .map(([{ one, time }, other, way, strange]) => {
      const uuid = (id: number, epoch: number) => {
        const clockHex = epoch.toString(16).padStart(12, '0')
        return `${clockHex.slice(0, 8)}-${clockHex.slice(8)}-8000-8000-${id.toString(16).padStart(12, '0')}`
      }
      const readingId = {
        id: String(one.id * 10 ** 10 + time),
        uuid: uuid(one.id, time),
        'other buoy': uuid(other.id, time),
        'no time': String(one.id * 10 ** 10 + time + 1),
        'no id': String(time),
        strange,
      }[way]
      const buoyId = time % 2 === 0 ? String(one.id) : one.slug
      return { path: `/buoys/${buoyId}/readings/${readingId}`, ids: { buoyId, readingId } }
    })

  return requestsOf({ operation: 'reading', path: readingPath, kinds: [extras] })
}

export function chartRequests({ buoyPath, knownPath }: Paths, { timePart }: Times): fc.Arbitrary<ApiRequest> {
  return fc.oneof(
    {
      weight: 2,
      arbitrary: requestsOf({
        operation: 'chart',
        path: buoyPath('/readings/chart'),
        kinds: [],
      }),
    },
    {
      weight: 5,
      arbitrary: requestsOf({
        operation: 'chart',
        path: knownPath('/readings/chart'),
        kinds: [
          { name: 'optimized', ...booleans },
          { name: 'debug', ...booleans, rare: true },
          {
            name: 'include',
            valid: fc.constantFrom('measures', 'swell', 'measures,swell', 'swell,swell'),
          },
        ],
        special: fc
          .tuple(
            timePart('start_date'),
            fc.integer({ min: 0, max: 32 * 86_400 }),
            fc.constantFrom(0, 1, 86_400),
          )
          .map(([start, length, step]) => {
            const from = Date.parse(start.value) / 1000
            const until = `${iso(from + (step === 0 ? length : 31 * 86_400 + step - 1))}Z`
            return [start, { name: 'end_date', raw: `end_date=${until}`, value: until }]
          }),
      }),
    },
  )
}
