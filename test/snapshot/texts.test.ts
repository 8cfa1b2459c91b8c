/** Texts that are longer than a snapshot may hold: names are cut, and identifiers refused by name. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAX_TEXT_LENGTH } from '../../src/snapshot/snapshot-format.ts'
import { type Source } from '../../src/sources/source.ts'
import { temporaryFolder } from '../live.ts'
import { build, fakeSource, NETWORKS, SMALL_WORLD, catalogOf } from '../builder/fake_source.ts'

const LONG = 'x'.repeat(MAX_TEXT_LENGTH + 1)
const HARBOUR = {
  identifier: 'h',
  name: 'Brest',
  lat: 48,
  lng: -4.5,
  datumOffset: 4,
  credit: 'made up',
  constituents: [{ name: 'M2', amplitude: 2, phase: 100 }],
}

function withMore(more: (sink: Parameters<Source['read']>[0]) => void): Source {
  return {
    async read(sink, context) {
      await fakeSource(SMALL_WORLD).read(sink, context)
      more(sink)
    },
  }
}

test('Names longer than a snapshot holds are cut, and what is built is loaded.', async (t) => {
  const dir = temporaryFolder(t)
  const [alpha, ...others] = SMALL_WORLD
  const source = withMore((sink) => {
    sink.harbour({ ...HARBOUR, name: LONG })
    sink.spot({ id: 1, name: `${LONG}\u0000`, lat: 0, lng: 0 })
  })
  await build([fakeSource([{ ...alpha, name: LONG }, ...others]), source], dir)
  const { names, spots } = await catalogOf(dir)
  assert.ok(names.includes(LONG.slice(1)))
  assert.equal(spots[0].name, LONG.slice(1))
})

test('Identifiers, credits and names of networks that are longer are refused by name.', async (t) => {
  const [alpha] = SMALL_WORLD
  const cases: [source: Source, why: RegExp][] = [
    [fakeSource([{ ...alpha, identifier: LONG }]), /an identifier of network North has 2001 characters/],
    [fakeSource([], [{ ...NETWORKS[0], name: LONG }]), /the name of a network has 2001 characters/],
    [fakeSource([], [{ ...NETWORKS[0], credit: LONG }]), /a text of network North has 2001 characters/],
    [withMore((sink) => sink.harbour({ ...HARBOUR, identifier: LONG })), /identifier of a harbour has 2001/],
    [withMore((sink) => sink.harbour({ ...HARBOUR, credit: LONG })), /credit of a harbour has 2001/],
  ]
  for (const [source, why] of cases) {
    await assert.rejects(build([source], temporaryFolder(t)), { name: 'BuildError', message: why })
  }
})
