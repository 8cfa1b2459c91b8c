/**
 * What must hold of a part, whoever wrote it: run before a snapshot is published and again before it is
 * served.
 */
import type { Steps } from '../system/steps.ts'
import { checkAggregates, readAggregates, saidMadeFrom } from './aggregates-part.ts'
import { checkCatalog, readCatalog } from './catalog.ts'
import { checkForecast, readForecast } from './forecast-part.ts'
import { SnapshotError, type Part, type PartEntry } from './snapshot-format.ts'
import { checkMonth, readMonth } from './months-part.ts'
import { checkPasses, readPasses } from './passes-part.ts'
import { catalogSummary, forecastSummary, monthSummary, type PartSummary } from './catalog-summary.ts'
import { checkTides, readTides } from './tides-part.ts'

/**
 * Returns what is kept of the part.
 * @throws SnapshotError saying what does not hold in which file
 */
export function* checkPart(part: Part, entry: PartEntry): Steps<PartSummary> {
  const { kind, file, month } = entry
  if (part.kind !== kind)
    throw new SnapshotError(`${file}: is a ${part.kind} part, the manifest says ${kind}`)
  switch (part.kind) {
    case 'catalog': {
      const catalog = readCatalog(part, file)
      yield* checkCatalog(catalog, entry)
      return catalogSummary(catalog)
    }
    case 'readings':
    case 'weather': {
      if (month === null) throw new SnapshotError(`${file}: has no month in the manifest`)
      const rows = readMonth(part, month, file)
      yield* checkMonth(rows, entry)
      return monthSummary(kind, rows)
    }
    case 'aggregates': {
      if (month === null) throw new SnapshotError(`${file}: has no month in the manifest`)
      yield* checkAggregates(readAggregates(part, month, file), entry)
      return { threadBytes: 0, madeFrom: saidMadeFrom(part, file) }
    }
    case 'forecast': {
      const forecast = readForecast(part, file)
      checkForecast(forecast, entry)
      return forecastSummary(forecast)
    }
    case 'passes':
      checkPasses(readPasses(part, file), entry)
      return { threadBytes: 0 }
    case 'tides':
      checkTides(readTides(part, file), entry)
      return { threadBytes: 0 }
  }
}
