/** The names of sources on the wire: one label that the operator chooses, and all the names that find it. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fieldOf } from '../fields.ts'
import { Client, runCliWell, startLive, temporaryFolder } from '../live.ts'
import { smallWorld, writeCsv } from '../oracle/world.ts'

interface Item {
  id: number
  source: string
}

test('A label changes what clients read, its buoys keep their ids, and every usual name of a source finds them.', async (t) => {
  const folder = temporaryFolder(t)
  const out = join(folder, 'snapshots')
  writeCsv(smallWorld(), join(folder, 'data'))
  const build = (more: object): Promise<unknown> => {
    const source = { name: 'ours', kind: 'csv', folder: 'data', ...more }
    writeFileSync(join(folder, 'groundswell.config.json'), JSON.stringify({ sources: [source] }))
    return runCliWell(['build', '--config', join(folder, 'groundswell.config.json'), '--out', out])
  }
  const listed = async (client: Client, source: string): Promise<Item[]> => {
    const { text } = await client.get(`/buoys?active_only=False&source=${encodeURIComponent(source)}`)
    return (JSON.parse(text) as { data: { buoys: Item[] } }).data.buoys
  }

  await build({})
  const before = new Client(await startLive(t, { snapshots: out }))
  const ids = (await listed(before, 'NDBC')).map(({ id }) => id)
  assert.ok(ids.length > 0)
  assert.ok((await listed(before, 'NOAA/NDBC')).every(({ source }) => source === 'NDBC'))

  const rights = { credit: 'Ask “us” first', licence: 'CC BY 4.0' }
  await build({ label: 'Our buoys', aliases: ['Home'], ...rights })
  const after = new Client(await startLive(t, { snapshots: out }))
  for (const name of ['NDBC', 'ndbc', 'NOAA/NDBC', 'noaa ndbc', 'our-buoys', 'OUR BUOYS', 'home']) {
    const found = await listed(after, name)
    assert.deepEqual(fieldOf(found, 'id'), ids, name)
    assert.ok(
      found.every(({ source }) => source === 'Our buoys'),
      name,
    )
  }
  assert.equal((await after.get('/buoys?source=Theirs')).status, 400)
  const { text } = await after.get(`/buoys/${ids[0]}?include=credit`)
  const { data } = JSON.parse(text) as { data: { buoy: { credit: string; licence: string } } }
  assert.deepEqual({ credit: data.buoy.credit, licence: data.buoy.licence }, rights)
})
