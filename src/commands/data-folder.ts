/**
 * The data folder: where snapshots and keys lie unless an option says otherwise. In a clone it is `data`, as
 * is a folder `data` that has them already; an installed program follows the XDG Base Directory
 * Specification.
 */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { UsageError } from '../server/setting.ts'
import { noFolder } from '../snapshot/write-snapshot.ts'
import { BuildError } from '../system/build-error.ts'
import { environment, packageFolder } from './surroundings.ts'

/** The XDG specification asks for this mode. */
const OWNER_ONLY = 0o700

/** Names that show that a folder has data of an earlier start. */
const LANDMARKS = ['snapshots', 'keys.json']

/** @throws UsageError where there is none, as for a user without a home. */
export function usualDataFolder(): string {
  const isUsed = LANDMARKS.some((name) => existsSync(join('data', name)))
  if (isUsed || packageFolder === process.cwd()) return 'data'
  const { XDG_DATA_HOME: named = '' } = environment
  // The specification: a path that is not absolute is to be ignored.
  const base = isAbsolute(named) ? named : join(home(), '.local', 'share')
  return join(base, 'groundswell')
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

/**
 * Makes the folder where it is missing, for its owner alone. Null where no setting needs it.
 * @throws Error of the system, with the path
 */
export function makeDataFolder(folder: string | null): void {
  if (folder !== null) mkdirSync(folder, { recursive: true, mode: OWNER_ONLY })
}

/** @param more what else makes one. @throws BuildError where the folder is missing */
export function expectFolder(dir: string, more = ''): void {
  const found = statSync(dir, { throwIfNoEntry: false })
  if (found === undefined) throw new BuildError(`${noFolder(dir).message}${more}`)
  if (!found.isDirectory()) throw new BuildError(`${dir}: is not a folder`)
}
