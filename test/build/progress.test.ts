/** What long work says of itself while it goes on. */
import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { bytesBelow, Work } from '../../src/build/progress.ts'
import { BuildReport } from '../../src/build/report.ts'
import { temporaryFolder } from '../live.ts'

test('Share and time left follow from what is done; right after the beginning nothing is said about the time.', () => {
  const work = new Work(200, 1000)
  assert.equal(work.left(1000), '')
  work.add(50)
  assert.equal(work.count, '50 of 200')
  assert.equal(work.left(2000), '25 %')
  assert.equal(work.left(11_000), '25 %, about 30 s left')
  assert.equal(work.left(1000 + 600_000), '25 %, about 30 min left')
  assert.equal(work.left(1000 + 36_000_000), '25 %, about 30 h left')
  // More than was expected: files grow while they are read.
  work.add(400)
  assert.equal(work.count, '450 of 450')
  assert.equal(work.left(101_000), '99 %, about 2 s left')
  assert.equal(new Work(0, 0).left(10_000), '')
})

test('A build shows files, rows, share and time left while it reads, and months while it writes.', (t) => {
  const folder = temporaryFolder(t)
  mkdirSync(join(folder, 'below'))
  const paths = ['a.txt', 'below/b.txt'].map((name) => join(folder, name))
  for (const path of paths) writeFileSync(path, 'x'.repeat(1000))
  writeFileSync(join(folder, '.part-c.txt'), 'x'.repeat(5000))
  symlinkSync(paths[0], join(folder, 'link.txt'))
  symlinkSync(folder, join(folder, 'round'))
  assert.equal(bytesBelow(folder), 3000)
  assert.equal(bytesBelow(join(folder, 'absent')), 0)

  let now = 0
  const lines: string[] = []
  const report = new BuildReport({
    maxBadShare: 1,
    write: (text) => void lines.push(text.trim()),
    terminal: false,
    clock: () => (now += 5000),
  })
  report.begin('A', folder)
  for (const path of paths) {
    const file = report.file(path)
    file.rows(10)
    file.end()
  }
  report.begin(null)
  report.expectMonths(2)
  report.month('2026-03')
  assert.deepEqual(lines, [
    'read 1 file, 10 rows, 33 %, about 11 s left',
    'read 2 files, 20 rows, 66 %, about 8 s left',
    'wrote 2026-03, 1 of 2 months, 50 %, about 5 s left',
  ])
})
