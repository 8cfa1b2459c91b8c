/**
 * What the documents show: requests are answered as they say, and the example runs by the line of its page.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import sqlite from 'node-sqlite3-wasm'
import { EXAMPLES_SOURCE } from '../../tools/openapi/examples.ts'
import { examplesSnapshots, fixtureSnapshots } from '../built_once.ts'
import { startLive, temporaryFolder, type Live } from '../live.ts'
import { filesBelow, readDocument } from './markdown.ts'

const SHOWN_URL = 'http://127.0.0.1:8080/v2'
const PAGES = [
  'README.md',
  ...filesBelow('docs', '.md').filter((path) => /^docs\/http(-\w+)?\.md$/.test(path)),
]

interface Shown {
  line: string
  url: string
  hasKey: boolean
}

function requestsOf(path: string): Shown[] {
  return readDocument(path)
    .text.split('\n')
    .filter((line) => line.startsWith('    curl '))
    .map((line) => {
      const url = /["'](\$URL[^"']*|http:[^"']*)["']$/.exec(line)?.[1] ?? assert.fail(`${path}: ${line}`)
      return {
        line,
        url: url.replace(SHOWN_URL, '$URL'),
        hasKey: line.includes('"Authorization: Bearer $KEY"'),
      }
    })
}

let live: Live
before(async (t) => {
  live = await startLive(t as TestContext, { snapshots: await examplesSnapshots() })
})

test('Every request of the README and of the HTTP reference succeeds.', async () => {
  const { base, key } = live
  const day = EXAMPLES_SOURCE.at(-1)!.slice(0, 10)
  const ask = async (url: string, hasKey: boolean): Promise<Response> =>
    fetch(url, { headers: hasKey ? { authorization: `Bearer ${key}` } : {} })
  const newest = await ask(`${base}/buoys/anglet/readings?per_page=1`, true)
  const { data } = (await newest.json()) as { data: { readings: { id: number }[] } }
  const requests = PAGES.flatMap(requestsOf)
  assert.ok(requests.length > 20)
  for (const { line, url, hasKey } of requests) {
    const filled = url
      .replace('$URL', base)
      .replace('$ID', String(data.readings[0].id))
      .replace('$(date -u +%F)', day)
    const answer = await ask(filled, hasKey)
    if (answer.headers.get('content-type')?.startsWith('text/event-stream') === true) {
      assert.equal(answer.status, 200, line)
      // It does not end by itself.
      await answer.body?.cancel()
      continue
    }
    const body = (await answer.json()) as { status?: string; message?: string }
    assert.equal(answer.status, 200, `${line}: ${body.message}`)
    assert.equal(body.status, 'success', line)
  }
})

/** A kind of match, or none where it is that of the row above; what is typed; the names that are found. */
const SEARCH_ROW = /^\| ([^`|]*)\| `([^`]*)` \| (.*) \|$/gm

test('The table of what a search finds says what the demo answers.', async () => {
  const { base } = live
  const rows = [...readDocument('docs/search.md').text.matchAll(SEARCH_ROW)]
  assert.ok(rows.length >= 12)
  for (const [, , query, found] of rows) {
    const answer = await fetch(`${base}/buoys/search?query=${encodeURIComponent(query)}`)
    const { data } = (await answer.json()) as { data: { buoys: { name: string }[] } }
    assert.equal(data.buoys.map(({ name }) => name).join('; ') || 'nothing', found, query)
  }
})

test('The example that keeps a copy runs by the line that its page shows, and has at most a hundred lines.', async (t) => {
  const { base, key } = await startLive(t, { snapshots: await fixtureSnapshots() })
  const page = readFileSync('docs/examples/README.md', 'utf8')
  const line = /^ {4}KEY=\S+ npx tsx (docs\S+) http:\/\/127\.0\.0\.1:8080\/v2 waves\.sqlite$/m.exec(page)!
  assert.ok(readFileSync(line[1], 'utf8').trimEnd().split('\n').length <= 100)
  const file = join(temporaryFolder(t), 'copy.sqlite')
  const env = { ...process.env, KEY: key }
  const args = [line[1], base, file, 'once']
  const { stdout, stderr } = await promisify(execFile)('node_modules/.bin/tsx', args, { env })
  assert.deepEqual([stdout, stderr], ['', ''])
  const db = new sqlite.Database(file)
  t.after(() => db.close())
  assert.ok(Number(db.get('SELECT count(*) AS count FROM readings')!.count) > 10)
})
