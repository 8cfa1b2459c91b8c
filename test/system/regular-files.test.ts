import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { openRegularFileSync, readRegularFileSync, UnfitFile } from '../../src/system/regular-files.ts'
import { folderOf } from '../sources/recorder.ts'

const isUnfit =
  (code: UnfitFile['code']) =>
  (error: unknown): boolean =>
    error instanceof UnfitFile && error.code === code

test('A pipe, a device, a folder and links to them are not read, and nothing waits for them.', async (t) => {
  const folder = await folderOf(t, { 'file.txt': 'text' })
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  symlinkSync(pipe, join(folder, 'link'))
  for (const path of [pipe, join(folder, 'link'), '/dev/zero', '/dev/tty', folder]) {
    assert.throws(() => openRegularFileSync(path), isUnfit('NOT_REGULAR'), path)
    assert.throws(() => readRegularFileSync(path, 100), isUnfit('NOT_REGULAR'), path)
  }
  symlinkSync(join(folder, 'file.txt'), join(folder, 'good'))
  assert.equal(readRegularFileSync(join(folder, 'good'), 4).toString(), 'text')
  closeSync(openRegularFileSync(join(folder, 'good')))
  assert.throws(() => readRegularFileSync(join(folder, 'none'), 4), { code: 'ENOENT' })
})

test('A file of any length is read as it is within its bound, and refused beyond.', async (t) => {
  const folder = await folderOf(t, {})
  const path = join(folder, 'file')
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 9000, size: 'max' }), fc.nat(9000), (bytes, max) => {
      writeFileSync(path, bytes)
      if (bytes.length > max) assert.throws(() => readRegularFileSync(path, max), isUnfit('TOO_LARGE'))
      else assert.deepEqual(new Uint8Array(readRegularFileSync(path, max)), bytes)
    }),
    { numRuns: 60 },
  )
})

test('A file that says it is empty and is not, as those of the system do, is read to its end or bound.', () => {
  assert.match(readRegularFileSync('/proc/self/status', 100_000).toString(), /\nVmRSS:/)
  assert.throws(() => readRegularFileSync('/proc/self/status', 50), isUnfit('TOO_LARGE'))
})
