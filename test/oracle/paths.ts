/** Paths of buoys: known ones by id and slug, and strange ones. */
import * as fc from 'fast-check'
import type { Known } from './oracle.ts'

/** Near misses; what is stranger, `test/api/wire.slow.test.ts` asks of every operation. */
const strangeIds = [
  '0',
  '99999',
  '9007199254740993',
  '1.0',
  'no-such-buoy',
  'buoy',
  'buoy-9',
  'Twin',
  'NORTH-POLE',
  '%20',
  '..%2F1',
  '__proto__',
  'constructor',
]

export type Paths = ReturnType<typeof pathsOf>

export function pathsOf(buoy: fc.Arbitrary<Known>) {
  const slugOrId = buoy.chain((one) => fc.constantFrom(String(one.id), one.slug))
  const unknownPath = fc.constantFrom(...strangeIds)
  // No buoy has a broken or foreign id; where the contract's oracle can look for it, it does.
  const buoyPath = (tail: string) =>
    fc.oneof(
      { weight: 9, arbitrary: slugOrId.map((id) => ({ path: `/buoys/${id}${tail}`, ids: { buoyId: id } })) },
      {
        weight: 1,
        arbitrary: unknownPath.map((id) => ({ path: `/buoys/${id}${tail}`, ids: { buoyId: id } })),
      },
    )
  const knownPath = (tail: string) =>
    slugOrId.map((id) => ({ path: `/buoys/${id}${tail}`, ids: { buoyId: id } }))
  return { slugOrId, unknownPath, buoyPath, knownPath }
}
