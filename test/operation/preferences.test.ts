/** Which coding and which language a header asks for; the language against reading it by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { LANGUAGES } from '../../src/sea/languages.ts'
import {
  Preference,
  preferredEncoding,
  preferredLanguage,
  type Encoding,
} from '../../src/operation/preferences.ts'

const OURS: readonly Encoding[] = ['br', 'gzip']

test('The coding is the heaviest acceptable one, ours first among equals, and none where the header is absent or not understood.', () => {
  const cases: [header: string, coding: Encoding | null][] = [
    ['', null],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['identity', null],
    ['*', 'br'],
    ['*;q=0.5, gzip', 'gzip'],
    ['br;q=0, *', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0,gzip;q=0', null],
    ['*;q=0', null],
    ['identity;q=0.9, gzip;q=0.5', null],
    ['identity;q=0, gzip;q=0.001', 'gzip'],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['gzip ; q=0.3', 'gzip'],
    ['gzip;q=2', null],
    ['gzip;level=9', null],
    ['gzip\0', null],
    [`gzip${', deflate'.repeat(120)}`, null],
  ]
  for (const [header, coding] of cases) {
    assert.equal(preferredEncoding(header, OURS), coding, JSON.stringify(header))
  }
  assert.equal(preferredEncoding('br, zstd', ['gzip']), null)
})

test('A preference that is remembered is the one that parsing gives, however many are asked for.', () => {
  const preference = new Preference((header) => preferredEncoding(header, OURS))
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 200; i++) {
      const header = `br;q=0.${i % 10}, gzip;q=0.5, zstd;q=0.${i}`
      assert.equal(preference.choiceFor(header), preferredEncoding(header, OURS), header)
    }
  }
  assert.equal(preference.choiceFor(''), null)
})

const preferred = (header: string) => preferredLanguage(header, LANGUAGES)

test('Headers as clients send them get the language they prefer.', () => {
  const cases: [string, 'en' | 'fr'][] = [
    ['', 'en'],
    ['fr', 'fr'],
    ['en', 'en'],
    ['fr-FR,fr;q=0.9,en-US;q=0.8,en;q=0.7', 'fr'],
    ['en-GB,en;q=0.9,fr;q=0.95', 'en'],
    ['de-CH, fr;q=0.5, en;q=0.3', 'fr'],
    ['*', 'en'],
    ['de, *;q=0.5', 'en'],
    ['en;q=0, *', 'fr'],
    ['en;q=0, fr;q=0', 'en'],
    ['en;q=0, fr;q=0.001', 'fr'],
    ['en-GB;q=0, *;q=0.1', 'en'],
    ['fr ; q=0.8 , en ;\tq=0.9', 'en'],
    ['fr;Q=1.000', 'fr'],
    [',, fr ,,', 'fr'],
    ['*;q=0, fr;q=0.2', 'fr'],
    ['*;q=0', 'en'],
    ['zh-Hant-TW, fr-CA-x-own;q=0.2', 'fr'],
    ['fr;q=0., en;q=0.1', 'en'],
  ]
  for (const [header, language] of cases) assert.equal(preferred(header), language, header)
})

test('A malformed or overlong header is as if it had not been sent.', () => {
  for (const header of [
    'fr;q=1.1',
    'fr;q=0.1234',
    'fr;q=-1',
    'fr;q=',
    'fr;q=.5',
    'fr;q',
    'fr; level=1',
    'fr_FR',
    'français',
    'abcdefghi, fr',
    '1fr',
    'fr;q=1e0',
    '*-FR, fr',
    `fr, ${'x'.repeat(5000)}`,
  ]) {
    assert.equal(preferred(header), 'en', header)
  }
})

interface Wish {
  range: string
  thousandths: number
}

/** All wishes for a language, read aloud: excluded, or its best quality and where it stands. */
function byHand(wishes: readonly Wish[]): string {
  const score = (language: string): [number, number] | null => {
    const about = wishes.flatMap((wish, place) =>
      wish.range === language || wish.range.startsWith(`${language}-`) ? [{ ...wish, place }] : [],
    )
    if (about.some(({ range, thousandths }) => range === language && thousandths === 0)) return null
    const positive = about.filter(({ thousandths }) => thousandths > 0)
    const star = wishes.flatMap((wish, place) => (wish.range === '*' ? [{ ...wish, place }] : []))
    if (positive.length === 0 && star.some(({ thousandths }) => thousandths === 0)) return null
    const from = positive.length > 0 ? positive : star
    const best = Math.max(0, ...from.map(({ thousandths }) => thousandths))
    const first = from.find(({ thousandths }) => thousandths === best)
    return first === undefined ? null : [best, first.place]
  }
  const [en, fr] = [score('en'), score('fr')]
  if (fr === null) return 'en'
  if (en === null) return 'fr'
  if (fr[0] !== en[0]) return fr[0] > en[0] ? 'fr' : 'en'
  return fr[1] < en[1] ? 'fr' : 'en'
}

test('Any well-formed header gets the language that reading it by hand gives.', () => {
  const range = fc.constantFrom('en', 'fr', '*', 'en-GB', 'en-us', 'fr-CA', 'de', 'frr', 'e', 'fr-CA-x')
  const wish = fc.record({ range, thousandths: fc.constantFrom(0, 1, 100, 300, 500, 900, 999, 1000) })
  const blank = fc.constantFrom('', ' ', '\t', '  ')
  fc.assert(
    fc.property(fc.array(wish, { maxLength: 8 }), blank, blank, (wishes, before, after) => {
      const header = wishes
        .map(({ range, thousandths }) => {
          if (thousandths === 1000) return `${before}${range}${after}`
          const quality = thousandths === 0 ? '0' : `0.${String(thousandths).padStart(3, '0')}`
          return `${before}${range}${after};${before}q=${quality}${after}`
        })
        .join(',')
      assert.equal(preferred(header), byHand(wishes), header)
    }),
    { numRuns: 3000 },
  )
})
