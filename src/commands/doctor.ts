/**
 * `doctor`: looks at what `run` needs with the same options, as far as a start would not say it itself, and
 * advises what to do. It changes nothing. Its exit code is 0 unless a start is impossible.
 */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadKeys } from '../access/keys-file.ts'
import { isAddress } from '../access/keys-object.ts'
import { ageText, timestampText } from '../sea/time.ts'
import { flag, type ConfigOf } from '../server/setting.ts'
import { lossLines, newestReport } from '../builder/report-document.ts'
import { readFailure } from '../snapshot/failure.ts'
import { holdText, shownHold } from '../snapshot/retained.ts'
import { readManifest, verifyParts, type PublishedManifest } from '../snapshot/read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import { RUN_SETTINGS } from './build-settings.ts'
import { command } from './command.ts'
import { OTHER_FOLDER, otherSources } from './other-sources.ts'
import { clock, environment, print } from './surroundings.ts'

/** `advice`: a start works, and something is worth doing. `impossible`: it fails. */
type Level = 'ok' | 'advice' | 'impossible'

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly found: string
  /** What the operator should do; null for nothing. */
  readonly advice: string | null
}

const ok = (check: string, found: string): Finding => ({ check, level: 'ok', found, advice: null })
const advise = (check: string, found: string, advice: string): Finding => ({
  ...ok(check, found),
  level: 'advice',
  advice,
})
const fault = (...finding: Parameters<typeof advise>): Finding => ({
  ...advise(...finding),
  level: 'impossible',
})
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const DOCTOR_SETTINGS = { ...RUN_SETTINGS, json: flag('print the findings as JSON') } as const
type Config = ConfigOf<typeof DOCTOR_SETTINGS>

const WORDS: { readonly [level in Level]: string } = { ok: 'ok', advice: 'warning', impossible: 'FAULT' }
const WIDTH_OF_CHECK = 20

const doctor = command({
  settings: DOCTOR_SETTINGS,
  run: async (config) => {
    const findings = await examine(config)
    const faults = findings.filter(({ level }) => level === 'impossible')
    if (config.json) print(JSON.stringify({ can_start: faults.length === 0, findings }))
    else for (const line of findings.flatMap((finding) => linesOf(finding))) print(line)
    if (faults.length > 0) {
      throw new BuildError(
        `not ready to start: ${faults.map(({ check, found }) => `${check}: ${found}`).join('; ')}`,
      )
    }
    const count = findings.filter(({ level }) => level === 'advice').length
    if (!config.json) print(`ready to start${count === 0 ? '' : ` (${counted(count, 'warning')})`}`)
  },
})
export const COMMANDS = { doctor }

function linesOf({ check, level, found, advice }: Finding): string[] {
  const head = `${WORDS[level].padEnd(7)} ${check.padEnd(WIDTH_OF_CHECK)} ${found}`.trimEnd()
  return advice === null ? [head] : [head, `${' '.repeat(8 + WIDTH_OF_CHECK)} → ${advice}`]
}

/** All findings, in the order in which they are shown. */
export async function examine(config: Config): Promise<Finding[]> {
  const { finding, bytes } = await snapshotFinding(config, clock())
  return [
    ...folderFindings(config, bytes > 0),
    diskFinding(config, bytes),
    keysFinding(config),
    finding,
    ...buildFindings(config),
    ...(await sourceFindings(config)),
  ]
}

/** Findings about the newest builds: why the last failed, what holds others back, what was lost. */
function buildFindings({ snapshots }: Config): Finding[] {
  if (!existsSync(snapshots)) return []
  const failure = readFailure(snapshots)
  const hold = shownHold(snapshots)
  const losses = lossesIn(snapshots)
  return [
    ...(failure === null
      ? []
      : [
          advise(
            'build',
            `failed at ${failure.at}: ${failure.reason}`,
            'the snapshot before is served until a build succeeds',
          ),
        ]),
    ...(hold === null
      ? []
      : [advise('build', holdText(hold, snapshots), 'builds are kept until then, and not published')]),
    ...losses.map((found) => advise('build', found, `groundswell report ${snapshots} names the losses`)),
  ]
}

/** Sentences about data that the newest build lost; none without a loss or a report. */
function lossesIn(dir: string): string[] {
  try {
    const [found] = lossLines(newestReport(dir).losses)
    return found === undefined ? [] : [found.split(' → ')[0]]
  } catch (error) {
    if (error instanceof BuildError) return []
    throw error
  }
}

/** The next snapshot, its spool and its reports need room next to the kept ones. */
const LEAST_FREE_BYTES = 2 ** 30

/** The nearest folder that exists; the others would be made in it. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}

function folderFindings({ snapshots, keys }: Config, hasSnapshot: boolean): Finding[] {
  const folders = [['snapshots', snapshots], ...(isAddress(keys) ? [] : [['keys', dirname(keys)]])]
  return folders.map(([name, path]) => {
    const check = `folder of ${name}`
    const place = existing(path)
    const other = `name another one with --data or --${name}`
    const { uid } = statSync(place)
    if (!statSync(place).isDirectory()) return fault(check, `${place} is not a folder`, other)
    try {
      accessSync(place, constants.W_OK)
      return ok(check, place === path ? path : `${path} will be made`)
    } catch {
      const user = `user ${process.getuid?.() ?? ''}`.trimEnd()
      const found = `${place} belongs to user ${uid}, and ${user} cannot write to it`
      const advice = `give it to ${user}, or ${other}`
      return hasSnapshot
        ? advise(check, found, `${advice}; until then its snapshot is served, and nothing is built`)
        : fault(check, found, advice)
    }
  })
}

function diskFinding({ snapshots }: Config, snapshotBytes: number): Finding {
  const place = existing(snapshots)
  const { bavail, bsize } = statfsSync(place)
  const needed = LEAST_FREE_BYTES + 2 * snapshotBytes
  const found = `${sizeText(bavail * bsize)} are free at ${place}`
  return bavail * bsize < needed
    ? advise('disk', found, `a build may need ${sizeText(needed)}; --keep lowers how many snapshots are kept`)
    : ok('disk', found)
}

/** Bytes for people. */
function sizeText(bytes: number): string {
  return bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`
}

/** Half-hourly feeds are at most this old while everything works. */
const USUAL_AGE_S = 3 * 3600

function keysFinding({ keys }: Config): Finding {
  if (isAddress(keys)) return ok('keys', `at ${keys}; "groundswell keys list" asks there`)
  try {
    const count = loadKeys(keys).length
    if (count > 0) return ok('keys', `${count} in ${keys}`)
    const issue = `groundswell keys issue --owner NAME --keys ${keys}`
    return advise('keys', `${keys} has no keys`, `"groundswell run" issues a first one; or: ${issue}`)
  } catch (error) {
    return fault('keys', reasonOf(error), 'restore the file, or move it away and issue new keys')
  }
}

async function snapshotFinding(
  { snapshots, from }: Config,
  now: number,
): Promise<{ finding: Finding; bytes: number }> {
  const none = (found: string, advice: string): { finding: Finding; bytes: number } => ({
    finding: advise('snapshot', found, advice),
    bytes: 0,
  })
  let manifest: PublishedManifest | null
  try {
    manifest = await readManifest(snapshots)
    if (manifest !== null) await verifyParts(snapshots, manifest.parts)
  } catch (error) {
    const names = `groundswell check ${snapshots} names all that is wrong`
    return none(reasonOf(error), `${names}; groundswell rollback ${snapshots} goes back`)
  }
  if (manifest === null) {
    const advice = from === null ? '"groundswell run" builds one' : 'the mirror fetches one (--from)'
    return none(`${snapshots} has no snapshot`, advice)
  }
  const { id, asOf, parts } = manifest
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  const about = `${id}, ${counted(parts.length, 'part')}, ${sizeText(bytes)}, data as of ${timestampText(asOf)}`
  const report = `groundswell report ${snapshots} shows which source gave nothing new`
  const isOld = now - asOf > USUAL_AGE_S
  const finding = isOld
    ? advise('snapshot', `${about}: ${ageText(now - asOf)} old`, report)
    : ok('snapshot', about)
  return { finding, bytes }
}

async function sourceFindings({ config, snapshots }: Config): Promise<Finding[]> {
  if (config === null) return []
  try {
    const { readConfiguration } = await import('../sources/configuration.ts')
    const { sources } = readConfiguration(config, environment)
    const missing = sources.filter(
      ({ folder, downloads }) => folder !== '' && downloads.length === 0 && !existsSync(folder),
    )
    const others = otherSources(snapshots, sources)
    return [
      ok('sources', sources.map(({ name, kind }) => `${name} (${kind})`).join(', ')),
      ...missing.map(({ name, folder }) =>
        advise('sources', `${name}: ${folder} does not exist`, 'until then the source gives nothing'),
      ),
      ...(others === null ? [] : [advise('sources', others, OTHER_FOLDER)]),
    ]
  } catch (error) {
    return [fault('sources', reasonOf(error), 'correct the file; docs/configuration.md documents it')]
  }
}
