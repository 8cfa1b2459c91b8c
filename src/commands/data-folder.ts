/**
 * The data folder unless an option names another: the one that the configuration names, else `data` in a
 * clone or where it has data, else by XDG.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import stripJsonComments from 'strip-json-comments'
import { UsageError } from '../server/setting.ts'
import { noFolder } from '../snapshot/write-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { readRegularFileSync } from '../system/regular-files.ts'
import { environment, packageFolder } from './surroundings.ts'

/** The XDG specification asks for this mode. */
const OWNER_ONLY = 0o700

/** Names that show that a folder has data of an earlier start. */
const LANDMARKS = ['snapshots', 'keys.json']

/**
 * @param config the configuration of the command, empty for none. An unwritten configuration gets a folder of
 * its own beside it. @throws UsageError where there is none, as for a user without a home.
 */
export function usualDataFolder(config = ''): string {
  if (config !== '' && !existsSync(config)) return ownDataFolder(config)
  const own = config === '' ? null : dataIn(config)
  if (own !== null) return isAbsolute(own) ? own : join(dirname(config), own)
  const isUsed = LANDMARKS.some((name) => existsSync(join('data', name)))
  if (isUsed || packageFolder === process.cwd()) return 'data'
  const { XDG_DATA_HOME: named = '' } = environment
  // The specification: a path that is not absolute is to be ignored.
  const base = isAbsolute(named) ? named : join(home(), '.local', 'share')
  return join(base, 'groundswell')
}

/** `data` beside a configuration of the usual name, and `NAME-data` beside any other. */
function ownDataFolder(config: string): string {
  const name = basename(config).replace(/(?:\.config)?\.json$/i, '')
  return join(dirname(config), name === 'groundswell' ? 'data' : `${name}-data`)
}

/** Larger files are no configurations. */
const MAX_CONFIG_BYTES = 4 * 2 ** 20

/** The data folder that a configuration names; null for none, or for an unreadable configuration. */
function dataIn(config: string): string | null {
  try {
    const written = readRegularFileSync(config, MAX_CONFIG_BYTES).toString('utf8')
    const { data } = JSON.parse(stripJsonComments(written, { trailingCommas: true })) as { data?: unknown }
    return typeof data === 'string' && data !== '' ? data : null
  } catch {
    return null
  }
}

function home(): string {
  let found = ''
  try {
    found = homedir()
  } catch {
    // The user has no entry among the system's users.
  }
  if (isAbsolute(found)) return found
  throw new UsageError(
    'there is no folder for snapshots and keys: neither HOME nor XDG_DATA_HOME is set; give one with --data DIR',
  )
}

/** Makes the folder for its owner alone; null for none. @throws Error of the system, with the path */
export function makeDataFolder(folder: string | null): void {
  if (folder !== null) mkdirSync(folder, { recursive: true, mode: OWNER_ONLY })
}

/** @param more another command that makes the folder @throws BuildError if it is missing */
export function expectFolder(dir: string, more = ''): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found === undefined) throw new BuildError(`${noFolder(dir).message}${more}`)
  if (!found.isDirectory()) throw new BuildError(`${dir}: is not a folder`)
}
