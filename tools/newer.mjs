import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Whether a built folder is newer than the files and folders of the repository that it is made from. */
export function isNewerThan(folder, names) {
  const since = statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0
  const isOlder = (path) => {
    const stat = statSync(path)
    if (stat.mtimeMs >= since) return false
    // A folder changes when a file in it comes or goes.
    return !stat.isDirectory() || readdirSync(path).every((name) => isOlder(join(path, name)))
  }
  return names.every((name) => isOlder(join(root, name)))
}
