/** Tests are left out by name, and none in the CI. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { missingPython, missingTool } from './programs.ts'

test('A program that is there skips nothing; a missing one skips a test with the line that installs it, or fails.', (t) => {
  const before = process.env['GROUNDSWELL_ALL_TOOLS']
  t.after(() => (process.env['GROUNDSWELL_ALL_TOOLS'] = before ?? ''))
  process.env['GROUNDSWELL_ALL_TOOLS'] = ''
  assert.equal(missingTool('sh', 'dash'), false)
  const why = 'no_such_thing is not installed: sudo apt-get install -y its-package'
  assert.equal(missingTool('no_such_thing', 'its-package'), why)
  assert.equal(missingPython('no_such_thing', 'its-package'), why)
  process.env['GROUNDSWELL_ALL_TOOLS'] = '1'
  assert.throws(() => missingTool('no_such_thing', 'its-package'), /apt-get install -y its-package/)
})

test('The CI has the programs of the fast and the slow tests.', () => {
  const ci = readFileSync('.ci/run', 'utf8')
  assert.match(ci, /^export GROUNDSWELL_ALL_TOOLS=1$/m)
  const list = /packages=\(([^)]*)\)/.exec(ci)?.[1].split(/\s+/) ?? []
  for (const name of ['chromium-headless-shell', 'haproxy', 'redis-server', 'prometheus', 'systemd']) {
    assert.ok(list.includes(name), name)
  }
})
