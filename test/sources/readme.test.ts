/** The adapter that the README shows is one: it is taken out of the text and built from. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { OpenSource } from '../../src/sources/source.ts'
import { loadSnapshot } from '../../src/snapshot/read.ts'
import { temporaryFolder } from '../live.ts'
import { build } from '../build/fake_source.ts'

const SOURCES = new URL('../../src/sources/', import.meta.url)

test('The example of the README reads its network.', async (t) => {
  const root = temporaryFolder(t)
  const text = readFileSync(fileURLToPath(new URL('README.md', SOURCES)), 'utf8')
  const [, code] = /```ts\n(\/\*\* Examplia[^]*?)```/.exec(text) ?? assert.fail('no example')
  assert.ok(code.trim().split('\n').length <= 42, 'short')
  const placed = code.replace(
    /from '(\.[^']+)'/g,
    (_, path: string) => `from '${new URL(path, SOURCES).href}'`,
  )
  const file = join(root, 'examplia.ts')
  writeFileSync(file, placed)
  const { openExamplia } = (await import(pathToFileURL(file).href)) as { openExamplia: OpenSource }

  const folder = join(root, 'data')
  mkdirSync(folder)
  const rows = [
    'A1,Outer Bank,45.5,-3.25,2026-03-27T08:30:00Z,125,8.5',
    'A1,Outer Bank,45.5,-3.25,2026-03-27T09:00:00Z,9999,',
    'A1,Outer Bank,45.5,-3.25,2026-03-27T09:30:00Z,130,8.4',
    ...Array.from({ length: 20 }, () => 'B2,Inner Bank,45.6,-3,2026-03-27T08:30:00Z,50,'),
    'B2,Inner Bank,45.6,-3,yesterday,50,',
  ]
  writeFileSync(join(folder, 'latest.csv'), `id,name,lat,lng,time,hs_cm,period_s\n${rows.join('\n')}\n`)
  const out = join(root, 'out')
  const lines: string[] = []
  const { asOf, parts } = await build([openExamplia(folder)], out, { write: (line) => void lines.push(line) })
  assert.equal(asOf, Date.UTC(2026, 2, 27, 9, 30) / 1000)
  assert.equal(parts.find(({ kind }) => kind === 'catalog')?.rows, 2)
  assert.equal(parts.find(({ kind }) => kind === 'readings')?.rows, 3)
  assert.ok(
    lines.some((line) => line.includes('latest.csv:25: no valid position and time')),
    lines.join(''),
  )
  await loadSnapshot(out)
})
