/** Search in names, slugs and identifiers against a ranking of all buoys, field by field. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildWords, checkWords, searchColumns } from '../../src/index/search-columns.ts'
import { Search } from '../../src/index/name-search.ts'
import { fold } from '../../src/index/spelled-words.ts'
import { finish } from '../../src/system/steps.ts'
import { fold as plain, searchRank } from '../oracle/oracle.ts'

interface Named {
  name: string
  slug: string
  identifier: string
  active: boolean
}

/** Finds exact matches only: the words of looser ones are those of no buoy. */
function wordsOf(buoys: Named[]): Search {
  const input = {
    names: buoys.map(({ name }) => name),
    slugs: buoys.map(({ slug }) => slug),
    identifiers: buoys.map(({ identifier }) => identifier),
  }
  const columns = buildWords(input)
  assert.equal(finish(checkWords(columns, input)), null)
  const active = Uint8Array.from(buoys, (buoy) => Number(buoy.active))
  const nobody = { names: [], slugs: [], identifiers: [], countries: [] }
  return new Search(columns, finish(searchColumns(columns, nobody)), active)
}

function expectedOrder(buoys: Named[], query: string): number[] {
  const wanted = plain(query)
  return [...buoys.keys()]
    .map((ordinal) => {
      const { name, slug, identifier, active } = buoys[ordinal]
      const rank = searchRank({ slug, record: { name, identifier } }, wanted)
      return { ordinal, rank: rank ?? 4, active: active ? 0 : 1, name: plain(name) }
    })
    .filter(({ rank }) => rank < 4)
    .toSorted(
      (a, b) =>
        a.rank - b.rank ||
        a.active - b.active ||
        (a.name < b.name ? -1 : a.name > b.name ? 1 : 0) ||
        a.ordinal - b.ordinal,
    )
    .map(({ ordinal }) => ordinal)
}

// Few letters, so that words repeat, contain each other and clash.
const letters = fc.constantFrom('a', 'b', 'A', 'é', 'É', '4', ' ', '-', '’')
const names = fc.array(letters, { maxLength: 9 }).map((parts) => parts.join(''))
const buoyLists = fc.array(
  fc.record({
    name: names,
    slug: fc
      .array(fc.constantFrom('a', 'b', 'e', '4', '-'), { minLength: 1, maxLength: 6 })
      .map((parts) => parts.join('')),
    identifier: fc
      .array(fc.constantFrom('4', '1', 'A', 'b'), { minLength: 1, maxLength: 4 })
      .map((parts) => parts.join('')),
    active: fc.boolean(),
  }),
  { maxLength: 30 },
)

test('A search finds the buoys that a look at every field finds, in the order of decisions.', () => {
  fc.assert(
    fc.property(
      buoyLists,
      fc.array(
        names.filter((query) => fold(query) !== ''),
        { minLength: 1, maxLength: 6 },
      ),
      fc.integer({ min: 1, max: 50 }),
      (buoys, queries, limit) => {
        const words = wordsOf(buoys)
        // One index answers query after query: nothing of one may stay for the next.
        for (const query of [...queries, ...queries.toReversed()]) {
          assert.deepEqual(words.find(query, limit), expectedOrder(buoys, query).slice(0, limit), query)
        }
      },
    ),
    { numRuns: 500 },
  )
})

test('Case and accents do not matter, in the query or in the name.', () => {
  const buoys = [
    'Île d’Yeu Nord',
    'ILE DE SEIN',
    'Presqu’île',
    'İzmir',
    'Ålesund',
    'Ωμέγα 🌊 東京湾',
    'Sète, large',
  ].map((name, i) => ({ name, slug: `s${i}x`, identifier: `9${i}`, active: true }))
  const words = wordsOf(buoys)
  const found = (query: string) => words.find(query, 10).map((ordinal) => buoys[ordinal].name)
  assert.deepEqual(found('île'), ['ILE DE SEIN', 'Île d’Yeu Nord', 'Presqu’île'])
  assert.deepEqual(found('ILE'), found('île'))
  assert.deepEqual(found('I\u0302le'), found('île'))
  assert.deepEqual(found('yeu'), ['Île d’Yeu Nord'])
  assert.deepEqual(found('izmir'), ['İzmir'])
  assert.deepEqual(found('alesund'), ['Ålesund'])
  assert.deepEqual(found('ωμεγα'), ['Ωμέγα 🌊 東京湾'])
  assert.deepEqual(found('京湾'), ['Ωμέγα 🌊 東京湾'])
  assert.deepEqual(found('🌊'), ['Ωμέγα 🌊 東京湾'])
  assert.deepEqual(found('sete, l'), ['Sète, large'])
  assert.deepEqual(found('nothing'), [])
  assert.deepEqual(found('\u0301'), [])
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
