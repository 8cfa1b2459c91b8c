import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BuildError } from '../../src/system/build-error.ts'
import { Log, type Format } from '../../src/system/log.ts'
import { cutText } from '../../src/system/log.ts'

test('A cut text has its beginning, its end and how much is left out; a short one is as it was.', () => {
  assert.equal(cutText('as it was\nin two lines', 30), 'as it was\nin two lines')
  const text = `${'a'.repeat(1000)}${'b'.repeat(1000)}`
  assert.equal(cutText(text, 30), `${'a'.repeat(20)}… (1970 characters more) …${'b'.repeat(10)}`)
})

test('Control characters in a row count as one, and do not grow when a line shows them.', () => {
  assert.equal(cutText('a\0\0\0\0b\u0007\u0008c\n\nd', 100), 'a\0b\u0007c\n\nd')
  assert.equal(
    new BuildError(`x: ${'\0'.repeat(10_000_000)} y`).message.replaceAll(/\d+/g, 'N'),
    'x: \0… (N characters more) …\0 y',
  )
})

test('Whatever is logged, a line is short and says how it goes on.', () => {
  for (const format of ['text', 'json'] satisfies Format[]) {
    const lines: string[] = []
    const log = new Log({ format, level: 'info', clock: () => 0, write: (text) => lines.push(text) })
    log.line(`one of ${'x'.repeat(10_000_000)}: name it in "time"`, 'warning')
    assert.equal(lines.length, 1)
    assert.ok(lines[0].length < 4200 && lines[0].includes('one of xxx'), `${lines[0].length}`)
    assert.match(lines[0], /name it in \\?"time\\?"/)
  }
})
