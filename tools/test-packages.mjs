// Installs what only tests and checks need into `test/node_modules`, unless it is there: nobody who starts
// the program waits for these hundred megabytes. Importing this file is enough.
import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const modifiedAt = (path) =>
  statSync(new URL(`../test/${path}`, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0

if (modifiedAt('node_modules/.package-lock.json') < modifiedAt('package-lock.json')) {
  process.stderr.write('installing what tests need into test/node_modules\n')
  const folder = fileURLToPath(new URL('../test', import.meta.url))
  const options = ['--no-audit', '--no-fund', '--loglevel=error']
  const { status } = spawnSync('npm', ['ci', '--prefix', folder, ...options], { stdio: ['ignore', 2, 2] })
  if (status !== 0) {
    process.stderr.write('"npm ci --prefix test" failed: without these packages there are no tests\n')
    process.exit(1)
  }
}
