/**
 * `doctor`: looks at what `run` needs with the same options, as far as a start would not say it itself, and advises
 * what to do. It changes nothing. Its exit code is 0 unless a start is impossible.
 */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { totalmem } from 'node:os'
import { dirname } from 'node:path'
import { loadKeys } from '../access/keys-file.ts'
import { isAddress } from '../access/keys-object.ts'
import { findFreePort } from '../http/port.ts'
import { ageText, timestampText } from '../sea/time.ts'
import { flag, type ConfigOf } from '../server/setting.ts'
import { readManifest, verifyParts, type PublishedManifest } from '../snapshot/read-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { counted } from '../system/text.ts'
import { expectSchedule, RUN_SETTINGS } from './build-settings.ts'
import { command } from './command.ts'
import { clock, environment, print } from './surroundings.ts'

/** `advice`: a start works, and something is worth doing. `impossible`: it fails. */
type Level = 'ok' | 'advice' | 'impossible'

export interface Finding {
  readonly check: string
  readonly level: Level
  readonly found: string
  /** What to do; null where there is nothing to do. */
  readonly advice: string | null
}

const ok = (check: string, found: string): Finding => ({ check, level: 'ok', found, advice: null })
const advise = (check: string, found: string, advice: string): Finding => ({
  check,
  level: 'advice',
  found,
  advice,
})
const impossible = (check: string, found: string, advice: string): Finding => ({
  ...advise(check, found, advice),
  level: 'impossible',
})
const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const DOCTOR_SETTINGS = { ...RUN_SETTINGS, json: flag('print the findings as JSON') } as const
type Config = ConfigOf<typeof DOCTOR_SETTINGS>

const WORDS: { readonly [level in Level]: string } = { ok: 'ok', advice: 'warning', impossible: 'FAULT' }
const WIDTH_OF_CHECK = 20

export const doctor = command({
  settings: DOCTOR_SETTINGS,
  run: async (config) => {
    expectSchedule(config)
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

function linesOf({ check, level, found, advice }: Finding): string[] {
  const head = `${WORDS[level].padEnd(7)} ${check.padEnd(WIDTH_OF_CHECK)} ${found}`.trimEnd()
  return advice === null ? [head] : [head, `${' '.repeat(8 + WIDTH_OF_CHECK)} → ${advice}`]
}

/** All findings, in the order in which they are shown. */
export async function examine(config: Config): Promise<Finding[]> {
  const now = clock()
  const { findings: snapshot, bytes } = await snapshotFindings(config, now)
  const sources = await sourceFindings(config)
  return [
    nodeFinding(process.versions.node, now),
    memoryFinding(config, bytes),
    clockFinding(now, sources.clocks),
    ...folderFindings(config, bytes > 0),
    diskFinding(config, bytes),
    ...(await portFindings(config)),
    keysFinding(config),
    ...snapshot,
    ...sources.findings,
  ]
}

// --- The machine ---

/** The last day of each release's security fixes, as Node's release schedule has it. */
const NODE_ENDS: { readonly [major: number]: string } = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
}
/** Bytes. With less, the demo and a build do not fit into memory together. */
const LEAST_MEMORY = 512 * 2 ** 20
/** The code, tables and heap of a worker. */
const WORKER_BYTES = 100 * 2 ** 20
/** The next snapshot, its spool and its reports need room next to the kept ones. */
const LEAST_FREE_BYTES = 2 ** 30
const CLOCK_TOLERANCE_S = 120

export function nodeFinding(version: string, now: number): Finding {
  const ends = NODE_ENDS[Number(version.split('.', 1)[0])]
  const advice = 'run a release of Node with long support that has fixes'
  if (ends === undefined) return advise('node', `Node ${version} is not a release that was tested`, advice)
  return now > Date.parse(`${ends}T23:59:59Z`) / 1000
    ? advise('node', `Node ${version} has had no security fixes since ${ends}`, advice)
    : ok('node', `Node ${version}, with security fixes until ${ends}`)
}

function memoryFinding({ workers, 'answer-cache': cache }: Config, snapshotBytes: number): Finding {
  const constrained = process.constrainedMemory() ?? 0
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
  // The next snapshot is loaded while the current one is still served.
  const wanted = Math.max(2 * snapshotBytes + workers * (cache + WORKER_BYTES), LEAST_MEMORY)
  if (total >= wanted) return ok('memory', sizeText(total))
  return advise(
    'memory',
    `${sizeText(total)}; ${sizeText(wanted)} may be needed`,
    'add memory, or use fewer --workers or a smaller --answer-cache',
  )
}

/** @param others times by other clocks, epoch seconds, each with the name of its clock */
export function clockFinding(now: number, others: readonly { whose: string; time: number }[]): Finding {
  const here = `it is ${timestampText(Math.floor(now))} here`
  const advice = 'set it, and let chrony or systemd-timesyncd keep it: quotas count by clock hours'
  const ahead = others.map(({ whose, time }) => ({ whose, by: now - time }))
  const far = ahead.find(({ by }) => Math.abs(by) > CLOCK_TOLERANCE_S)
  if (far !== undefined) {
    const direction = far.by > 0 ? 'ahead of' : 'behind'
    return advise('clock', `${here}, ${ageText(Math.abs(far.by))} ${direction} ${far.whose}`, advice)
  }
  return ok('clock', here)
}

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
    if (!statSync(place).isDirectory()) return impossible(check, `${place} is not a folder`, other)
    try {
      accessSync(place, constants.W_OK)
      return ok(check, place === path ? path : `${path} will be made`)
    } catch {
      const user = `user ${process.getuid?.() ?? ''}`.trimEnd()
      const found = `${place} belongs to user ${uid}, and ${user} cannot write to it`
      const advice = `give it to ${user}, or ${other}`
      return hasSnapshot
        ? advise(check, found, `${advice}; until then its snapshot is served, and nothing is built`)
        : impossible(check, found, advice)
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

async function portFindings(config: Config): Promise<Finding[]> {
  const { host, port, 'admin-host': adminHost, 'admin-port': admin } = config
  const finding = async (check: string, at: string, of: number): Promise<Finding> => {
    try {
      await findFreePort(at, of)
      return ok(check, of === 0 ? 'any free one' : `${of} is free on ${at}`)
    } catch (error) {
      return impossible(check, reasonOf(error), 'name another one; a server that runs already uses its own')
    }
  }
  const isAny = typeof admin === 'string'
  return [
    await finding('port', host, port),
    ...(isAny ? [] : [await finding('admin port', adminHost, admin)]),
  ]
}

/** Bytes for people. */
export function sizeText(bytes: number): string {
  return bytes < 2 ** 30 ? `${(bytes / 2 ** 20).toFixed(1)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`
}

// --- What it serves ---

/** Half-hourly feeds are at most this old while everything works. */
const USUAL_AGE_S = 3 * 3600
/** A person waits for the answers of hosts. */
const PATIENCE_MS = 8000

function keysFinding({ keys }: Config): Finding {
  if (isAddress(keys)) return ok('keys', `at ${keys}; "groundswell keys list" asks there`)
  try {
    const count = loadKeys(keys).length
    if (count > 0) return ok('keys', `${count} in ${keys}`)
    const issue = `groundswell keys issue --owner NAME --keys ${keys}`
    return advise('keys', `${keys} has none`, `"groundswell run" issues a first one; or: ${issue}`)
  } catch (error) {
    return impossible('keys', reasonOf(error), 'restore the file, or move it away and issue new keys')
  }
}

async function snapshotFindings(
  { snapshots, from }: Config,
  now: number,
): Promise<{ findings: Finding[]; bytes: number }> {
  const none = (found: string, advice: string): Awaited<ReturnType<typeof snapshotFindings>> => ({
    findings: [advise('snapshot', found, advice)],
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
    return none(`${snapshots} has none`, advice)
  }
  const { id, asOf, parts } = manifest
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  const about = `${id}, ${counted(parts.length, 'part')}, ${sizeText(bytes)}, data as of ${timestampText(asOf)}`
  const report = `groundswell report ${snapshots} shows which source gave nothing new`
  const isOld = now - asOf > USUAL_AGE_S
  const finding = isOld
    ? advise('snapshot', `${about}: ${ageText(now - asOf)} old`, report)
    : ok('snapshot', about)
  return { findings: [finding], bytes }
}

/** Each host that a configuration names is asked once. */
async function sourceFindings({
  config,
}: Config): Promise<{ findings: Finding[]; clocks: { whose: string; time: number }[] }> {
  if (config === null) return { findings: [], clocks: [] }
  try {
    const { readConfiguration } = await import('../sources/configuration.ts')
    const { sources } = readConfiguration(config, environment)
    const urls = sources.flatMap(({ downloads }) => downloads.map(({ url }) => url.replaceAll(/[{}]/g, '')))
    const origins = new Set(urls.map((url) => new URL(url).origin))
    const hosts = await Promise.all([...origins].map((origin) => hostFinding(new URL(origin))))
    const missing = sources.filter(
      ({ folder, downloads }) => folder !== '' && downloads.length === 0 && !existsSync(folder),
    )
    return {
      findings: [
        ok('sources', sources.map(({ name, kind }) => `${name} (${kind})`).join(', ')),
        ...missing.map(({ name, folder }) =>
          advise('sources', `${name}: ${folder} does not exist`, 'until then the source gives nothing'),
        ),
        ...hosts.map(({ finding }) => finding),
      ],
      clocks: hosts.flatMap(({ whose, time }) => (time === null ? [] : [{ whose, time }])),
    }
  } catch (error) {
    const advice = 'correct the file; docs/configuration.md documents it'
    return { findings: [impossible('sources', reasonOf(error), advice)], clocks: [] }
  }
}

/** Asks for the head of the first page. No redirect is followed, and no key is sent. */
async function hostFinding(url: URL): Promise<{ finding: Finding; whose: string; time: number | null }> {
  const { WebClient } = await import('../snapshot/store/web-request.ts')
  const whose = url.host
  const limits = { connectMs: PATIENCE_MS, answerMs: PATIENCE_MS, stallMs: PATIENCE_MS }
  const client = new WebClient({ ...limits, slowestBytesPerSecond: 0 })
  try {
    const { headers } = await client.ask({ url, method: 'HEAD' })
    const time = Date.parse(headers.date ?? '') / 1000
    return { finding: ok('network', `${whose} answers`), whose, time: Number.isNaN(time) ? null : time }
  } catch (error) {
    const advice = 'look at name resolution, firewall and proxy of this machine'
    const finding = advise('network', `${whose} cannot be reached: ${reasonOf(error)}`, advice)
    return { finding, whose, time: null }
  } finally {
    client.close()
  }
}
