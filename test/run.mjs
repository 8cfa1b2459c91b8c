// Runs the tests, all or those whose path contains one of the arguments: Node 20's runner takes no patterns.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

const wanted = process.argv.slice(2)
const files = readdirSync('test', { recursive: true })
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => join('test', file))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .sort()
if (files.length === 0) {
  process.stderr.write('no test file matches\n')
  process.exit(1)
}
const options = ['--import', 'tsx', '--import', './test/seed.mjs', '--test', '--test-concurrency=2']
const { status } = spawnSync(process.execPath, [...options, ...files], { stdio: 'inherit' })
process.exit(status ?? 1)
