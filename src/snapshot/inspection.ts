/** What a snapshot holds, for people: parts, rows, time span, bytes per reading. */
import { readCatalog } from './catalog.ts'
import { SnapshotError, type PartEntry, type PartKind } from './snapshot-format.ts'
import { decodePart } from './part-columns.ts'
import { loadManifest, loadSnapshot, type LoadedSnapshot, type PublishedManifest } from './read-snapshot.ts'
import { timestampText } from '../sea/time.ts'

/** Lines to print of the published snapshot or a kept one. @throws SnapshotError unless it is whole */
export async function inspectSnapshot(dir: string, kept: PublishedManifest | null = null): Promise<string[]> {
  const snapshot = kept === null ? await loadSnapshot(dir) : await loadManifest(dir, kept)
  const entries = snapshot.parts.map(({ entry }) => entry)
  const catalogPart = snapshot.parts.find(({ entry }) => entry.kind === 'catalog')
  if (catalogPart === undefined) throw new SnapshotError(`${dir}: the snapshot has no catalogue`)
  const catalog = readCatalog(decodePart(catalogPart.bytes, catalogPart.entry.file), dir)
  const sum = (parts: readonly PartEntry[], of: (entry: PartEntry) => number): number =>
    parts.reduce((total, entry) => total + of(entry), 0)
  const ofKind = (kind: PartKind): PartEntry[] => entries.filter((entry) => entry.kind === kind)

  const lines = [
    `snapshot   ${snapshot.id}`,
    `as of      ${timestampText(snapshot.asOf)}`,
    `published  ${timestampText(snapshot.publishedAt)}`,
    ...(snapshot.demo ? ['demo       yes: its data are made up, not measured'] : []),
    `buoys      ${catalog.id.length} of ${catalog.sources.length} sources (${catalog.sources.map(({ name }) => name).join(', ')})`,
    '',
    'kind       parts        rows         bytes  bytes/row',
  ]
  for (const kind of new Set(entries.map((entry) => entry.kind))) {
    const parts = ofKind(kind)
    const [rows, bytes] = [sum(parts, (entry) => entry.rows), sum(parts, (entry) => entry.bytes)]
    lines.push(
      [
        kind.padEnd(9),
        String(parts.length).padStart(7),
        String(rows).padStart(11),
        String(bytes).padStart(13),
        (rows === 0 ? '-' : (bytes / rows).toFixed(2)).padStart(10),
      ].join(' '),
    )
  }
  lines.push('', ...readingsLines(snapshot.parts, ofKind('readings')))
  return lines
}

function readingsLines(
  parts: Awaited<ReturnType<typeof loadSnapshot>>['parts'],
  readings: PartEntry[],
): string[] {
  if (readings.length === 0) return ['no readings']
  let oldest = Infinity
  let newest = -Infinity
  let columnBytes = 0
  for (const { entry, bytes } of parts) {
    if (entry.kind !== 'readings') continue
    const { columns } = decodePart(bytes, entry.file)
    for (const [name, column] of columns)
      if (name !== 'buoy' && name !== 'start') columnBytes += column.byteLength
    for (const time of columns.get('time') as Uint32Array) {
      if (time < oldest) oldest = time
      if (time > newest) newest = time
    }
  }
  const rows = readings.reduce((total, entry) => total + entry.rows, 0)
  const bytes = readings.reduce((total, entry) => total + entry.bytes, 0)
  return [
    `readings from ${timestampText(oldest)} to ${timestampText(newest)}`,
    `bytes per reading: ${(columnBytes / rows).toFixed(2)} in columns, ${(bytes / rows).toFixed(2)} on disk and in memory with headers and padding`,
  ]
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
