/** Requests of the operations that answer with readings of one buoy. */
import * as fc from 'fast-check'
import type { Known } from './oracle.ts'
import type { Paths } from './paths.ts'
import {
  assemble,
  booleans,
  everyByte,
  extras,
  faultyPart,
  integers,
  notNumbers,
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
  const badTime = fc.constantFrom(
    'yesterday',
    '2026-02-30',
    '2026-13-01T00:00:00Z',
    '2026-00-10',
    '2026-3-1',
    '2026-03-27T25:00:00Z',
    '2026-03-27T10:61:00Z',
    '2026-03-27T10:00:00+25:00',
    '1774602000',
    '27/03/2026',
    '2026-03-27T',
    'T10:00:00Z',
    ' 2026-03-27',
    '2023-02-29T00:00:00Z',
  )
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

  const times = (name: string): ParameterKind => ({ name, valid: timeText, invalid: badTime })
  const dayText = readingTimes.map((epoch) => iso(epoch).slice(0, 10))
  const badDay = fc.constantFrom(
    '2026-02-30',
    '2026-3-1',
    '20260301',
    'today',
    '2026-03-01T00:00:00Z',
    '2026-13-01',
    '0000-00-00',
    ' 2026-03-01',
  )
  const day: ParameterKind = { name: 'date', valid: dayText, invalid: badDay }
  const stamp: ParameterKind = {
    name: 'timestamp',
    valid: fc
      .tuple(readingTimes, fc.constantFrom(-5400, -5401, 0, 5400, 5401))
      .map(([epoch, shift]) => String(epoch + shift)),
    invalid: fc.constantFrom(...notNumbers, '1774602000.5', '2026-03-27T00:00:00Z', '99999999999999999999'),
  }
  return { readingTimes, timePart, times, dayText, day, stamp }
}

/** @param buoys all of the world */
export function readingsRequests(
  buoys: readonly Known[],
  { knownPath, unknownPath }: Paths,
  { timePart, times, dayText, day, stamp }: Times,
): fc.Arbitrary<ApiRequest> {
  const order: ParameterKind = {
    name: 'order',
    valid: fc.constantFrom('asc', 'desc'),
    invalid: fc.constantFrom('ASC', 'up', 'ascending', '1', ' asc'),
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
    part('timestamp', stamp.valid).map((one) => [one]),
  )
  const hasReadings = new Set(buoys.flatMap((one) => (one.newest !== null ? [String(one.id), one.slug] : [])))

  const readings: fc.Arbitrary<ApiRequest> = requestsOf({
    operation: 'readings',
    path: knownPath('/readings').filter(({ ids }) => hasReadings.has(ids.buoyId)),
    kinds: [order, page, readingPage, extras],
    special: fc.tuple(rangeParts, ...readingsCommon.map(validPart)).map((lists) => lists.flat()),
    wrong: fc.oneof(
      faultyPart(times('start_date')).map((parts) => ({
        parts,
        fault: { names: ['start_date'], status: 422 },
      })),
      faultyPart(times('end_date')).map((parts) => ({ parts, fault: { names: ['end_date'], status: 422 } })),
      faultyPart(day).map((parts) => ({ parts, fault: { names: ['date'], status: 422 } })),
      faultyPart(stamp).map((parts) => ({ parts, fault: { names: ['timestamp'], status: 422 } })),
      fc.tuple(part('date', dayText), part('timestamp', stamp.valid)).map((parts) => ({
        parts: [...parts],
        fault: { names: ['date', 'timestamp'], status: 422 },
      })),
      fc.tuple(timePart('start_date'), part('date', dayText)).map((parts) => ({
        parts: [...parts],
        fault: { names: ['start_date', 'date'], status: 422 },
      })),
      fc.tuple(timePart('end_date'), part('timestamp', stamp.valid)).map((parts) => ({
        parts: [...parts],
        fault: { names: ['end_date', 'timestamp'], status: 422 },
      })),
    ),
    malformed: 422,
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
        part('timestamp', stamp.valid).map((one) => [one]),
      ),
    )
    .map(([id, parts]) => assemble('readings', `/buoys/${id}/readings`, parts, { buoyId: id }, null))

  return fc.oneof({ weight: 6, arbitrary: readings }, { weight: 1, arbitrary: silentReadings })
}

export function closestReadingRequests(
  { knownPath, buoyPath }: Paths,
  { readingTimes, day }: Times,
): fc.Arbitrary<ApiRequest> {
  const clock: ParameterKind = {
    name: 'time',
    required: true,
    valid: readingTimes.map((epoch) => iso(epoch).slice(11, 16)),
    invalid: fc.constantFrom(
      '24:00',
      '12:60',
      '9:00',
      '09:00:00',
      '0900',
      '-1:00',
      'noon',
      ' 09:00',
      '09:00Z',
    ),
  }
  const tolerance: ParameterKind = {
    name: 'tolerance_hours',
    ...integers(1, 24, [1, 3, 12, 24], [0, 25, 100]),
    invalid: fc.constantFrom(...notNumbers, '0', '25', '-1', '1000'),
  }

  return fc.oneof(
    requestsOf({
      operation: 'readings_search',
      path: knownPath('/readings/search'),
      kinds: [{ ...day, required: true }, clock, tolerance, extras],
      malformed: 400,
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
      malformed: 400,
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

  return requestsOf({ operation: 'reading', path: readingPath, kinds: [extras], malformed: 422 })
}

export function chartRequests(
  { buoyPath, knownPath }: Paths,
  { timePart, times }: Times,
): fc.Arbitrary<ApiRequest> {
  return fc.oneof(
    {
      weight: 2,
      arbitrary: requestsOf({
        operation: 'chart',
        path: buoyPath('/readings/chart'),
        kinds: [],
        malformed: 422,
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
            valid: fc.constant('measures'),
            invalid: fc.constantFrom('Measures', 'all', 'wind'),
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
        wrong: fc.oneof(
          faultyPart(times('start_date')).map((parts) => ({
            parts,
            fault: { names: ['start_date'], status: 422 },
          })),
          faultyPart(times('end_date')).map((parts) => ({
            parts,
            fault: { names: ['end_date'], status: 422 },
          })),
        ),
        malformed: 422,
      }),
    },
  )
}
