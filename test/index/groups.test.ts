/** Buoys by source and country against filters over a list. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { buildGroups } from '../../src/index/groups.ts'
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
        sources: names.map((name) => ({ name, network: 'national', credit: null, licence: null })),
        countries: [
          { code: 'FR', name: 'France' },
          { code: 'US', name: 'United States' },
        ],
      } as unknown as Catalog
      const groups = buildGroups(
        catalog,
        Uint8Array.from(list, ({ active }) => Number(active)),
        (name) => name.toUpperCase(),
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
          plain(groups.bySource.get(name.toUpperCase())),
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
