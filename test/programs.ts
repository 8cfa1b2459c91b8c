/** Programs of other people that tests drive: balancers, Redis, promtool. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { findBrowser } from '../tools/browser.ts'

/** Where Debian puts servers; an ordinary user's PATH leaves these folders out. */
const SERVER_FOLDERS = ['/usr/sbin', '/usr/local/sbin']

/** The path of a program, or null where it is not installed. */
export function findTool(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), ...SERVER_FOLDERS]
  const paths = folders.filter((folder) => folder !== '').map((folder) => join(folder, name))
  return paths.find(isProgram) ?? null
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * A reason to skip a test that needs the program `name`, with the line that installs it; false where it is
 * there.
 * @throws Error with that line where GROUNDSWELL_ALL_TOOLS is 1, as it is in the CI: there no test is skipped
 */
export function missingTool(name: string, debianPackage: string): string | false {
  return findTool(name) === null ? missing(name, debianPackage) : false
}

/** As `missingTool`, for the browser that shows the pages. */
export const missingBrowser = (): string | false =>
  findBrowser() === undefined ? missing('chromium', 'chromium-headless-shell') : false

/** As `missingTool`, for a module of the system's own Python. */
export function missingPython(module: string, debianPackage: string): string | false {
  const find = `import importlib.util, sys; sys.exit(importlib.util.find_spec(${JSON.stringify(module)}) is None)`
  return spawnSync('/usr/bin/python3', ['-c', find]).status === 0 ? false : missing(module, debianPackage)
}

function missing(name: string, debianPackage: string): string {
  const why = `${name} is not installed: sudo apt-get install -y ${debianPackage}`
  if (process.env['GROUNDSWELL_ALL_TOOLS'] === '1') throw new Error(why)
  return why
}
