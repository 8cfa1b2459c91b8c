/** Fragments as a thread has them: copies in front of where it writes answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openFragments, type IndexedFragments } from '../../src/dataset/fragments.ts'
import { finish } from '../../src/system/steps.ts'

const BUOYS = 4000
const PIECE = `,{"name":"${'a'.repeat(180)}"}`

test('An answer with all buoys of the map is written where there is room for it: the writer does not grow.', () => {
  const start = Uint32Array.from({ length: BUOYS + 1 }, (_, i) => i * PIECE.length)
  const rendered = {
    bytes: new TextEncoder().encode(PIECE.repeat(BUOYS)),
    lists: { map: start },
  } as unknown as IndexedFragments
  const { writer, map } = finish(openFragments(rendered))
  const room = writer.bytes
  writer.begin()
  map.writeList(Array.from(start.subarray(1).keys()), 0, BUOYS)
  assert.equal(Buffer.from(writer.answer()).toString(), PIECE.repeat(BUOYS).slice(1))
  assert.equal(writer.bytes, room)
})
