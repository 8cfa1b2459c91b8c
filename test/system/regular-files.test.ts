import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, closeSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import {
  openRegularFile,
  openRegularFileSync,
  readRegularFile,
  readRegularFileSync,
  UnfitFile,
} from '../../src/system/regular-files.ts'
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
    await assert.rejects(openRegularFile(path), isUnfit('NOT_REGULAR'), path)
    await assert.rejects(readRegularFile(path, 100), isUnfit('NOT_REGULAR'), path)
    assert.throws(() => openRegularFileSync(path), isUnfit('NOT_REGULAR'), path)
    assert.throws(() => readRegularFileSync(path, 100), isUnfit('NOT_REGULAR'), path)
  }
})

test('A regular file is read whole, also behind a link, and a missing one is reported by its code.', async (t) => {
  const folder = await folderOf(t, { 'file.txt': 'text' })
  symlinkSync(join(folder, 'file.txt'), join(folder, 'link'))
  assert.equal((await readRegularFile(join(folder, 'link'), 4)).toString(), 'text')
  const file = await openRegularFile(join(folder, 'file.txt'))
  assert.equal((await file.readFile()).toString(), 'text')
  await file.close()
  closeSync(openRegularFileSync(join(folder, 'file.txt')))
  await assert.rejects(readRegularFile(join(folder, 'none'), 4), { code: 'ENOENT' })
  assert.throws(() => readRegularFileSync(join(folder, 'none'), 4), { code: 'ENOENT' })
})

test('A file of any length is read as it is within its bound, and refused beyond.', async (t) => {
  const folder = await folderOf(t, {})
  const path = join(folder, 'file')
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 9000, size: 'max' }), fc.nat(9000), async (bytes, max) => {
      writeFileSync(path, bytes)
      if (bytes.length > max) {
        await assert.rejects(readRegularFile(path, max), isUnfit('TOO_LARGE'))
        assert.throws(() => readRegularFileSync(path, max), isUnfit('TOO_LARGE'))
      } else {
        assert.deepEqual(new Uint8Array(await readRegularFile(path, max)), bytes)
        assert.deepEqual(new Uint8Array(readRegularFileSync(path, max)), bytes)
      }
    }),
    { numRuns: 60 },
  )
})

test('A file that says it is empty and is not, as those of the system do, is read to its end or bound.', async () => {
  assert.match((await readRegularFile('/proc/self/status', 100_000)).toString(), /\nVmRSS:/)
  assert.match(readRegularFileSync('/proc/self/status', 100_000).toString(), /\nVmRSS:/)
  await assert.rejects(readRegularFile('/proc/self/status', 50), isUnfit('TOO_LARGE'))
  assert.throws(() => readRegularFileSync('/proc/self/status', 50), isUnfit('TOO_LARGE'))
})

test('A file that grows while it is read is refused once it is longer than its bound.', async (t) => {
  const folder = await folderOf(t, { log: 'x'.repeat(1000) })
  const path = join(folder, 'log')
  const reading = readRegularFile(path, 1500)
  appendFileSync(path, 'x'.repeat(5000))
  await assert.rejects(reading, isUnfit('TOO_LARGE'))
})
