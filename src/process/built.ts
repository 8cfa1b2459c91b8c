/**
 * What the newest build in a folder reports, for the metrics. Read again only when the folder has changed,
 * and never larger than can be read between two scrapes.
 */
import { statSync } from 'node:fs'
import { newestReport } from '../build/report-files.ts'
import type { NetworkDocument, ReportDocument, SourceDocument } from '../build/report-document.ts'
import type { Figures, NetworkFigures, SourceFigures } from '../metrics/figures.ts'
import { parseTimestamp } from '../sea/time.ts'

/** Inputs and networks that are shown, and reasons of one network. */
const MOST_SHOWN = 200
const MOST_REASONS = 20

export interface Built {
  built: Figures['built']
  sources: readonly SourceFigures[]
  /** Suspect readings by the name of a network. */
  suspect: ReadonlyMap<string, NetworkFigures['suspect']>
}

const NOTHING: Built = { built: null, sources: [], suspect: new Map() }

/** Never throws: without a report that can be read there are no figures of it. */
export function builtOf(dir: string): () => Built {
  let mark = -1
  let known = NOTHING
  return () => {
    const changed = statSync(dir, { throwIfNoEntry: false })?.mtimeMs ?? -1
    if (changed === mark) return known
    mark = changed
    try {
      known = figuresOf(newestReport(dir))
    } catch {
      known = NOTHING
    }
    return known
  }
}

function figuresOf(report: ReportDocument): Built {
  const at = parseTimestamp(report.built_at)?.epoch ?? 0
  return {
    built: { at, seconds: report.seconds, rows: report.rows, badLines: report.bad_lines },
    sources: report.sources.slice(0, MOST_SHOWN).map((source) => sourceFigures(source, at)),
    suspect: new Map(
      report.networks.slice(0, MOST_SHOWN).map((network) => [network.name, suspectOf(network)]),
    ),
  }
}

function sourceFigures(
  { name, refused, rows, bad_lines: badLines, fetch }: SourceDocument,
  at: number,
): SourceFigures {
  return {
    name,
    isSilent: refused !== null,
    rows,
    badLines,
    fetch: fetch && {
      at,
      seconds: fetch.seconds,
      bytes: fetch.bytes,
      files: [
        ['fetched', fetch.fetched],
        ['unchanged', fetch.unchanged],
        ['not_due', fetch.not_due],
        ['failed', fetch.failed],
        ['removed', fetch.removed],
      ],
    },
  }
}

function suspectOf({ doubtful }: NetworkDocument): NetworkFigures['suspect'] {
  return doubtful.slice(0, MOST_REASONS).map(({ reason, readings }) => [reason, readings])
}
