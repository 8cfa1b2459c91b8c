/** Step 1 of a build: reads all sources into the collector, carries stale ones over, settles the time. */
import { spotsInOrder } from '../snapshot/make-catalog.ts'
import { passesPart } from '../snapshot/make-passes.ts'
import { tidesPart } from '../snapshot/make-tides.ts'
import type { Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type { Base, BuildOptions } from './build-base.ts'
import { Collector, type Contribution } from './collector.ts'
import { countCarriedOver, loadStateParts, type CarriedOver, type SourceState } from './source-state.ts'
import type { Spool } from './spool.ts'

export interface Gathered {
  input: Collector
  /** The data's time, epoch seconds. */
  asOf: number
  /** The asked or given time of the data; null where it is the newest reading's. */
  wantedAsOf: number | null
  stale: ReadonlyMap<Source, string>
}

/** @throws BuildError when no source can be read, or the time of the data is unknown */
export async function gather(options: BuildOptions, base: Base, spool: Spool): Promise<Gathered> {
  const { sources, report, now } = options
  const input = new Collector(spool, {
    latest: options.latest ?? Infinity,
    report,
  })
  const ownTimes = sources.flatMap((source) => source.defaultAsOf?.(now) ?? [])
  const wantedAsOf = options.asOf ?? (ownTimes.length > 0 ? Math.max(...ownTimes) : null)
  const stale = await readSources(options, input, wantedAsOf, base.states)
  for (const carried of await carryOverStale(stale, input, base, options)) report.stale(...carried)
  return { input, asOf: settledAsOf(input, base, wantedAsOf), wantedAsOf, stale }
}

/** @throws BuildError when there is neither a reading nor a time that was asked for */
function settledAsOf(input: Collector, { previous }: Base, wantedAsOf: number | null): number {
  if (wantedAsOf !== null) return wantedAsOf
  const newest = [...input.newestReadings().values()].reduce((latest, time) => Math.max(latest, time), -1)
  const asOf = Math.max(newest, previous?.manifest.asOf ?? -1)
  if (asOf < 0) {
    throw new BuildError('the sources hold no reading, so there is no time to build for: give --as-of')
  }
  return asOf
}

/**
 * Reads all sources; returns the stale ones (unreadable, or suddenly empty) with what was wrong.
 * @throws BuildError when none could be read, or one of the command line could not
 */
async function readSources(
  { sources, report, now }: BuildOptions,
  input: Collector,
  asOf: number | null,
  states: readonly SourceState[] | null,
): Promise<Map<Source, string>> {
  const stale = new Map<Source, string>()
  for (const source of sources) {
    input.begin(source)
    report.begin(source.terms?.name ?? null)
    try {
      await source.read(input, { asOf, now, report })
      report.endSource()
      if (input.isEmpty() && source.terms !== undefined) {
        if (gaveSomething(states, source))
          throw new BuildError('it has nothing now, and had something before')
        // A feed of the latest rows may have none yet.
        if (source.complete !== false) throw new BuildError('nothing in it could be read')
      }
      expectFitForParts(input.contributions())
    } catch (error) {
      if (source.terms === undefined || !(error instanceof BuildError)) throw error
      input.discard()
      stale.set(source, error.message)
      report.refused(error.message)
    }
  }
  report.begin(null)
  if (sources.length > 0 && input.contributions().length === 0)
    throw new BuildError('none of the sources could be read')
  return stale
}

function gaveSomething(states: readonly SourceState[] | null, { terms }: Source): boolean {
  const last = states?.find(({ name }) => name === terms?.name)
  return last !== undefined && last.buoys.length + last.spots.length + last.parts.length > 0
}

/** @throws BuildError where passes, harbours or spots of the newest contribution cannot become a part */
function expectFitForParts(contributions: readonly Contribution[]): void {
  const { passes, harbours } = contributions.at(-1)!
  passesPart(passes, (handle) => handle + 1, null)
  tidesPart(harbours)
  spotsInOrder(contributions.flatMap(({ spots }) => spots))
}

/**
 * Gives `input` what each source of `stale` gave last. Returns names, times of the last read, and how much.
 * @throws BuildError when that is damaged, or the build takes nothing over from the folder
 */
async function carryOverStale(
  stale: ReadonlyMap<Source, string>,
  input: Collector,
  base: Base,
  { out, fresh = false }: { out: string; fresh?: boolean },
): Promise<[name: string, lastRead: string, carried: CarriedOver][]> {
  const carried: [name: string, lastRead: string, carried: CarriedOver][] = []
  for (const [source, state] of lastStates([...stale.keys()], base)) {
    if (fresh) {
      const names = [...stale.keys()].map(({ terms }) => terms?.name).join(', ')
      throw new BuildError(
        `${names} cannot be read, and what it gave last would be lost with --fresh: make it readable, remove it from the configuration, or build without --fresh`,
      )
    }
    const parts = await loadStateParts(out, state)
    input.carryOver(source, state, parts)
    carried.push([state.name, state.read_at, countCarriedOver(state, parts)])
  }
  return carried
}

/** The last known states of stale sources. @throws BuildError where the folder has lost them */
function lastStates(
  stale: readonly Source[],
  { folder, states }: Base,
): [source: Source, state: SourceState][] {
  if (stale.length > 0 && states === null && folder !== null) {
    const names = stale.map(({ terms }) => terms?.name).join(', ')
    throw new BuildError(
      `${names} cannot be read, and the folder does not say what it gave last: make it readable, or remove it from the configuration`,
    )
  }
  return stale.flatMap((source): [Source, SourceState][] => {
    const state = states?.find(({ name }) => name === source.terms?.name)
    return state === undefined ? [] : [[source, state]]
  })
}
