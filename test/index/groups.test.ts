/** Buoys by source and country against filters over a list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { sourceKey, buildGroups } from '../../src/index/groups.ts'
import type { Catalog } from '../../src/snapshot/catalog.ts'

const NO_COUNTRY = 65_535

test('Every group holds its buoys in ascending order, all of them and the active ones.', () => {
  const buoys = fc.array(
    fc.record({ source: fc.nat(2), country: fc.constantFrom(0, 1, NO_COUNTRY), active: fc.boolean() }),
    { maxLength: 40 },
  )
  fc.assert(
    fc.property(buoys, (list) => {
      const names = ['NDBC', 'Météo-France', 'Candhis']
      const catalog = {
        id: Uint32Array.from(list, (_, i) => i + 1),
        source: Uint16Array.from(list, ({ source }) => source),
        country: Uint16Array.from(list, ({ country }) => country),
        sources: names.map((name) => ({
          name,
          network: 'national',
          label: null,
          aliases: [],
          credit: null,
          licence: null,
        })),
        countries: [
          { code: 'FR', name: 'France' },
          { code: 'US', name: 'United States' },
        ],
      } as unknown as Catalog
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
  const source = (name: string, label: string | null, aliases: string[]) => ({
    name,
    label,
    aliases,
    network: 'national',
    credit: null,
    licence: null,
  })
  const catalog = {
    id: Uint32Array.of(1, 2, 3),
    source: Uint16Array.of(0, 1, 2),
    country: Uint16Array.of(NO_COUNTRY, NO_COUNTRY, NO_COUNTRY),
    // The third has no right to the first one's name.
    sources: [
      source('NDBC', null, ['NOAA/NDBC']),
      source('Météo-France', 'Bouées de Météo-France', []),
      source('Third', null, ['ndbc']),
    ],
    countries: [],
  } as unknown as Catalog
  const { bySource } = buildGroups(catalog, Uint8Array.of(1, 1, 1))
  const found = (text: string) => [...(bySource.get(sourceKey(text))?.all ?? [])]
  for (const text of ['NDBC', 'ndbc', 'NOAA/NDBC', 'noaa ndbc', 'NOAA-NDBC'])
    assert.deepEqual(found(text), [0])
  for (const text of [
    'Météo-France',
    'Meteo France',
    'meteo-france',
    'METEO\u2011FRANCE',
    'bouees de meteo france',
  ]) {
    assert.deepEqual(found(text), [1], text)
  }
  assert.deepEqual(found('third'), [2])
  for (const text of ['ND', 'France', '', '-']) assert.deepEqual(found(text), [])
})
