/** The word that a mistyped one may stand for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nearestWord, unknownWord } from '../../src/sources/kinds.ts'

const KINDS = ['ndbc', 'candhis', 'cmems', 'erddap', 'meteofrance', 'table', 'json', 'csv', 'forecast']

test('A mistyped word is led to the known one, and a word of its own to none.', () => {
  for (const [typed, meant] of [
    ['tabel', 'table'],
    ['tables', 'table'],
    ['Table', 'table'],
    ['meteo-france', 'meteofrance'],
    ['cvs', 'csv'],
    ['erdap', 'erddap'],
  ])
    assert.equal(nearestWord(typed, KINDS), meant, typed)
  for (const typed of ['noaa', 'buoy', '', 'xx', 'x'.repeat(10_000)])
    assert.equal(nearestWord(typed, KINDS), undefined)
  assert.equal(unknownWord('tabel', ['table']), '"tabel": did you mean "table"? (known are table)')
})

test('One slip of any kind in a word of five letters and more leads back to it.', () => {
  const known = KINDS.filter((word) => word.length > 4)
  const slip = fc.tuple(
    fc.constantFrom(...known),
    fc.nat(20),
    fc.constantFrom('out', 'in', 'other', 'turned'),
  )
  fc.assert(
    fc.property(slip, ([word, place, kind]) => {
      const at = place % (word.length - 1)
      const [before, one, two, after] = [word.slice(0, at), word[at], word[at + 1], word.slice(at + 2)]
      const slips: { [kind: string]: string } = {
        out: before + two + after,
        in: before + one + 'x' + two + after,
        other: before + 'x' + two + after,
        turned: before + two + one + after,
      }
      assert.equal(nearestWord(slips[kind], KINDS), word)
    }),
  )
})
