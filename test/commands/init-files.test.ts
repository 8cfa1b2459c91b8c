/** The names of later files, from those that are there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { namesAsOne, namesLike, stationIn } from '../../src/commands/init-files.ts'
import { compileMap } from '../../src/sources/tables/column-map.ts'

const matcherOf = (files: string): RegExp => compileMap('table', { tables: [{ files }] }).tables[0].file

test('Digits of a name stand for digits, a date for any date, and a name without digits for itself.', () => {
  for (const [name, like, station] of [
    ['bank_03.csv', 'bank_{digits}.csv', 'bank'],
    ['bank.csv', 'bank.csv', 'bank'],
    ['bank_2024-03-01.csv.gz', 'bank_{digits}.csv', 'bank'],
    ['2024_03_bank.txt', '{digits}_bank.txt', 'bank'],
    ['buoy7_2024.csv', 'buoy7_{digits}.csv', 'buoy7'],
    ['2024-bank-v2.csv', '{digits}-bank-v2.csv', 'bank-v2'],
    ['wave1', 'wave{digits}', 'wave'],
  ]) {
    assert.equal(namesLike(name), like, name)
    assert.equal(stationIn(like), station, name)
  }
  const bank = matcherOf('bank_{digits}.csv')
  for (const name of ['bank_03.csv', 'bank_4.csv', 'bank_2024-04.csv']) assert.match(name, bank)
  for (const name of ['bank_test.csv', 'bank_.csv', 'bank_03.csv.bak', 'xbank_03.csv'])
    assert.doesNotMatch(name, bank)
})

test('Several names become one, with what differs as the station.', () => {
  assert.equal(namesAsOne(['north.csv', 'south.csv'], '{station}'), '{station}.csv')
  assert.equal(
    namesAsOne(['hs_north_{digits}.csv', 'hs_south_{digits}.csv'], '{station}'),
    'hs_{station}_{digits}.csv',
  )
  assert.equal(namesAsOne(['north.csv', 'south.txt'], '{station}'), null)
  assert.equal(matcherOf('hs_{station}_{digits}.csv').exec('hs_north_2024-03.csv')?.[1], 'north')
})

test('A pattern always matches the name that it is from, and the same name with other digits.', () => {
  const word = fc.stringMatching(/^[a-z]{1,6}$/)
  const parts = fc.tuple(
    word,
    fc.constantFrom('_', '-', ' ', ''),
    fc.nat(99_999_999),
    fc.constantFrom('', '_qc', '.final'),
  )
  fc.assert(
    fc.property(parts, fc.nat(99_999_999), ([front, between, number, back], other) => {
      const name = `${front}${between}${number}${back}.csv`
      const matcher = matcherOf(namesLike(name))
      assert.match(name, matcher)
      assert.match(`${front}${between}${other}${back}.csv`, matcher)
      assert.doesNotMatch(`${front}${between}x${back}.csv`, matcher)
    }),
  )
})
