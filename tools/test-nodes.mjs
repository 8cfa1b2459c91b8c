// Runs the tests on each release line of Node that the project supports, each in a fresh clone of the last
// commit:
//
//   npm run test:nodes [LINE…] [-- all]     LINE is 20, 22 or 24; `all` runs all tiers, else the fast one
//
// The binaries are those of the npm packages `node-PLATFORM-ARCH`. Where the native HTTP engine does not load
// (on 24 it wants a newer glibc than Debian 12 has), its tests are skipped by name and those of the node
// engine run.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The last release of each line when this list was last looked at. */
const RELEASES = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0' }
const ROOT = fileURLToPath(new URL('..', import.meta.url))

const args = process.argv.slice(2)
const lines = Object.keys(RELEASES).filter((line) => args.includes(line))
const unknown = args.filter((arg) => arg !== 'all' && !(arg in RELEASES))
if (unknown.length > 0) {
  process.stderr.write(
    `${unknown[0]} is neither a line of Node (${Object.keys(RELEASES).join(', ')}) nor "all"\n`,
  )
  process.exit(2)
}

/** @returns {boolean} whether the tests passed */
function testOn(release) {
  const place = mkdtempSync(join(tmpdir(), `groundswell-node-${release}-`))
  try {
    // Some tests start the program as another user, who has to reach it.
    chmodSync(place, 0o755)
    const clone = join(place, 'groundswell')
    execFileSync('git', ['clone', '--quiet', ROOT, clone])
    const node = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    execFileSync('npm', ['install', '--prefix', place, ...quiet, `${node}@${release}`], { stdio: 'inherit' })
    const env = {
      ...process.env,
      PATH: `${join(place, 'node_modules', node, 'bin')}${delimiter}${process.env.PATH}`,
    }
    const run = (command, commandArgs) =>
      spawnSync(command, commandArgs, { cwd: clone, env, stdio: 'inherit' }).status === 0
    if (!run('npm', ['ci', ...quiet])) return false
    return run('npm', ['run', '--silent', args.includes('all') ? 'test:all' : 'test'])
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

const results = (lines.length > 0 ? lines : Object.keys(RELEASES)).map((line) => {
  const began = performance.now()
  process.stdout.write(`\n# Node ${RELEASES[line]}\n`)
  const passed = testOn(RELEASES[line])
  return {
    passed,
    text: `Node ${RELEASES[line]}: ${passed ? 'passed' : 'FAILED'} in ${Math.round((performance.now() - began) / 1000)} s`,
  }
})
for (const { text } of results) process.stdout.write(`${text}\n`)
process.exit(results.every(({ passed }) => passed) ? 0 : 1)
