/** The bounds of `npm run size`. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('No bound of the size is exceeded.', () => {
  const { status, stdout } = spawnSync(process.execPath, ['tools/size.mjs'], { encoding: 'utf8' })
  assert.match(stdout, /^\| tools, bench, deploy, clients \| \d+ /m)
  assert.equal(status, 0, stdout)
})
