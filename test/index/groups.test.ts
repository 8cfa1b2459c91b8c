/** Buoys by source and country against filters over a list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sourceKey } from '../../src/index/groups.ts'
import { buildGroups } from '../../src/server/index-snapshot.ts'
import type { Catalog } from '../../src/snapshot/catalog.ts'

const NO_COUNTRY = 65_535
const COUNTRIES = [
  { code: 'FR', name: 'France' },
  { code: 'US', name: 'United States' },
]

function catalogOf(
  buoys: readonly { source: number; country: number }[],
  sources: readonly { name: string; label?: string; aliases?: string[] }[],
): Catalog {
  const rest = { label: null, aliases: [], network: 'national', credit: null, licence: null }
  return {
    id: Uint32Array.from(buoys, (_, i) => i + 1),
    source: Uint16Array.from(buoys, ({ source }) => source),
    country: Uint16Array.from(buoys, ({ country }) => country),
    sources: sources.map((source) => ({ ...rest, ...source })),
    countries: COUNTRIES,
  } as unknown as Catalog
}

test('Every group holds its buoys in ascending order, all of them and the active ones.', () => {
  const buoys = fc.array(
    fc.record({ source: fc.nat(2), country: fc.constantFrom(0, 1, NO_COUNTRY), active: fc.boolean() }),
    { maxLength: 40 },
  )
  const names = ['NDBC', 'Météo-France', 'Candhis']
  fc.assert(
    fc.property(buoys, (list) => {
      const catalog = catalogOf(
        list,
        names.map((name) => ({ name })),
      )
      const groups = buildGroups(
        catalog,
        Uint8Array.from(list, ({ active }) => Number(active)),
      )
      const expected = (holds: (buoy: (typeof list)[number]) => boolean) => {
        const all = [...list.keys()].filter((ordinal) => holds(list[ordinal]))
        return { all, active: all.filter((ordinal) => list[ordinal].active) }
      }
      const plain = (group: { all: Uint32Array; active: Uint32Array } | undefined) => ({
        all: [...(group?.all ?? [])],
        active: [...(group?.active ?? [])],
      })
      assert.deepEqual(
        plain(groups.everywhere),
        expected(() => true),
      )
      for (const [index, name] of names.entries()) {
        assert.deepEqual(
          plain(groups.bySource.get(sourceKey(name))),
          expected(({ source }) => source === index),
        )
      }
      for (const [index, code] of ['FR', 'US'].entries()) {
        assert.deepEqual(
          plain(groups.byCountry.get(code)),
          expected(({ country }) => country === index),
        )
      }
      assert.equal(
        groups.byCountry.size,
        new Set(list.map(({ country }) => country).filter((c) => c !== NO_COUNTRY)).size,
      )
    }),
  )
})

test('A source is found by its name, its label and its aliases, whatever the case, accents, blanks and hyphens.', () => {
  const catalog = catalogOf(
    [0, 1, 2].map((source) => ({ source, country: NO_COUNTRY })),
    [
      { name: 'NDBC', aliases: ['NOAA/NDBC'] },
      { name: 'Météo-France', label: 'Bouées de Météo-France' },
      // It has no right to the first one's name.
      { name: 'Third', aliases: ['ndbc'] },
    ],
  )
  const { bySource } = buildGroups(catalog, Uint8Array.of(1, 1, 1))
  const found = (text: string) => [...(bySource.get(sourceKey(text))?.all ?? [])]
  const cases: [texts: string, found: number[]][] = [
    ['NDBC|ndbc|NOAA/NDBC|noaa ndbc|NOAA-NDBC', [0]],
    ['Météo-France|Meteo France|METEO\u2011FRANCE|bouees de meteo france', [1]],
    ['third', [2]],
    ['ND|France||-', []],
  ]
  for (const [texts, ordinals] of cases) {
    for (const text of texts.split('|')) assert.deepEqual(found(text), ordinals, text)
  }
})
