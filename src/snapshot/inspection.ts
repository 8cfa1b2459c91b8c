/** The contents of a snapshot, for people: parts, rows, time span. */
import { readCatalog } from './catalog.ts'
import { PART_KINDS } from './snapshot-format.ts'
import { column, decodePart } from './part-columns.ts'
import { loadManifest, loadSnapshot, type LoadedSnapshot, type PublishedManifest } from './read-snapshot.ts'
import { timestampText } from '../sea/time.ts'

/** Lines to print of the published snapshot or a kept one. @throws SnapshotError unless it is whole */
export async function inspectSnapshot(dir: string, kept: PublishedManifest | null = null): Promise<string[]> {
  const snapshot = kept === null ? await loadSnapshot(dir) : await loadManifest(dir, kept)
  const catalogPart = snapshot.parts.find(({ entry }) => entry.kind === 'catalog')!
  const catalog = readCatalog(decodePart(catalogPart.bytes, catalogPart.entry.file), dir)
  const lines = [
    `snapshot   ${snapshot.id}`,
    `as of      ${timestampText(snapshot.asOf)}`,
    `published  ${timestampText(snapshot.publishedAt)}`,
    ...(snapshot.demo ? ['demo       yes: its data are made up, not measured'] : []),
    `buoys      ${catalog.id.length} of ${catalog.sources.length} sources (${catalog.sources.map(({ name }) => name).join(', ')})`,
    '',
    'kind       parts        rows         bytes  bytes/row',
  ]
  for (const kind of PART_KINDS) {
    const entries = snapshot.parts.map(({ entry }) => entry).filter((entry) => entry.kind === kind)
    if (entries.length === 0) continue
    const rows = entries.reduce((sum, entry) => sum + entry.rows, 0)
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
    const cells = [entries.length, rows, bytes, rows === 0 ? '-' : (bytes / rows).toFixed(2)]
    const widths = [7, 11, 13, 10]
    lines.push([kind.padEnd(9), ...cells.map((cell, i) => String(cell).padStart(widths[i]))].join(' '))
  }
  return [...lines, '', readingsLine(snapshot)]
}

function readingsLine({ parts }: LoadedSnapshot): string {
  let [oldest, newest] = [Infinity, -Infinity]
  for (const { entry, bytes } of parts) {
    if (entry.kind !== 'readings') continue
    for (const time of column(decodePart(bytes, entry.file), 'time', Uint32Array, entry.file)) {
      oldest = Math.min(oldest, time)
      newest = Math.max(newest, time)
    }
  }
  if (newest === -Infinity) return 'no readings'
  return `readings from ${timestampText(oldest)} to ${timestampText(newest)}`
}

/** The snapshot in `/status`; `now` in epoch seconds. */
export function snapshotStatus(snapshot: LoadedSnapshot | null, now: number): object {
  if (snapshot === null) return { snapshot: null }
  const entries = snapshot.parts.map(({ entry }) => entry)
  const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0)
  const readings = entries.reduce((sum, { kind, rows }) => (kind === 'readings' ? sum + rows : sum), 0)
  return {
    snapshot: {
      id: snapshot.id,
      as_of: timestampText(snapshot.asOf),
      age_seconds: Math.round(now - snapshot.asOf),
      published_at: timestampText(snapshot.publishedAt),
      demo: snapshot.demo,
      parts: entries.length,
      bytes,
      readings,
      newest_reading_by_source: Object.fromEntries(
        snapshot.newest.map(([name, time]) => [name, time === -1 ? null : timestampText(time)]),
      ),
    },
  }
}
