/** Builds that export their snapshots, and `GET /files`, which lists the files. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { rollback } from '../../../src/snapshot/retained.ts'
import { loadSnapshot } from '../../../src/snapshot/read-snapshot.ts'
import { lineText } from '../../../src/system/log.ts'
import { build, fakeSource, SMALL_WORLD } from '../fake_source.ts'
import { Client, startLive, temporaryFolder } from '../../live.ts'
import { mirrorOf, serveFolder } from '../../snapshot/mirror/world.ts'
import { assertWhole, filesIn, grown, MUCH_LATER } from './exporting.ts'
import { fieldsOf } from '../../fields.ts'

interface Listed {
  address: string | null
  snapshot: string | null
  sources: { source: string; credit: string | null }[]
  files: { path: string; source: string | null; rows: number; bytes: number }[]
  count: number
}

/** What a server of the folder shows. */
async function shown(dir: string): Promise<Listed> {
  const { files } = await loadSnapshot(dir)
  return JSON.parse(Buffer.from(files).toString()) as Listed
}

test('A build puts the list of its files beside its snapshot, and files of kept snapshots stay.', async (t) => {
  const folder = temporaryFolder(t)
  const [dir, out] = [join(folder, 'snapshots'), join(folder, 'bulk')]
  const exporting = { exportTo: out, keep: 2, now: MUCH_LATER }
  const first = await build([fakeSource(SMALL_WORLD)], dir, exporting)
  const listed = await shown(dir)
  assert.deepEqual([listed.snapshot, listed.address], [first.id, null])
  assert.deepEqual(
    listed.files.map(({ path }) => path).toSorted(),
    filesIn(out).filter((file) => file !== 'files.json'),
  )
  for (const { path, bytes } of listed.files) assert.equal(statSync(join(out, path)).size, bytes)
  assert.deepEqual(listed.sources.find(({ source }) => source === 'North')?.credit, 'made up')
  const southOf = (): string[] => filesIn(out).filter((file) => file.startsWith('readings/south/'))
  // Both snapshots are kept, so both versions of the month are.
  const second = await build([fakeSource(grown(1))], dir, exporting)
  assert.equal(southOf().length, 2)
  // A rollback finds its files, and while it holds the target has those of what is published.
  await rollback(dir, first.id, MUCH_LATER)
  assert.equal((await shown(dir)).snapshot, first.id)
  await build([fakeSource(grown(2))], dir, exporting)
  assert.equal(assertWhole(out)!.snapshot, first.id)
  assert.equal((await shown(dir)).snapshot, first.id)
  assert.ok(existsSync(join(dir, `files-${second.id}.json`)))
})

test('An export that fails keeps no snapshot from being published, and the files before stay listed.', async (t) => {
  const folder = temporaryFolder(t)
  const [dir, out] = [join(folder, 'snapshots'), join(folder, 'bulk')]
  const first = await build([fakeSource(SMALL_WORLD)], dir, { exportTo: out })
  writeFileSync(join(folder, 'file'), '')
  const lines: string[] = []
  const second = await build([fakeSource(grown(1))], dir, {
    exportTo: join(folder, 'file', 'below'),
    write: (...event) => lines.push(lineText(...event)),
  })
  assert.match(lines.join(''), /was not exported: .*below.*; the next build tries again/)
  const loaded = await loadSnapshot(dir)
  assert.equal(loaded.id, second.id)
  assert.equal((await shown(dir)).snapshot, first.id)
  assert.equal(assertWhole(out)!.snapshot, first.id)
  // Without an export there is an empty list; a list that lies is none, and the snapshot is served.
  await build([fakeSource(grown(2))], dir)
  assert.deepEqual(await shown(dir), {
    address: null,
    snapshot: null,
    as_of: null,
    sources: [],
    files: [],
    count: 0,
  })
  const { id } = await loadSnapshot(dir)
  writeFileSync(join(dir, `files-${id}.json`), '{"format":"groundswell-files"}')
  assert.match((await loadSnapshot(dir)).filesFault ?? '', /files-\w+\.json: is not a list of exported files/)
})

test('A mirror brings the list with the snapshot, and takes the snapshot without it where it lies.', async (t) => {
  const folder = temporaryFolder(t)
  const [dir, out] = [join(folder, 'snapshots'), join(folder, 'bulk')]
  const first = await build([fakeSource(SMALL_WORLD)], dir, { exportTo: out })
  const web = await serveFolder(t, dir)
  const { mirror, held, lines } = mirrorOf(t, web.url, join(folder, 'copy'))
  await mirror.look()
  assert.equal(await held(), first.id)
  assert.deepEqual(await shown(join(folder, 'copy')), await shown(dir))
  const second = await build([fakeSource(grown(1))], dir, { exportTo: out })
  web.faultOf = (name) =>
    name.startsWith('files-') ? (response) => void response.writeHead(200).end('[1]') : null
  await mirror.look()
  assert.equal(await held(), second.id)
  assert.equal((await shown(join(folder, 'copy'))).count, 0)
  assert.match(lines.join('\n'), /is not a list of exported files.*; snapshot \w+ comes without its list/)
})

test('GET /files lists what lies in the folder of the export, and needs a key.', async (t) => {
  const out = join(temporaryFolder(t), 'bulk')
  const live = await startLive(t, { sourceArgs: ['--source', 'csv:data/fixtures/small', '--export', out] })
  const client = new Client(live)
  const { status, text, headers } = await client.get('/files')
  assert.equal(status, 200)
  const { data } = JSON.parse(text) as { data: Listed }
  const list = assertWhole(out)!
  assert.equal(data.snapshot, headers['x-snapshot-id'])
  assert.deepEqual(
    fieldsOf(data.files, 'path', 'rows', 'bytes'),
    list.files.map(({ path, rows, bytes }) => [path, rows, bytes]),
  )
  assert.equal(data.count, list.files.length)
  const again = await client.get('/files', { headers: { 'if-none-match': headers.etag ?? '' } })
  assert.equal(again.status, 304)
  assert.equal((await client.get(`/files?snapshot=${data.snapshot}`)).status, 200)
  const keyless = new Client(live, null)
  assert.equal((await keyless.get('/files')).status, 401)
  // Nothing of this machine is shown.
  assert.ok(!text.includes(out))
  assert.ok(readFileSync(join(out, 'files.json'), 'utf8').includes('"address": null'))
})
