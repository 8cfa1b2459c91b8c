/**
 * Builds a snapshot in a folder, on the folder's last one. Read this file first: each step of `build` below
 * has a file of its own. Rows that no source gives any more stay; a buoy that no source mentions is left out,
 * but its id, slug and rows return with it. The same input on the same folder gives the same bytes.
 */
import { join } from 'node:path'
import { TEMPORARY_PREFIX, makeOutput, underLock } from '../snapshot/write-snapshot.ts'
import { randomName } from '../system/replace-file.ts'
import { type Base, type BuildOptions, keptApart, readBase } from './build-base.ts'
import { type Gathered, gather } from './gather.ts'
import { collectGarbage, removeLeftovers } from '../snapshot/garbage.ts'
import { DEFAULT_KEPT, holdText } from '../snapshot/retained.ts'
import { type Identified, identify, newestIn } from './identify.ts'
import { checkBuild, writeParts, type Written } from './write-parts.ts'
import { type BuiltSnapshot, publish, type PublishingWork } from './publish.ts'
import { Prefix } from './publishing/prefix.ts'
import { beginIfThere, outcomeText } from './publishing/publish-to-prefix.ts'
import { SpectraSpool } from './spectra-spool.ts'
import { Spool } from './spool.ts'
import { DAY, timestampText } from '../sea/time.ts'
import type { CataloguedBuoy } from '../snapshot/catalog.ts'
import { type Collector, buoyKey } from './collector.ts'
import type { BuildReport } from './build-report.ts'
import { reportLines, writeReport } from './report-document.ts'
import { stateParts } from './source-state.ts'

/** @throws BuildError for faults in the input or a second builder, SnapshotError for faults in the folder */
export async function buildSnapshot(options: BuildOptions): Promise<BuiltSnapshot> {
  const { out, keep = DEFAULT_KEPT, now, report, fresh = false, publishTo = null } = options
  makeOutput(out)
  return underLock(out, async (lock) => {
    // Leftovers go before anything is written: on a full disk they would make every later build fail.
    removeLeftovers(out)
    collectGarbage(out, keep, now, lock.isHeld, (id) => stateParts(out, id))
    const elsewhere = publishTo && {
      dir: out,
      prefix: new Prefix(publishTo.store, publishTo.singleWriter),
      now,
      log: report.line,
    }
    const publishing = elsewhere && (await beginIfThere(elsewhere, lock))
    const found = await readBase(out, fresh, (message) => report.warn(message))
    const base = keptApart(options, found)
    return build(options, base, { lock, elsewhere, publishing })
  })
}

async function build(options: BuildOptions, base: Base, work: PublishingWork): Promise<BuiltSnapshot> {
  const { out, keep = DEFAULT_KEPT, now } = options
  const waiting = join(out, `${TEMPORARY_PREFIX}${randomName()}-spool`)
  const spools = { rows: new Spool(waiting), spectra: new SpectraSpool(`${waiting}-spectra`) }
  try {
    // 1. Gather the sources' data and their time; stale sources give their last data.
    const gathered = await gather(options, base, spools)
    // 2. Identify each buoy: its id, slug, country and time zone; a duplicate in another network goes.
    const identified = await identify(options, base, gathered)
    // 3. Write the parts that are new; the others keep their files.
    const written = await writeParts(options, base, gathered, identified, spools)
    // 4. Check that little is lost, and that the disk holds the bytes that were written.
    await checkBuild(options, base, gathered, identified, written.parts)
    // 5. Publish, unless a rollback holds. Then remove the files that no kept snapshot needs any more.
    const built = await publish(options, base, gathered, identified, written, work)
    collectGarbage(out, keep, now, work.lock.isHeld, (id) => stateParts(out, id))
    // 6. Report the outcome.
    await reportOutcome(options, base, gathered, identified, written, built)
    return built
  } finally {
    spools.rows.close()
    spools.spectra.close()
  }
}

async function reportOutcome(
  { out, report, publishTo, now }: BuildOptions,
  { hold, folder }: Base,
  { input }: Gathered,
  { buoys, registry }: Identified,
  { parts }: Written,
  built: BuiltSnapshot,
): Promise<void> {
  const { id, asOf, demo = false, outcome } = built
  reportNetworks(report, input, buoys, await newestIn(out, parts, registry), now)
  const document = report.document(built)
  writeReport(out, document)
  for (const line of reportLines(document)) report.line(line)
  const about = `snapshot ${id}, data as of ${timestampText(asOf)}${demo ? ' (demo: its data are made up)' : ''}`
  const verb = id === folder?.manifest.id ? 'unchanged' : 'published'
  if (hold === null) report.line(`${verb} ${about}`)
  else report.line(`kept ${about}, and did not publish it: ${holdText(hold, out)}`)
  if (outcome !== undefined) report.line(outcomeText(outcome, publishTo?.store.address ?? ''))
}

function reportNetworks(
  report: BuildReport,
  input: Collector,
  buoys: readonly CataloguedBuoy[],
  kept: ReadonlyMap<string, number>,
  now: number,
): void {
  const newest = input.newestReadings()
  const newestOf = (key: string): number => Math.max(newest.get(key) ?? -1, kept.get(key) ?? -1)
  for (const name of new Set([...input.networks().keys(), ...buoys.map(({ source }) => source)])) {
    const times = buoys.filter(({ source }) => source === name).map((buoy) => newestOf(buoyKey(buoy)))
    report.network(name, {
      buoys: times.length,
      reporting: times.filter((time) => time >= now - DAY).length,
      newest: times.reduce((latest, time) => Math.max(latest, time), -1),
    })
  }
}
