/** How a server tells that its data are made up: on every answer made from them, and to its operator. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { adminOf, Client, type Live, type Reply, runCliWell, startLive, temporaryFolder } from '../live.ts'
import { writeWorld } from '../web/browser.ts'

/** Answers of each kind by status, and the pages beside them. */
async function answersOf(live: Live): Promise<Map<string, Reply>> {
  const [client, stranger] = [new Client(live), new Client(live, null)]
  const etag = (await client.get('/buoys?per_page=1')).headers.etag!
  const current = String((await client.get('/countries')).headers['x-snapshot-id'])
  const answers = new Map([
    ['200', await client.get('/buoys?per_page=1')],
    ['200 of a pin', await client.get(`/buoys?per_page=1&snapshot=${current}`)],
    ['200 for HEAD', await client.get('/buoys', { method: 'HEAD' })],
    ['200 without a key', await stranger.get('/buoys/search?query=nothing')],
    ['304', await client.get('/buoys?per_page=1', { headers: { 'if-none-match': etag } })],
    ['400', await client.get('/buoys?page=x')],
    ['401', await stranger.get('/buoys')],
    ['404', await client.get('/buoys/no-such-buoy')],
    ['410', await client.get('/buoys?snapshot=000000000000000000000000')],
    ['200 of a page', await stranger.getAbsolute('/v2/openapi.json', { method: 'HEAD' })],
  ])
  for (const [name, { status }] of answers) assert.equal(String(status), name.slice(0, 3), name)
  return answers
}

async function statusOf(live: Live): Promise<{ snapshot: { demo: unknown } }> {
  const answer = await fetch(`${await adminOf(live)}/status`)
  return (await answer.json()) as { snapshot: { demo: unknown } }
}

test('Every answer that is made from a demo says so, and so do /status, the start and inspect.', async (t) => {
  const live = await startLive(t, {
    sourceArgs: ['--source', 'demo:scale,buoys=2,days=2'],
    args: ['--admin-port=0', '--workers=1'],
  })
  for (const [name, { headers }] of await answersOf(live)) {
    assert.equal(headers['x-demo'], 'true', name)
    if (!name.includes('page')) assert.match(String(headers['access-control-expose-headers']), /\bX-Demo\b/)
  }
  assert.equal((await statusOf(live)).snapshot.demo, true)
  assert.match(live.output().stderr, /serving snapshot \w+, data as of \S+ \(demo: its data are made up\)/)
  const shown = await runCliWell(['inspect', live.snapshots])
  assert.match(shown, /^demo +yes/m)
  assert.doesNotMatch(shown, / 0 +0 /, 'kinds without parts')
})

test('No answer that is made from measured data has the mark of a demo.', async (t) => {
  const folder = join(temporaryFolder(t), 'world')
  writeWorld(folder, Date.now() / 1000)
  const live = await startLive(t, {
    sourceArgs: ['--source', `csv:${folder}`],
    args: ['--admin-port=0', '--workers=1'],
  })
  for (const [name, { headers }] of await answersOf(live)) assert.equal(headers['x-demo'], undefined, name)
  assert.equal((await statusOf(live)).snapshot.demo, false)
  assert.doesNotMatch(live.output().stderr, /demo/)
})
