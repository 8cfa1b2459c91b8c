/**
 * The search by name, identifier and country, against a look at every field and every run of words of every
 * buoy.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildWords, checkWords, searchColumns } from '../../src/index/search-columns.ts'
import { Search } from '../../src/index/name-search.ts'
import { fold } from '../../src/index/spelled-words.ts'
import { finish } from '../../src/system/steps.ts'
import { fold as plain, searchRank, slugOf } from '../oracle/oracle.ts'
import { looserRanks, type Spelled } from '../oracle/spelling.ts'
import { SPELLED_BUOYS, SPELLINGS } from './spelled_buoys.ts'

interface Buoy extends Spelled {
  active: boolean
}

type Find = (query: string, limit: number) => number[]

/** The search for exact matches alone, as if buoys had no words, and the whole one. */
function searchOf(buoys: readonly Buoy[]): { exact: Find; all: Find } {
  const input = {
    names: buoys.map(({ name }) => name),
    slugs: buoys.map(({ slug }) => slug),
    identifiers: buoys.map(({ identifier }) => identifier),
    countries: buoys.map(({ country }) => country),
  }
  const stored = buildWords(input)
  assert.equal(finish(checkWords(stored, input)), null)
  const active = Uint8Array.from(buoys, ({ active }) => Number(active))
  const findAmong = (spelled: typeof input): Find => {
    const search = new Search(stored, finish(searchColumns(stored, spelled)), active)
    return (query, limit) => search.find(query, limit)
  }
  return { all: findAmong(input), exact: findAmong({ names: [], slugs: [], identifiers: [], countries: [] }) }
}

/** By rank, then the active ones, by name, and as they are in the list. */
function inOrder(buoys: readonly Buoy[], ranks: ReadonlyMap<number, number>): number[] {
  const name = (i: number): string => plain(buoys[i].name)
  return [...ranks.keys()].toSorted(
    (a, b) =>
      ranks.get(a)! - ranks.get(b)! ||
      Number(buoys[b].active) - Number(buoys[a].active) ||
      Number(name(a) > name(b)) - Number(name(a) < name(b)) ||
      a - b,
  )
}

function exactOrder(buoys: readonly Buoy[], query: string): number[] {
  const ranks = buoys.map(({ slug, name, identifier }, i) => {
    return [i, searchRank({ slug, record: { name, identifier } }, plain(query))] as const
  })
  return inOrder(buoys, new Map(ranks.flatMap(([i, rank]) => (rank === null ? [] : [[i, rank]]))))
}

test('A search finds exact matches in the fields that a look at all of them finds, in their order.', () => {
  // Few letters, so that words repeat, contain each other and clash.
  const letters = fc.constantFrom('a', 'b', 'A', 'é', 'É', '4', ' ', '-', '’')
  const names = fc.array(letters, { maxLength: 9 }).map((parts) => parts.join(''))
  const buoy = fc.record({
    name: names,
    slug: fc.stringMatching(/^[abe4-]{1,6}$/),
    identifier: fc.stringMatching(/^[41Ab]{1,4}$/),
    country: fc.constant(''),
    active: fc.boolean(),
  })
  const queries = fc.array(
    names.filter((query) => fold(query) !== ''),
    { minLength: 1, maxLength: 6 },
  )
  fc.assert(
    fc.property(
      fc.array(buoy, { maxLength: 30 }),
      queries,
      fc.integer({ min: 1, max: 50 }),
      (buoys, asked, limit) => {
        const { exact } = searchOf(buoys)
        // One index answers query after query: nothing of one may stay for the next.
        for (const query of [...asked, ...asked.toReversed()])
          assert.deepEqual(exact(query, limit), exactOrder(buoys, query).slice(0, limit), query)
      },
    ),
    { numRuns: 500 },
  )
})

test('Case, accents and scripts beyond ASCII do not matter, whatever other names begin with.', () => {
  const names =
    'Île d’Yeu Nord|ILE DE SEIN|Presqu’île|İzmir|Ålesund|Ωμέγα 🌊 東京湾|Sète, large|京都|東|京1|Αίγινα|Β1'
  const buoys = names
    .split('|')
    .map((name) => ({ name, slug: 'sx', identifier: 'x', country: '', active: true }))
  const { all } = searchOf(buoys)
  for (const [queries, found] of [
    ['île|ILE|I\u0302le', 'ILE DE SEIN|Île d’Yeu Nord|Presqu’île'],
    ['izmir', 'İzmir'],
    ['alesund', 'Ålesund'],
    ['ωμεγα|京湾|🌊', 'Ωμέγα 🌊 東京湾'],
    ['sete, l', 'Sète, large'],
    ['京-都', '京都'],
    ['京 1', '京1'],
    ['α-ι', 'Αίγινα'],
    ['β 1', 'Β1'],
    ['nothing|\u0301', ''],
  ]) {
    for (const query of queries.split('|'))
      assert.equal(
        all(query, 10)
          .map((i) => buoys[i].name)
          .join('|'),
        found,
        query,
      )
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
        const exact = exactOrder(buoys, query)
        const ranks = looserRanks(buoys, query, exact.length > 0)
        const expected = [...exact, ...inOrder(buoys, ranks).filter((i) => !exact.includes(i))]
        assert.deepEqual(search.all(query, limit), expected.slice(0, limit), query)
        for (const rank of ranks.values()) seen.add(rank)
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
  for (let round = 0; round < 20; round++) {
    for (const query of queries) search.all(query, 50)
  }
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

test('A stored index is taken for that of its names only when it is, whatever one value of it is.', () => {
  const input = {
    names: ['Belle-Île', 'Île d’Yeu', 'belle ile', ''],
    slugs: ['belle-ile', 'ile-d-yeu', 'belle-ile-2', 'buoy'],
    identifiers: ['05602', 'Ω7', '05602', 'x'],
  }
  const good = buildWords(input)
  const names = ['text', 'owner', 'flags', 'suffixes', 'rank'] as const
  for (const name of names) {
    for (let at = 0; at < good[name].length; at++) {
      for (const change of [1, 2, 200]) {
        const hurt = { ...good, [name]: good[name].slice() }
        hurt[name][at] ^= change
        assert.notEqual(finish(checkWords(hurt, input)), null, `${name} ${at}`)
      }
    }
    const shorter = { ...good, [name]: good[name].slice(1) }
    assert.notEqual(finish(checkWords(shorter, input)), null, name)
  }
  const swapped = { ...good, suffixes: good.suffixes.slice() }
  ;[swapped.suffixes[3], swapped.suffixes[4]] = [swapped.suffixes[4], swapped.suffixes[3]]
  assert.notEqual(finish(checkWords(swapped, input)), null)
})
