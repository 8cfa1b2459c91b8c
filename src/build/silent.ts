/**
 * Sources of the configuration that could not be read: they are replayed as they were last, and what each
 * gave is remembered for the next time.
 */
import { type Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import { timestampText } from '../sea/time.ts'
import type { Base } from './base.ts'
import type { CataloguedBuoy } from '../snapshot/catalog.ts'
import { buoyKey, type Collector, type Lot } from './collector.ts'
import type { PartEntry } from '../snapshot/format.ts'
import { givenBySomebody, loadGiven, stayingOf, withoutSlug, type Given, type Staying } from './given.ts'

/** What stands for all sources together, where it is not known who gave what. */
const SOMEBODY: Source = { read: () => Promise.resolve() }

/**
 * Sources that could not be read give what they gave last.
 * @param refused the silent ones, with what was wrong
 * @returns their names, when they were read last, and what stays of them
 * @throws BuildError when that is damaged, or the build takes nothing over from the folder
 */
export async function recallSilent(
  refused: ReadonlyMap<Source, string>,
  input: Collector,
  { previous, given }: Base,
  { out, fresh = false }: { out: string; fresh?: boolean },
): Promise<[name: string, lastRead: string | null, stays: Staying][]> {
  const told: [name: string, lastRead: string | null, stays: Staying][] = []
  const silent = [...refused.keys()].map((source): [Source, Given | undefined] => [
    source,
    given?.find(({ name }) => name === source.terms?.name),
  ])
  const byNobody = silent.filter(([, known]) => known === undefined)
  if (byNobody.length > 0) {
    const bySomebody =
      given === null && previous !== null
        ? givenBySomebody(previous)
        : given?.find(({ name }) => name === null)
    if (bySomebody !== undefined) silent.push([SOMEBODY, bySomebody])
  }
  for (const [source, known] of silent) {
    if (known === undefined) continue
    if (fresh) {
      const names = [...refused.keys()].map(({ terms }) => terms?.name).join(', ')
      throw new BuildError(
        `${names} cannot be read, and what it gave last would be lost with --fresh: mend it, take it out of the configuration, or build without --fresh`,
      )
    }
    const parts = await loadGiven(out, known)
    input.recall(source, known, parts)
    if (known.name !== null) told.push([known.name, known.read_at, stayingOf(known, parts)])
  }
  return told
}

/** What is to be remembered of a build: what each source of the configuration gave last, now or before. */
export function givenNow(
  input: Collector,
  build: {
    /** Ids by `buoyKey`. */
    ids: ReadonlyMap<string, number>
    /** Buoys that stay without having been mentioned, with the sources that they stay for. */
    kept: ReadonlyMap<CataloguedBuoy, readonly Lot[]>
    /** The parts that hold what a source gave now. */
    parts: (lot: Lot) => PartEntry[]
    refused: ReadonlyMap<Source, string>
    /** What was remembered before; null where nothing was, or nothing is taken over. */
    before: readonly Given[] | null
    now: number
  },
): Given[] {
  return input.lots().flatMap((lot): Given[] => {
    if (lot.recalled !== null) return [{ ...lot.recalled, refused: build.refused.get(lot.source) ?? null }]
    if (lot.source.terms === undefined) return []
    const { name } = lot.source.terms
    // A feed of who reported lately takes nothing back by not mentioning it.
    const before =
      lot.source.complete === false ? (build.before?.find((given) => given.name === name)?.buoys ?? []) : []
    const mentioned = input
      .buoysOf(lot)
      .map((buoy) => ({ ...buoy, id: build.ids.get(buoyKey(buoy)) ?? null }))
    const staying = [...build.kept]
      .filter(([, lots]) => lots.includes(lot))
      .map(([buoy]) => withoutSlug(buoy))
    return [
      {
        name,
        read_at: timestampText(Math.floor(build.now)),
        refused: null,
        networks: [...lot.networks.values()],
        buoys: [
          ...new Map([...before, ...staying, ...mentioned].map((buoy) => [buoyKey(buoy), buoy])).values(),
        ],
        spots: [...lot.spots],
        parts: build.parts(lot),
      },
    ]
  })
}
