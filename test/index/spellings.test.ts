/** Search as people type, against a look at every run of words of every buoy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildWords, searchColumns } from '../../src/index/search-columns.ts'
import { Search } from '../../src/index/name-search.ts'
import { fold } from '../../src/index/spelled-words.ts'
import { finish } from '../../src/system/steps.ts'
import { slugOf } from '../oracle/oracle.ts'
import { looserRanks, type Spelled } from '../oracle/spelling.ts'
import { SPELLED_BUOYS, SPELLINGS } from './spelled_buoys.ts'

interface Buoy extends Spelled {
  active: boolean
}

interface Found {
  exact(query: string, limit: number): number[]
  all(query: string, limit: number): number[]
}

function searchOf(buoys: readonly Buoy[]): Found {
  const input = {
    names: buoys.map(({ name }) => name),
    slugs: buoys.map(({ slug }) => slug),
    identifiers: buoys.map(({ identifier }) => identifier),
    countries: buoys.map(({ country }) => country),
  }
  const stored = buildWords(input)
  const active = Uint8Array.from(buoys, ({ active }) => Number(active))
  const searchAmong = (spelled: typeof input): Search =>
    new Search(stored, finish(searchColumns(stored, spelled)), active)
  const all = searchAmong(input)
  const exact = searchAmong({ names: [], slugs: [], identifiers: [], countries: [] })
  return {
    exact: (query, limit) => exact.find(query, limit),
    all: (query, limit) => all.find(query, limit),
  }
}

/** What follows the exact matches, in its order. */
function looserOrder(buoys: readonly Buoy[], query: string, exact: readonly number[]): number[] {
  const ranks = looserRanks(buoys, query, exact.length > 0)
  const name = (i: number): string => fold(buoys[i].name)
  return [...ranks.keys()]
    .filter((i) => !exact.includes(i))
    .toSorted(
      (a, b) =>
        ranks.get(a)! - ranks.get(b)! ||
        Number(buoys[b].active) - Number(buoys[a].active) ||
        (name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : 0) ||
        a - b,
    )
}

test('finds names in scripts beyond ASCII, whatever other names begin with', () => {
  const buoy = { slug: 'x', identifier: 'x', country: '', active: true }
  const search = searchOf(['京都', '東', '京1', 'Αίγινα', 'Β1'].map((name) => ({ ...buoy, name })))
  for (const [query, found] of [
    ['京-都', 0],
    ['京 1', 2],
    ['α-ι', 3],
    ['β 1', 4],
  ] as const) {
    assert.deepEqual(search.all(query, 10), [found], query)
  }
})

const PIECES = 'saint Sainte St ste jean Luz été Etienne brest crest a ab ba 41 7 Ærø ʻ œil n d 東京 🌊'
const pieces = fc.constantFrom(...PIECES.split(' '))
const gaps = fc.constantFrom(' ', '-', '’', '', ', ')
const texts = fc
  .array(fc.tuple(pieces, gaps), { maxLength: 4 })
  .map((parts) => parts.map(([piece, gap]) => piece + gap).join(''))
const buoyLists = fc.array(
  fc.record({
    name: texts,
    slug: fc.constantFrom('brest', 'saint-jean-2', 'st-jean', 'ab-ba', 'x'),
    identifier: fc.constantFrom('41001', '41002', 'ABBA7', '02B04', 'x'),
    country: fc.constantFrom('', 'France', 'Saint Lucia', 'South Korea', 'Åland Islands'),
    active: fc.boolean(),
  }),
  { minLength: 1, maxLength: 8 },
)

/** A text as somebody types it, with a slip or two. */
const slips = fc.array(
  fc.record({
    at: fc.nat({ max: 12 }),
    kind: fc.constantFrom('missing', 'extra', 'wrong', 'swapped', 'gap'),
    letter: fc.constantFrom('a', 'e', 't', '4', 's'),
  }),
  { maxLength: 2 },
)
type Slip = typeof slips extends fc.Arbitrary<(infer S)[]> ? S : never

function withSlip(text: string, { at, kind, letter }: Slip): string {
  const i = at % (text.length + 1)
  const [before, unit, after] = [text.slice(0, i), text.slice(i, i + 1), text.slice(i + 1)]
  if (kind === 'missing') return before + after
  if (kind === 'extra') return before + letter + unit + after
  if (kind === 'wrong') return before + letter + after
  if (kind === 'swapped') return before + after.slice(0, 1) + unit + after.slice(1)
  return before + (unit === ' ' || unit === '-' ? '' : ' ') + (unit === ' ' ? '' : unit) + after
}

test('Looser matches follow the exact ones, and are those that a look at every run of words finds.', () => {
  const seen = new Set<number>()
  fc.assert(
    fc.property(
      buoyLists,
      fc.nat({ max: 7 }),
      fc.constantFrom('name', 'slug', 'identifier', 'country', 'mixed' as const),
      fc.tuple(fc.nat({ max: 3 }), fc.integer({ min: 4, max: 24 })),
      slips,
      texts,
      fc.integer({ min: 1, max: 12 }),
      (buoys, which, field, [from, length], changes, other, limit) => {
        const buoy = buoys[which % buoys.length]
        const text = field === 'mixed' ? `${other} ${buoy.country}` : buoy[field]
        const query = changes.reduce(withSlip, text.slice(from, from + length)).trim()
        if (fold(query) === '') return
        const search = searchOf(buoys)
        // One index answers query after query: nothing of one may stay for the next.
        search.all(other, limit)
        const exact = search.exact(query, 50)
        const expected = [...exact, ...looserOrder(buoys, query, exact)]
        assert.deepEqual(search.all(query, limit), expected.slice(0, limit), query)
        for (const rank of looserRanks(buoys, query, exact.length > 0).values()) seen.add(rank)
      },
    ),
    { numRuns: 500 },
  )
  assert.deepEqual(
    [...seen].toSorted((a, b) => a - b),
    [0, 1, 2, 3, 4, 5, 6],
  )
})

test('Garbage of any length ends soon, also among ten thousand buoys.', () => {
  const buoys = Array.from({ length: 10_000 }, (_, i) => ({
    name: `Saint-${'abcdefgh'[i % 8].repeat(1 + (i % 5))}-${(i * 7919).toString(26)}`,
    slug: `buoy-${i}`,
    identifier: `S${i}`,
    country: ['France', 'Ireland', ''][i % 3],
    active: i % 2 === 0,
  }))
  const search = searchOf(buoys)
  const long = ['q', 'saint', 'ab', 'zz ', '東京', 'q1', 's t '].map((text) => text.repeat(100 / text.length))
  const queries = [...long, 'q'.repeat(64), 's a b c d e f g', 'st st st st', 'saint aaaaa francx']
  const before = performance.now()
  for (let round = 0; round < 20; round++) for (const query of queries) search.all(query, 50)
  // Some 0.3 ms a query; a look at every name takes ten times as long as this allows.
  const took = performance.now() - before
  assert.ok(took < 20_000, `${took} ms`)
})

test('Names are found as people spell them.', () => {
  const buoys = SPELLED_BUOYS.map(([identifier, name, country]) => ({
    name,
    slug: slugOf(name),
    identifier,
    country,
    active: true,
  }))
  const search = searchOf(buoys)
  for (const [found, typed] of SPELLINGS) {
    for (const query of typed.split(', ')) {
      const names = search.all(query, 10).map((i) => buoys[i].name)
      assert.equal(names.join('; ') || 'nothing', found, query)
    }
  }
})
