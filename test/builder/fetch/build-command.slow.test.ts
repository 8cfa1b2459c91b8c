/** The commands around a configuration: what would be done, doing it, reporting it, and serving it. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { ReportDocument } from '../../../src/builder/report-document.ts'
import { runCli, runCliWell, temporaryFolder } from '../../live.ts'
import { startProgram } from '../../started_program.ts'
import { startOrigin, status } from './origin.ts'

const SECRET = 'b7c1-very-secret'

test('A dry run writes nothing, a build fetches and reports, and a run serves what it built.', async (t) => {
  process.env.GROUNDSWELL_TEST_SECRET = SECRET
  t.after(() => delete process.env.GROUNDSWELL_TEST_SECRET)
  const root = temporaryFolder(t)
  const origin = await startOrigin(t)
  origin.files.set('/stations.csv', 'ID,name,lat,lon\n06403,Saint-Jean-de-Luz,43.408,-1.682\n')
  origin.files.set(
    '/06403.csv',
    'Date;H1/3;Hmax;Th1/3;DirPic;EtalPic;TempMer\n2026-03-27 09:00:00;1.5;2.4;8.5;290;20;13.1\n2026-03-27 09:30:00;1.6;1.2;8.5;290;20;13.1\n',
  )
  const config = join(root, 'groundswell.config.json')
  const source = {
    name: 'French coast',
    kind: 'candhis',
    folder: 'candhis',
    fetch: [
      { url: `${origin.url}/stations.csv`, to: 'candhis_stations.csv' },
      {
        url: `${origin.url}/{station}.csv`,
        to: 'Candhis_{station}_2026_reel.csv',
        stations: ['06403', '02911'],
        headers: { Authorization: { env: 'GROUNDSWELL_TEST_SECRET' } },
      },
    ],
  }
  writeFileSync(
    config,
    JSON.stringify({ sources: [source, { name: 'Gone', kind: 'csv', folder: 'nowhere' }] }),
  )
  const out = join(root, 'snapshots')

  const planned = await runCliWell(['build', '--config', config, '--out', out, '--dry-run'])
  assert.match(planned, /^French coast: would fetch 3 of 3 files$/m)
  assert.ok(planned.includes(`  ${origin.url}/06403.csv to Candhis_06403_2026_reel.csv\n`), planned)
  assert.match(planned, /^French coast: would read candhis .*\/candhis$/m)
  assert.deepEqual([readdirSync(root), origin.seen.length], [['groundswell.config.json'], 0])

  const built = await runCli(['build', '--config', config, '--out', out])
  assert.equal(built.code, 0, built.stderr)
  assert.equal(origin.seen.find(({ path }) => path === '/06403.csv')?.headers.authorization, SECRET)
  assert.match(
    built.stderr,
    /French coast: 1 of 3 files could not be fetched; \S+\/02911\.csv: HTTP status 404/,
  )
  assert.match(built.stderr, /warning: Gone is left out: csv: there is no folder/)
  const text = await runCliWell(['report', out])
  assert.match(text, /^ {2}\S+\/02911\.csv: HTTP status 404; in use: nothing$/m)
  assert.match(
    text,
    /^Candhis: 1 buoy, 0 reporting in the last 24 hours, newest reading 2026-03-27T09:30:00Z$/m,
  )
  assert.match(text, /^ {2}highest wave below the significant height$/m)
  const document = JSON.parse(await runCliWell(['report', out, '--json'])) as ReportDocument
  assert.deepEqual(
    [document.rows, document.sources[0].fetch?.fetched, document.sources[1].name],
    [3, 2, 'Gone'],
  )
  assert.ok(existsSync(join(out, `report-${document.snapshot}.json`)))

  // Two files are not due, the third is not there yet.
  const again = await runCliWell(['build', '--config', config, '--out', out, '--dry-run'])
  assert.match(again, /^French coast: would fetch 1 of 3 files$/m)
  const files = readdirSync(root, { recursive: true, withFileTypes: true }).filter((file) => file.isFile())
  for (const { parentPath, name } of files) {
    assert.ok(!readFileSync(join(parentPath, name)).includes(SECRET), `${name} holds no secret`)
  }
  assert.ok(!`${built.stdout}${built.stderr}${text}${planned}`.includes(SECRET), 'nor does any message')

  origin.chance = () => status(500)
  const places = [`--snapshots=${join(root, 'other')}`, `--keys=${join(root, 'keys.json')}`]
  const usual = ['--port=0', '--workers=1', '--every=0', '--admin-port=off']
  const run = startProgram(t, ['run', `--config=${config}`, ...places, ...usual])
  const [, address] = await run.says(/listening on (\S+)/)
  // The networks are gone; what was fetched is there.
  const answer = (await (await fetch(`${address}/buoys/search?query=luz`)).json()) as { data: unknown }
  assert.ok(JSON.stringify(answer.data).includes('Saint-Jean-de-Luz'), JSON.stringify(answer))
  await run.stop()
})
