/** Step 1 of a build: reads all sources into the collector, carries stale ones over, settles the time. */
import { spotsInOrder } from '../snapshot/make-catalog.ts'
import { passesPart } from '../snapshot/make-passes.ts'
import { tidesPart } from '../snapshot/make-tides.ts'
import type { Source } from '../sources/source.ts'
import { BuildError } from '../system/build-error.ts'
import type { Base, BuildOptions } from './build-base.ts'
import { Collector, type Contribution, type Spools } from './collector.ts'
import { loadStateParts, stateOf, type SourceState } from './source-state.ts'

export interface Gathered {
  input: Collector
  /** The data's time, epoch seconds. */
  asOf: number
  /** The asked or given time of the data; null where it is the newest reading's. */
  wantedAsOf: number | null
  stale: ReadonlyMap<Source, string>
}

/** @throws BuildError when no source can be read, or the time of the data is unknown */
export async function gather(options: BuildOptions, base: Base, spools: Spools): Promise<Gathered> {
  const { sources, report, now } = options
  const input = new Collector(spools, options.latest ?? Infinity, report)
  const ownTimes = sources.flatMap((source) => source.defaultAsOf?.(now) ?? [])
  const wantedAsOf = options.asOf ?? (ownTimes.length > 0 ? Math.max(...ownTimes) : null)
  const stale = await readSources(options, input, wantedAsOf, base.states)
  await carryOverStale(stale, input, base, options)
  return { input, asOf: settledAsOf(input, base, wantedAsOf, options), wantedAsOf, stale }
}

/** @throws BuildError when there is neither a reading nor a requested time */
function settledAsOf(
  input: Collector,
  { previous }: Base,
  wantedAsOf: number | null,
  { report }: BuildOptions,
): number {
  if (wantedAsOf !== null) return wantedAsOf
  const newest = [...input.newestReadings().values()].reduce((latest, time) => Math.max(latest, time), -1)
  const asOf = Math.max(newest, previous?.manifest.asOf ?? -1)
  if (asOf < 0)
    throw new BuildError(
      `no source has a wave height up to now${report.reasons()}; without one there is no time to build for: give --as-of`,
    )
  return asOf
}

/**
 * Reads all sources; returns the stale ones (unreadable, or suddenly empty) with their faults.
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
      if (source.isMadeUp !== true) {
        for (const doubt of input.doubtful()) report.doubt(doubt)
      }
      report.endSource()
      if (input.isEmpty() && source.terms !== undefined) {
        const last = stateOf(states, source)
        if (last !== undefined && last.buoys.length + last.spots.length + last.parts.length > 0)
          throw new BuildError('it is empty now, and was not before')
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

/** @throws BuildError where passes, harbours or spots of the newest contribution cannot become a part */
function expectFitForParts(contributions: readonly Contribution[]): void {
  const { passes, harbours } = contributions.at(-1)!
  passesPart(passes, (handle) => handle + 1, null)
  tidesPart(harbours)
  spotsInOrder(contributions.flatMap(({ spots }) => spots))
}

/**
 * Gives `input` what each source of `stale` gave last.
 * @throws BuildError when that is lost or damaged, or the build takes nothing over from the folder
 */
async function carryOverStale(
  stale: ReadonlyMap<Source, string>,
  input: Collector,
  { folder, states }: Base,
  { out, fresh = false, report }: BuildOptions,
): Promise<void> {
  const names = [...stale.keys()].map(({ terms }) => terms?.name).join(', ')
  if (stale.size > 0 && states === null && folder !== null) {
    throw new BuildError(
      `${names} cannot be read, and the folder lacks its last data: make it readable, or remove it from the configuration`,
    )
  }
  for (const source of stale.keys()) {
    const state = stateOf(states, source)
    if (state === undefined) continue
    if (fresh) {
      throw new BuildError(
        `${names} cannot be read, and its last data would be lost with --fresh: make it readable, remove it from the configuration, or build without --fresh`,
      )
    }
    input.carryOver(source, state, await loadStateParts(out, state))
    report.stale(state.name, state.read_at)
  }
}
