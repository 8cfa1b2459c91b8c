/** Step 6 of a build: reports what the snapshot has of each network, and where the snapshot is now. */
import { timestampText } from '../sea/time.ts'
import type { CataloguedBuoy } from '../snapshot/catalog.ts'
import type { Base } from './base.ts'
import { buoyKey, type Collector } from './collector.ts'
import type { Gathered } from './gather.ts'
import { holdText } from './hold.ts'
import type { Identified } from './identify.ts'
import type { BuildOptions } from './options.ts'
import type { BuiltSnapshot } from './publish.ts'
import { outcomeLines } from './publishing/publishing.ts'
import type { BuildReport } from './report.ts'

export function reportOutcome(
  { out, report, publishTo }: BuildOptions,
  { hold }: Base,
  { input }: Gathered,
  { buoys }: Identified,
  { id, asOf, demo = false, published, outcome }: BuiltSnapshot,
): void {
  reportNetworks(report, input, buoys)
  report.summary()
  report.built(id, asOf, published)
  const about = `snapshot ${id}, data as of ${timestampText(asOf)}${demo ? ' (demo: its data are made up)' : ''}`
  if (outcome?.kind === 'lost') {
    report.line(
      `did not publish ${about}: another builder published number ${outcome.number} first, and ${out} has taken over its snapshot ${outcome.id}`,
    )
  } else if (hold === null) report.line(`published ${about}`)
  else report.line(`kept ${about}, and did not publish it: ${holdText(hold, out)}`)
  if (outcome !== null)
    for (const line of outcomeLines(outcome, publishTo?.store.address ?? '')) report.line(line)
}

/** A network that sources mention and that has no buoys is reported, too. */
function reportNetworks(report: BuildReport, input: Collector, buoys: readonly CataloguedBuoy[]): void {
  const newest = input.newestReadings()
  const none = { buoys: 0, reporting: 0, newest: -1 }
  const networks = new Map<string, typeof none>()
  for (const name of input.networks().keys()) networks.set(name, none)
  for (const buoy of buoys) {
    const before = networks.get(buoy.source) ?? none
    const time = newest.get(buoyKey(buoy)) ?? -1
    networks.set(buoy.source, {
      buoys: before.buoys + 1,
      reporting: before.reporting + Number(time >= 0),
      newest: Math.max(before.newest, time),
    })
  }
  for (const [name, network] of networks) report.network(name, network)
}
