import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

test('A thread that yields to serving ones keeps a lower priority that its process was started with.', () => {
  const module = new URL('../../dist/system/thread.js', import.meta.url)
  const code = `import('${module.href}').then((it) => (it.yieldToServing(), console.log(os.getPriority())))`
  const niceness = execFileSync('nice', ['-n', '19', process.execPath, '-e', code], { encoding: 'utf8' })
  assert.equal(niceness, '19\n')
})
