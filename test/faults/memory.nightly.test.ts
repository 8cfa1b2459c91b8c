/** What many swaps leave in the memory of a server. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { listKept } from '../../src/snapshot/retained.ts'
import { runCliWell, temporaryFolder } from '../live.ts'
import { startDrill } from './drill.ts'
import { amount, announce, twoSnapshots } from './folder.ts'

test('Many swaps leave the memory flat.', async (t) => {
  const two = await twoSnapshots(t)
  const drill = await startDrill(t, two.folder)
  const swaps = amount(60, 2000)
  const rows: { resident: number; heap: number; buffers: number }[] = []
  for (let swap = 0; swap < swaps; swap++) {
    two.announce(swap % 2)
    const now = await drill.reload()
    assert.equal(now.snapshot?.id, two.ids[swap % 2])
    if (swap % (swaps / 10) !== swaps / 10 - 1) continue
    // What a worker holds on to, without what its collector has not got round to.
    await drill.debug(0, 'HeapProfiler.collectGarbage')
    const held = (await drill.evaluate(0, 'process.memoryUsage()')) as NodeJS.MemoryUsage
    rows.push({ resident: held.rss, heap: held.heapUsed, buffers: held.arrayBuffers })
  }
  const column = (name: keyof (typeof rows)[number]): string =>
    rows.map((row) => (row[name] / 2 ** 20).toFixed(1)).join(' ')
  t.diagnostic(`MiB after each tenth of ${swaps} swaps: resident ${column('resident')}`)
  t.diagnostic(`  a worker's heap ${column('heap')}; its buffers ${column('buffers')}`)
  const [half, last] = [rows[4], rows.at(-1)!]
  assert.ok(last.buffers < half.buffers + 2 ** 20, `buffers ${column('buffers')}`)
  // A view that was kept would take some 4 MiB, its dataset's smallest parts tens of KiB each.
  assert.ok(last.heap < half.heap + 2 ** 20 + swaps * 1024, `heap ${column('heap')}`)
  assert.ok(last.resident < half.resident * 1.1 + 16 * 2 ** 20, `resident ${column('resident')}`)
})

test('Parts that no held snapshot has any more are freed, also while nobody asks for anything.', async (t) => {
  const folder = join(temporaryFolder(t), 'snapshots')
  // In one month's part: 25 MB that each swap brings and takes.
  for (const time of ['22:00', '22:30']) {
    const from = ['--source', 'demo:scale,buoys=800,days=31', '--as-of', `2026-01-31T${time}:00Z`]
    await runCliWell(['build', ...from, '--out', folder])
  }
  const [first, second] = listKept(folder)
  const partBytes = Math.max(...second.manifest!.parts.map(({ bytes }) => bytes))
  assert.ok(partBytes > 20e6, `${partBytes}`)
  const drill = await startDrill(t, folder)
  const swap = async (i: number): Promise<void> => {
    announce(folder, (i % 2 === 0 ? first : second).id)
    const { reload } = await drill.reload()
    assert.equal(reload.last_error, null)
  }
  // What the first swaps make the threads take stays.
  for (let i = 0; i < 2; i++) await swap(i)
  const before = (await drill.status()).memory.rss
  const SWAPS = 12
  for (let i = 0; i < SWAPS; i++) await swap(i)
  // Without a collection, and where freed parts stay with malloc, most of them stay: heaps alone have grown
  // in between.
  const MOST = SWAPS / 3
  const grown = async (): Promise<number> => ((await drill.status()).memory.rss - before) / partBytes
  for (let tries = 0; tries < 600 && (await grown()) > MOST; tries++) await setTimeout(100)
  t.diagnostic(`after ${SWAPS} swaps memory has grown by ${(await grown()).toFixed(1)} parts`)
  assert.ok((await grown()) <= MOST, `${await grown()} parts`)
})
