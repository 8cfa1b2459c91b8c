/** NetCDF files that point out of themselves: those of `data/fixtures/hostile/netcdf`, and made ones. */
import assert from 'node:assert/strict'
import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openCmems } from '../../src/sources/cmems.ts'
import { FIXTURES, folderOf, record } from './recorder.ts'

const HOSTILE = join(FIXTURES, 'hostile', 'netcdf')

const REFUSED: { readonly [name: string]: RegExp } = {
  external_storage: /external storage/,
  own_storage: /external storage/,
  external_link: /external link/,
  link_to_no_data: /external link/,
  link_in_group: /external link/,
  link_over_link: /external link/,
  virtual_dataset: /virtual dataset/,
  virtual_of_itself: /virtual dataset/,
  endless_groups: /more groups and variables/,
}

for (const [name, reason] of Object.entries(REFUSED)) {
  test(`A file with ${name.replaceAll('_', ' ')} is refused by the name of it, and the others are read`, async (t) => {
    const folder = await folderOf(t, {})
    for (const file of [`${name}.nc`, 'plain.nc']) cpSync(join(HOSTILE, file), join(folder, file))
    // It lies beside it, as files of any other name may; the other place it may be looked for is here.
    const { rows, examples } = await record(openCmems, folder)
    assert.deepEqual([...rows.keys()], ['plain/0'])
    assert.deepEqual(new Set(rows.get('plain/0')?.map((row) => row.significantHeight)), new Set([2.5]))
    assert.equal(rows.get('plain/0')?.length, 24)
    const [warning, ...more] = examples.filter((text) => text.includes(`${name}.nc`))
    assert.deepEqual(more, [])
    assert.match(warning, reason)
    // Nothing that the file names: it could steer who reads the report.
    assert.doesNotMatch(warning, /environ|hostname/)
  })
}

test('A file that could not be closed is not met again in the place of the next one.', async (t) => {
  const folder = await folderOf(t, {})
  cpSync(join(HOSTILE, 'external_storage.nc'), join(folder, '1.nc'))
  cpSync(join(HOSTILE, 'plain.nc'), join(folder, '2.nc'))
  assert.equal((await record(openCmems, folder)).rows.get('plain/0')?.length, 24)
  cpSync(join(HOSTILE, 'plain.nc'), join(folder, '1.nc'))
  writeFileSync(join(folder, '2.nc'), 'no file of this kind')
  assert.equal((await record(openCmems, folder)).rows.get('plain/0')?.length, 24)
})
