/** What a visitor's own page is made of: units, favourites, and the ranges of a zoomed chart. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { BuoyDetail, PlaceForecast } from '../../clients/typescript/groundswell.ts'
import {
  fromZero,
  intervalOf,
  longPauses,
  nearestIndex,
  wholeOf,
  windBarb,
} from '../../web/explorer/charts/geometry.ts'
import {
  joined,
  partOfRows,
  partsOfForecast,
  pressureTrend,
  renamed,
} from '../../web/explorer/charts/parts.ts'
import { bucketStarts, bucketText, quantile, usual } from '../../web/explorer/charts/calendar.ts'
import { arcOf, distanceKm, middleOf } from '../../web/explorer/map/arc.ts'
import { Api } from '../../web/explorer/api.ts'
import { parseFavourites, toggled } from '../../web/explorer/mine/kept.ts'
import {
  decimalText,
  formatUnits,
  parseUnits,
  quantityText,
  scaledText,
  scalesOfSources,
  unitsOfLocales,
  type Units,
  valueText,
} from '../../web/explorer/mine/units.ts'

const units: fc.Arbitrary<Units> = fc
  .record({
    height: fc.constantFrom('m' as const, 'ft' as const),
    speed: fc.constantFrom('kmh' as const, 'kn' as const, 'ms' as const),
    temperature: fc.constantFrom('c' as const, 'f' as const),
  })
  .map((each) => structuredClone(each))

const METRIC: Units = { height: 'm', speed: 'kmh', temperature: 'c' }
const AMERICAN: Units = { height: 'ft', speed: 'kn', temperature: 'f' }

test('Units are converted as their definitions say, with rounding that fits them.', () => {
  for (const [quantity, value, text] of [
    ['height', 3.048, '10.0 ft'],
    ['height', -0.01, '0.0 ft'],
    ['speed', 92.6, '50 kn'],
    ['temperature', 0, '32.0 °F'],
    ['temperature', -40, '−40.0 °F'],
    ['period', 8.25, '8.3 s'],
    ['direction', 270, '270°'],
  ] as const) {
    assert.equal(quantityText(quantity, AMERICAN, value), text)
  }
  assert.equal(quantityText('height', METRIC, 1.524), '1.52 m')
  assert.deepEqual([decimalText(-0.04, 1), decimalText(-0.05, 1)], ['0.0', '−0.1'])
  const buoy = { source: 'A', last_reading: { significient_height: 0.87, peak_period: 13.5 } } as BuoyDetail
  const scales = scalesOfSources([buoy], {}, METRIC)({ ...buoy, last_reading: null })
  assert.equal(scaledText(scales('height'), 1.5), '1.50 m')
  assert.equal(scaledText(scales('period'), 13), '13.0 s')
  assert.equal(quantityText('speed', { ...METRIC, speed: 'ms' }, 36), '10.0 m/s')
})

test('A reading is written with the decimals of its network, and read back it is the value of the API.', () => {
  const of = {
    height: 'significient_height',
    period: 'period',
    temperature: 'water_temperature',
    speed: 'gust_speed',
  } as const
  const quantity = fc.constantFrom(...(Object.keys(of) as (keyof typeof of)[]))
  // As a source of so many decimals gives it, some of which end with zeros.
  const measured = fc.tuple(fc.integer({ min: -4999, max: 24_999 }), fc.integer({ min: 0, max: 3 }))
  fc.assert(
    fc.property(quantity, fc.array(measured, { minLength: 1 }), fc.boolean(), (what, list, isTold) => {
      const values = list.map(([thousandths, decimals]) => Number((thousandths / 1000).toFixed(decimals)))
      const most = Math.max(...values.map((value) => (JSON.stringify(value).split('.')[1] ?? '').length))
      const buoys = values.map((value) => ({
        source: 'A',
        last_reading: { [of[what]]: value },
      })) as unknown as BuoyDetail[]
      const told = isTold ? { A: { [of[what]]: most } } : {}
      const scale = scalesOfSources(isTold ? buoys.slice(0, 1) : buoys, told, METRIC)(buoys[0])(what)
      for (const value of values) {
        const text = valueText(scale, value)
        assert.equal(Number(text.replace('−', '-')), value === 0 ? 0 : value)
        assert.equal((text.split('.')[1] ?? '').length, most, text)
      }
    }),
  )
  const buoy = { source: 'A', last_reading: { significient_height: 2 } } as BuoyDetail
  const scales = scalesOfSources([buoy], { A: { significient_height: 1 } }, METRIC)(buoy)
  const texts = [2, 1.9, 2.64].map((value) => scaledText(scales('height'), value))
  assert.deepEqual(texts, ['2.0 m', '1.9 m', '2.64 m'])
})

test('An axis of heights begins at 0, and one of a lake with waves of 4 cm is no flat line.', () => {
  assert.deepEqual(fromZero(0.1)(null, 0.02, 0.05), [0, 0.1])
  assert.deepEqual(fromZero(0.1)(null, 1, 5), [0, 5.4])
  assert.deepEqual(fromZero(0.1)(null, null, null), [0, 0.1])
})

test('The interval of a line is the median of its own: pauses and the times of other lines do not count.', () => {
  const hours = (...all: number[]): number[] => all.map((hour) => hour * 3600)
  assert.equal(intervalOf(hours(0, 1, 2, 6, 12, 18, 90, 96), [1, null, null, 1, 1, 1, 1, 1]), 6 * 3600)
  assert.equal(intervalOf(hours(0, 1), [1, null]), 0)
  assert.equal(intervalOf([], []), 0)
})

test('Units follow the region of the first locale that has one, and are those of the API without any.', () => {
  assert.deepEqual(unitsOfLocales(['en-US']), AMERICAN)
  assert.deepEqual(unitsOfLocales(['fr-FR']), { ...METRIC, speed: 'kn' })
  assert.deepEqual(unitsOfLocales(['de-DE', 'en-US']), METRIC)
  assert.deepEqual(unitsOfLocales(['nb-NO']), { ...METRIC, speed: 'ms' })
  assert.deepEqual(unitsOfLocales(['zh-Hant-TW']), { ...METRIC, speed: 'ms' })
  // A language alone says nothing of feet: English is read everywhere.
  for (const locales of [['en'], ['fr'], [], [''], ['C'], ['en_US.UTF-8'], ['x'], ['en-150']]) {
    assert.deepEqual(unitsOfLocales(locales), METRIC, locales.join())
  }
  assert.deepEqual(unitsOfLocales(['en', 'en-US']), AMERICAN)
})

test('Units in an address are read back, and what is no unit is left to the visitor.', () => {
  fc.assert(fc.property(units, (each) => assert.deepEqual(parseUnits(formatUnits(each)), each)))
  fc.assert(
    fc.property(fc.string(), (text) => {
      const found = parseUnits(text)
      assert.deepEqual(parseUnits(formatUnits(found)), found)
    }),
  )
  assert.deepEqual(parseUnits('parsec,<script>,kn,FT, f'), { speed: 'kn' })
  assert.deepEqual(parseUnits('ft,m'), { height: 'ft' })
  assert.deepEqual(parseUnits('__proto__,constructor'), {})
})

test('Favourites are listed newest first, and a damaged list is what is left of it.', () => {
  const anglet = { slug: 'anglet', name: 'Anglet' }
  const lion = { slug: '43.48 -1.56', name: 'A place' }
  const both = toggled(toggled([], anglet), lion)
  assert.deepEqual(both, [lion, anglet])
  assert.deepEqual(toggled(both, anglet), [lion])
  const hundred = Array.from({ length: 100 }, (_, i) => ({ slug: `a${i}`, name: 'A' }))
  assert.equal(toggled(hundred, lion).length, 100)
  assert.deepEqual(parseFavourites(JSON.stringify(both)), both)
  const list = '[null,7,"a",{"slug":1,"name":"x"},{"slug":"../x","name":"x"},{"slug":"91 0","name":"x"}]'
  for (const damaged of ['', '{', 'null', '7', '{"slug":"a"}', list])
    assert.deepEqual(parseFavourites(damaged), [], damaged)
  const twice = '[{"slug":"a","name":"A"},{"slug":"a","name":"B"}]'
  assert.deepEqual(parseFavourites(twice), [{ slug: 'a', name: 'A' }])
  fc.assert(fc.property(fc.json(), (text) => void parseFavourites(text)))
})

test('The chart of a single reading has it in the middle of a range.', () => {
  assert.deepEqual(wholeOf([7200], 3600), [5400, 9000])
  assert.deepEqual(wholeOf([1, 2, 9], 3600), [1, 9])
})

test('A wrong clock is put right by the answers of the server, and a right one is left alone.', () => {
  const noon = Date.UTC(2026, 10, 22, 12)
  let own = noon
  const api = new Api('', '', () => own)
  assert.equal(api.clock(), noon)
  api.learn(new Date(noon - 45_000).toUTCString())
  assert.equal(api.clock(), noon)
  for (const hours of [-9000, -5, 7, 700]) {
    own = noon + hours * 3_600_000
    api.learn(new Date(noon).toUTCString())
    assert.equal(api.clock(), noon)
    own += 5000
    assert.equal(api.clock(), noon + 5000)
  }
  for (const nonsense of ['', 'yesterday']) api.learn(nonsense)
  assert.equal(api.clock(), own - 700 * 3_600_000)
  api.learn(new Date(own).toUTCString())
  assert.equal(api.clock(), own)
})

test('The nearest value of a list is found as by looking at all of them.', () => {
  const list = fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 1 })
  fc.assert(
    fc.property(list, fc.integer({ min: -2000, max: 2000 }), (values, at) => {
      const sorted = values.toSorted((a, b) => a - b)
      const best = Math.min(...sorted.map((value) => Math.abs(value - at)))
      assert.equal(Math.abs(sorted[nearestIndex(sorted, at)] - at), best)
    }),
  )
  assert.equal(nearestIndex([], 1), -1)
})

test('What is usual in a season is the median and the 10–90 % of its years, where there are five or more.', () => {
  // As R's quantile(1:11, c(.1, .5, .9)) and numpy.quantile say.
  const eleven = Array.from({ length: 11 }, (_, i) => i + 1)
  assert.deepEqual(
    [0.1, 0.5, 0.9].map((share) => quantile(eleven, share)),
    [2, 6, 10],
  )
  assert.ok(Math.abs(quantile([1, 2, 3, 4], 0.1) - 1.3) < 1e-12)
  /** Years from 2021, with the values of their buckets. */
  const years = (...all: (number | null)[][]): Parameters<typeof usual>[0] =>
    all.map((values, i) => ({
      year: 2021 + i,
      complete: true,
      point_count: values.length,
      points: values.map((value, k) => ({
        bucket_index: k + 1,
        label: '',
        bucket_start: '',
        bucket_end: '',
        value,
        sample_count: 1,
      })),
    }))
  assert.equal(usual(years([1], [2], [3], [4]), 2), null)
  assert.deepEqual(usual(years([1, null], [2, 2], [3, 3], [4, 4], [5, 5]), 3), {
    median: [3, null, null],
    low: [1.4, null, null],
    high: [4.6, null, null],
    from: 2021,
    to: 2025,
  })
})

test('The buckets of a season have the days and months of the calendar, with a place for 29 February.', () => {
  const year = { start: { month: 1, day: 1 }, end: { month: 12, day: 31 } }
  const winter = { start: { month: 12, day: 1 }, end: { month: 2, day: 29 } }
  const days = (season: typeof year, bucket: 'day' | 'week'): string[] =>
    bucketStarts(season, bucket).map((at) => bucketText(at, bucket))
  assert.equal(days(year, 'week').length, 53)
  assert.equal(days(year, 'week')[1], 'Week from 8 Jan')
  assert.equal(days(year, 'day').length, 366)
  assert.deepEqual(
    [0, 31, 62, 90, 91].map((i) => days(winter, 'day')[i]),
    ['1 Dec', '1 Jan', '1 Feb', '29 Feb', undefined],
  )
})

test('A wind barb adds up to the wind in steps of 5 knots, and is on the other side in the south.', () => {
  const knotsOf = (outline: string): number => {
    const count = (part: RegExp): number => [...outline.matchAll(part)].length
    return 50 * count(/z/g) + 10 * count(/l-?7-/g) + 5 * count(/l-?3\.5-/g)
  }
  const mirrored = (outline: string): string =>
    outline.replaceAll(/l(-?)/g, (_, sign) => (sign === '' ? 'l-' : 'l'))
  for (const knots of [5, 10, 15, 45, 50, 65, 105]) {
    assert.equal(knotsOf(windBarb(knots)), knots)
    assert.equal(windBarb(knots - 2.4), windBarb(knots + 2.4))
    assert.equal(windBarb(knots, true), mirrored(windBarb(knots)))
  }
  assert.doesNotMatch(windBarb(2.4), /l/, 'calm is a ring')
})

test('The arc of a map holds all longitudes, is the shortest one, and goes over the antimeridian where that is so.', () => {
  assert.deepEqual(arcOf([170, -170]), [170, 190])
  assert.deepEqual(arcOf([-10, 20, 5]), [-10, 20])
  assert.deepEqual(arcOf([144.8, 179.8, -158, -70, 10]), [144.8, 370])
  assert.deepEqual(arcOf([7]), [7, 7])
  const longitude = fc.integer({ min: -180, max: 179 })
  fc.assert(
    fc.property(fc.uniqueArray(longitude, { minLength: 1, maxLength: 12 }), (all) => {
      const [west, east] = arcOf(all)
      const ahead = (from: number, to: number): number => (((to - from) % 360) + 360) % 360
      for (const each of all) assert.ok(ahead(west, each) <= east - west)
      const widths = all.map((start) => Math.max(...all.map((each) => ahead(start, each))))
      assert.equal(east - west, Math.min(...widths))
    }),
  )
})

test('The middle of positions is that of the sphere, across the date line and around a pole too.', () => {
  const middle = (...all: [number, number][]) => middleOf(all.map(([lat, lng]) => ({ lat, lng })))
  assert.equal(Math.abs(Math.round(middle([-20, 170], [-20, -170])!.lng)), 180)
  assert.ok(middle([80, 0], [80, 120], [80, -120])!.lat > 89.9)
  assert.deepEqual([middle(), middle([0, 0], [0, 180])], [null, null])
})

test('The parts of a chart share one axis: each value stands at its time, and the first of two at a time counts.', () => {
  const time = fc
    .uniqueArray(fc.integer({ min: 0, max: 50 }), { maxLength: 12 })
    .map((each) => each.toSorted((a, b) => a - b))
  const part = time.chain((hours) =>
    fc
      .array(fc.option(fc.integer({ min: 0, max: 9 })), { minLength: hours.length, maxLength: hours.length })
      .map((list) => ({
        time: hours.map((hour) => new Date(hour * 3_600_000).toISOString()),
        values: { a: list },
      })),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
      const { x, column } = joined(parts)
      const times = parts.flatMap((each) => each.time.map((at) => Date.parse(at) / 1000))
      assert.deepEqual(
        x,
        [...new Set(times)].toSorted((a, b) => a - b),
      )
      for (const [i, value] of column('a').entries()) {
        const there = parts.map(
          (each) => each.values.a[each.time.findIndex((at) => Date.parse(at) === x[i] * 1000)],
        )
        assert.equal(value, there.find((each) => each !== undefined && each !== null) ?? null)
      }
      assert.ok(column('b').every((value) => value === null))
    }),
  )
  const rows = {
    buckets: {
      time: ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'],
      buoy_id: [1, 1, 2],
      significient_height: [1.5, null, 3],
    },
  }
  const second = renamed(partOfRows(rows, 2), 'beside_')
  const both = joined([partOfRows(rows, 1), second])
  assert.deepEqual(both.column('significant_height'), [1.5, null])
  assert.deepEqual(both.column('beside_significant_height'), [3, null])
  const [hours, turns] = partsOfForecast({
    time: ['2026-01-01T00:00:00Z'],
    waves_height: [2],
    tide_level: [1],
    tides: [{ time: '2026-01-01T00:20:00Z', type: 'high', height: 3.1 }],
  } as PlaceForecast)
  assert.deepEqual(joined([hours, turns]).column('tide_turn'), [null, 3.1])
  assert.deepEqual(joined([hours, turns]).column('forecast_wave_height'), [2, null])
})

test('Distances are those of the sphere of the API.', () => {
  assert.ok(Math.abs(distanceKm({ lat: 0, lng: 0 }, { lat: 0, lng: 180 }) - Math.PI * 6371) < 1e-6)
  assert.ok(Math.abs(distanceKm({ lat: 43.5, lng: -1.7 }, { lat: 43.532, lng: -1.615 }) - 7.72) < 0.01)
  assert.ok(distanceKm({ lat: 10, lng: 179.5 }, { lat: 10, lng: -179.5 }) < 110)
})

test('A line goes on where only another one has values, and is broken over the whole of a long pause.', () => {
  const x = [0, 1, 2, 3, 4, 5, 6, 7]
  const values = [null, 1, null, 2, null, null, null, 3]
  assert.deepEqual(longPauses(x, values, 3), [[3, 7]])
  assert.deepEqual(longPauses(x, values, 4), [])
  assert.deepEqual(longPauses(x, values, 1), [
    [1, 3],
    [3, 7],
  ])
})

test('A trend of pressure is the change of three hours, and there is none where either end is missing.', () => {
  const time = ['02:40', '03:00', '05:00', '06:05'].map((clock) => `2026-03-01T${clock}:00Z`)
  const part = (...pressure: (number | null)[]) => ({ time, values: { pressure } })
  const reading = (pressure: number | null) => ({ time: '2026-03-01T06:05:00Z', pressure })
  const trend = pressureTrend(part(1010, 1012.5, 1013, 1014), reading(1014.2))
  assert.ok(Math.abs(trend! - 1.7) < 1e-9)
  // 02:40 is 25 minutes too early.
  assert.equal(pressureTrend(part(1010, null, 1013, 1014), reading(1014)), null)
  assert.equal(pressureTrend(part(1010, 1012, 1013, 1014), reading(null)), null)
  assert.equal(pressureTrend({ time, values: {} }, reading(1014)), null)
  assert.equal(pressureTrend(part(1010, 1012, 1013, 1014), null), null)
})
