import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { MEASURE_NAMES } from '../../src/sea/columns.ts'
import { UNCOUNTED } from '../../src/sources/reading/stations.ts'
import { codeOf, NO_VALUE, numberAt, numberOf, valueColumn } from '../../src/sources/reading/units.ts'
import { isoTime, timeReader } from '../../src/sources/reading/times.ts'

const codeIn = (measure: (typeof MEASURE_NAMES)[number], unit: string, value: number): number | null => {
  const column = valueColumn(measure, measure, unit)
  return column === null ? null : codeOf(column, value, UNCOUNTED)
}

test('One unit in its many spellings is one unit', () => {
  const speeds = ['m s-1', 'm.s-1', 'm s**-1', 'm s^-1', 'm s⁻¹', 'm/s', 'm / s', 'M/S', 'meters/second']
  speeds.push('meter second-1', 'meters per second', 'metre_second-1', 'm/sec')
  for (const unit of speeds) assert.equal(codeIn('windSpeed', unit, 10), 3600, unit)
  const temperatures = [
    'degree_C',
    'degrees_C',
    'degree_Celsius',
    'Celsius',
    'deg_C',
    'degC',
    '°C',
    '° C',
    'C',
  ]
  for (const unit of temperatures) assert.equal(codeIn('waterTemperature', unit, 15.5), 1550, unit)
  const directions = ['degree', 'degrees', 'degrees_true', 'degree_T', 'degrees true', 'deg', 'degT', '°']
  for (const unit of directions) assert.equal(codeIn('direction', unit, 15.5), 1550, unit)
  // UCUM: the international foot and knot, and what it calls degrees and miles.
  assert.equal(codeIn('significantHeight', '[ft_i]', 10), 3048)
  assert.equal(codeIn('windSpeed', '[kn_i]', 10), 1852)
  assert.equal(codeIn('windSpeed', '[nmi_i]/h', 10), 1852)
  assert.equal(codeIn('windSpeed', '[mi_i]/h', 10), 1609)
  assert.equal(codeIn('waterTemperature', 'Cel', 15.5), 1550)
  assert.equal(codeIn('waterTemperature', '[degF]', 50), 1000)
})

test('A unit of another quantity, a misspelt one and none are not known', () => {
  for (const unit of ['', '1', 's', 'feat', 'm s-2', 'toString', '__proto__', 'm'.repeat(1000)]) {
    assert.equal(valueColumn('significantHeight', 'hs', unit), null, unit)
  }
  assert.equal(valueColumn('windSpeed', 'wind', 'm'), null)
  assert.equal(valueColumn('direction', 'mwd', 'degree_C'), null)
})

test('Values are rounded half up once, as their decimals say', () => {
  assert.equal(codeIn('significantHeight', 'm', 1.0005), 1001)
  assert.equal(codeIn('waterTemperature', 'degree_C', 13.385), 1339)
  assert.equal(codeIn('waterTemperature', 'degree_C', -1.385), -139)
  assert.equal(codeIn('direction', 'degree', 359.995), 0)
  assert.equal(codeIn('direction', 'degree', -90), 27_000)
  assert.equal(codeIn('direction', 'degree', 720), -0x8000)
  const thousandth = fc.integer({ min: 0, max: 25_000 })
  fc.assert(
    fc.property(thousandth, (count) => {
      assert.equal(codeIn('significantHeight', 'm', Number((count / 1000).toFixed(3))), count)
      assert.equal(codeIn('significantHeight', 'mm', count), count)
      // A knot is 1,852 m an hour.
      assert.equal(codeIn('windSpeed', 'knots', count / 1000), Math.floor((count * 1852 + 5000) / 10_000))
    }),
  )
})

test('Numbers read from bytes are those that the language reads from text', () => {
  const decimals = fc
    .tuple(fc.constantFrom('', '-', '+'), fc.stringMatching(/^\d{0,20}$/), fc.stringMatching(/^\.?\d{0,20}$/))
    .map((parts) => parts.join(''))
  const texts = fc.oneof(decimals, fc.double().map(String), fc.string({ maxLength: 12 }))
  fc.assert(
    fc.property(texts, (text) => {
      const bytes = Buffer.from(`,${text};`)
      assert.deepEqual(
        numberAt(bytes, 1, bytes.length - 1),
        NO_VALUE.has(text.toUpperCase()) ? NaN : numberOf(text),
      )
      const isNumber = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i.test(text) && text.length <= 40
      if (isNumber) assert.equal(numberOf(text), Number(text))
      else assert.ok(numberOf(text) === null || Number.isNaN(numberOf(text)), text)
    }),
    { numRuns: 2000 },
  )
})

test('Times are read as the language reads them, and no other texts', () => {
  const moments = fc.integer({ min: 0, max: 0xffff_ffff })
  const offsets = fc.integer({ min: -23 * 60, max: 23 * 60 })
  fc.assert(
    fc.property(moments, offsets, fc.integer({ min: 0, max: 999 }), (seconds, offset, millis) => {
      const iso = new Date(seconds * 1000 + millis).toISOString()
      assert.equal(isoTime(iso), seconds)
      assert.equal(isoTime(iso.replace(/\.\d+Z/, 'Z')), seconds)
      assert.equal(isoTime(iso.slice(0, 19)), seconds)
      const sign = offset < 0 ? '-' : '+'
      const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
      const zone = `${sign}${String(hours).padStart(2, '0')}:${String(minutes).padStart(2, '0')}`
      const utc = Date.parse(iso.replace('Z', zone)) / 1000
      const expected = utc >= 0 && utc < 2 ** 32 ? Math.floor(utc) : -1
      assert.equal(isoTime(iso.replace('Z', zone)), expected)
      assert.equal(isoTime(iso.slice(0, 19), offset * 60), expected)
    }),
  )
  for (const text of [
    '',
    '2024-01-01',
    '2024-02-30T00:00:00Z',
    '2024-01-01T24:00:00Z',
    '2024-01-01T00:00:00X',
  ]) {
    assert.equal(isoTime(text), -1, text)
  }
  assert.equal(isoTime('2024-01-01T00:00:60Z'), -1)
  assert.equal(isoTime('1969-12-31T23:59:59Z'), -1)
  assert.equal(timeReader('seconds since 1970-01-01T00:00:00Z')?.('4294967296'), -1)
  assert.equal(timeReader('seconds since 1970-01-01T00:00:00Z')?.('NaN'), -1)
  assert.equal(timeReader('days since 2023-02-30'), null)
})
