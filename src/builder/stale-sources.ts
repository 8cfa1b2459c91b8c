/** Carries stale sources over from their last known states, and keeps those for the next build. */
import { timestampText } from '../sea/time.ts'
import type { PartEntry } from '../snapshot/snapshot-format.ts'
import type { Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type { Base } from './build-base.ts'
import { buoyKey, type Collector, type Contribution } from './collector.ts'
import {
  countCarriedOver,
  loadStateParts,
  stateOfAll,
  withoutSlug,
  type CarriedOver,
  type SourceState,
  type StateBuoy,
} from './source-state.ts'
import type { Identified } from './identify.ts'

/** Stands for all sources together, where nobody knows which of them gave what. */
const ANY_SOURCE: Source = { read: () => Promise.resolve() }

/**
 * Gives `input` what each source of `stale` gave last. Returns names, times of the last read, and how much.
 * @throws BuildError when that is damaged, or the build takes nothing over from the folder
 */
export async function carryOverStale(
  stale: ReadonlyMap<Source, string>,
  input: Collector,
  base: Base,
  { out, fresh = false }: { out: string; fresh?: boolean },
): Promise<[name: string, lastRead: string | null, carried: CarriedOver][]> {
  const carried: [name: string, lastRead: string | null, carried: CarriedOver][] = []
  for (const [source, state] of lastStates([...stale.keys()], base)) {
    if (fresh) {
      const names = [...stale.keys()].map(({ terms }) => terms?.name).join(', ')
      throw new BuildError(
        `${names} cannot be read, and what it gave last would be lost with --fresh: make it readable, remove it from the configuration, or build without --fresh`,
      )
    }
    const parts = await loadStateParts(out, state)
    input.carryOver(source, state, parts)
    if (state.name !== null) carried.push([state.name, state.read_at, countCarriedOver(state, parts)])
  }
  return carried
}

/** The last known states of stale sources; for sources without one, the state of all sources together. */
function lastStates(stale: readonly Source[], { folder, states }: Base): [Source, SourceState][] {
  const own = stale.flatMap((source): [Source, SourceState][] => {
    const state = states?.find(({ name }) => name === source.terms?.name)
    return state === undefined ? [] : [[source, state]]
  })
  if (own.length === stale.length) return own
  const ofAll =
    states === null && folder !== null ? stateOfAll(folder) : states?.find(({ name }) => name === null)
  return ofAll === undefined ? own : [...own, [ANY_SOURCE, ofAll]]
}

/** The state of each configured source after this build: what it gave now, or what is carried over. */
export function statesNow({
  input,
  stale,
  identified: { ids, staying },
  own,
  before,
  now,
}: {
  input: Collector
  stale: ReadonlyMap<Source, string>
  identified: Identified
  own: ReadonlyMap<Contribution, PartEntry[]>
  /** The states before this build; null where there are none, or nothing is taken over. */
  before: readonly SourceState[] | null
  now: number
}): SourceState[] {
  return input.contributions().flatMap((contribution): SourceState[] => {
    const { source, carriedOver, networks, spots } = contribution
    if (carriedOver !== null) return [{ ...carriedOver, refused: stale.get(source) ?? null }]
    if (source.terms === undefined) return []
    const { name } = source.terms
    // A source that mentions only who reported lately takes nothing back by not mentioning it.
    const mentionedBefore =
      source.complete === false ? (before?.find((state) => state.name === name)?.buoys ?? []) : []
    const stayingForIt = [...staying].flatMap(([buoy, contributions]) =>
      contributions.includes(contribution) ? [withoutSlug(buoy)] : [],
    )
    const mentioned = input
      .buoysOf(contribution)
      .map((buoy): StateBuoy => ({ ...buoy, id: ids.get(buoyKey(buoy)) ?? null }))
    const buoys = [...mentionedBefore, ...stayingForIt, ...mentioned]
    return [
      {
        name,
        read_at: timestampText(Math.floor(now)),
        refused: null,
        networks: [...networks.values()],
        buoys: [...new Map(buoys.map((buoy) => [buoyKey(buoy), buoy])).values()],
        spots: [...spots],
        parts: own.get(contribution) ?? [],
      },
    ]
  })
}
