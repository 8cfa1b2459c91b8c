/** What the doctor asks of the machine: Node, HTTP engine, C library, limits, memory. */
import { totalmem } from 'node:os'
import { loadEngine } from '../../http/engines/engine.ts'
import { connectionsWithin, openFilesLimit } from '../../http/connections.ts'
import type { ServeConfig } from '../../server/serve-settings.ts'
import { counted } from '../../system/text.ts'
import { advise, impossible, ok, reasonOf, sizeText, type Finding } from './finding.ts'

/** The last day of each release's security fixes, as Node's release schedule has it. */
const NODE_ENDS: { readonly [major: number]: string } = {
  20: '2026-04-30',
  22: '2027-04-30',
  24: '2028-04-30',
  26: '2029-04-30',
}

/** What the binaries of the HTTP engine need, by major version of Node. */
const GLIBC_NEEDED: { readonly [major: number]: string } = { 20: '2.27', 22: '2.27', 24: '2.38', 26: '2.38' }

const HAS_BINARIES = process.platform === 'linux' && process.arch === 'x64'

/** Bytes. With less, the demo and a build do not fit into memory together. */
const LEAST_MEMORY = 512 * 2 ** 20

export function nodeFinding(version: string, now: number): Finding {
  const major = Number(version.split('.', 1)[0])
  const ends = NODE_ENDS[major]
  if (ends === undefined) {
    return advise(
      'node',
      `Node ${version} is not a release with long support that this server was tested with`,
      'run Node 22 or 24',
    )
  }
  if (now > Date.parse(`${ends}T23:59:59Z`) / 1000) {
    return advise('node', `Node ${version} has had no security fixes since ${ends}`, 'run Node 22 or 24')
  }
  return ok('node', `Node ${version}, with security fixes until ${ends}`)
}

export function engineFinding({ engine, workers }: ServeConfig): Finding {
  try {
    const { kind, maxWorkers, warning } = loadEngine(engine)
    if (warning === null) return ok('engine', `${kind}, ${counted(Math.min(workers, maxWorkers), 'worker')}`)
    return advise('engine', warning, engineAdvice())
  } catch (error) {
    return impossible('engine', reasonOf(error), `${engineAdvice()}, or start with --engine auto`)
  }
}

function engineAdvice(): string {
  const { platform, arch } = process
  if (!HAS_BINARIES)
    return `there is no binary for ${platform} on ${arch}: serve on Linux on x64, or install an official release of uWebSockets.js`
  const [needed, found] = [neededGlibc(), glibcVersion()]
  if (found === null) return 'use a system with glibc; Alpine has another C library'
  if (needed !== null && compareVersions(found, needed) < 0)
    return `the engine of this Node needs glibc ${needed}: use Node 22, or a newer system`
  return 'install again without --omit=optional, or see docs/serving.md, "The HTTP engine"'
}

export function glibcFinding(): Finding {
  const [needed, found] = [neededGlibc(), glibcVersion()]
  if (!HAS_BINARIES) return ok('glibc', `not asked for on ${process.platform} on ${process.arch}`)
  if (found === null)
    return advise(
      'glibc',
      'this system has another C library',
      'the engine uws needs glibc, as Debian and Ubuntu have',
    )
  if (needed !== null && compareVersions(found, needed) < 0) {
    return advise(
      'glibc',
      `glibc ${found}; the engine of Node ${process.versions.node.split('.', 1)[0]} needs ${needed}`,
      'use Debian 13, Ubuntu 24.04 or newer, or Node 22',
    )
  }
  return ok('glibc', `glibc ${found}${needed === null ? '' : `, ${needed} or newer is needed`}`)
}

const neededGlibc = (): string | null => GLIBC_NEEDED[Number(process.versions.node.split('.', 1)[0])] ?? null

/** Null with another C library. */
function glibcVersion(): string | null {
  const { header } = process.report.getReport() as unknown as {
    header: { glibcVersionRuntime?: string }
  }
  return header.glibcVersionRuntime ?? null
}

/** Below 0 where version `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number))
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

export function filesFinding({
  workers,
  'max-connections': connections,
  'max-listeners': listeners,
}: ServeConfig): Finding {
  const limit = openFilesLimit()
  if (limit === null) return ok('files', 'this system does not tell how many files a process may open')
  let isEnough = true
  const warn = (): void => void (isEnough = false)
  const { maxConnections, maxListeners } = connectionsWithin({ connections, listeners }, workers, limit, warn)
  if (isEnough) return ok('files', `${limit} may be open, enough for ${maxConnections} connections`)
  return advise(
    'files',
    `${limit} may be open, enough for ${maxConnections} of ${connections} connections (--max-connections) and ${maxListeners} of ${listeners} streams of events (--max-listeners)`,
    'raise the limit: ulimit -n 65536, LimitNOFILE=65536 of systemd, or --ulimit nofile=65536 of a container',
  )
}

/** @param snapshotBytes of the published snapshot, 0 without one */
export function memoryFinding(
  { workers, 'answer-cache': cache, 'max-memory': maxMemory }: ServeConfig,
  snapshotBytes: number,
): Finding {
  const constrained = process.constrainedMemory() ?? 0
  const total = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
  const found = `${sizeText(total)}${total < totalmem() ? ' (limit of this container or service)' : ''}`
  // Snapshots are loaded next to the served one. A worker's code, tables and heap take some 100 MiB.
  const wanted = 2 * snapshotBytes + workers * (cache + 100 * 2 ** 20)
  if (maxMemory > 0 && maxMemory < 2 * snapshotBytes) {
    return advise(
      'memory',
      `--max-memory ${sizeText(maxMemory)} is less than two snapshots of ${sizeText(snapshotBytes)}`,
      'raise it: the next snapshot is loaded while the current one is still served',
    )
  }
  if (total < Math.max(wanted, LEAST_MEMORY)) {
    return advise(
      'memory',
      `${found}; ${sizeText(Math.max(wanted, LEAST_MEMORY))} may be needed`,
      'add memory, or use fewer --workers or a smaller --answer-cache',
    )
  }
  return ok('memory', found)
}
