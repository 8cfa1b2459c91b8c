/** A kept snapshot that is served again, and what is shown of it. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { build, fakeSource, SMALL_WORLD } from '../builder/fake_source.ts'
import { Client, runCli, runCliWell, startLive, temporaryFolder } from '../live.ts'

const at = (text: string): number => Date.parse(text) / 1000

test('A kept snapshot is served by its id or its time, gives the answers of that time, and is not followed by later ones.', async (t) => {
  const dir = join(temporaryFolder(t), 'snapshots')
  const [alpha, ...others] = SMALL_WORLD
  const ids: string[] = []
  const publish = async (step: number): Promise<void> => {
    const row = { time: at('2026-03-27T09:00:00Z') + step * 1800, significantHeight: 1000 + step }
    const rows = step === 0 ? alpha.rows : [...alpha.rows, row]
    ids.push((await build([fakeSource([{ ...alpha, rows }, ...others])], dir)).id)
  }
  for (const step of [0, 1, 2]) await publish(step)
  // What was answered while the first was the current one.
  const readings = '/buoys/alpha-2/readings'
  const dataOf = (text: string): unknown => (JSON.parse(text) as { data: unknown }).data
  await runCliWell(['rollback', dir, '--to', ids[0]])
  const before = await startLive(t, { snapshots: dir, args: ['--workers=1'] })
  const expected = await new Client(before).get(readings)
  assert.equal(expected.headers['x-snapshot-id'], ids[0])
  await before.stop()
  await runCliWell(['resume', dir])
  for (const wanted of [ids[0], '2026-03-27T09:29:59Z', '2026-03-27T09:00:00Z']) {
    const live = await startLive(t, { snapshots: dir, args: ['--workers=1', `--as-of=${wanted}`] })
    const client = new Client(live)
    const reply = await client.get(readings)
    assert.equal(reply.headers['x-snapshot-id'], ids[0], wanted)
    assert.deepEqual(dataOf(reply.text), dataOf(expected.text))
    if (wanted === ids[0]) {
      await publish(3)
      // Two looks at the folder later.
      await new Promise((resolve) => setTimeout(resolve, 2500))
      assert.equal((await client.get('/countries')).headers['x-snapshot-id'], ids[0])
    }
    await live.stop()
  }
  const shown = await runCliWell(['inspect', dir, ids[0]])
  assert.match(shown, new RegExp(`^snapshot   ${ids[0]}\nas of      2026-03-27T09:00:00Z\n`))
  assert.match(shown, new RegExp(`serve it: groundswell serve --snapshots ${dir} --as-of ${ids[0]}\n$`))
  assert.match(await runCliWell(['inspect', dir]), new RegExp(`^snapshot   ${ids[3]}\n`))
  for (const [args, code, message] of [
    [
      ['serve', '--snapshots', dir, '--as-of', '1999-01-01'],
      1,
      /no kept snapshot is as of 1999-01-01T23:59:59Z/,
    ],
    [['serve', '--snapshots', dir, '--as-of', 'f'.repeat(24)], 1, /no kept snapshot has the id f{24}/],
    [['serve', '--as-of', ids[0], '--from', 'http://127.0.0.1:9/'], 2, /cannot be used with --from/],
    [['inspect', dir, 'x'], 1, /no kept snapshot has the id x/],
  ] as const) {
    const { code: ended, stderr } = await runCli([...args])
    assert.equal(ended, code, stderr)
    assert.match(stderr, message)
  }
})
