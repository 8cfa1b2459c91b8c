/** A data folder of an earlier version, which docs/support.md promises to serve and to build upon. */
import assert from 'node:assert/strict'
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { ROOT } from '../docs/markdown.ts'
import { ask, runCliWell, temporaryFolder } from '../live.ts'
import { startProgram } from '../started_program.ts'
import { until } from '../until.ts'

const BEFORE = join(ROOT, 'data', 'fixtures', 'upgrade')
const { key, answers } = JSON.parse(readFileSync(join(BEFORE, 'answers.json'), 'utf8')) as {
  key: string
  answers: { [path: string]: object }
}

/** What `now` has, down to the members that `before` has: new members are no break. */
function asMuchOf(now: unknown, before: unknown): unknown {
  if (Array.isArray(before) && Array.isArray(now)) return now.map((item, i) => asMuchOf(item, before[i]))
  if (before === null || now === null || typeof before !== 'object' || typeof now !== 'object') return now
  const members = now as { [name: string]: unknown }
  const pairs = Object.entries(before).flatMap(([name, value]) =>
    Object.hasOwn(members, name) ? [[name, asMuchOf(members[name], value)]] : [],
  )
  return Object.fromEntries(pairs)
}

test('A data folder of before 1.0.0 is served with its keys and the same answers, and the next build keeps its ids.', async (t) => {
  const data = temporaryFolder(t)
  cpSync(BEFORE, data, { recursive: true })
  const server = startProgram(t, ['serve', `--data=${data}`, '--port=0', '--admin-port=off', '--workers=1'])
  const [, port] = await server.says(/listening on http:\/\/127\.0\.0\.1:(\d+)/)
  const headers = { authorization: `Bearer ${key}` }
  const get = async (path: string) => {
    const { status, text, headers: head } = await ask(Number(port), path, { headers })
    assert.equal(status, 200, `${path}: ${text}`)
    return { body: JSON.parse(text) as { data: { buoys: object[] } }, snapshot: head['x-snapshot-id'] }
  }
  assert.ok(Object.keys(answers).length >= 5)
  for (const [path, before] of Object.entries(answers)) {
    assert.deepEqual(asMuchOf((await get(path)).body, before), before, path)
  }

  const first = (await get('/v2/buoys')).snapshot
  const sources = ['--source', 'demo:scale,buoys=3,days=5', '--as-of', '2026-11-02T06:00:00Z']
  await runCliWell(['build', ...sources, '--data', data])
  await until(async () => (await get('/v2/buoys')).snapshot !== first, 'the new snapshot is not served')
  const named = (list: object[]): unknown =>
    asMuchOf(
      list,
      list.map(() => ({ id: 0, slug: '', source: '', source_identifier: '' })),
    )
  const listed = answers['/v2/buoys'] as { data: { buoys: object[] } }
  assert.deepEqual(named((await get('/v2/buoys')).body.data.buoys), named(listed.data.buoys))
  assert.equal(await server.stop(), 0)
})
