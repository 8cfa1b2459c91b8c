/** `diff`: what distinguishes two kept snapshots, in the form of `GET /changes`. */
import { CHANGE_WORDS, writeChanges, type ComparedCatalogs } from '../dataset/changes-json.ts'
import { JsonWriter } from '../dataset/json-writer.ts'
import { listKept } from '../snapshot/retained.ts'
import { SERVE_SETTINGS } from '../server/serve-settings.ts'
import { flag } from '../server/setting.ts'
import { timestampText } from '../sea/time.ts'
import { readCatalog, type Catalog, ordinalOf } from '../snapshot/catalog.ts'
import { changesBetween, comparedParts, type ComparedSnapshot } from '../snapshot/compare-snapshots.ts'
import { REMOVED } from '../snapshot/row-changes.ts'
import type { Manifest } from '../snapshot/manifest.ts'
import { SnapshotError, type PartEntry } from '../snapshot/snapshot-format.ts'
import { decodePart } from '../snapshot/part-columns.ts'
import { loadPart, type LoadedPart } from '../snapshot/read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { finish } from '../system/steps.ts'
import { counted } from '../system/text.ts'
import { command } from './command.ts'
import { print } from './surroundings.ts'

export const diff = command({
  takes: '<DIR> <A> <B>',
  settings: {
    json: flag('print what GET /changes answers, as one line of JSON'),
    'active-within': SERVE_SETTINGS['active-within'],
  },
  run: async ({ json, 'active-within': activeWithin }, [dir, a, b]) => {
    const manifests = [keptManifest(dir, a), keptManifest(dir, b)] as const
    const compared = await compare(dir, manifests, activeWithin)
    if (json) print(jsonOf(compared))
    else for (const line of linesOf(manifests, compared)) print(line)
  },
})

/** @throws BuildError, SnapshotError */
function keptManifest(dir: string, id: string): Manifest {
  const kept = listKept(dir).find((one) => one.id === id)
  if (kept === undefined) {
    throw new BuildError(`no kept snapshot has the id ${id}; groundswell list ${dir} names them`)
  }
  if (kept.manifest === null) throw new SnapshotError(`${kept.file}: is broken`)
  return kept.manifest
}

/** Reads only the parts that differ, and those that are needed to understand them. */
async function compare(
  dir: string,
  [before, after]: readonly [Manifest, Manifest],
  activeWithin: number,
): Promise<ComparedCatalogs> {
  const loaded = new Map<string, LoadedPart>()
  const load = async (entry: PartEntry): Promise<LoadedPart> => {
    const part = loaded.get(entry.file) ?? (await loadPart(dir, entry))
    loaded.set(entry.file, part)
    return part
  }
  const catalogOf = async ({ parts }: Manifest): Promise<Catalog> => {
    const { entry, bytes } = await load(parts.find(({ kind }) => kind === 'catalog')!)
    return readCatalog(decodePart(bytes, entry.file), entry.file)
  }
  const catalogs = [await catalogOf(before), await catalogOf(after)] as const
  const haveSameBuoys = Buffer.compare(bytesOf(catalogs[0].id), bytesOf(catalogs[1].id)) === 0
  const sides: ComparedSnapshot[] = []
  for (const [i, entries] of comparedParts(before, after, activeWithin, haveSameBuoys).entries()) {
    const { id, asOf } = i === 0 ? before : after
    const parts: LoadedPart[] = []
    for (const entry of entries) parts.push(await load(entry))
    sides.push({ id, asOf, parts })
  }
  const changes = finish(changesBetween(sides[0], sides[1], activeWithin))
  const differs = (kind: PartEntry['kind']): boolean => fileOf(before, kind) !== fileOf(after, kind)
  return {
    changes: { ...changes, passes: differs('passes'), forecast: differs('forecast') },
    before: catalogs[0],
    after: catalogs[1],
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const fileOf = ({ parts }: Manifest, kind: PartEntry['kind']): string | undefined =>
  parts.find((entry) => entry.kind === kind)?.file

/** The room that a writer begins with. */
const JSON_BYTES = 64 * 1024

function jsonOf(compared: ComparedCatalogs): string {
  const writer = new JsonWriter(JSON_BYTES)
  writeChanges(writer, compared, true)
  writer.text('}')
  return Buffer.from(writer.answer()).toString()
}

function linesOf(
  [before, after]: readonly [Manifest, Manifest],
  { changes, ...catalogs }: ComparedCatalogs,
): string[] {
  const { buoy, change, first, before: rowsBefore, passes, forecast } = changes
  const lines = [
    `from ${before.id}  as of ${timestampText(before.asOf)}`,
    `to   ${after.id}  as of ${timestampText(after.asOf)}`,
    `${counted(buoy.length, 'buoy')} and ${counted(rowsBefore.at(-1)!, 'reading')} differ; the passes ${passes ? 'differ' : 'are the same'}, the forecast ${forecast ? 'differs' : 'is the same'}`,
  ]
  buoy.forEach((id, i) => {
    const catalog = change[i] === REMOVED ? catalogs.before : catalogs.after
    const readings = rowsBefore[first[i + 1]] - rowsBefore[first[i]]
    const word = CHANGE_WORDS[change[i] as keyof typeof CHANGE_WORDS].padEnd(7)
    const slug = catalog.slugs[ordinalOf(catalog, id)]
    lines.push(`${word} ${String(id).padStart(6)}  ${slug.padEnd(30)}  ${counted(readings, 'reading')}`)
  })
  return lines
}
