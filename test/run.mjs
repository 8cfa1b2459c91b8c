// Runs the tests: `node test/run.mjs [--tier=fast|slow|long] [PART…]`, those of a tier, or those whose path
// contains one of the parts, or all. `pool.mjs` runs them.
import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The slow tier: tests that start servers and builders by the dozen and kill them, drive other programs (a
 * browser, containers, proxies), or send attacks. Everything else is the fast tier, which takes at most four
 * minutes on two cores.
 */
const SLOW = [
  'test/access/addresses',
  'test/access/keys-changes',
  'test/access/keys-many',
  'test/access/keys-memory',
  'test/access/quota-hour',
  'test/access/redis-',
  'test/api/compression',
  'test/api/expensive',
  'test/api/parquet',
  'test/api/snapshots',
  'test/api/wire',
  'test/bench/',
  'test/build/hold',
  'test/build/publishing/',
  'test/build/replay',
  'test/build/silent',
  'test/commands/broken-configuration',
  'test/commands/launch',
  'test/deploy/',
  'test/explorer/anonymous-access',
  'test/explorer/explorer',
  'test/explorer/live',
  'test/faults/',
  'test/fetch/command',
  'test/fetch/hour',
  'test/fetch/misbehaving',
  'test/fetch/fetch',
  'test/formats/stream',
  'test/formats/tools',
  'test/histories/',
  'test/http/few-files',
  'test/http/later',
  'test/http/limits',
  'test/http/stream',
  'test/http/timeouts',
  'test/logs/live',
  'test/metrics/live',
  'test/mirror/mirror',
  'test/mirror/serve',
  'test/openapi/docs',
  'test/openapi/fuzz',
  'test/package/',
  'test/process/drain',
  'test/real/',
  'test/redis/connection',
  'test/snapshot/lies',
  'test/process/load',
  'test/sources/reader-process',
  'test/sources/hostile',
  'test/sources/siege',
  'test/store/moto',
  'test/system/lock',
]
/**
 * The long tier: minutes of waiting for faults of Redis, and damage by the hundred. Before a release, and
 * after changes of what they test; the others must be done within 20 minutes.
 */
const LONG = [
  'test/access/redis-live',
  'test/bench/attacks-node',
  'test/bench/http',
  'test/build/publishing/chaos',
  'test/bulk/faults',
  'test/explorer/truth',
  'test/faults/builder',
  'test/faults/damage',
  'test/faults/quotas',
]
const isLong = (file) => LONG.some((start) => file.startsWith(start))
const TIERS = {
  fast: (file) => !isSlow(file) && !isLong(file),
  slow: (file) => isSlow(file) && !isLong(file),
  long: isLong,
}

function isSlow(file) {
  return SLOW.some((start) => file.startsWith(start))
}

/** The longest files, which begin first: what is left at the end is short, and no core waits for one file. */
const FIRST = [
  'test/package/package.test.ts',
  'test/explorer/explorer.test.ts',
  'test/bench/attacks.test.ts',
  'test/faults/ends.test.ts',
  'test/faults/swaps.test.ts',
  'test/explorer/live.test.ts',
  'test/explorer/anonymous-access.test.ts',
  'test/faults/workers.test.ts',
  'test/openapi/docs.test.ts',
  'test/real/real-data.test.ts',
  'test/api/wire.test.ts',
  'test/api/expensive.test.ts',
  'test/fetch/hour.test.ts',
  'test/sources/demo.test.ts',
  'test/commands/cli.test.ts',
  'test/commands/as-of.test.ts',
  'test/api/operations.test.ts',
  'test/api/readings.test.ts',
  'test/commands/doctor.test.ts',
  'test/api/satellites.test.ts',
  'test/commands/data-folder.test.ts',
]
/**
 * Files at a time on two cores. Those of the slow tier wait as long as they compute: for a browser, for the
 * end of a server, for the next second of a quota.
 */
const CONCURRENCY = { fast: 4, slow: 6, long: 3 }

const args = process.argv.slice(2)
const tier = args.find((arg) => arg.startsWith('--'))?.replace(/^--tier=/, '')
if (tier !== undefined && !(tier in TIERS)) {
  process.stderr.write(`${tier} is no tier; there are ${Object.keys(TIERS).join(', ')}\n`)
  process.exit(2)
}
const parts = args.filter((arg) => !arg.startsWith('--'))
const all = readdirSync('test', { recursive: true })
  .map((file) => join('test', file).replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.test.ts'))
const stale = [...SLOW, ...LONG, ...FIRST].filter((start) => !all.some((file) => file.startsWith(start)))
if (tier === 'slow' && stale.length > 0) {
  process.stderr.write(
    `no test file begins with ${stale.join(', ')}: mend SLOW, LONG and FIRST in test/run.mjs\n`,
  )
  process.exit(1)
}
const files = all
  .filter((file) => tier === undefined || TIERS[tier](file))
  .filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)))
  .toSorted()
if (files.length === 0) {
  process.stderr.write('no test file matches\n')
  process.exit(1)
}
const begun = [
  ...FIRST.filter((file) => files.includes(file)),
  ...files.filter((file) => !FIRST.includes(file)),
]
const { status } = spawnSync(
  process.execPath,
  ['--import=tsx', '--import=./test/setup.mjs', 'test/pool.mjs', String(CONCURRENCY[tier] ?? 3), ...begun],
  { stdio: 'inherit' },
)
process.exit(status ?? 1)
