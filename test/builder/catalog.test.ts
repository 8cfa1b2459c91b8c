/** Slugs and ids: the rule, clashes, reserved words, and what stays from build to build. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type RegistryEntry } from '../../src/snapshot/catalog.ts'
import { unite } from '../../src/builder/source-state.ts'
import { locate, register, slugOf } from '../../src/builder/identify.ts'
import type { BuoyRecord } from '../../src/sea/records.ts'
import { fieldOf, fieldsOf } from '../fields.ts'

const buoy = (
  source: string,
  identifier: string,
  name: string,
  more: Partial<BuoyRecord> = {},
): BuoyRecord => ({
  source,
  identifier,
  name,
  lat: 0,
  lng: 0,
  ...more,
})

test('A slug is lower case, without accents, one hyphen for everything between letters and digits.', () => {
  const slugs: [name: string, slug: string][] = [
    ['Golfe du Lion', 'golfe-du-lion'],
    ['Sète, large', 'sete-large'],
    ['Île d’Yeu Nord', 'ile-d-yeu-nord'],
    ['  --Le__Four  ', 'le-four'],
    ['41001', 'buoy-41001'],
    [' ２ / 007', 'buoy-007'],
    ['2e1', '2e1'],
    ['ÅÉÎÕÜç', 'aeiouc'],
    ['e\u0301\u0302', 'e'],
    ['İzmir', 'izmir'],
    ['Søn', 's-n'],
    ['東京湾', 'buoy'],
    ['', 'buoy'],
    ['---', 'buoy'],
    ['A/B?C#D%2F', 'a-b-c-d-2f'],
  ]
  for (const [name, slug] of slugs) assert.equal(slugOf(name), slug, name)
  assert.equal(slugOf('東京湾', 'TK-01'), 'tk-01')
  assert.equal(slugOf('東京湾', '62001'), 'buoy-62001')
  assert.equal(slugOf('東京湾', '湾'), 'buoy')
  assert.equal(slugOf('Anglet', '06402'), 'anglet')
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (name) => {
      assert.match(slugOf(name), /^[a-z0-9]+(-[a-z0-9]+)*$/)
      assert.doesNotMatch(slugOf(name), /^[0-9]+$/)
    }),
  )
})

test('Ids go to physical buoys first, then by source and identifier, whatever the order of arrival.', () => {
  const buoys = [
    buoy('B', '2', 'Two', { virtual: true }),
    buoy('B', '10', 'Ten'),
    buoy('A', 'z', 'Zed', { virtual: true }),
    buoy('B', '1', 'One', { virtual: false }),
    buoy('A', 'b', 'Bee'),
    buoy('a', 'b', 'Small'),
  ]
  const expected = [
    ['A', 'b', 1, 'bee'],
    ['B', '1', 2, 'one'],
    ['B', '10', 3, 'ten'],
    ['a', 'b', 4, 'small'],
    ['A', 'z', 5, 'zed'],
    ['B', '2', 6, 'two'],
  ]
  fc.assert(
    fc.property(fc.shuffledSubarray(buoys, { minLength: buoys.length }), (order) => {
      const { entries, of } = register(order, [])
      assert.deepEqual(fieldsOf(entries, 'source', 'identifier', 'id', 'slug'), expected)
      for (const each of order)
        assert.deepEqual([of.get(each)?.source, of.get(each)?.identifier], [each.source, each.identifier])
    }),
  )
})

test('A slug that is taken, or is the name of an operation, gets the next free number.', () => {
  const named = (names: string[], registry: RegistryEntry[] = []): string[] => {
    const buoys = names.map((name, i) => buoy('A', String(i).padStart(3, '0'), name))
    const { of } = register(buoys, registry)
    return buoys.map((each) => of.get(each)?.slug ?? '')
  }
  assert.deepEqual(named(['Le Four', 'LE FOUR', 'Le-Four']), ['le-four', 'le-four-2', 'le-four-3'])
  assert.deepEqual(named(['X', 'X 2', 'X', 'X']), ['x', 'x-2', 'x-3', 'x-4'])
  assert.deepEqual(named(['Map', 'Search', 'Nearest', 'Satellites', 'Map']), [
    'map-2',
    'search-2',
    'nearest-2',
    'satellites-2',
    'map-3',
  ])
  assert.deepEqual(named(['', '東京']), ['buoy-000', 'buoy-001'])
  // A slug that a buoy of the past had is not given to another.
  const past = { source: 'Z', identifier: 'gone', id: 70, slug: 'le-four' }
  assert.deepEqual(named(['Le Four'], [past]), ['le-four-2'])
})

const identities = fc.uniqueArray(
  fc.record({
    source: fc.constantFrom('A', 'B'),
    identifier: fc.constantFrom('1', '2', '3', '4', '5'),
    virtual: fc.boolean(),
  }),
  { selector: ({ source, identifier }) => source + identifier, maxLength: 8 },
)

test('An id and a slug, once given, stay with their buoy over builds in which buoys come, go and change their names.', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(identities, fc.constantFrom('Le Four', 'Map', 'Other')), {
        minLength: 1,
        maxLength: 6,
      }),
      (builds) => {
        let registry: RegistryEntry[] = []
        const given = new Map<string, string>()
        for (const [list, name] of builds) {
          const buoys = list.map(({ source, identifier, virtual }) =>
            buoy(source, identifier, name, { virtual }),
          )
          const { entries, of } = register(buoys, registry)
          for (const each of buoys) {
            const { id, slug } = of.get(each) ?? assert.fail()
            const before = given.get(each.source + each.identifier)
            if (before !== undefined) assert.equal(`${id} ${slug}`, before)
            given.set(each.source + each.identifier, `${id} ${slug}`)
          }
          assert.equal(entries.length, given.size)
          assert.deepEqual(
            fieldOf(entries, 'id'),
            entries.map((_, i) => i + 1),
          )
          assert.equal(new Set(entries.map(({ slug }) => slug)).size, entries.length)
          registry = entries
        }
      },
    ),
  )
})

test('Of entries that contradict each other the earlier one is valid.', () => {
  const [a, b] = ['a', 'b'].map((name, i) => ({ source: 'A', identifier: name, id: i + 1, slug: name }))
  const others = [
    { ...a, id: 7 },
    { ...a, identifier: 'c', slug: 'c' },
    { ...b, identifier: 'd', id: 9 },
  ]
  assert.deepEqual(unite([[b], [a, ...others]]), [a, b])
})

test('The registry takes no more buoys than ids have room for.', () => {
  const full = [{ source: 'A', identifier: '1', id: 900_000, slug: 'a' }]
  assert.throws(() => register([buoy('A', '2', 'B')], full), /more than 900000 buoys/)
  assert.equal(register([buoy('A', '1', 'B')], full).entries.length, 1)
})

test('Country and time zone are what the source says where that exists, else what the position says.', () => {
  const entry = { source: 'A', identifier: '1', id: 1, slug: 'a' }
  const biscay = buoy('A', '1', 'Biscay', { lat: 43.5, lng: -1.6 })
  const at = (more: Partial<BuoyRecord>): [string, string] => {
    const { country, timezone } = locate({ ...biscay, ...more }, entry)
    return [country, timezone]
  }
  assert.deepEqual(at({}), ['FR', 'Europe/Paris'])
  assert.deepEqual(at({ country: 'ES', timezone: 'Europe/Madrid' }), ['ES', 'Europe/Madrid'])
  for (const country of ['', 'es', 'ESP', 'QQ', 'ZZ', 'EU', 'UN', 'XA'])
    assert.equal(at({ country })[0], 'FR', country)
  for (const timezone of ['', 'Paris', 'Europe/Atlantis', '+01:00'])
    assert.equal(at({ timezone })[1], 'Europe/Paris', timezone)
  assert.equal(at({ lat: -45, lng: -120 })[0], '')
})
