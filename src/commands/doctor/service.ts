/** What the doctor asks of folders, files and ports that the server would use. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { loadKeys } from '../../access/keys-file.ts'
import { holdText, readHold } from '../../snapshot/retained.ts'
import { newestReport } from '../../builder/report-files.ts'
import { findFreePort, isElsewhere, type AddressOptions } from '../../http/port.ts'
import { ADMIN_ADDRESS, DEFAULT_ADMIN_PORT } from '../../server/admin.ts'
import { API_ADDRESS, type ServeConfig } from '../../server/serve-settings.ts'
import { isAddress } from '../../access/keys-object.ts'
import { ageText, timestampText } from '../../sea/time.ts'
import { readManifest, verifyParts, type PublishedManifest } from '../../snapshot/read-snapshot.ts'
import { counted } from '../../system/text.ts'
import { expectedFault } from '../faults.ts'
import { advise, impossible, ok, reasonOf, sizeText, type Finding } from './finding.ts'

/** Half-hourly feeds are at most this old while everything works. */
const USUAL_AGE_S = 3 * 3600
/** The next snapshot, its spool and its reports need room next to the kept ones. */
const LEAST_FREE_BYTES = 2 ** 30
/** A snapshot that was published later than now comes from a machine whose clock is ahead. */
const CLOCK_TOLERANCE_S = 120
/** Nothing of this program is older. */
const WRITTEN = Date.UTC(2026, 0, 1) / 1000

/** The nearest folder that exists; the others would be made in it. */
function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path))
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

export function dataFindings({ snapshots, keys }: ServeConfig, hasSnapshot: boolean): Finding[] {
  const user = process.getuid === undefined ? 'this user' : `user ${process.getuid()}`
  return [['snapshots', snapshots], ...(isAddress(keys) ? [] : [['keys', dirname(keys)]])].map(
    ([name, path]) => {
      const check = `folder of ${name}`
      const place = existing(path)
      if (!statSync(place).isDirectory()) {
        return impossible(check, `${place} is not a folder`, `name another one with --data or --${name}`)
      }
      if (isWritable(place)) return ok(check, place === path ? path : `${path} will be made`)
      const found = `${place} belongs to user ${statSync(place).uid}, and ${user} cannot write to it`
      const advice = `give it to ${user}, or name another one with --data or --${name}`
      if (hasSnapshot)
        return advise(
          check,
          found,
          `${advice}; until then its snapshot is served, and builds and counts are not saved`,
        )
      return impossible(check, found, advice)
    },
  )
}

export function diskFinding({ snapshots }: ServeConfig, snapshotBytes: number): Finding {
  const place = existing(snapshots)
  const { bavail, bsize, files, ffree } = statfsSync(place)
  const free = bavail * bsize
  const needed = LEAST_FREE_BYTES + 2 * snapshotBytes
  if (files > 0 && ffree === 0) {
    return advise(
      'disk',
      `the file system of ${place} has no room for another file (inodes)`,
      'remove files there',
    )
  }
  if (free < needed) {
    return advise(
      'disk',
      `${sizeText(free)} are free at ${place}`,
      `free some space: a build may need ${sizeText(needed)}; --keep lowers how many snapshots are kept`,
    )
  }
  return ok('disk', `${sizeText(free)} are free at ${place}`)
}

export async function portFindings({
  host,
  port,
  'admin-host': adminHost,
  'admin-port': adminPort,
}: ServeConfig): Promise<Finding[]> {
  const admin = adminPort === 'auto' ? DEFAULT_ADMIN_PORT : adminPort
  return [
    await portFinding('port', host, port, API_ADDRESS),
    ...(admin === 'off' ? [] : [await portFinding('admin port', adminHost, admin, ADMIN_ADDRESS)]),
  ]
}

async function portFinding(
  check: string,
  host: string,
  port: number,
  options: AddressOptions,
): Promise<Finding> {
  try {
    await findFreePort(host, port)
    return ok(check, port === 0 ? 'any free one' : `${port} is free on ${host}`)
  } catch (error) {
    if (isElsewhere(error))
      return impossible(check, reasonOf(error), `name an address of this machine with ${options.host}`)
    return advise(
      check,
      reasonOf(error),
      `choose another with ${options.port}, or find out who uses it with ss -ltnp; a server that is already running uses its own`,
    )
  }
}

export function keysFinding({ keys }: ServeConfig): Finding {
  if (isAddress(keys)) return ok('keys', `at ${keys}; "groundswell keys list" with the same settings asks it`)
  let count: number
  try {
    count = loadKeys(keys).length
  } catch (error) {
    return impossible(
      'keys',
      reasonOf(error),
      'restore the file from a backup, or move it away and issue new keys',
    )
  }
  const issue = `groundswell keys issue --owner NAME --keys ${keys}`
  if (count === 0)
    return advise('keys', `${keys} has none`, `"groundswell run" issues a first one; or: ${issue}`)
  return ok('keys', `${count} in ${keys}`)
}

export async function snapshotFindings(
  { snapshots, from }: ServeConfig,
  now: number,
): Promise<{ findings: Finding[]; bytes: number; manifest: PublishedManifest | null }> {
  let manifest: PublishedManifest | null
  try {
    manifest = await readManifest(snapshots)
    if (manifest !== null) await verifyParts(snapshots, manifest.parts)
  } catch (error) {
    const found = expectedFault(error) ?? reasonOf(error)
    const advice = `groundswell check ${snapshots} names all that is wrong; groundswell rollback ${snapshots} goes back; until then every answer is 503`
    return { findings: [advise('snapshot', found, advice)], bytes: 0, manifest: null }
  }
  if (manifest === null) {
    const advice =
      from === null
        ? '"groundswell run" builds one; "serve" answers 503 until one is published'
        : 'the server opens its port when the mirror has fetched one (--from)'
    return { findings: [advise('snapshot', `${snapshots} has none`, advice)], bytes: 0, manifest }
  }
  const { id, asOf, parts } = manifest
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0)
  const about = `${id}, ${counted(parts.length, 'part')}, ${sizeText(bytes)}, data as of ${timestampText(asOf)}`
  const age = now - asOf
  const finding =
    age > USUAL_AGE_S
      ? advise(
          'snapshot',
          `${about}: ${ageText(age)} old`,
          `groundswell report ${snapshots} shows which source gave nothing new`,
        )
      : ok('snapshot', about)
  const hold = readHold(snapshots)
  const held =
    hold === null
      ? []
      : [advise('hold', holdText(hold, snapshots), `groundswell resume ${snapshots} ends it`)]
  return { findings: [finding, ...held, ...staleFindings(snapshots)], bytes, manifest }
}

/** Sources that the newest build could not read. */
function staleFindings(dir: string): Finding[] {
  try {
    return newestReport(dir)
      .sources.filter(({ refused }) => refused !== null)
      .map(({ name, refused, last_read }) =>
        advise(
          'stale source',
          `${name}: ${refused}; last read ${last_read ?? 'never'}`,
          'repair the source; until then the data it gave last are served',
        ),
      )
  } catch {
    // A snapshot from elsewhere has no report here.
    return []
  }
}

/** @param others times by other clocks, epoch seconds, each with the name of its clock */
export function clockFinding(
  now: number,
  manifest: PublishedManifest | null,
  others: readonly { whose: string; time: number }[],
): Finding {
  const advice =
    'set it, and let chrony or systemd-timesyncd keep it: quotas count by clock hours, so a clock that is set by hours gives every key a fresh quota'
  const here = timestampText(Math.floor(now))
  if (now < WRITTEN)
    return advise('clock', `it is ${here} here, which is before this program was written`, advice)
  for (const { whose, time } of others) {
    const ahead = now - time
    if (Math.abs(ahead) > CLOCK_TOLERANCE_S) {
      const direction = ahead > 0 ? 'ahead of' : 'behind'
      return advise('clock', `it is ${here} here, ${ageText(Math.abs(ahead))} ${direction} ${whose}`, advice)
    }
  }
  if (manifest !== null && manifest.publishedAt > now + CLOCK_TOLERANCE_S) {
    const published = timestampText(manifest.publishedAt)
    return advise('clock', `it is ${here} here, and the snapshot was published at ${published}`, advice)
  }
  const agrees = others.length === 0 ? '' : `, as ${others[0].whose} says`
  return ok('clock', `${here}${agrees}`)
}
