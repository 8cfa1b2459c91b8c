/** Files of one long line: what is said of them stays short. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runCli, temporaryFolder } from '../live.ts'

const LENGTH = 10_000_000

test('A build over files of ten megabytes without a line end logs and reports less than 20 KB.', async (t) => {
  const folder = temporaryFolder(t)
  const files = join(folder, 'files')
  mkdirSync(files)
  writeFileSync(join(files, 'header.csv'), `date;${'x'.repeat(LENGTH)}`)
  writeFileSync(join(files, 'nothing.csv'), '\0'.repeat(LENGTH))
  const out = join(folder, 'out')
  const { stdout, stderr, code } = await runCli([
    'build',
    '--source',
    `table:${files}`,
    '--source',
    'demo',
    '--out',
    out,
  ])
  assert.equal(code, 0, stderr.slice(0, 2000))
  assert.match(stderr + stdout, /header\.csv/)
  assert.ok(stderr.length + stdout.length < 20_000, `${stderr.length + stdout.length} characters`)
  const reports = readdirSync(out).filter((name) => name.startsWith('report-'))
  assert.equal(reports.length, 1)
  const { size } = statSync(join(out, reports[0]))
  assert.ok(size < 20_000, `${size} bytes`)
})
