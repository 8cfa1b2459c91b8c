import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { findTool, missingPython, missingTool } from './programs.ts'

function withAllTools<T>(value: string | undefined, act: () => T): T {
  const before = process.env['GROUNDSWELL_ALL_TOOLS']
  const set = (text: string | undefined): void => {
    if (text === undefined) delete process.env['GROUNDSWELL_ALL_TOOLS']
    else process.env['GROUNDSWELL_ALL_TOOLS'] = text
  }
  set(value)
  try {
    return act()
  } finally {
    set(before)
  }
}

test('A program that is there is found, and skips nothing.', () => {
  assert.match(findTool('sh') ?? '', /\/sh$/)
  assert.equal(missingTool('sh', 'dash'), false)
})

test('A missing program skips a test by name, with the line that installs it.', () => {
  const why = withAllTools(undefined, () => missingTool('no-such-program', 'its-package'))
  assert.equal(why, 'no-such-program is not installed: sudo apt-get install -y its-package')
})

test('A module of Python that is missing skips a test in the same way.', () => {
  const why = withAllTools(undefined, () => missingPython('no_such_module', 'its-package'))
  assert.equal(why, 'no_such_module is not installed: sudo apt-get install -y its-package')
})

test('Where all programs have to be there, a missing one is an error.', () => {
  withAllTools('1', () =>
    assert.throws(() => missingTool('no-such-program', 'its-package'), /apt-get install -y its-package/),
  )
})

test('The CI has the programs of the fast and the slow tests.', () => {
  const ci = readFileSync('.ci/run', 'utf8')
  assert.match(ci, /^export GROUNDSWELL_ALL_TOOLS=1$/m)
  const list = /packages=\(([^)]*)\)/.exec(ci)?.[1].split(/\s+/) ?? []
  for (const name of ['chromium-headless-shell', 'haproxy', 'redis-server', 'prometheus', 'systemd']) {
    assert.ok(list.includes(name), name)
  }
})
