/**
 * The grammar of headers by properties: tables of random names, units, zones and formats, and words that
 * nobody knows.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { MEASURES, type MeasureName } from '../../src/sea/columns.ts'
import { readHeaderCell } from '../../src/sources/reading/header.ts'
import { STANDARD_NAMES } from '../../src/sources/reading/known-names.ts'
import units from '../../src/sources/reading/units.json' with { type: 'json' }
import vocabulary from '../../src/sources/reading/vocabulary.json' with { type: 'json' }
import { openTable } from '../../src/sources/tables/table.ts'
import { rounds } from '../rounds.ts'
import { folderOf, record, type Recording } from './recorder.ts'

/** A value of each measure in its own unit, the number that the table has, and how exactly it comes back. */
interface Column {
  readonly name: MeasureName
  readonly label: string
  readonly unit: string
  readonly cell: string
  readonly value: number
}

type Units = { readonly [unit: string]: readonly { factor?: number; offset?: number; spellings: string[] }[] }

const MIDDLES: { readonly [name in MeasureName]?: number } = {
  significantHeight: 1.25,
  maximumHeight: 2.5,
  peakPeriod: 9,
  direction: 123,
  waterTemperature: 16,
  windSpeed: 20,
  windDirection: 210,
  gustSpeed: 30,
}

const wordsOf = (words: string | readonly string[]): string[] => [words].flat().join(' ').split(' ')

/** All names of a measure, in every language. */
function namesOf(name: MeasureName): string[] {
  const foreign = Object.values(vocabulary.languages).flatMap((language) => {
    const words = (language as { [name: string]: string | string[] })[name]
    return words === undefined ? [] : wordsOf(words)
  })
  return [...wordsOf(vocabulary.labels[name]), ...foreign]
}

const columnOf = (name: MeasureName): fc.Arbitrary<Column> =>
  fc
    .record({
      label: fc.constantFrom(...namesOf(name)),
      given: fc.constantFrom(
        ...(units as Units)[MEASURES[name].unit].flatMap(({ spellings, factor = 1, offset = 0 }) =>
          spellings.filter((text) => !/[[\]]/.test(text)).map((unit) => ({ unit, factor, offset })),
        ),
      ),
      jitter: fc.double({ min: 0.8, max: 1.2, noNaN: true }),
    })
    .map(({ label, given: { unit, factor, offset }, jitter }) => {
      const cell = ((MIDDLES[name]! * jitter - offset) / factor).toFixed(3)
      return { name, label, unit, cell, value: Number(cell) * factor + offset }
    })

const MEASURED = Object.keys(MIDDLES) as MeasureName[]
const pad = (number: number): string => String(number).padStart(2, '0')

/** 13 to 28 March 2024 by local clocks in formats of which each has one reading. */
const TIMES: readonly ((day: number, hour: number) => string)[] = [
  (day, hour) => `2024-03-${day}T${pad(hour)}:00`,
  (day, hour) => `${day}/03/2024 ${pad(hour)}:00`,
  (day, hour) => `03/${day}/2024 ${pad(hour)}:00:00`,
  (day, hour) => `202403${day}${pad(hour)}00`,
  (day, hour) => `202403${day}${pad(hour)}`,
  (day, hour) => `${day}-Mar-2024 ${pad(hour)}:00`,
  (day, hour) => `${day}.03.2024 ${(hour % 12 || 12) + ''}:00 ${hour < 12 ? 'AM' : 'pm'}`,
]
const ZONES = [
  ['UTC', 0],
  ['GMT', 0],
  ['UTC+9', 9],
  ['GMT-3', -3],
  ['UTC+05:30', 5.5],
  ['utc -10', -10],
  ['AEST', 10],
  ['GMT+1000', 10],
] as const

const TABLE = fc
  .record({
    columns: fc.tuple(...MEASURED.map(columnOf)),
    some: fc.subarray(MEASURED),
    separator: fc.constantFrom(',', ';', '\t'),
    brackets: fc.constantFrom(' (#)', ' [#]', '(#)', '_#', ', #', ' in #', 'row'),
    time: fc.constantFrom(...TIMES),
    zone: fc.constantFrom(...ZONES),
    clock: fc.constantFrom('Time', 'Date/Time', 'datetime', 'Fecha', 'Zeitpunkt', 'timestamp'),
    day: fc.integer({ min: 13, max: 27 }),
    hour: fc.integer({ min: 0, max: 23 }),
    order: fc.array(fc.double({ noNaN: true }), { minLength: 9, maxLength: 9 }),
  })
  .map((made) => ({
    ...made,
    columns: made.columns.filter(({ name }) => ['significantHeight', ...made.some].includes(name)),
  }))

type Table = typeof TABLE extends fc.Arbitrary<infer T> ? T : never

/** The text of a table; `change` writes the name of a column with its unit. */
function textOf(made: Table, change = (label: string, _i: number): string => label): string {
  const { columns, separator, brackets, zone, clock, order, time, day, hour } = made
  const isRow = brackets === 'row' || (separator === ',' && brackets === ', #')
  const beside = (label: string, unit: string): string => label + (isRow ? '' : brackets.replace('#', unit))
  const cells = [
    { label: `${clock} (${zone[0]})`, unit: '', cells: [time(day, hour), time(day, (hour + 1) % 24)] },
    ...columns.map(({ label, unit, cell }) => ({ label: beside(label, unit), unit, cells: [cell, cell] })),
  ].map((column, i) => ({ ...column, label: change(column.label, i) }))
  const shuffled = cells.map((cell, i) => ({ cell, rank: order[i] ?? i })).toSorted((a, b) => a.rank - b.rank)
  const line = (take: (column: (typeof cells)[number]) => string): string =>
    shuffled.map(({ cell }) => take(cell)).join(separator)
  const below = isRow ? [line(({ unit }) => unit)] : []
  return [
    line(({ label }) => label),
    ...below,
    line((one) => one.cells[0]),
    line((one) => one.cells[1]),
    '',
  ].join('\n')
}

const OPTIONS = {
  stations: [{ identifier: 'B', name: 'B', lat: 1, lng: 2 }],
  tables: [{ station: { is: 'B' } }],
}

const inFolder = (folder: string): Promise<Recording> => record((path) => openTable(path, OPTIONS), folder)

test('A table of random names, units, zones, separators and order is read as it is written.', async (t) => {
  await fc.assert(
    fc.asyncProperty(TABLE, async (made) => {
      const text = textOf(made)
      const { rows, bad } = await inFolder(await folderOf(t, { 'b.csv': text }))
      assert.deepEqual(bad, [], text)
      const first = Date.UTC(2024, 2, made.day, made.hour) / 1000 - made.zone[1] * 3600
      const found = rows.get('B/0')?.find(({ time }) => Date.parse(time) / 1000 === first)
      assert.ok(found !== undefined, text)
      for (const { name, value } of made.columns) {
        const step = Math.abs((found[name] ?? NaN) - value)
        assert.ok(step < 1.01 / MEASURES[name].scale, `${name} is ${found[name]}, not ${value} in\n${text}`)
      }
    }),
    { numRuns: rounds(150, 3000) },
  )
})

/** Words without vowels, which no language here has; every known one would fail the test below. */
const STRANGE = fc
  .string({ unit: fc.constantFrom(...'bcdfgjkqvwxz'.split('')), minLength: 4, maxLength: 9 })
  .filter((word) => readHeaderCell(word).unknown.length > 0)
const PLACES: readonly ((label: string, word: string) => string)[] = [
  (label, word) => `${word} ${label}`,
  (label, word) => `${label} ${word}`,
  (label, word) => `${label}_${word}`,
  (label, word) => `${word}-${label}`,
  (label, word) => `${label} (${word})`,
  (label, word) => `${label} [${word}]`,
  (label, word) => label.replace(/([([])/, `$1${word} `).replace(/^([^([]*)$/, `$1 ${word}`),
  (label, word) => label.replace(/ |(?<=\w)\(|$/, ` ${word} $&`),
]

test('A word that nobody knows is never ignored, wherever it is added to a name: its column is not read, and that is said.', async (t) => {
  await fc.assert(
    fc.asyncProperty(TABLE, STRANGE, fc.constantFrom(...PLACES), fc.nat(), async (made, word, put, pick) => {
      const at = pick % (made.columns.length + 1)
      const text = textOf(made, (label, i) => (i === at ? put(label, word) : label))
      const { rows, bad, doubts } = await inFolder(await folderOf(t, { 'b.csv': text }))
      const said = [...bad, ...doubts].join('\n')
      assert.ok(said.includes(word), `nothing is said of ${word} in\n${text}${said}`)
      const read = rows.get('B/0') ?? []
      if (at === 0) assert.deepEqual(read, [], text)
      else if (read.length > 0) assert.equal(read[0][made.columns[at - 1].name], undefined, text)
    }),
    { numRuns: rounds(150, 3000) },
  )
})

test('A word or a digit more in a time is never ignored: no format reads a part of it.', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      TABLE,
      fc.constantFrom(' x', 'x', ' 7', '7777777', ' ZZZ', ' +', ':', ' 10:00'),
      async (made, more) => {
        const changed = { ...made, time: (day: number, hour: number) => made.time(day, hour) + more }
        const text = textOf(changed)
        const { rows, bad } = await inFolder(await folderOf(t, { 'b.csv': text }))
        assert.deepEqual([...rows], [], text)
        assert.ok(bad.length > 0)
      },
    ),
    { numRuns: rounds(60, 1000) },
  )
})

test('Every name of the vocabulary is understood whole, with a unit and with a number, and names nothing else.', () => {
  for (const name of MEASURED) {
    for (const label of namesOf(name)) {
      for (const text of [
        label,
        `${label} (${MEASURES[name].unit})`,
        `${label}_2 [${MEASURES[name].unit}]`,
      ]) {
        const { meaning, unknown } = readHeaderCell(text)
        assert.deepEqual([meaning?.name, unknown], [name, []], text)
      }
    }
  }
  assert.ok(STANDARD_NAMES.size > 30)
})

test('Words of a header mean what they say together.', () => {
  const said = (text: string): string => {
    const { meaning, can, roles, unit, lead, isFlag, number, depth, family, unknown } = readHeaderCell(text)
    const facts = [
      meaning?.name,
      can.join('|'),
      roles.join('|'),
      unit,
      lead,
      isFlag ? 'flag' : '',
      number,
      depth,
      family,
    ]
    return [...facts, ...unknown.map((word) => `?${word}`)]
      .filter((fact) => fact !== '' && fact != null)
      .join(' ')
  }
  const expected: { readonly [text: string]: string } = {
    'Wind speed 10 m (kt)': 'windSpeed kt 10',
    'Sea surface temperature (0.5 m) [°C]': 'waterTemperature °C 0.5',
    'Våghöjd, signifikant 30 min': 'significantHeight',
    'Wave height std (m)': 'm ',
    waveFlagPrimary: 'flag',
    significant_wave_height_3_qc_agg: 'significantHeight flag 3',
    'Direction (deg)': 'direction|windDirection|currentDirection deg',
    'Wave direction from (deg, TN)': 'direction deg',
    'Hs (0.1 m)': 'significantHeight 0.1 ?0.1 m',
    'Wind Hs': 'significantHeight ?Wind',
    'Air Temperature (°C)': 'airTemperature °C',
    'Humidity (%)': '% air',
    'Longitude (W)': 'lng',
    'Time (local)': 'clock',
  }
  for (const [text, facts] of Object.entries(expected)) assert.equal(said(text).trim(), facts.trim(), text)
})
